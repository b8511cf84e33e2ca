"""Labelled pages to examples: each word with its own label, each labelled token learnt from exactly once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.crash.nursery import TINY, small_files

from batag.errors import InputError
from batag.labels.scheme import IGNORED, NONE, build_scheme
from batag.pages.duplicates import Groups, fingerprint
from batag.pages.formats import write_pages
from batag.pages.given import join_tokens
from batag.pages.page import Page, Tag
from batag.pages.problems import Problems
from batag.sample import sample_pages
from batag.segmentation.segmentation import Segmentation
from batag.training.data import Data, DataFiles, read_data
from batag.training.examples import Example, choose_scheme, label_counts, label_words, make_examples
from batag.training.recipe import read_recipe

WHOLE = {"window": 1000, "overlap": 10}
Said = list[tuple[str, str]]


def page(id: str = "1", **fields: Said) -> Page:
    """A page of given words; each with its class, a class that begins with `+` goes on with the tag before."""
    texts, tokens, tags = {}, {}, []
    for name, labelled_words in fields.items():
        texts[name], tokens[name] = join_tokens([word for word, _ in labelled_words], language="en")
        for (_, label), (start, end) in zip(labelled_words, tokens[name], strict=True):
            if label.startswith("+"):
                tags[-1] = Tag(name, tags[-1].start, end, tags[-1].label, texts[name][tags[-1].start : end])
            elif label:
                tags.append(Tag(name, start, end, label, texts[name][start:end]))
    return Page(id, texts, language="en", tags=tuple(tags), labelled=True, tokens=tokens)


def examples_of(*pages: Page, scheme: str = "flat", **size: int) -> tuple[list[Example], tuple[str, ...]]:
    """The examples of pages, and the names of their labels."""
    found = label_words(pages, Segmentation())
    chosen = choose_scheme(scheme, found, where="here")
    return make_examples(found, chosen, **(WHOLE | size)), chosen.labels


def named(example: Example, labels: tuple[str, ...]) -> Said:
    return [
        (word, "-" if label == IGNORED else labels[label]) for word, label in zip(example.words, example.labels, strict=True)
    ]


TITLE: Said = [("Nordvik", "brand"), ("oak", "feature"), ("table", "goods"), ("top", "+"), ("for", ""), ("desks", "goods")]
BODY: Said = [("a", ""), ("table", "goods"), ("chair", "goods")]


# Words and labels


def test_every_word_has_the_label_of_its_tag_and_a_fields_name_is_not_learnt() -> None:
    (example,), labels = examples_of(page(title=TITLE, description=BODY))
    assert named(example, labels) == [
        *[("Nordvik", "brand"), ("oak", "feature"), ("table", "goods"), ("top", "goods"), ("for", NONE), ("desks", "goods")],
        *[("<description>", "-"), ("a", NONE), ("table", "goods"), ("chair", "goods")],
    ]
    assert example.page == "1"


def test_with_bio_a_tag_begins_with_b_and_goes_on_with_i() -> None:
    (example,), labels = examples_of(page(title=TITLE, description=BODY), scheme="bio")
    assert [label for _, label in named(example, labels)] == [
        *("B-brand", "B-feature", "B-goods", "I-goods", NONE, "B-goods"),
        *("-", NONE, "B-goods", "B-goods"),
    ]


def test_a_description_alone_is_announced_and_an_empty_field_is_not() -> None:
    (one, two), labels = examples_of(page("1", description=BODY), page("2", title=TITLE, description=[]))
    assert named(one, labels)[0] == ("<description>", "-")
    assert [word for word, _ in named(two, labels)] == [word for word, _ in TITLE]


def test_a_page_without_a_word_gives_no_example() -> None:
    examples, _ = examples_of(page("1", title=TITLE), Page("2", {"title": "  "}, labelled=True))
    assert [example.page for example in examples] == ["1"]


def test_a_labelled_page_without_tags_is_learnt_from_as_none() -> None:
    (_, empty), labels = examples_of(page("1", title=TITLE), page("2", title=[("plain", ""), ("words", "")]))
    assert named(empty, labels) == [("plain", NONE), ("words", NONE)]


def test_classes_are_numbered_from_the_most_frequent() -> None:
    _, labels = examples_of(page(title=TITLE, description=BODY))
    assert labels == (NONE, "goods", "brand", "feature")


def test_counts_are_those_of_the_tokens_that_are_learnt_from() -> None:
    examples, labels = examples_of(page("1", title=TITLE, description=BODY), page("2", title=BODY))
    assert dict(zip(labels, label_counts(examples, len(labels)), strict=True)) == {
        NONE: 3,
        "goods": 7,
        "brand": 1,
        "feature": 1,
    }
    assert label_counts([Example("1", ["a"], [IGNORED])], 2) == [0, 0]


@pytest.mark.parametrize("language", ["en", "zh-Hant", "ja"])
@pytest.mark.parametrize("scheme", ["flat", "bio"])
def test_the_labels_of_sample_pages_say_the_same_as_their_tags(language: str, scheme: str) -> None:
    pages = list(sample_pages(language, pages=30, style="paper"))
    segmentation = Segmentation()
    found = label_words(pages, segmentation)
    chosen = build_scheme(scheme, found.class_tokens)
    examples = make_examples(found, chosen, **WHOLE)
    right = total = 0
    for each, example in zip(pages, examples, strict=True):
        assert example.page == each.id
        labels = iter(zip(example.words, example.labels, strict=True))
        for number, field in enumerate(segmentation(each)):
            if number and field.tokens:
                assert next(labels) == (f"<{field.name}>", IGNORED)
            inside = [next(labels) for _ in field.tokens]
            assert [word for word, _ in inside] == field.words
            spans = chosen.decode([label for _, label in inside])
            origins = field.origins
            decoded = {(origins[first][0], origins[last][1], name) for first, last, name in spans}
            true = {(tag.start, tag.end, tag.label) for tag in each.tags if tag.field == field.name}
            right, total = right + len(true & decoded), total + len(true)
        assert next(labels, None) is None
    # Some tags do not end where a token ends; with flat labels neighbours of one class become one.
    assert right > 0.8 * total > 0


# Windows


def long_page(length: int, id: str = "1") -> Page:
    kinds = ("", "goods", "+", "brand", "", "")
    return page(id, title=[(f"w{number}", kinds[number % 6]) for number in range(length)], description=BODY)


@given(
    length=st.integers(2, 120), window=st.integers(4, 30), overlap=st.integers(0, 12), scheme=st.sampled_from(["flat", "bio"])
)
def test_every_token_of_a_long_page_is_learnt_from_exactly_once(length: int, window: int, overlap: int, scheme: str) -> None:
    overlap = min(overlap, window - 1)
    long = long_page(length)
    (whole,), labels = examples_of(long, scheme=scheme)
    pieces, same = examples_of(long, scheme=scheme, window=window, overlap=overlap)
    assert same == labels
    learnt = [pair for piece in pieces for pair in named(piece, labels) if pair[1] != "-"]
    assert learnt == [pair for pair in named(whole, labels) if pair[1] != "-"]
    assert all(len(piece.words) <= window for piece in pieces)
    assert {piece.page for piece in pieces} == {"1"}


def test_what_neighbouring_windows_share_is_learnt_in_one_of_them_only() -> None:
    pieces, labels = examples_of(long_page(20), window=12, overlap=6)
    assert len(pieces) > 1
    shared = [set(a.words) & set(b.words) for a, b in pairwise(pieces)]
    assert all(shared)
    times = Counter(word for piece in pieces for word, label in named(piece, labels) if label != "-" and word.startswith("w"))
    assert set(times.values()) == {1}
    ignored = [word for piece in pieces for word, label in named(piece, labels) if label == "-"]
    assert set().union(*shared) <= {*ignored, "<description>"}


def test_a_page_that_fits_the_window_exactly_is_one_example() -> None:
    (whole,), _ = examples_of(long_page(20))
    size = len(whole.words)
    assert len(examples_of(long_page(20), window=size, overlap=2)[0]) == 1
    assert len(examples_of(long_page(20), window=size - 1, overlap=2)[0]) == 2


# What is not learnt from


def test_pages_that_nobody_labelled_are_counted_and_not_used() -> None:
    bare = Page("2", {"title": "not seen by anybody"})
    found = label_words([page("1", title=TITLE), bare, bare], Segmentation())
    assert [id for id, *_ in found.pages] == ["1"]
    counted = found.statistics()
    assert (counted["pages"], counted["not_labelled"], counted["tokens"]) == (1, 2, 6)


def test_the_statistics_tell_tokens_tags_languages_and_classes() -> None:
    counted = label_words([page(title=TITLE, description=BODY)], Segmentation()).statistics()
    assert counted == {
        "pages": 1,
        "reviewed": 1,
        "sources": {"person": {"pages": 1, "tags": 6}},
        "not_labelled": 0,
        "tokens": 9,
        "tags": 6,
        "tags_misaligned": 0,
        "tags_lost": 0,
        "tags_of_stop_words": 0,
        "languages": {"en": 1},
        "languages_by_file": {},
        "fields": {"title": 1, "description": 1},
        "classes": {NONE: 2, "goods": 5, "brand": 1, "feature": 1},
        "class_tags": {"goods": 4, "brand": 1, "feature": 1},
    }


def test_a_tag_that_does_not_fit_the_tokens_is_counted() -> None:
    text = "unbelievably good"
    odd = Page("1", {"title": text}, language="en", tags=(Tag("title", 0, 2, "goods"), Tag("title", 13, 16, "brand")))
    counted = label_words([odd], Segmentation()).statistics()
    assert (counted["tags"], counted["tags_misaligned"], counted["tags_lost"]) == (2, 2, 1)


def test_pages_without_any_label_or_tag_are_no_data() -> None:
    bare = Page("2", {"title": "not seen by anybody"})
    with pytest.raises(InputError, match=r"pages.jsonl: no labelled page .* docs/labelling.md"):
        choose_scheme("flat", label_words([bare], Segmentation()), where="pages.jsonl")
    with pytest.raises(InputError, match=r"pages.jsonl: no labelled page .* no page that can be read"):
        choose_scheme("flat", label_words([], Segmentation()), where="pages.jsonl")
    with pytest.raises(InputError, match=r"pages.jsonl: no tag on any page"):
        choose_scheme("flat", label_words([page(title=[("plain", "")])], Segmentation()), where="pages.jsonl")


# Train and dev


def read(folder: Path, train: list[Page], dev: list[Page] | None = None, *settings: str) -> Data:
    folder.mkdir(exist_ok=True)
    write_pages(train, folder / "train.jsonl")
    if dev is not None:
        write_pages(dev, folder / "dev.jsonl")
    files = DataFiles((folder / "train.jsonl",), () if dev is None else (folder / "dev.jsonl",))
    return read_data(files, read_recipe(None, settings=[*TINY, *settings]), problems=Problems())


@pytest.mark.parametrize("scheme", ["flat", "bio"])
def test_classes_of_dev_that_train_does_not_have_are_ignored_and_reported(tmp_path: Path, scheme: str) -> None:
    dev = page("2", title=[("red", "colour"), ("wine", "+"), ("table", "goods"), ("for", ""), ("2026", "year")])
    data = read(tmp_path, [page(title=TITLE)], [dev], f"pages.scheme={scheme}")
    assert data.statistics["dev"]["unknown_classes"] == ["colour", "year"]
    assert data.scheme.classes == ("goods", "brand", "feature")
    assert [label for _, label in named(data.dev[0], data.scheme.labels)] == [
        *("-", "-"),
        *("goods" if scheme == "flat" else "B-goods", NONE, "-"),
    ]


def test_a_dev_of_known_classes_reports_none_unknown(tmp_path: Path) -> None:
    data = read(tmp_path, [page(title=TITLE)], [page("2", title=BODY)])
    assert data.statistics["dev"]["unknown_classes"] == []
    assert data.statistics["held_out"] is False


def test_only_words_of_train_are_known_and_rare_ones_are_left_out(tmp_path: Path) -> None:
    train = [page("1", title=TITLE), page("2", title=BODY)]
    dev = [page("3", title=[("unheard", ""), ("table", "goods")])]
    assert set(read(tmp_path, train, dev).vocabulary.words) == {
        *("nordvik", "oak", "table", "top", "for", "desks", "a", "chair"),
    }
    assert set(read(tmp_path, train, dev, "input.kind=word").vocabulary.words) >= {"Nordvik", "table"}
    assert read(tmp_path, train, dev, "input.min_word_count=2").vocabulary.words == ("table",)


def test_a_dev_without_labels_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, [page(title=TITLE)], [Page("2", {"title": "nobody saw this"})])
    assert str(tmp_path / "dev.jsonl") in str(caught.value)
    assert "dev=FILE" in str(caught.value)


def test_a_dev_of_empty_pages_is_refused(tmp_path: Path) -> None:
    empty = Page("2", {"title": "<br>", "description": "<p></p>"}, language="en", labelled=True)
    with pytest.raises(InputError, match="dev"):
        read(tmp_path, [page(title=TITLE)], [empty])


def test_too_few_pages_to_hold_some_out_ask_for_dev(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"too few pages .* dev=FILE"):
        read(tmp_path, [page(title=TITLE)])


def twins(pages: int) -> Iterator[Page]:
    """Sample pages, each with two near-duplicates: another number, and another case."""
    for each in sample_pages("en", pages=pages, style="paper"):
        for number in range(3):
            fields = {name: f"{text} 1{number}7" for name, text in each.fields.items()}
            if number == 2:
                fields = {name: text.upper() for name, text in fields.items()}
            copy = Page(f"{each.id}/{number}", fields, language="en", shop=each.shop, labelled=True)
            yield replace(copy, tags=tuple(copy.cut(tag.field, tag.start, tag.end, tag.label) for tag in each.tags))


def test_held_out_pages_have_no_twin_in_train(tmp_path: Path) -> None:
    pages = [*twins(30), Page("bare", {"title": "never labelled"})]
    data = read(tmp_path, pages)
    ids = {part: {example.page for example in getattr(data, part)} for part in ("train", "dev")}
    assert data.statistics["held_out"] is True
    assert data.statistics["train"]["not_labelled"] == 1
    assert not ids["train"] & ids["dev"]
    assert ids["train"] | ids["dev"] == {each.id for each in pages[:-1]}
    assert 0.05 < len(ids["dev"]) / 90 < 0.2
    groups = Groups()
    for each in pages:
        groups.add(fingerprint(each))
    group_of = dict(zip((each.id for each in pages), groups.of(), strict=True))
    assert not {group_of[id] for id in ids["train"]} & {group_of[id] for id in ids["dev"]}
    # The twins were found to be twins: otherwise this test would show nothing.
    assert len(set(group_of.values())) < 40


def test_held_out_pages_are_the_same_ones_every_time_and_for_every_seed(tmp_path: Path) -> None:
    pages = list(twins(10))
    held = [read(tmp_path, pages, None, f"training.seed={seed}").dev for seed in (0, 0, 1)]
    assert held[0] == held[1] == held[2]


def test_several_files_are_read_one_after_the_other(tmp_path: Path) -> None:
    files = small_files(tmp_path, train=3, dev=2)
    both = DataFiles((*files["dev"], *files["train"]), files["dev"])
    data = read_data(both, read_recipe(None), problems=Problems())
    assert [example.page.split("-")[1] for example in data.train] == ["dev"] * 2 + ["train"] * 3
