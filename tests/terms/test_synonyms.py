"""A shop's synonyms: they come before the lexicon, and a line that cannot be is named with its number."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from batag.errors import InputError
from batag.settings import Settings
from batag.terms import limits
from batag.terms.synonyms import parse_synonyms, read_synonyms
from batag.terms.terms import Terms, read_terms


def own(*lines: str) -> Terms:
    return Terms(synonyms=parse_synonyms(lines, where="own.txt"))


def canonical(terms: Terms, text: str, **known: str) -> str | None:
    return terms.meaning(text, **known).canonical


# What they do


def test_every_name_of_a_line_and_every_spelling_of_it_has_one_canonical_form() -> None:
    terms = own("Acme = ACME工具, アクメ")
    assert {canonical(terms, text) for text in ("Acme", "ACME", "ａｃｍｅ", "acme工具", "ＡＣＭＥ 工具", "アクメ", "ｱｸﾒ")} == {
        "Acme"
    }
    assert terms.meaning("アクメ").by == "synonyms"


def test_synonyms_come_before_the_lexicon() -> None:
    assert canonical(Terms(), "日立") == canonical(Terms(), "HITACHI") == "HITACHI"
    terms = own("My Hitachi = 日立")
    assert (canonical(terms, "日立"), terms.meaning("日立").by) == ("My Hitachi", "synonyms")


def test_a_canonical_form_of_a_shop_names_the_whole_entry_of_the_lexicon() -> None:
    terms = own("日立 = Hitachi Ltd")
    assert canonical(terms, "Hitachi Ltd") == "日立"
    assert canonical(terms, "HITACHI") == "日立"


def test_a_stop_word_that_a_shop_lists_is_a_tag() -> None:
    assert canonical(Terms(), "免運") is None
    assert canonical(own("free delivery = 免運"), "免運") == "free delivery"


def test_lines_lead_on_to_other_lines() -> None:
    terms = own("tool = acme tool", "acme tool = acme hammer")
    assert canonical(terms, "acme hammer") == "tool"


@pytest.mark.parametrize("comma", [",", "，", "、", ";", "；"])
def test_names_are_separated_by_any_comma(comma: str) -> None:
    assert canonical(own(f"Acme = Aa{comma} Bb"), "bb") == "Acme"


def test_comments_empty_lines_a_mark_of_unicode_and_windows_lines_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "synonyms.txt"
    path.write_bytes("\ufeff# ours\r\n\r\nAcme = 艾克米\r\n".encode())
    assert read_synonyms(path).get("艾克米") == "Acme"
    assert canonical(read_terms(synonyms=path), "艾克米") == "Acme"


def test_terms_with_synonyms_survive_another_process_and_have_a_digest() -> None:
    terms = own("Acme = 艾克米")
    again = pickle.loads(pickle.dumps(terms))
    assert canonical(again, "艾克米") == "Acme"
    assert again.digest() == terms.digest() != Terms().digest()


# What cannot be


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["Acme 艾克米"], ["own.txt:1", "has no ="]),
        (["# fine", "= 艾克米"], ["own.txt:2", "no canonical form"]),
        (["Acme ="], ["own.txt:1", "no name behind"]),
        (["Acme = a, , b"], ["own.txt:1", "empty name"]),
        (["Acme = a = b"], ["own.txt:1", "more than one ="]),
        (["Acme = !!!"], ["own.txt:1", "no letter or digit"]),
        (["Acme = Acme"], ["own.txt:1", "both sides"]),
        (["Acme = " + "x" * 201], ["own.txt:1", "201 characters"]),
        (["A1 = shared", "B1 = shared"], ["own.txt:2", "two canonical forms", "'A1' (line 1)", "'B1'"]),
        (["aa = bb", "bb = aa"], ["own.txt:1", "cycle", "lines 1, 2"]),
        ([f"w{n}q = w{(n + 1) % 999}q" for n in range(999)], ["own.txt:1", "= … =", "lines 1, 2, 3, 4, …, 999)"]),
        (["aa = bb", "xx = yy", "bb = cc", "cc = aa"], ["own.txt:1", "cycle", "lines 1, 3, 4"]),
    ],
)
def test_a_line_that_cannot_be_is_named(lines: list[str], says: list[str]) -> None:
    with pytest.raises(InputError) as raised:
        own(*lines)
    message = str(raised.value)
    assert "\n" not in message
    assert all(each in message for each in says), message


def test_the_same_line_twice_is_no_conflict() -> None:
    assert canonical(own("Acme = 艾克米", "ACME = 艾克米"), "艾克米") == "Acme"


def test_a_long_chain_of_lines_is_read() -> None:
    lines = [f"name{chr(97 + n % 26)}{n} = name{chr(97 + (n + 1) % 26)}{n + 1}" for n in range(3_000)]
    found = parse_synonyms(lines, where="own.txt")
    assert set(found.canonical.values()) == {"namea0"}


def test_a_file_that_is_not_text_or_not_there_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "synonyms.txt"
    path.write_bytes("Acme = 艾克米\n".encode() + "山 = 川\n".encode("big5"))
    with pytest.raises(InputError, match=r"synonyms\.txt:2: is not UTF-8"):
        read_synonyms(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_synonyms(tmp_path / "none.txt")
    with pytest.raises(InputError, match="cannot be read"):
        read_synonyms(tmp_path)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "synonyms.txt"
    path.write_text("Acme = a1\n" * 20, encoding="utf-8")
    monkeypatch.setattr(limits, "settings", Settings(max_terms_bytes=100))
    with pytest.raises(InputError, match=r"too large.*200 bytes.*BATAG_MAX_TERMS_BYTES"):
        read_synonyms(path)


# What can be used but is odd


@pytest.mark.parametrize("text", ["", "\n\n", "# our own names\n", "\ufeff"])
def test_a_file_without_synonyms_works_and_says_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "synonyms.txt"
    path.write_text(text, encoding="utf-8")
    terms = read_terms(synonyms=path)
    assert canonical(terms, "日立") == "HITACHI"
    (note,) = terms.synonyms.notes
    assert "synonyms.txt: has no synonyms" in note


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["Acme = Aa1", "Acme = Aa1"], ["own.txt:2: 'Aa1'", "line 1"]),
        (["Acme = Aa1, Bb1, Aa1"], ["own.txt:1: 'Aa1'", "earlier in the line"]),
        (["Acme = Aa1, Bb1", "# again", "Acme = Aa1, Bb1"], ["own.txt:3: 'Aa1'", "one other"]),
        (["Acme = Aa1, Bb1, Cc1"] * 2, ["own.txt:2: 'Aa1'", "2 others"]),
    ],
)
def test_a_name_that_is_listed_twice_works_and_is_named_with_its_line(lines: list[str], says: list[str]) -> None:
    terms = own(*lines)
    assert canonical(terms, "aa1") == "Acme"
    (note,) = terms.synonyms.notes
    assert all(each in note for each in says), note


def test_other_spellings_and_further_lines_of_a_canonical_form_are_nothing_odd() -> None:
    assert own("Acme = Aa1, AA 1", "Acme = Bb1", "ACME = Cc1").synonyms.notes == ()


def test_a_character_that_is_no_text_is_named_with_its_line() -> None:
    with pytest.raises(InputError, match=r"own\.txt:2: .* no text"):
        own("Acme = Aa1", "Bcme = B\0b")


def test_lines_are_counted_as_editors_count_them(tmp_path: Path) -> None:
    path = tmp_path / "synonyms.txt"
    path.write_bytes("Acme = a\u2028b, c\x0cd\r\nno equals\r\n".encode())
    with pytest.raises(InputError, match=r"synonyms\.txt:2: .* has no ="):
        read_synonyms(path)


def test_a_very_long_line_costs_no_more_than_its_length() -> None:
    many = ", ".join(f"name{number}" for number in range(20_000))
    assert canonical(own(f"Acme = {many}"), "name19999") == "Acme"
    with pytest.raises(InputError, match="name of 3,000,000 characters") as raised:
        own("Acme = " + "b" * 3_000_000)
    assert len(str(raised.value)) < 700
