"""Merges are proposed with their evidence; a proposal is a file of synonyms once a person has accepted it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.terms.categories import write

from batag.pages.page import Page, Tag
from batag.terms.forms import collect_forms
from batag.terms.merging import CATEGORY, COLUMN, PAGES, SPELLING, Proposal, as_file, propose
from batag.terms.sources import import_taxonomy
from batag.terms.synonyms import parse_synonyms
from batag.terms.terms import Terms


def page(number: int, *tags: tuple[str, str], **extra: Any) -> Page:
    text = " ".join(text for text, _ in tags)
    made = [Tag("title", at := text.index(word), at + len(word), label, word) for word, label in tags]
    return Page(str(number), {"title": text}, tags=made, extra=extra)


def proposed(pages: list[Page], own: Terms | None = None) -> list[Proposal]:
    return propose(collect_forms(pages, own or Terms()))


def kinds(proposal: Proposal) -> set[str]:
    return {each.kind for each in proposal.evidence}


def test_brands_beside_the_same_value_of_a_column_are_proposed() -> None:
    pages = [page(n, ("艾克米" if n % 2 else "Akmee", "brand"), brand="AKMEE") for n in range(8)]
    (found,) = proposed(pages)
    assert (found.label, set(found.texts), kinds(found)) == ("brand", {"艾克米", "Akmee"}, {COLUMN})
    assert "AKMEE" in found.evidence[0].words
    assert sum(found.counts) == 8


def test_brands_in_two_scripts_on_the_same_pages_are_proposed() -> None:
    (found,) = proposed([page(n, ("艾克米", "brand"), ("Akmee", "brand")) for n in range(4)])
    assert (set(found.texts), kinds(found)) == ({"艾克米", "Akmee"}, {PAGES})
    assert "4 of 4 pages" in found.evidence[0].words


def test_words_that_differ_in_one_letter_are_proposed_but_not_in_a_digit() -> None:
    pages = [page(n, (text, "brand")) for n, text in enumerate(["Fjallzen", "Fjalzen", "Fjallzen", "Model2020x", "Model2021x"])]
    (found,) = proposed(pages)
    assert (found.texts, kinds(found)) == (("Fjallzen", "Fjalzen"), {SPELLING})


def test_names_of_different_labels_are_not_proposed() -> None:
    assert proposed([page(1, ("Fjallzen", "brand")), page(2, ("Fjalzen", "goods"))]) == []


def test_names_of_one_category_are_proposed(tmp_path: Path) -> None:
    head, gid = "# Shopify Product Taxonomy - Categories: 2026-02", "gid://shopify/TaxonomyCategory/"
    english = write(tmp_path / "en.txt", [head, f"{gid}gg : Gadgets", f"{gid}gg-1 : Gadgets > Zorblers"])
    chinese = write(tmp_path / "zh.txt", [head, f"{gid}gg : 小工具類", f"{gid}gg-1 : 小工具類 > 佐布勒機"])
    own = Terms(taxonomy=import_taxonomy([english, chinese]))
    (found,) = proposed([page(1, ("zorbler", "goods")), page(2, ("佐布勒機", "goods"))], own)
    assert (set(found.texts), kinds(found)) == ({"zorbler", "佐布勒機"}, {CATEGORY})
    assert "gg-1" in found.evidence[0].words


def test_what_is_one_already_and_words_of_advertising_are_not_proposed() -> None:
    pages = [page(n, ("日立" if n % 2 else "HITACHI", "brand"), ("免運", "brand"), brand="HITACHI") for n in range(8)]
    assert proposed(pages) == []


def test_no_form_is_in_two_proposals() -> None:
    pages = [page(n, ("艾克米" if n % 2 else "Akmeean", "brand"), ("Akmeeam", "brand"), brand="A") for n in range(8)]
    texts = [text for each in proposed(pages) for text in each.texts]
    assert len(texts) == len(set(texts)) > 1


def test_the_file_of_proposals_is_a_file_of_synonyms_with_the_evidence_in_comments(tmp_path: Path) -> None:
    pages = [page(n, ("艾克米" if n % 3 else "Akmee", "brand"), brand="AKMEE") for n in range(9)]
    text = as_file(proposed(pages), source="tagged\n.jsonl")
    plain = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert plain == ["艾克米 = Akmee"]
    assert "# the column brand says 'AKMEE' on the pages of both" in text
    accepted = Terms(synonyms=parse_synonyms(text.splitlines(), where="accepted"))
    assert accepted.meaning("AKMEE").canonical == "艾克米"
    assert proposed(pages, accepted) == []


def test_names_with_commas_and_lines_never_break_the_file() -> None:
    nasty = ["Akmee, Inc", "Akmee = x", "Akm；ee", "#Akmee"]
    pages = [page(n, (nasty[n % 4], "brand"), ("艾克米", "brand"), brand="A\n# B = c") for n in range(12)]
    parse_synonyms(as_file(proposed(pages), source="a\nb = c").splitlines(), where="proposed")
