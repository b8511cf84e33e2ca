"""The user's words."""

from __future__ import annotations

from pathlib import Path

import pytest

from batag.errors import InputError
from batag.segmentation.dictionary import Dictionary, lower


def found(text: str, *terms: str) -> list[str]:
    return [text[start:end] for start, end in Dictionary(terms).find(text)]


@pytest.mark.parametrize(
    ("text", "terms", "words"),
    [
        ("NIKE nike Nike", ["nike"], ["NIKE", "nike", "Nike"]),
        ("nikes anike nike2 nike-2", ["nike"], ["nike"]),
        ("大NIKE鞋", ["nike"], ["NIKE"]),
        ("無印良品牌", ["無印良品", "品牌"], ["無印良品"]),
        ("ab", ["a", "b", "ab"], ["ab"]),
        ("", ["a"], []),
        ("İSTANBUL NIKE", ["nike"], ["NIKE"]),
        ("ẞ NIKE", ["nike"], ["NIKE"]),
        ("air max 90", ["air max 9", "air max"], ["air max"]),
        ("資生堂Aqua", ["資生堂a", "資生堂"], ["資生堂"]),
        ("L'ORÉAL", ["l'oréal"], ["L'ORÉAL"]),
    ],
)
def test_terms_are_found_longest_first_on_word_borders(text: str, terms: list[str], words: list[str]) -> None:
    assert found(text, *terms) == words


def test_blank_and_repeated_terms_do_not_count() -> None:
    assert len(Dictionary(["", " ", "A", "a", " a "])) == 1
    assert not Dictionary([])


def test_lower_case_never_changes_the_length() -> None:
    for code in (*range(0xD800), *range(0xE000, 0x20000)):
        assert len(lower(f"x{chr(code)}y")) == 3


def test_a_dictionary_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes("\ufeff# brands\r\nSK-II\r\n\r\n無印良品\r\n".encode())
    assert Dictionary.read(path).terms == ("sk-ii", "無印良品")


def test_a_file_that_is_not_there_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        Dictionary.read(tmp_path / "none.txt")
