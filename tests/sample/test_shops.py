"""The pages of the style `shops`: exact offsets, the same pages for a seed, ten kinds of shops, brands held out of train."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache
from itertools import islice, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batag.errors import UsageError
from batag.pages.page import Page
from batag.sample import SPLITS, sample_pages
from batag.sample.shops import LANGUAGES
from batag.sample.shops.stock import home, read_stock

SHOPS = {"appliances", "electronics", "groceries", "drugstore", "fashion", "sports", "baby", "pets", "home", "tools"}
every_language = pytest.mark.parametrize("language", LANGUAGES)
every_split = pytest.mark.parametrize("split", SPLITS)


@cache
def pages_of(language: str, split: str = "train") -> tuple[Page, ...]:
    return tuple(sample_pages(language, pages=600, split=split))


def check_tags(page: Page) -> None:
    assert page.labelled
    assert page["title"]
    assert set(page.fields) <= {"title", "description"}
    assert list(page.tags) == sorted(page.tags, key=lambda tag: (tag.field != "title", tag.start))
    for tag in page.tags:
        assert tag.text == page[tag.field][tag.start : tag.end] == tag.text.strip() != ""
        assert tag.label in ("brand", "goods", "feature")
    assert all(one.field != two.field or one.end <= two.start for one, two in pairwise(page.tags))


@every_language
@every_split
def test_every_tag_cuts_its_text_out_of_its_field_and_no_two_overlap(language, split):
    for page in pages_of(language, split):
        check_tags(page)


@settings(max_examples=60, deadline=None)
@given(language=st.sampled_from(LANGUAGES), split=st.sampled_from(SPLITS), seed=st.integers(-(2**70), 2**70))
def test_offsets_are_right_for_any_seed(language, split, seed):
    for page in sample_pages(language, pages=3, split=split, seed=seed):
        check_tags(page)


@every_language
def test_the_same_seed_gives_the_same_pages_another_seed_others_and_fewer_pages_are_the_first(language):
    first, again, other = (list(sample_pages(language, pages=20, seed=seed)) for seed in (4, 4, 5))
    assert first == again
    assert [page["title"] for page in first] != [page["title"] for page in other]
    assert first[:7] == list(islice(sample_pages(language, pages=1_000_000, seed=4), 7))


def test_pages_do_not_depend_on_the_hash_seed_of_the_process():
    code = "from batag.sample import sample_pages; print([*sample_pages('ja', pages=5, split='dev')])"
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


@every_language
def test_there_are_ten_kinds_of_shops_in_like_numbers_and_all_three_labels_in_each(language):
    labels = defaultdict(set)
    counts = Counter(page.shop for page in pages_of(language))
    for page in pages_of(language):
        assert page.language == language
        assert re.fullmatch(rf"{language}-train-{page.shop}-\d{{6}}", page.id)
        labels[page.shop].update(tag.label for tag in page.tags)
    assert set(counts) == SHOPS
    assert min(counts.values()) > 600 / 10 / 2
    assert all(found == {"brand", "goods", "feature"} for found in labels.values())


@every_language
@pytest.mark.parametrize("split", ["dev", "test"])
def test_whole_brands_are_held_out_of_train_in_every_script(language, split):
    """Nothing of a brand of dev or test stands in train: not as a rival, the maker of a device or the brand under another."""
    every = read_stock(language, "dev").forms | read_stock(language, "test").forms
    owners = defaultdict(set)
    for id, forms in every.items():
        for form in forms:
            owners[form.lower()].add(home(id, "brand"))
    of_split = {form for form, splits in owners.items() if splits == {split}}
    assert len(of_split) > 100
    shown, known = (
        {tag.text.lower() for page in pages_of(language, each) for tag in page.tags if tag.label == "brand"}
        for each in (split, "train")
    )
    assert not of_split & known
    assert len(of_split & shown) > 20


@every_language
def test_made_up_brands_belong_to_one_split(language):
    made = {split: {form.lower() for forms in read_stock(language, split).coined[1] for form in forms} for split in SPLITS}
    assert all(not made[one] & made[two] for one, two in (("train", "dev"), ("train", "test"), ("dev", "test")))


@every_language
@pytest.mark.parametrize("split", ["dev", "test"])
def test_kinds_of_goods_are_held_out_of_train_and_shown_in_their_split(language, split):
    train, own = (
        {each.id for group in read_stock(language, name).goods[1].values() for each in group} for name in ("train", split)
    )
    assert not train & own
    names = {name.lower() for id in own for name in read_stock(language, split).by_id[id].names}
    shown = {tag.text.lower() for page in pages_of(language, split) for tag in page.tags if tag.label == "goods"}
    assert len(names & shown) > 100


@every_language
def test_pages_are_plain_or_html_and_some_have_no_description(language):
    told = [page["description"] for page in pages_of(language) if "description" in page.fields]
    marked = [text for text in told if re.search("</?(p|ul|li|div|br)[ />]", text)]
    assert 0.05 < len(marked) / len(told) < 0.5
    assert {"<p>", "<li>", "<br>"} <= set(re.findall("<[a-z]+>", " ".join(marked)))
    assert 0.05 < 1 - len(told) / 600 < 0.5


@pytest.mark.parametrize("language", ["zh-Hant", "zh-Hans", "ja"])
def test_a_brand_stands_in_two_scripts_on_many_pages(language):
    twice = 0
    for page in pages_of(language):
        brands = [tag.text for tag in page.tags if tag.field == "title" and tag.label == "brand"]
        twice += any(text.isascii() for text in brands) and not all(text.isascii() for text in brands)
    assert twice > 0.05 * 600


def test_simplified_pages_have_no_traditional_characters():
    text = "".join(page["title"] for page in pages_of("zh-Hans"))
    assert not set("適機無線電貓魚國") & set(text)


def test_an_unknown_style_or_language_is_refused_with_those_there_are():
    with pytest.raises(UsageError, match=r"no style 'mall'.*shops, paper"):
        sample_pages(style="mall")
    with pytest.raises(UsageError, match=r"no language 'ko'.*zh-Hant, zh-Hans, ja, en"):
        sample_pages("ko")
    with pytest.raises(UsageError, match=r"no language 'zh-Hans'.*zh-Hant, ja, en"):
        sample_pages("zh-Hans", style="paper")
