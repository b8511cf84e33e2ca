"""Each finding of an inspection on pages so small that the numbers were counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from batag.labels.inspection import Inspection
from batag.pages.page import Page, Tag
from batag.settings import settings

LONG = "waterproof hiking boots with a warm lining and a very soft sole for long walks in winter and autumn weather"


def made(id: str, text: str, *tags: tuple[str, str], labelled: bool = True, **statistics: Any) -> Page:
    """A page with one field; tags as (text, label), each at the first place after the one before."""
    found, done = [], 0
    for piece, label in tags:
        start = text.index(piece, done)
        done = start + len(piece)
        found.append(Tag("title", start, done, label, piece))
    statistics = {"language": "en", "where": f"pages.jsonl:{id}"} | statistics
    return Page(id, {"title": text}, tags=tuple(found), labelled=labelled, **statistics)


def report(train: list[Page], dev: list[Page] | None = None, test: list[Page] | None = None) -> dict[str, Any]:
    inspection = Inspection()
    for split, pages in (("train", train), ("dev", dev), ("test", test)):
        if pages is not None:
            inspection.add(pages, split=split)
    return inspection.report()


def test_counts_of_a_tiny_data_set() -> None:
    pages = [
        made("1", "ACME red shoes", ("ACME", "brand"), ("red shoes", "goods"), shop="a"),
        made("2", "blue hat by ACME", ("hat", "goods"), ("ACME", "brand"), shop="a"),
        made("3", "nothing here", shop="b"),
        made("4", "nobody looked", labelled=False),
    ]
    found = report(pages)["splits"]["train"]
    assert found["pages"] == 4
    assert found["labelled_pages"] == 3
    assert found["labelled_pages_without_tags"] == 1
    assert found["languages"] == {"en": 4}
    assert found["shops"] == {"a": 2, "b": 1}
    assert found["tokens"] == 3 + 4 + 2 + 2
    assert found["tokens_per_page"] == 2.8
    assert found["fields"] == {
        "title": {"pages": 4, "characters_per_page": 13.8, "tokens_per_page": 2.8, "longest_in_tokens": 4},
    }
    # Tokens of labelled pages only: none = blue, by, nothing, here.
    assert found["classes"] == {
        "none": {"tokens": 4, "tags": 0, "distinct_texts": 0},
        "goods": {"tokens": 3, "tags": 2, "distinct_texts": 2},
        "brand": {"tokens": 2, "tags": 2, "distinct_texts": 1},
    }
    assert list(found["classes"]) == ["none", "goods", "brand"]
    assert found["ratio"] == "2 : 1.5 : 1"
    assert found["duplicate_pages"] == 0
    assert found["touching_tags"] == 0
    assert "unknown_words" not in found


def test_every_field_is_counted_by_itself() -> None:
    page = Page("1", {"title": "red hat", "description": "a very warm red hat"}, language="en", labelled=True)
    fields = report([page])["splits"]["train"]["fields"]
    assert [(name, statistics["tokens_per_page"]) for name, statistics in fields.items()] == [
        ("title", 2.0),
        ("description", 5.0),
    ]


def test_languages_are_detected_where_none_is_said() -> None:
    pages = [made("1", "红色外套", language=None), made("2", "red hat", language=None), made("3", "赤いぼうし", language=None)]
    assert report(pages)["splits"]["train"]["languages"] == {"zh-Hans": 1, "en": 1, "ja": 1}


def test_rare_classes_are_named() -> None:
    few = settings.rare_class_tags - 1
    pages = [made(str(n), f"ACME hat number{n}", ("ACME", "brand"), ("hat", "goods")) for n in range(few)]
    pages.append(made("last", "ACME", ("ACME", "brand")))
    assert report(pages)["splits"]["train"]["rare_classes"] == ["goods"]


def test_misaligned_and_lost_tags_are_counted_and_listed() -> None:
    pages = [
        made("1", "ACMEshoes here", ("ACME", "brand")),  # 4 of 9 characters: lost
        made("2", "shoesACME here", ("shoes", "goods")),  # 5 of 9 characters: the whole word
        made("3", "fine hat", ("hat", "goods")),
    ]
    found = report(pages)
    assert found["misaligned"]["tags"] == 2
    assert found["misaligned"]["lost"] == 1
    first, second = found["misaligned"]["listed"]
    assert "pages.jsonl:1" in first
    assert "lost" in first
    assert "'shoesACME'" in second
    assert found["splits"]["train"]["classes"]["brand"] == {"tokens": 0, "tags": 1, "distinct_texts": 1}


def test_a_long_list_of_misaligned_tags_is_cut_but_counted() -> None:
    pages = [made(str(n), f"ACMEshoes x{n}", ("ACME", "brand")) for n in range(300)]
    found = report(pages)["misaligned"]
    assert found["tags"] == 300
    assert len(found["listed"]) == 200
    assert found["not_listed"] == 100


def test_every_list_of_the_report_says_how_much_it_leaves_out() -> None:
    train = [made(str(n), f"thing{n} coat{n}", (f"thing{n}", "brand")) for n in range(250)]
    again = [made(f"again{n}", f"thing{n} coat{n}", (f"thing{n}", "goods")) for n in range(250)]
    found = report([*train, *again], train)
    for name, number in (("disagreements", 250), ("ambiguous_tags", 250), ("leaks", 250)):
        assert len(found[name]["listed"]) + found[name]["not_listed"] == number, name
        assert found[name]["not_listed"] == 50
    assert found["misaligned"]["not_listed"] == 0


def test_the_same_text_with_other_tags_is_a_disagreement() -> None:
    pages = [
        made("1", "ACME red hat", ("ACME", "brand")),
        made("2", "ACME red hat", ("ACME", "goods")),
        made("3", "ACME red hat", ("ACME", "brand")),
        made("4", "ACME red hat"),
        made("5", "another coat", ("coat", "goods")),
    ]
    found = report(pages)["disagreements"]
    assert found["pages"] == 2
    assert [item["page"] for item in found["listed"]] == ["2", "4"]
    assert "page 1" in found["listed"][0]["earlier"]


def test_a_page_that_nobody_labelled_does_not_disagree() -> None:
    first = made("1", "ACME red hat", labelled=False)
    second = made("2", "ACME red hat", ("ACME", "brand"))
    assert report([first, second])["disagreements"]["pages"] == 0
    assert report([second, first])["disagreements"]["pages"] == 0
    third = made("3", "ACME red hat", ("hat", "goods"))
    assert report([first, second, third])["disagreements"]["pages"] == 1


def test_the_same_tags_in_another_width_or_case_are_no_disagreement() -> None:
    pages = [
        made("1", "ACME red hat", ("ACME", "brand")),
        made("2", "ＡＣＭＥ red hat", ("ＡＣＭＥ", "brand")),
        made("3", "Acme RED hat!", ("Acme", "brand")),
    ]
    found = report(pages)
    assert found["splits"]["train"]["duplicate_pages"] == 2
    assert found["disagreements"]["pages"] == 0


def test_texts_with_several_classes_are_listed_the_most_frequent_first() -> None:
    pages = [
        made("1", "apple phone", ("apple", "brand")),
        made("2", "Apple juice", ("Apple", "goods")),
        made("3", "apple laptop", ("apple", "brand")),
        made("4", "orange juice", ("orange", "goods")),
        made("5", "orange phone", ("orange", "brand")),
        made("6", "a hat", ("hat", "goods")),
    ]
    found = report(pages)["ambiguous_tags"]
    assert found["texts"] == 2
    assert found["listed"] == [
        {"text": "apple", "classes": {"brand": 2, "goods": 1}},
        {"text": "orange", "classes": {"goods": 1, "brand": 1}},
    ]


def test_exact_and_near_leaks_are_found() -> None:
    train = [made("t1", LONG), made("t2", "a red hat")]
    dev = [made("d1", "A RED <b>hat</b>!"), made("d2", "quite another thing")]
    test = [made("e1", LONG.replace("warm", "cosy")), made("e2", "quite another thing"), made("e3", "something new again")]
    found = report(train, dev, test)["leaks"]
    assert found["pages"] == {"dev": 1, "test": 1}
    assert found["near_pages"] == {"test": 1}
    assert {(item["split"], item["page"], item["near"]) for item in found["listed"]} == {
        ("dev", "d1", False),
        ("test", "e1", True),
        ("test", "e2", False),
    }
    assert {item["also"] for item in found["listed"]} == {
        "train: pages.jsonl:t1",
        "train: pages.jsonl:t2",
        "dev: pages.jsonl:d2",
    }


def test_the_same_text_is_named_even_if_a_near_one_comes_before_it() -> None:
    train = [made("t1", LONG.replace("warm", "cosy")), made("t2", LONG)]
    (item,) = report(train, [made("d1", LONG)])["leaks"]["listed"]
    assert (item["near"], item["also"]) == (False, "train: pages.jsonl:t2")


def test_a_page_twice_in_one_split_is_no_leak() -> None:
    found = report([made("1", LONG), made("2", LONG)], [made("3", "a red hat"), made("4", "a red hat")])
    assert found["leaks"]["pages"] == {}
    assert found["splits"]["train"]["duplicate_pages"] == 1
    assert found["splits"]["dev"]["duplicate_pages"] == 1


def test_train_given_as_dev_leaks_wholly() -> None:
    pages = [made(str(n), f"{word} coat of {word}") for n, word in enumerate(["wool", "silk", "linen", "cotton"])]
    assert report(pages, pages)["leaks"]["pages"] == {"dev": 4}


def test_duplicates_are_counted_where_they_stand_again() -> None:
    pages = [made("1", "a red hat"), made("2", "A red hat!"), made("3", "a ｒｅｄ hat"), made("4", "a blue coat")]
    assert report(pages)["splits"]["train"]["duplicate_pages"] == 2


def test_a_duplicate_in_dev_counts_there_even_if_train_has_it_too() -> None:
    dev = [made("2", "a red hat"), made("3", "a red hat")]
    found = report([made("1", "a red hat")], dev)
    assert found["leaks"]["pages"] == {"dev": 2}
    assert found["splits"]["dev"]["duplicate_pages"] == 1


def test_the_share_of_unknown_words() -> None:
    train = [made("1", "ACME red shoes", ("ACME", "brand"), ("shoes", "goods"))]
    dev = [
        made("2", "ACME blue shoes", ("ACME", "brand"), ("shoes", "goods")),
        made("3", "Zorro red hat now", ("Zorro", "brand")),
    ]
    found = report(train, dev)["splits"]["dev"]["unknown_words"]
    # Of ACME blue shoes Zorro red hat now, train does not know blue, Zorro, hat and now.
    assert found["fraction"] == round(4 / 7, 4)
    assert found["by_class"] == {"none": 0.75, "brand": 0.5, "goods": 0.0}
    assert found["unseen_tags"] == {"brand": 0.5, "goods": 0.0}


def test_shares_never_exceed_one_though_some_pages_are_not_labelled() -> None:
    train = [made("1", "ACME red shoes", ("ACME", "brand"))]
    dev = [made("2", "ACME red new", ("ACME", "brand")), made("3", "many words that nobody ever labelled", labelled=False)]
    found = report(train, dev)["splits"]["dev"]["unknown_words"]
    assert found["by_class"] == {"none": 0.5, "brand": 0.0}


def test_touching_tags_of_one_class_are_counted() -> None:
    pages = [
        made("1", "red hat blue coat", ("red hat", "goods"), ("blue coat", "goods")),
        made("2", "red hat and coat", ("red hat", "goods"), ("coat", "goods")),
        made("3", "ACME hat coat", ("ACME", "brand"), ("hat", "goods"), ("coat", "goods")),
    ]
    assert report(pages)["splits"]["train"]["touching_tags"] == 2


def test_tags_at_the_borders_of_two_fields_do_not_touch() -> None:
    tags = (Tag("title", 0, 3, "x", "hat"), Tag("description", 0, 4, "x", "coat"))
    page = Page("1", {"title": "hat", "description": "coat"}, language="en", tags=tags)
    assert report([page])["splits"]["train"]["touching_tags"] == 0


def test_nothing_at_all_is_a_report_too() -> None:
    found = report([])
    assert found["splits"]["train"]["pages"] == 0
    assert found["splits"]["train"]["ratio"] == "no tokens"
    assert report([made("1", "!!!")])["splits"]["train"]["tokens"] > 0


def test_two_adds_to_one_split_are_one_split() -> None:
    inspection = Inspection()
    inspection.add([made("1", "a red hat")])
    inspection.add([made("2", "a red hat")])
    first, second = inspection.report(), inspection.report()
    assert first == second
    assert first["splits"]["train"]["pages"] == 2
    assert first["splits"]["train"]["duplicate_pages"] == 1


@pytest.mark.parametrize("other", ["a blue coat", "a red hat"])
def test_a_page_without_source_is_still_listed(other: str) -> None:
    found = report([made("1", "a red hat", where="")], [made("2", other, where="")])
    assert len(found["leaks"]["listed"]) == (other == "a red hat")
