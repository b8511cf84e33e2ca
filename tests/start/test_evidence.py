from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace

import pytest

from batag.evaluation.decoding import Prediction
from batag.pages.page import MODEL, Page, Tag
from batag.segmentation.segmentation import Segmentation, language_of
from batag.start.evidence import Evidence
from batag.start.lists import Lists, make_lists
from batag.start.survey import BRAND_OF, CATEGORY_OF, Survey, survey_pages


def page(title: str, brand: str = "", *, description: str = "", language: str = "zh-Hant") -> Page:
    fields = {"title": title, "description": description} if description else {"title": title}
    return Page("1", fields, language=language, extra={BRAND_OF: brand} if brand else {})


def lists_of(*pages: Page) -> Lists:
    survey = Survey()
    return make_lists(survey, survey_pages(pages, survey, most=100))


def tagged(evidence: Evidence, found: Page, *tags: tuple[str, str, float]) -> list[tuple[str, str, str]]:
    """The tags (text, label, source) of a page on which the model has these (text, label, score)."""
    ((_, fields),) = Segmentation().many([found])
    text = found.fields["title"]
    own = [Tag("title", text.index(t), text.index(t) + len(t), label, t, score, t, MODEL) for t, label, score in tags]
    made: Sequence[Tag] = evidence(Prediction(found, list(fields), [], language_of(found)), own)
    assert all(tag.text == found[tag.field][tag.start : tag.end] for tag in made)
    return [(tag.text, tag.label, str(tag.source)) for tag in made]


def test_the_brand_of_a_row_is_tagged_in_its_own_text_in_every_script() -> None:
    row = page("日立 HITACHI 變頻 R-1234", "日立", description="HITACHI 日立 省電")
    found = tagged(Evidence.of(lists_of(row), column=BRAND_OF), row)
    assert found == [(text, "brand", "column") for text in ("日立", "HITACHI", "HITACHI", "日立")]


def test_a_brand_that_is_an_ordinary_word_counts_on_rows_of_that_brand() -> None:
    own, other = page("統一 R-77 24入", "統一"), page("Nike 統一 規格 R-77", "Nike")
    evidence = Evidence.of(lists_of(own, other), column=BRAND_OF)
    assert tagged(evidence, own) == [("統一", "brand", "column")]
    assert tagged(evidence, other) == [("Nike", "brand", "column")]


def test_an_ordinary_word_without_a_capital_is_no_brand_even_on_a_row_of_that_brand() -> None:
    row = page("Dawn soap that works from dawn to dusk", "Dawn", language="en")
    assert tagged(Evidence.of(lists_of(row), column=BRAND_OF), row)[:1] == [("Dawn", "brand", "column")]
    brands = [text for text, label, _ in tagged(Evidence.of(lists_of(row), column=BRAND_OF), row) if label == "brand"]
    assert brands == ["Dawn"]


@pytest.mark.parametrize(
    ("title", "brand"),
    [
        ("vivo Y21 smartphone, 128GB Blue", "vivo"),
        ("vivo Y21 智慧型手機", "Vivo"),
        ("dawn dish soap, lemon", "Dawn"),
        ("mokko chair, Oak", "mokko"),
    ],
)
def test_a_brand_in_lower_case_is_tagged_on_its_own_rows_where_nothing_speaks_against_it(title: str, brand: str) -> None:
    row, others = page(title, brand, language="en"), [page(f"Zowilan X{n} for mokko", "Zowilan") for n in range(4)]
    found = tagged(Evidence.of(lists_of(row, *others), column=BRAND_OF), row)
    assert found[0] == (title.split()[0], "brand", "column")


def test_a_word_that_mostly_stands_on_rows_of_others_is_no_brand_there_in_capitals_either() -> None:
    own = page("PLUS folder A4", "PLUS", language="en")
    others = [page(f"Zowilan case {n} for iPhone 8 PLUS", "Zowilan", language="en") for n in range(40)]
    evidence = Evidence.of(lists_of(own, *others), column=BRAND_OF)
    assert [text for text, label, _ in tagged(evidence, others[0]) if label == "brand"] == ["Zowilan"]


def test_an_ordinary_word_in_the_capitals_of_its_brand_is_that_brand_on_other_rows_too() -> None:
    own, part, loud = (
        page("HP EliteBook 840", "HP", language="en"),
        page("Zowilan battery for HP notebooks", "Zowilan", language="en"),
        page("ZOWILAN PC WITH 9 HP MOTOR", "Zowilan", language="en"),
    )
    evidence = Evidence.of(lists_of(own, part, loud), column=BRAND_OF)
    assert [text for text, label, _ in tagged(evidence, part) if label == "brand"] == ["Zowilan", "HP"]
    assert [text for text, label, _ in tagged(evidence, loud) if label == "brand"] == ["ZOWILAN"]
    assert ("HP", "brand", "terms") in tagged(evidence, page("適用 HP 印表機"))


def test_brands_of_other_rows_are_terms() -> None:
    own, part = page("Zowilan X1", "Zowilan"), page("適用 Zowilan X1", "Nike")
    assert tagged(Evidence.of(lists_of(own, part), column=BRAND_OF), part) == [("Zowilan", "brand", "terms")]


