"""A small taxonomy in four languages, in the shapes in which taxonomies are distributed."""

from __future__ import annotations

from pathlib import Path

LANGUAGES = ("en", "zh-Hant", "zh-Hans", "ja")
FOLDERS = {"en": "en", "zh-Hant": "zh-TW", "zh-Hans": "zh-CN", "ja": "ja"}
CATEGORIES = {
    "aa": ("Apparel & Accessories", "服飾與配件", "服饰与配件", "ファッション・アクセサリー"),
    "aa-1": ("Shoes", "鞋類", "鞋靴", "靴"),
    "aa-1-1": ("Running Shoes", "慢跑鞋", "跑步鞋", "ランニングシューズ"),
    "aa-1-2": ("Hiking Boots", "登山鞋", "登山靴", "登山靴"),
    "aa-2": ("Hats & Caps", "帽子", "帽子", "帽子"),
    "ha": ("Home Appliances", "家用電器", "家用电器", "家電"),
    "ha-1": ("Refrigerators", "冰箱", "冰箱", "冷蔵庫"),
    "ha-2": ("Vacuum Cleaners", "吸塵器", "吸尘器", "掃除機"),
    "ha-3": ("Rice Cookers", "電子鍋", "电饭煲", "炊飯器"),
    "el": ("Electronics", "電子產品", "电子产品", "電子機器"),
    "el-1": ("Computer Mice", "滑鼠", "鼠标", "マウス"),
    "el-2": ("Headphones", "耳機", "耳机", "ヘッドホン"),
}
"""The names of each category by id, in the order of the languages."""
VERSION = "2026-02"


def path_of(id: str, language: str) -> str:
    """The names from the top down."""
    parts = id.split("-")
    place = LANGUAGES.index(language)
    return " > ".join(CATEGORIES["-".join(parts[:end])][place] for end in range(1, len(parts) + 1))


def shopify_lines(language: str = "en", *, version: str = VERSION) -> list[str]:
    """The lines of a file as Shopify distributes it."""
    head = [
        f"# Shopify Product Taxonomy - Categories: {version}",
        "# Format: {GID} : {Ancestor name} > ... > {Category name}",
        "",
    ]
    return head + [f"gid://shopify/TaxonomyCategory/{id:<8} : {path_of(id, language)}" for id in CATEGORIES]


def google_lines(*, ids: bool, version: str = "2021-09-21") -> list[str]:
    """The lines of a file as Google distributes it."""
    head = [f"# Google_Product_Taxonomy_Version: {version}"]
    paths = [path_of(id, "en") for id in CATEGORIES]
    return head + [f"{number} - {path}" if ids else path for number, path in enumerate(paths, 100)]


def write(path: Path, lines: list[str]) -> Path:
    """Write lines, and return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def shopify_files(folder: Path, *languages: str) -> list[Path]:
    """One file per language, named as in a download."""
    return [write(folder / FOLDERS[each] / "categories.txt", shopify_lines(each)) for each in languages or LANGUAGES]
