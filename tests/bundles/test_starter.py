"""The bundle that comes with batag."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.tiny import make_bundle, typed

import batag
from batag.bundles.bundle import read_bundle
from batag.bundles.found import ALWAYS_STARTER, STARTER_FOLDER, check_own, find_bundle
from batag.bundles.made_up import honest
from batag.errors import UsageError
from batag.features.shipped import SHIPPED
from batag.labels.provenance import MADE_UP
from batag.tagging.tagger import Tagger
from batag.training.base_bundle import recipe_of

TITLE = "日立 HITACHI 570L 變頻三門冰箱"
LARGEST = 12_000_000
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return batag.load(ALWAYS_STARTER)


def found(tagger: Tagger, title: str, language: str | None = None) -> dict[str, list[str]]:
    page = {"title": title} | ({"language": language} if language else {})
    tags: dict[str, list[str]] = {}
    for tag in tagger.tag(page):
        tags.setdefault(tag.label, []).append(tag.text)
    return tags


def test_the_first_example_has_its_brand_in_both_scripts_and_its_goods(tagger: Tagger) -> None:
    tags = found(tagger, TITLE)
    assert tags["brand"] == ["日立", "HITACHI"]
    assert tags["goods"] == ["三門冰箱"]


@pytest.mark.parametrize(
    ("language", "title", "brand", "goods"),
    [
        ("zh-Hant", "【Panasonic 國際牌】空氣清淨機 F-P40 現貨", ["Panasonic", "國際牌"], ["空氣清淨機"]),
        ("zh-Hans", "美的 电饭煲 4L 家用 官方旗舰店", ["美的"], ["电饭煲"]),
        ("ja", "ソニー SONY ワイヤレスイヤホン WF-1000XM5 ブラック", ["ソニー", "SONY"], ["ワイヤレスイヤホン"]),
        ("en", "KitchenAid 5-Quart Stand Mixer KSM150, Red", ["KitchenAid"], ["Stand Mixer"]),
    ],
)
def test_it_tags_all_four_languages(tagger: Tagger, language: str, title: str, brand: list[str], goods: list[str]) -> None:
    tags = found(tagger, title, language)
    assert (tags.get("brand"), tags.get("goods")) == (brand, goods)


def test_brand_and_goods_run_together_are_two_tags(tagger: Tagger) -> None:
    assert found(tagger, "日立冰箱", "zh-Hant") == {"brand": ["日立"], "goods": ["冰箱"]}


def test_a_brand_that_no_list_has_is_found(tagger: Tagger) -> None:
    assert found(tagger, "Zorvexa 無線吸塵器 VC-200 白色", "zh-Hant")["brand"] == ["Zorvexa"]


def test_it_needs_no_torch(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        f"import batag; print([tag.text for tag in batag.load('starter').tag({{'title': {TITLE!r}}}) if tag.label == 'brand'])"
    )
    done = subprocess.run([sys.executable, "-X", "utf8", "-c", code], capture_output=True, encoding="utf-8", cwd=tmp_path)
    assert done.stdout.strip() == "['日立', 'HITACHI']", done.stderr


def test_it_is_small_and_has_no_copy_of_what_is_shipped_anyway() -> None:
    assert sum(path.stat().st_size for path in STARTER_FOLDER.iterdir()) <= LARGEST
    description = read_bundle(STARTER_FOLDER).description
    assert {feature.language for feature in description.features if feature.shipped} == set(SHIPPED)
    assert set(description.scheme.classes) == {"brand", "goods", "feature"}


def test_its_files_are_data_of_the_package() -> None:
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert STARTER_FOLDER.is_relative_to(ROOT / built["packages"][0])
    ignored = subprocess.run(["git", "check-ignore", *STARTER_FOLDER.iterdir()], cwd=ROOT, capture_output=True, text=True)
    assert ignored.stdout == ""


def test_it_was_made_by_its_recipe() -> None:
    made = recipe_of(Path(ALWAYS_STARTER))
    for table, values in tomllib.loads((ROOT / "recipes" / "starter.toml").read_text(encoding="utf-8")).items():
        for key, value in values.items():
            assert made[table][key] == value, f"{table}.{key}"


def test_a_folder_of_that_name_wins_and_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_bundle(tmp_path / "starter")
    monkeypatch.chdir(tmp_path)
    assert find_bundle(Path("starter")).resolve() == find_bundle(tmp_path / "starter").resolve()
    assert find_bundle(Path(ALWAYS_STARTER)) == STARTER_FOLDER
    done = typed("tag", "starter", TITLE)
    assert "starter is the folder here" in done.stderr
    assert ALWAYS_STARTER in done.stderr
    shutil.rmtree(tmp_path / "starter")
    done = typed("tag", "starter", TITLE)
    assert "folder" not in done.stderr
    assert [tag["text"] for tag in json.loads(done.stdout)["tags"] if tag["label"] == "goods"] == ["三門冰箱"]


def test_it_is_not_changed_by_commands() -> None:
    with pytest.raises(UsageError, match="not changed"):
        check_own(STARTER_FOLDER)


def test_its_made_up_pages_are_not_called_a_persons() -> None:
    shown = typed("show", ALWAYS_STARTER).stdout
    assert "made-up pages: " in shown
    assert "person: " not in shown
    assert "made-up dev pages (epoch" in shown
    assert honest(read_bundle(STARTER_FOLDER).description).metrics["dev"]["measured_by"] == MADE_UP


def test_pages_of_people_in_a_run_that_is_called_starter_stay_theirs() -> None:
    own = read_bundle(STARTER_FOLDER).description
    weights = {name: each.model_copy(update={"sha256": "0" * 64}) for name, each in own.files.items()}
    assert honest(own.model_copy(update={"files": weights})).metrics == own.metrics
