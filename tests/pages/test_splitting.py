"""Train, dev and test: nothing leaks, shares hold in every shop and language, the seed decides."""

from __future__ import annotations

import random
from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batag.errors import UsageError
from batag.pages.page import Page
from batag.pages.splitting import SPLITS, Assignment, assign_splits, parse_shares

HAN = [chr(code) for code in range(0x4E00, 0x5E00)]


def written(draw: random.Random, length: int = 60) -> str:
    return "".join(draw.choice(HAN) for _ in range(length))


def made(number: int, *, shops: int = 0, languages: int = 0, seed: int = 0) -> list[Page]:
    draw = random.Random(seed)
    return [
        Page(
            str(place),
            {"title": written(draw)},
            shop=f"shop{place % shops}" if shops else None,
            language=("zh-Hant", "ja", "en")[place % languages] if languages else None,
        )
        for place in range(number)
    ]


def twin(draw: random.Random, text: str, kind: str) -> str:
    if kind == "same":
        return text
    if kind == "digits":
        return text.replace("型號1", f"型號{draw.randrange(2, 10_000)}")
    if kind == "case":
        return text.swapcase()
    if kind == "width":
        return "".join(chr(ord(character) + 0xFEE0) if "!" <= character <= "~" else character for character in text)
    if kind == "html":
        middle = len(text) // 2
        return f"<p>{text[:middle]}</p>\r\n<b>{text[middle:]}</b>&nbsp;"
    middle = len(text) // 2
    return text[:middle] + written(draw, 2) + text[middle + 2 :]


KINDS = ("same", "digits", "case", "width", "html", "word")


@given(
    seed=st.integers(0, 10_000),
    number=st.integers(1, 40),
    kinds=st.lists(st.sampled_from(KINDS), max_size=30),
    shares=st.sampled_from([(0.8, 0.1, 0.1), (0.5, 0.25, 0.25), (0.34, 0.33, 0.33), (0.9, 0.0, 0.1)]),
)
@settings(max_examples=60, deadline=None)
def test_twins_never_land_in_two_splits(seed: int, number: int, kinds: list[str], shares: tuple[float, ...]) -> None:
    draw = random.Random(seed)
    pages, families = [], []
    for place in range(number):
        text = f"{written(draw, 60)} Brand-X 型號1 {written(draw, 40)}"
        pages.append(Page(f"{place}", {"title": text}, shop=draw.choice(["a", "b", None])))
        families.append(place)
    for place, kind in enumerate(kinds):
        family = draw.randrange(number)
        text = twin(draw, pages[family]["title"], kind)
        pages.append(Page(f"twin{place}", {"title": text}, shop=draw.choice(["a", "b", None])))
        families.append(family)
    order = list(range(len(pages)))
    draw.shuffle(order)
    assignment = assign_splits([pages[place] for place in order], shares=shares, seed=seed)
    homes = defaultdict(set)
    for place, split in zip(order, assignment.splits, strict=True):
        homes[families[place]].add(split)
    assert all(len(splits) == 1 for splits in homes.values())
    assert set(assignment.splits) <= set(SPLITS)
    assert assignment.groups == number
    assert sum(assignment.counts.values()) == len(pages)


@pytest.mark.parametrize("shares", [(0.8, 0.1, 0.1), (0.6, 0.2, 0.2), (1 / 3, 1 / 3, 1 / 3), (0.98, 0.01, 0.01), (0, 0.5, 0.5)])
@pytest.mark.parametrize(("shops", "languages"), [(0, 0), (1, 0), (5, 0), (5, 3)])
def test_shares_hold_within_a_page_or_two(shares: tuple[float, ...], shops: int, languages: int) -> None:
    number = 600
    counts = assign_splits(made(number, shops=shops, languages=languages), shares=shares).counts
    strata = max(shops, 1) * max(languages, 1)
    for share, name in zip(shares, SPLITS, strict=True):
        assert abs(counts[name] - share * number) <= max(2, strata), counts


def test_each_shop_and_language_has_its_share() -> None:
    pages = made(900, shops=3, languages=2)
    splits = assign_splits(pages).splits
    inside = defaultdict(Counter)
    for page, split in zip(pages, splits, strict=True):
        inside[page.shop, page.language][split] += 1
    assert len(inside) == 6
    for counts in inside.values():
        assert abs(counts["train"] - 120) <= 2
        assert abs(counts["dev"] - 15) <= 2
        assert abs(counts["test"] - 15) <= 2


