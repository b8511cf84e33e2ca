from __future__ import annotations

import json
from pathlib import Path

import pytest

from batag.bundles.names import file_of, terms_for
from batag.bundles.shop import CURRENT, SHOP
from batag.errors import InputError


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A shop's folder with a bundle in use (which need not be whole here) and the names beside it."""
    folder = tmp_path / "shop"
    bundle = folder / "bundles" / "0001-abc"
    bundle.mkdir(parents=True)
    (folder / "terms").mkdir()
    (folder / SHOP).write_text('{"format": 1}')
    (folder / CURRENT).write_text('{"bundle": "bundles/0001-abc"}')
    file_of(bundle).write_text(json.dumps({"language": "zh-Hant", "brands": {"zowilan": "左薇特", "日立": "日立 HITACHI"}}))
    return folder


def name(folder: Path | str, text: str, **options: str) -> str | None:
    return terms_for(folder, **options).meaning(text, label="goods" if text == "refrigerator" else "brand").canonical


def test_a_shop_names_tags_as_its_tables_do(shop: Path) -> None:
    assert name(shop, "ZOWILAN") == "左薇特"
    assert name(shop, "refrigerator") == "冰箱"
    assert name(shop / "bundles" / "0001-abc", "ZOWILAN") == "左薇特"


def test_synonyms_of_people_win_over_the_names_of_the_column(shop: Path) -> None:
    (shop / "terms" / "synonyms.txt").write_text("Zowilan Inc = ZOWILAN\n")
    assert name(shop, "ZOWILAN") == "Zowilan Inc"
    assert name(shop, "日立") == "日立 HITACHI"
    other = shop / "other.txt"
    other.write_text("Z = ZOWILAN\n")
    assert name(shop, "ZOWILAN", synonyms=str(other)) == "Z"


def test_a_wide_equals_sign_is_one(shop: Path) -> None:
    (shop / "terms" / "synonyms.txt").write_text("資生堂 ＝ ZOWILAN\n")
    assert name(shop, "ZOWILAN") == "資生堂"


def test_another_language_has_the_names_of_the_lexicon(shop: Path) -> None:
    assert name(shop, "ZOWILAN", language="ja") == "zowilan"
    assert name(shop, "refrigerator", language="ja") == "冷蔵庫"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"language": "klingon", "brands": {"a": "b"}}',
        '{"language": "ja", "brands": {"a": 1}}',
        '{"brands": {}}',
    ],
)
def test_a_damaged_file_of_names_is_one_line(shop: Path, text: str) -> None:
    file_of(shop / "bundles" / "0001-abc").write_text(text)
    with pytest.raises(InputError, match=r"0001-abc\.names\.json: is damaged .* Run batag start again"):
        name(shop, "ZOWILAN")


def test_a_shop_of_an_older_batag_has_the_names_of_the_lexicon(shop: Path) -> None:
    file_of(shop / "bundles" / "0001-abc").unlink()
    assert name(shop, "refrigerator") == "refrigerator"


def test_the_same_bundle_has_the_same_names_by_any_path(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(shop / "bundles" / "0001-abc")
    assert name(tmp_path / "link", "ZOWILAN") == "左薇特"
    monkeypatch.chdir(shop / "bundles" / "0001-abc")
    assert name(".", "ZOWILAN") == "左薇特"


def test_all_names_of_a_brand_follow_if_people_name_it(shop: Path) -> None:
    file_of(shop / "bundles" / "0001-abc").write_text(
        json.dumps({"language": "zh-Hant", "brands": {"zowilan": "左薇特", "左薇特": "左薇特"}})
    )
    (shop / "terms" / "synonyms.txt").write_text("Zowilan Inc = ZOWILAN\n")
    assert name(shop, "左薇特") == "Zowilan Inc"


def test_a_bundle_that_is_no_shop_s_has_the_names_of_the_lexicon(tmp_path: Path) -> None:
    assert name(tmp_path / "run", "refrigerator") == "refrigerator"
    assert name("starter", "日立") == "HITACHI"
