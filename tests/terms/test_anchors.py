"""Categories that are written down for kinds of goods: they name entries, and count only in a taxonomy that has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from batag.errors import InputError
from batag.terms.lexicon import GOODS, lexicon, read_lexicon
from batag.terms.lexicon.anchors import ANCHORS, read_anchors
from batag.terms.taxonomy import build_taxonomy
from batag.terms.terms import Terms

_OWN = Path(lexicon.__file__).parent
_ROWS = [
    ("1", "", ("Apparel & Accessories", "服飾")),
    ("2", "1", ("Clothing Accessories", "服飾配件")),
    ("3", "2", ("Hand Muffs", "手套")),
    ("4", "2", ("Gloves & Mittens", "連指手套")),
]


def terms(*rows: tuple[str, str, tuple[str, str]]) -> Terms:
    return Terms(taxonomy=build_taxonomy(rows, source="shopify", version="1", languages=["en", "zh-Hant"]))


def test_every_anchor_is_an_entry_and_they_are_few() -> None:
    anchors, ids = read_anchors(_OWN), {entry.id for entry in read_lexicon().entries if entry.kind == GOODS}
    assert anchors.keys() <= ids
    assert 0 < len(anchors) <= 60


@pytest.mark.parametrize(("text", "by"), [("手套", "anchor"), ("gloves", "anchor"), ("皮手套", "suffix")])
def test_an_anchor_counts_more_than_a_translation(text: str, by: str) -> None:
    match = terms(*_ROWS).meaning(text, label="goods").category
    assert match is not None
    assert (match.id, match.by) == ("4", by)


def test_an_anchor_without_its_category_is_not_there() -> None:
    match = terms(*_ROWS[:3]).meaning("手套", label="goods").category
    assert match is not None
    assert match.by != "anchor"


def test_a_folder_without_a_list_has_no_anchors(tmp_path: Path) -> None:
    assert read_anchors(tmp_path) == {}


@pytest.mark.parametrize(
    ("lines", "says"),
    [("gloves", "is no line"), ("= Gloves", "is no line"), ("a =", "is no line"), ("a = B\na = C", "two categories")],
)
def test_a_line_that_cannot_be_is_named(tmp_path: Path, lines: str, says: str) -> None:
    (tmp_path / ANCHORS).write_text(lines + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"{ANCHORS}:\d.*{says}"):
        read_anchors(tmp_path)
