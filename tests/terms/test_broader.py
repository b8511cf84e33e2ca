"""Wider kinds of goods: they exist, and they lend their category to kinds that no taxonomy names."""

from __future__ import annotations

from pathlib import Path

import pytest

from batag.errors import InputError
from batag.terms.lexicon import GOODS, lexicon, read_lexicon
from batag.terms.lexicon.broader import BROADER, read_broader
from batag.terms.sources import import_taxonomy
from batag.terms.terms import Terms

_OWN = Path(lexicon.__file__).parent


def test_every_kind_and_every_wider_kind_is_an_entry() -> None:
    broader, ids = read_broader(_OWN), {entry.id for entry in read_lexicon().entries if entry.kind == GOODS}
    assert broader
    assert {*broader, *(wider.id for wider in broader.values())} <= ids


def taxonomy_of(folder: Path, *paths: str) -> Terms:
    path = folder / "categories.csv"
    path.write_text("path\n" + "\n".join(paths) + "\n", encoding="utf-8")
    return Terms(taxonomy=import_taxonomy([path]))


@pytest.mark.parametrize("text", ["puppy", "柯基犬", "子犬"])
def test_a_kind_without_a_category_gets_that_of_its_wider_kind(tmp_path: Path, text: str) -> None:
    match = (
        taxonomy_of(tmp_path, "Animals", "Animals > Live Animals", "Food", "Food > Nuts").meaning(text, label="goods").category
    )
    assert match is not None
    assert (match.id, match.by) == ("Animals > Live Animals", "broader")


def test_a_category_of_its_own_below_the_wider_one_is_kept(tmp_path: Path) -> None:
    terms = taxonomy_of(tmp_path, "Animals", "Animals > Live Animals", "Animals > Live Animals > Puppies")
    match = terms.meaning("puppy", label="goods").category
    assert match is not None
    assert match.id == "Animals > Live Animals > Puppies"


@pytest.mark.parametrize("text", ["bottle brush", "奶瓶刷", "哺乳びんブラシ"])
def test_what_belongs_to_a_wider_kind_gets_the_category_above(tmp_path: Path, text: str) -> None:
    match = (
        taxonomy_of(tmp_path, "Baby", "Baby > Feeding", "Baby > Feeding > Baby Bottles").meaning(text, label="goods").category
    )
    assert match is not None
    assert (match.id, match.by) == ("Baby > Feeding", "broader")


def test_a_shops_own_category_is_kept_wherever_it_is(tmp_path: Path) -> None:
    paths = ["Baby", "Baby > Feeding", "Baby > Feeding > Baby Bottles", "Cleaning", "Cleaning > Bottle Brushes"]
    match = taxonomy_of(tmp_path, *paths).meaning("bottle brush", label="goods").category
    assert match is not None
    assert match.id == "Cleaning > Bottle Brushes"


def test_a_line_says_whether_its_kinds_only_belong_to_the_wider_one(tmp_path: Path) -> None:
    (tmp_path / BROADER).write_text("# comment\n\na = b, c\n^a = d\n", encoding="utf-8")
    assert read_broader(tmp_path) == {"b": ("a", False), "c": ("a", False), "d": ("a", True)}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("puppy", "is no line"),
        ("= puppy", "is no line"),
        ("^ = puppy", "is no line"),
        ("a = b\nc = b", "two wider kinds"),
        ("a = b\nb = a", "than itself"),
    ],
)
def test_a_line_that_cannot_be_is_named(tmp_path: Path, line: str, says: str) -> None:
    (tmp_path / BROADER).write_text(line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"{BROADER}:\d.*{says}"):
        read_broader(tmp_path)


def test_every_kind_of_goods_ends_somewhere_or_nowhere(tmp_path: Path) -> None:
    terms = taxonomy_of(tmp_path, "Animals", "Animals > Live Animals", "Home", "Home > Decor", "Home > Decor > Mirrors")
    assert terms.mapping is not None
    found = [terms.mapping.of_entry(entry) for entry in read_lexicon().entries if entry.kind == GOODS]
    assert any(match is not None for match in found)