@pytest.mark.parametrize("a_shop", [1, 2, 3, 4, 5])
def test_many_small_shops_still_fill_dev_and_test(a_shop: int) -> None:
    number = 300
    counts = assign_splits(made(number, shops=number // a_shop)).counts
    assert abs(counts["train"] - 240) <= 30, counts
    assert abs(counts["dev"] - 30) <= 15, counts
    assert abs(counts["test"] - 30) <= 15, counts


def test_large_groups_do_not_upset_the_shares() -> None:
    draw = random.Random(3)
    pages = []
    for place in range(60):
        text = written(draw, 80)
        pages += [Page(f"{place}/{copy}", {"title": text}) for copy in range(draw.randrange(1, 8))]
    counts = assign_splits(pages).counts
    assert abs(counts["train"] / len(pages) - 0.8) < 0.05
    assert abs(counts["dev"] / len(pages) - 0.1) < 0.05
    assert abs(counts["test"] / len(pages) - 0.1) < 0.05


def test_the_same_seed_gives_the_same_answer_and_another_another() -> None:
    pages = made(200, shops=3)
    first = assign_splits(pages, seed=1)
    assert assign_splits(iter(pages), seed=1) == first
    assert assign_splits(pages, seed=2).splits != first.splits


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_tiny_inputs_are_split_too(number: int) -> None:
    assignment = assign_splits(made(number))
    assert len(assignment.splits) == number
    assert set(assignment.splits) <= set(SPLITS)
    assert number == 0 or assignment.counts["train"] >= 1


@pytest.mark.parametrize("number", [3, 4, 5, 9])
def test_three_pages_or_more_can_fill_three_equal_splits(number: int) -> None:
    assert min(assign_splits(made(number), shares=(1 / 3, 1 / 3, 1 / 3)).counts.values()) >= 1


@pytest.mark.parametrize("shares", [(1, 0, 0), (0, 1, 0), (0.5, 0.5, 0), (0.9, 0, 0.1)])
def test_a_share_of_zero_gets_no_page(shares: tuple[float, ...]) -> None:
    counts = assign_splits(made(50, shops=4), shares=shares).counts
    assert all(counts[name] == 0 for name, share in zip(SPLITS, shares, strict=True) if not share)
    assert sum(counts.values()) == 50


def test_groups_are_counted() -> None:
    pages = [*made(5), *made(3)]
    assignment = assign_splits(pages)
    assert assignment.groups == 5
    assert assignment.grouped == 6
    assert assignment.splits[:3] == assignment.splits[5:]


def test_pages_that_differ_only_by_an_empty_field_stay_together() -> None:
    draw = random.Random(5)
    titles = [written(draw, 4) for _ in range(100)]
    pages = [Page(f"a{title}", {"title": title}) for title in titles]
    pages += [Page(f"b{title}", {"title": title, "description": ""}) for title in titles]
    splits = assign_splits(pages).splits
    assert splits[:100] == splits[100:]


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("8:1:1", (0.8, 0.1, 0.1)),
        ("80/10/10", (0.8, 0.1, 0.1)),
        ("0.8,0.1,0.1", (0.8, 0.1, 0.1)),
        ("1:0:1", (0.5, 0.0, 0.5)),
        (" 8 : 1 : 1 ", (0.8, 0.1, 0.1)),
        ("1e0:0:0", (1.0, 0.0, 0.0)),
    ],
)
def test_shares_are_read(text: str, shares: tuple[float, float, float]) -> None:
    assert parse_shares(text) == pytest.approx(shares)


@pytest.mark.parametrize(
    "text",
    ["", "8", "8:1", "8:1:1:1", "a:b:c", "8:-1:1", "0:0:0", "nan:1:1", "inf:1:1", "8:1:", "8;1;1", "1e999:1:1", "8:1:1%"],
)
def test_shares_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"three sizes.*8:1:1"):
        parse_shares(text)


def test_an_assignment_counts_every_split() -> None:
    assert Assignment(["train", "dev", "train"], 3, 0).counts == {"train": 2, "dev": 1, "test": 0}