def test_goods_are_cut_to_the_longest_name_that_the_lexicon_has() -> None:
    evidence = Evidence.of(Lists(terms=()), column=None)
    assert tagged(evidence, page("全新超級電冰箱"), ("全新超級電冰箱", "goods", 0.9)) == [("電冰箱", "goods", "model")]
    assert tagged(evidence, page("變頻三門冰箱"), ("三門冰箱", "goods", 0.9)) == [("三門冰箱", "goods", "model")]
    english = page("Mechanical keyboard", language="en")
    assert tagged(evidence, english, ("Mechanical keyboard", "goods", 0.9)) == [("Mechanical keyboard", "goods", "model")]


def test_goods_of_a_title_that_the_model_misses_are_added_but_no_gifts() -> None:
    evidence = Evidence.of(Lists(terms=()), column=None)
    assert tagged(evidence, page("R-77 保溫杯 送滑鼠墊")) == [("保溫杯", "goods", "terms")]


def test_a_gift_is_no_goods_though_a_list_has_it() -> None:
    rows = [page(f"R-{n} 面膜", "Nike") for n in range(3)]
    survey = Survey()
    sample = survey_pages([replace(row, extra={**row.extra, CATEGORY_OF: "保養 > 面膜"}) for row in rows], survey, most=9)
    evidence = Evidence.of(make_lists(survey, sample), column=BRAND_OF)
    assert ("面膜", "goods", "terms") in tagged(evidence, rows[0])
    assert tagged(evidence, page("調理水 150ml 贈 茶樹面膜1片"), ("調理水", "goods", 0.7)) == [("調理水", "goods", "model")]


def test_a_doubtful_tag_of_the_model_goes_if_a_list_has_another_one() -> None:
    row = page("Nike 慢跑鞋 Zotarra", "Nike")
    evidence = Evidence.of(lists_of(row), column=BRAND_OF)
    names = [text for text, label, _ in tagged(evidence, row, ("Zotarra", "brand", 0.6)) if label == "brand"]
    assert names == ["Nike"]
    names = [text for text, label, _ in tagged(evidence, row, ("Zotarra", "brand", 0.9)) if label == "brand"]
    assert names == ["Nike", "Zotarra"]


def test_the_list_of_a_person_is_what_counts() -> None:
    row = page("Nike 耐吉 R-77", "Nike")
    survey = Survey()
    sample = survey_pages([row], survey, most=10)
    evidence = Evidence.of(make_lists(survey, sample, saved={"brand": ["耐吉"]}), column=BRAND_OF)
    assert tagged(evidence, row) == [("耐吉", "brand", "column")]


def test_a_page_that_a_person_labelled_has_the_tags_of_the_person() -> None:
    row = page("Nike 跑鞋 R-77", "Nike")
    labelled = Page("other id", row.fields, tags=(Tag("title", 5, 7, "goods", "跑鞋"),), labelled=True, reviewed=True)
    evidence = Evidence.of(lists_of(row), column=BRAND_OF, people=[labelled])
    assert tagged(evidence, row, ("R-77", "goods", 0.9)) == [("跑鞋", "goods", "person")]
    assert tagged(evidence, page("Nike 跑鞋 R-78", "Nike"))[0] == ("Nike", "brand", "column")
    assert evidence.digest() != Evidence.of(lists_of(row), column=BRAND_OF).digest()
    assert tagged(pickle.loads(pickle.dumps(evidence)), row) == [("跑鞋", "goods", "person")]


def test_a_copy_in_another_process_is_the_same() -> None:
    evidence = Evidence.of(lists_of(page("日立 R-1", "日立")), column=BRAND_OF)
    again = pickle.loads(pickle.dumps(evidence))
    assert again.digest() == evidence.digest()
    assert tagged(again, page("日立 R-1", "日立")) == [("日立", "brand", "column")]


def test_a_page_whose_line_ends_excel_has_changed_still_has_the_tags_of_the_person() -> None:
    row = page("ACME\r\n跑鞋 R-77\r\n黑", "")
    tag = Tag("title", 5, 7, "goods", "跑鞋", source="person")
    of_excel = Page("1", {"title": "ACME\n跑鞋 R-77\n黑"}, tags=(tag,), labelled=True, reviewed=True)
    evidence = Evidence.of(Lists(terms=()), column=None, people=[of_excel])
    assert tagged(evidence, row, ("R-77", "goods", 0.9)) == [("跑鞋", "goods", "person")]


def test_a_page_with_a_character_that_no_cell_can_have_still_has_the_tags_of_the_person() -> None:
    row = page("ACME\v跑鞋 R-77", "")
    tag = Tag("title", 4, 7, "goods", "\ufffd跑鞋", source="person")
    of_excel = Page("1", {"title": "ACME\ufffd跑鞋 R-77"}, tags=(tag,), labelled=True, reviewed=True)
    evidence = Evidence.of(Lists(terms=()), column=None, people=[of_excel])
    assert tagged(evidence, row, ("R-77", "goods", 0.9)) == [("\v跑鞋", "goods", "person")]
