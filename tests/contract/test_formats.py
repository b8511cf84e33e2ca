"""One contract for every format: what is written comes back, and whatever a tool wrote is read as it was meant."""

from __future__ import annotations

import csv
import gc
import gzip
import json
import re
import subprocess
import sys
import tracemalloc
import warnings
from itertools import islice
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.strategies import STREAM_FORMATS, WRITABLE, essence, pages, read_all, read_with_problems, sources, written

from batag.errors import BatagError, InputError, UsageError
from batag.pages.formats import FORMATS, NEEDS_TOKENS, read_pages, write_pages
from batag.pages.page import Page, Tag
from batag.pages.problems import Problems
from batag.segmentation.segmentation import Segmentation, bring_tokens

BATAG = str(Path(sys.executable).with_name("batag"))
SEGMENTATION = Segmentation()
# Two tests below look for files left open; without this every later test would answer for them.
PACKED = [(name, pack) for name in STREAM_FORMATS for pack in (".gz", ".zst")]

property_settings = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

KEEP_SOURCES = ["jsonl", "csv", "tsv", "parquet", "label-studio", "doccano"]


def save(some: list[Page], path: Path, name: str, **options: Any) -> Path:
    """Write as the command line does: column formats get tokens first."""
    if name in NEEDS_TOKENS:
        some = [bring_tokens(page, SEGMENTATION) for page in some]
    write_pages(some, path, format=name, **options)
    return path


def tag(page: Page, field: str, text: str, label: str) -> Tag:
    start = page[field].index(text)
    return page.cut(field, start, start + len(text), label)


def shoe(number: int = 1, **extra: Any) -> Page:
    fields = {"title": "ACME 全新跑鞋 42", "description": "輕量。<b>ACME</b> 出品"}
    page = Page(f"p{number}", fields)
    tags = (tag(page, "title", "ACME", "brand"), tag(page, "title", "跑鞋", "goods"), tag(page, "description", "ACME", "brand"))
    return Page(f"p{number}", fields, language="zh-Hant", shop="鞋店", tags=tags, **extra)


def spans(page: Page) -> list[tuple[str, int, int, str, str]]:
    return [(tag.field, tag.start, tag.end, tag.label, tag.text) for tag in page.tags]


# What is written comes back


def test_the_suite_covers_every_writable_format() -> None:
    assert {name for name, format in FORMATS.items() if format.writes} == WRITABLE.keys()


def held(value: Any, name: str) -> Any:
    """The value as a file of the format can hold it: XML, of which workbooks are made, has no control characters."""
    if isinstance(value, str):
        return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "\ufffd", value) if name == "xlsx" else value
    if isinstance(value, dict):
        return {key: held(each, name) for key, each in value.items()}
    return type(value)(held(each, name) for each in value) if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("name", WRITABLE)
@given(some=st.lists(pages(), min_size=1, max_size=3, unique_by=lambda page: held(page.id, "xlsx")))
@property_settings
def test_a_round_trip_keeps_ids_text_language_shop_and_tags(tmp_path: Path, name: str, some: list[Page]) -> None:
    path = save(some, tmp_path / f"pages{WRITABLE[name]}", name)
    again, problems = read_with_problems(path, format=name)
    assert list(map(essence, again)) == [held(essence(page), name) for page in some]
    assert not problems.counts


@pytest.mark.parametrize("name", ["jsonl", "csv", "parquet", "conll", "words"])
@given(some=st.lists(pages(), min_size=1, max_size=2, unique_by=lambda page: page.id))
@property_settings
def test_a_round_trip_needs_no_format_flag_where_the_name_says_it(tmp_path: Path, name: str, some: list[Page]) -> None:
    path = save(some, tmp_path / f"pages{WRITABLE[name]}", name)
    assert list(map(essence, read_all(path))) == list(map(essence, some))


@pytest.mark.parametrize("name", KEEP_SOURCES)
@given(some=st.lists(pages(), min_size=1, max_size=3, unique_by=lambda page: page.id))
@property_settings
def test_a_round_trip_keeps_who_set_each_tag_and_whether_a_person_saw_the_page(
    tmp_path: Path, name: str, some: list[Page]
) -> None:
    again = read_all(save(some, tmp_path / f"pages{WRITABLE[name]}", name), format=name)
    assert list(map(sources, again)) == list(map(sources, some))


def page_of_line(tmp_path: Path, **extra: Any) -> tuple[Page, Problems]:
    """The page of a JSON line with two tags (or those given) and these keys."""
    tags = [{"start": 0, "end": 4, "label": "brand"}, {"start": 5, "end": 7, "label": "goods", "source": "model"}]
    path = written(tmp_path / "a.jsonl", json.dumps({"title": "ACME 跑鞋", "tags": tags} | extra) + "\n")
    (page,), problems = read_with_problems(path)
    return page, problems


def test_a_tag_that_does_not_say_who_set_it_is_a_persons(tmp_path: Path) -> None:
    assert sources(page_of_line(tmp_path)[0]) == (["person", "model"], False)
    assert sources(page_of_line(tmp_path, tags={"brand": ["ACME"]})[0]) == (["person"], True)
    assert sources(page_of_line(tmp_path, tags=[])[0]) == ([], True)


def test_a_source_that_nobody_knows_is_listed_and_counts_as_a_model(tmp_path: Path) -> None:
    page, problems = page_of_line(tmp_path, tags=[{"start": 0, "end": 4, "label": "brand", "source": "my script"}])
    assert sources(page) == (["model"], False)
    assert problems.counts == {"unknown-source": 1}


@pytest.mark.parametrize("word", ["x", "maybe", "2026-11-17", ["true"]])
def test_a_word_for_reviewed_that_nobody_knows_is_listed_and_kept(tmp_path: Path, word: Any) -> None:
    page, problems = page_of_line(tmp_path, reviewed=word)
    assert sources(page) == (["person", "model"], False)
    assert problems.counts == {"unknown-reviewed": 1}
    assert page.extra == {"reviewed": word}
    assert not page_of_line(tmp_path, reviewed=word, tags=None)[1].counts


@pytest.mark.parametrize("yes", [True, "true", "TRUE", 1, "yes", "Y", "y", "是", "はい", "✓"])
def test_tags_on_a_page_that_a_person_has_seen_are_the_persons(tmp_path: Path, yes: Any) -> None:
    assert sources(page_of_line(tmp_path, reviewed=yes)[0]) == (["person", "person"], True)


@pytest.mark.parametrize("no", [False, "false", "FALSE", 0, "no", "N", "n", "否", "いいえ"])
def test_a_page_without_a_tag_that_nobody_has_seen_is_not_one_by_a_person(tmp_path: Path, no: Any) -> None:
    assert sources(page_of_line(tmp_path, tags=[], reviewed=no)[0]) == ([], False)


@pytest.mark.parametrize(
    "given_keys", [{"tags": None, "reviewed": True}, {"tags": 3, "reviewed": True}, {"tags": None, "reviewed": "x"}]
)
def test_a_column_named_reviewed_labels_no_page(tmp_path: Path, given_keys: dict[str, Any]) -> None:
    page, _ = page_of_line(tmp_path, **given_keys)
    assert not page.labelled
    assert page.extra["reviewed"] == given_keys["reviewed"]


@pytest.mark.parametrize("name", WRITABLE)
def test_a_round_trip_keeps_extra_columns(tmp_path: Path, name: str) -> None:
    extra = {"price": 12.5, "sizes": [41, 42], "stock": {"north": True, "south": None}, "url": "http://a.b/?c=d"}
    some = [shoe(extra=extra), Page("p2", {"title": "未標記"}, extra={"price": 3})]
    again = read_all(save(some, tmp_path / f"pages{WRITABLE[name]}", name), format=name)
    assert [dict(page.extra) for page in again] == [extra, {"price": 3}]


@pytest.mark.parametrize("key", ["text", "label", "labels_", "data", "entities", "annotations", "completions", "more", "value"])
@pytest.mark.parametrize("name", WRITABLE)
def test_an_extra_column_named_like_a_tools_own_does_no_harm(tmp_path: Path, name: str, key: str) -> None:
    page = shoe(extra={key: "其他"})
    again, problems = read_with_problems(save([page], tmp_path / f"pages{WRITABLE[name]}", name), format=name)
    assert [essence(page) for page in again] == [essence(page)]
    assert not problems.counts


@pytest.mark.parametrize("name", ["jsonl", "csv", "parquet", "doccano", "label-studio"])
@pytest.mark.parametrize("labelled", [True, False])
def test_a_round_trip_keeps_the_pages_own_tokens(tmp_path: Path, name: str, labelled: bool) -> None:
    page = Page("1", {"title": "全新跑鞋"}, labelled=labelled, tokens={"title": ((0, 2), (2, 3), (3, 4))})
    (again,) = read_all(save([page], tmp_path / f"pages{WRITABLE[name]}", name), format=name)
    assert again.tokens == page.tokens


@pytest.mark.parametrize("name", ["conll", "words"])
def test_tokens_that_columns_cannot_hold_do_not_break_the_file(tmp_path: Path, name: str) -> None:
    text = "a\nb\tc -DOCSTART- d"
    tokens = ((0, 1), (1, 2), (2, 5), (6, 16), (17, 18))
    some = [Page("1", {"title": text}, labelled=True, tokens={"title": tokens}), shoe(2)]
    assert list(map(essence, read_all(save(some, tmp_path / "pages.conll", name), format=name))) == list(map(essence, some))


@pytest.mark.parametrize("name", ["jsonl", "csv", "tsv", "parquet", "xlsx", "label-studio"])
def test_a_round_trip_keeps_all_that_is_known_of_a_tag(tmp_path: Path, name: str) -> None:
    known = {"score": 0.75, "normal": "ACME", "canonical": "Acme", "category": "aa-1"}
    # A person's tags have nothing but their place in Label Studio.
    source = "model" if name == "label-studio" else "person"
    page = Page("1", {"title": "ＡＣＭＥ"}, tags=(Tag("title", 0, 4, "brand", "ＡＣＭＥ", source=source, **known),))  # type: ignore[arg-type]
    (again,) = read_all(save([page], tmp_path / f"pages{WRITABLE[name]}", name))
    assert again == page


@pytest.mark.parametrize("score", ["1", "0", "0.5"])
def test_a_score_may_be_a_whole_number(tmp_path: Path, score: str) -> None:
    tag = {"start": 0, "end": 1, "label": "x", "score": json.loads(score)}
    (page,) = read_all(written(tmp_path / "a.jsonl", json.dumps({"title": "abc", "tags": [tag]}) + "\n"))
    assert page.tags[0].score == float(score)


@pytest.mark.parametrize(("name", "pack"), PACKED)
def test_a_round_trip_through_a_compressed_file_keeps_everything(tmp_path: Path, name: str, pack: str) -> None:
    some = [shoe(number) for number in range(50)]
    path = save(some, tmp_path / f"pages{WRITABLE[name]}{pack}", name)
    assert path.read_bytes()[:2] == {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5"}[pack]
    assert list(map(essence, read_all(path))) == list(map(essence, some))


@pytest.mark.parametrize("name", WRITABLE)
def test_no_pages_make_a_file_that_reads_as_no_pages(tmp_path: Path, name: str) -> None:
    path = save([], tmp_path / f"pages{WRITABLE[name]}", name)
    again, problems = read_with_problems(path, format=name)
    assert again == []
    assert not problems.counts


@pytest.mark.parametrize("name", WRITABLE)
def test_two_reads_give_equal_pages(tmp_path: Path, name: str) -> None:
    path = save([shoe(1), shoe(2, extra={"price": 3})], tmp_path / f"pages{WRITABLE[name]}", name)
    assert read_all(path) == read_all(path)


@pytest.mark.parametrize("name", WRITABLE)
def test_a_page_without_tags_is_told_from_one_that_nobody_labelled(tmp_path: Path, name: str) -> None:
    some = [Page("1", {"title": "跑鞋"}, labelled=True), Page("2", {"title": "跑鞋"})]
    again = read_all(save(some, tmp_path / f"pages{WRITABLE[name]}", name))
    assert [page.labelled for page in again] == [True, False]


@pytest.mark.parametrize("name", WRITABLE)
def test_touching_tags_of_one_class_stay_two(tmp_path: Path, name: str) -> None:
    page = Page("1", {"title": "跑鞋涼鞋"}, tags=(Tag("title", 0, 2, "goods", "跑鞋"), Tag("title", 2, 4, "goods", "涼鞋")))
    (again,) = read_all(save([page], tmp_path / f"pages{WRITABLE[name]}", name))
    assert spans(again) == spans(page)


@pytest.mark.parametrize("name", ["conll", "words"])
@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("<b>ACME</b> shoe", 0, 11),
        ("a \u200bACME b", 2, 7),
        ("x 😀 y", 2, 3),
        ("a  b", 1, 3),
        ("ACME\0 x", 0, 5),
        ("a &amp; b", 2, 7),
    ],
)
def test_tags_over_what_cleaning_removes_survive_column_files(
    tmp_path: Path, name: str, text: str, start: int, end: int
) -> None:
    page = Page("1", {"title": text}, language="en", tags=(Tag("title", start, end, "brand", text[start:end]),))
    (again,) = read_all(save([page], tmp_path / f"pages{WRITABLE[name]}", name))
    assert spans(again) == spans(page)


@pytest.mark.parametrize("label", ["O", "none", "B-side", "model name", "_", "型號"])
@pytest.mark.parametrize("name", WRITABLE)
def test_a_class_may_have_any_name(tmp_path: Path, name: str, label: str) -> None:
    page = Page("1", {"title": "ACME shoe"}, language="en", tags=(Tag("title", 0, 4, label, "ACME"),))
    (again,) = read_all(save([page], tmp_path / f"pages{WRITABLE[name]}", name), format=name)
    assert spans(again) == spans(page)


def test_lone_surrogates_become_replacement_characters_in_text_and_tags(tmp_path: Path) -> None:
    line = r'{"id": "\ud83d", "shop": "\udc00", "title": "a\ud800b", "note": "\ud800", "tags": [[0, 2, "x"]]}'
    source = written(tmp_path / "in.jsonl", line + "\n")
    (page,) = read_all(source)
    assert page["title"] == "a\ufffdb"
    assert spans(page) == [("title", 0, 2, "x", "a\ufffd")]
    for name, suffix in WRITABLE.items():
        (again,) = read_all(save([page], tmp_path / f"out{suffix}", name))
        assert again["title"] == "a\ufffdb"
        assert spans(again) == spans(page)


def test_parquet_columns_of_every_kind_can_be_written_again(tmp_path: Path) -> None:
    import datetime
    import decimal

    import pyarrow as pa
    import pyarrow.parquet as pq

    row = {
        "title": "跑鞋",
        "price": decimal.Decimal("12.50"),
        "when": datetime.datetime(2024, 1, 2, tzinfo=datetime.UTC),
        "day": datetime.date(2024, 1, 2),
        "time": datetime.timedelta(hours=1),
        "raw": b"\xff\x00",
        "none": None,
    }
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "in.parquet")
    (page,) = read_all(tmp_path / "in.parquet")
    for name, suffix in WRITABLE.items():
        (again,) = read_all(save([page], tmp_path / f"out{suffix}", name))
        assert again["title"] == "跑鞋"
        assert "12.5" in str(again.extra["price"])


def test_numbers_of_any_size_can_be_written_again(tmp_path: Path) -> None:
    big = 123456789012345678901234567890
    source = written(tmp_path / "in.jsonl", f'{{"id": {big}, "title": "a\x01b", "ean": {big}, "rate": NaN}}\n')
    (page,) = read_all(source)
    assert page.id == str(big)
    for name, suffix in WRITABLE.items():
        (again,) = read_all(save([page], tmp_path / f"out{suffix}", name))
        assert again.id == str(big)


def test_a_whole_number_id_is_not_rounded(tmp_path: Path) -> None:
    lines = [json.dumps({"id": 123456789012345678901234567890 + number, "title": "a"}) for number in range(2)]
    again, problems = read_with_problems(written(tmp_path / "in.jsonl", "\n".join(lines) + "\n"))
    assert [page.id for page in again] == ["123456789012345678901234567890", "123456789012345678901234567891"]
    assert not problems.counts


# Reading is lazy


@pytest.fixture(scope="module")
def big_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("big") / "big.jsonl.gz"
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as stream:
        for number in range(20_000):
            record = {"id": f"p{number}", "title": f"全新跑鞋 {number}", "description": "輕量透氣 " * 40}
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
    return path


def test_the_first_page_of_a_big_file_costs_no_more_than_the_head(big_file: Path) -> None:
    reader = read_pages(big_file)
    next(reader)
    fraction = reader.source.fraction_read()
    assert fraction is not None
    assert fraction < 0.3
    reader.source.raw.close()


def test_memory_does_not_grow_with_the_file(big_file: Path) -> None:
    reader = read_pages(big_file)
    for _ in islice(reader, 1_000):
        pass
    tracemalloc.start()
    try:
        count = sum(1 for _ in reader)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        reader.source.raw.close()
    assert count == 19_000
    assert peak < 6_000_000


@pytest.mark.parametrize("name", sorted(WRITABLE))
def test_reading_is_lazy_in_every_format(tmp_path: Path, name: str) -> None:
    some = [Page(f"p{number}", {"title": f"跑鞋 {number}"}, labelled=True) for number in range(4_000)]
    path = save(some, tmp_path / f"pages{WRITABLE[name]}", name)
    reader = read_pages(path)
    tracemalloc.start()
    try:
        first = next(reader)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert first.id == "p0"
    assert peak < 4_000_000
    assert sum(1 for _ in reader) == 3_999
    reader.source.raw.close()


@pytest.mark.parametrize("name", sorted(WRITABLE))
def test_a_file_is_closed_when_its_last_page_was_read(tmp_path: Path, name: str) -> None:
    path = save([shoe()], tmp_path / f"pages{WRITABLE[name]}", name)
    reader = read_pages(path)
    list(reader)
    closed = reader.source.raw.closed
    reader.source.raw.close()
    assert closed


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("a.dat", "no format at all\nreally none\n", {}),
        ("a.csv", "price\n3\n", {}),
        ("a.jsonl", '{"title": "a"}\n', {"format": "nope"}),
        ("a.parquet", "PAR1 garbage", {}),
        ("a.jsonl", '{"title": "a"}\nno\n', {"problems": Problems(strict=True)}),
    ],
)
def test_a_file_that_cannot_be_read_is_closed(tmp_path: Path, name: str, content: str, options: dict[str, Any]) -> None:
    path = written(tmp_path / name, content)
    gc.collect()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        with pytest.raises(BatagError):
            list(read_pages(path, **options))
        gc.collect()
    assert [str(warning.message) for warning in caught] == []


# The format is detected by content, by name, by flag


def workbook(path: Path, rows: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    book.close()
    return path


SPANS = [{"curid": "1", "text": "ACME 跑鞋", "entities": [{"name": "ACME", "span": [0, 4], "type": "brand"}]}]
STUDIO = [
    {
        "id": 7,
        "data": {"text": "😀 ACME"},
        "annotations": [{"result": [{"value": {"start": 3, "end": 7, "text": "ACME", "labels": ["brand"]}}]}],
    }
]
STUDIO_MIN = [
    {"id": 7, "text": "😀 ACME", "label": [{"start": 3, "end": 7, "text": "ACME", "labels": ["brand"]}], "annotator": 1}
]
COLUMN_LINES = "ACME\tbrand\nmakes\tnone\nshoes\tgoods\n\nOld\tnone\nboots\tgoods\n"
CONTENTS: dict[str, tuple[str, str]] = {
    "jsonl": ("jsonl", '{"title": "ACME 跑鞋", "tags": [{"start": 0, "end": 4, "label": "brand"}]}\n{"title": "b"}\n'),
    "csv": ("csv", "id,title\n1,ACME\n2,b\n"),
    "semicolons": ("csv", "id;title\n1;ACME\n2;b\n"),
    "tsv": ("tsv", "id\ttitle\n1\tACME\n2\tb\n"),
    "conll": ("conll", "ACME B-brand\nmakes O\nshoes B-goods\n\nOld O\nboots B-goods\n"),
    "docstart": ("conll", "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\n\nPeter NNP I-NP I-PER\n"),
    "words": ("words", COLUMN_LINES),
    "doccano": ("doccano", '{"text": "ACME", "label": [[0, 4, "brand"]]}\n'),
    "doccano-new": (
        "doccano",
        '{"id": 1, "text": "ACME", "entities": [{"id": 5, "label": "brand", "start_offset": 0, "end_offset": 4}]}\n',
    ),
    "spans": ("spans", json.dumps(SPANS, ensure_ascii=False)),
    "label-studio": ("label-studio", json.dumps(STUDIO, ensure_ascii=False)),
    "label-studio-min": ("label-studio", json.dumps(STUDIO_MIN, ensure_ascii=False)),
}


@pytest.mark.parametrize("pack", ["", ".gz", ".zst"])
@pytest.mark.parametrize("kind", CONTENTS)
def test_the_format_is_told_by_content_alone(tmp_path: Path, kind: str, pack: str) -> None:
    expected, text = CONTENTS[kind]
    data = text.encode()
    data = gzip.compress(data) if pack == ".gz" else zstandard.compress(data) if pack == ".zst" else data
    reader = read_pages(written(tmp_path / "file.dat", data))
    found = list(reader)
    reader.source.raw.close()
    assert reader.format == expected
    assert found


@pytest.mark.parametrize(
    "titles",
    [
        ["NORDVIK 登山鞋", "資生堂 化粧水"],
        ["ACME shoes", "NORDVIK shoes", "Shiseido lotion", "ACME boots"],
        [f"brand{number} shoes" for number in range(200)],
        ["jacket M-65", "shirt S-XL", "ACME bag", "red bag", "blue bag"],
    ],
)
def test_a_list_of_titles_is_not_taken_for_tokens_and_labels(tmp_path: Path, titles: list[str]) -> None:
    path = written(tmp_path / "titles.txt", "\n".join(titles) + "\n")
    with pytest.raises(InputError, match=r'cannot be detected .* format="conll"') as caught:
        read_pages(path)
    advice = r"cannot be detected .*--format conll.* one title per line.* standard input.* < titles\.txt"
    assert re.search(advice, caught.value.for_command_line())
    assert read_pages(path, format="conll").format == "conll"


def test_labels_without_a_none_are_told_if_few_stand_again_and_again(tmp_path: Path) -> None:
    lines = "ACME brand\nshoes goods\n\n" * 20
    assert read_pages(written(tmp_path / "file.txt", lines)).format == "conll"


@pytest.mark.parametrize("name", WRITABLE)
def test_our_own_files_are_told_by_content_alone(tmp_path: Path, name: str) -> None:
    path = save([shoe(), Page("2", {"title": "x"})], tmp_path / f"pages{WRITABLE[name]}", name)
    reader = read_pages(path.rename(tmp_path / "file.dat"))
    assert list(map(essence, reader)) == [essence(shoe()), essence(Page("2", {"title": "x"}))]
    reader.source.raw.close()
    assert reader.format == name or {reader.format, name} == {"conll", "words"}


def test_a_workbook_is_told_by_content_alone(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [["title"], ["跑鞋"]]).rename(tmp_path / "file.dat")
    assert [page["title"] for page in read_all(path)] == ["跑鞋"]


def test_the_format_flag_wins_over_content_and_name(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", COLUMN_LINES)
    assert [page["title"] for page in read_all(path, format="words")] == ["ACME makes shoes", "Old boots"]
    path = written(tmp_path / "a.jsonl", '{"text": "ACME", "label": [[0, 4, "brand"]], "title": "other"}\n')
    assert [page["title"] for page in read_all(path, format="jsonl")] == ["other"]


@pytest.mark.parametrize("first", ["[", "{"])
@pytest.mark.parametrize("name", ["a.conll", "a.words", "a.dat"])
def test_a_column_file_may_begin_with_a_bracket(tmp_path: Path, first: str, name: str) -> None:
    path = written(tmp_path / name, f"{first}\tO\nACME\tB-brand\n]\tO\n\nb\tO\n")
    again, problems = read_with_problems(path)
    assert [page["title"] for page in again] == [f"{first} ACME ]", "b"]
    assert not problems.counts


def test_our_own_jsonl_with_other_peoples_keys_is_still_ours(tmp_path: Path) -> None:
    line = {"id": "1", "title": "ACME", "text": "more", "labels": "brand=ACME"}
    (page,) = read_all(written(tmp_path / "a.jsonl", json.dumps(line) + "\n"))
    assert page["title"] == "ACME"
    assert spans(page) == [("title", 0, 4, "brand", "ACME")]


def test_an_unknown_format_is_a_usage_error_that_offers_the_nearest(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", '{"title": "a"}\n')
    with pytest.raises(UsageError, match="parquet"):
        read_pages(path, format="parqet")
    with pytest.raises(UsageError):
        write_pages([], tmp_path / "a.xlsm")
    with pytest.raises(UsageError):
        write_pages([], tmp_path / "a", format="spans")


@pytest.mark.parametrize(
    "content", ["just some prose\nthat is no table\n", "abc\rdef,title\nx\n", "a" * 200_000 + "\n", "\0\1\2" * 50]
)
def test_a_format_that_cannot_be_told_is_an_error(tmp_path: Path, content: str) -> None:
    before = csv.field_size_limit(131_072)  # as in a new process
    try:
        with pytest.raises(InputError, match=r"format=|encoding="):
            read_all(written(tmp_path / "file.dat", content))
    finally:
        csv.field_size_limit(before)


# Columns can be mapped, ids are made


TABLE = [["sku", "name", "body", "price"], ["s1", "ACME 跑鞋", "輕量", "12"]]
MAPPED = {"id": "sku", "title": "name", "description": "body"}


def mapped_file(tmp_path: Path, name: str) -> Path:
    if name == "xlsx":
        return workbook(tmp_path / "a.xlsx", TABLE)
    record = dict(zip(*TABLE, strict=True))
    if name == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist([record]), tmp_path / "a.parquet")
        return tmp_path / "a.parquet"
    if name == "jsonl":
        return written(tmp_path / "a.jsonl", json.dumps(record) + "\n")
    if name == "spans":
        return written(tmp_path / "a.json", json.dumps([record]))
    mark = "," if name == "csv" else "\t"
    return written(tmp_path / f"a.{name}", "\n".join(mark.join(row) for row in TABLE) + "\n")


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl", "parquet", "xlsx", "spans"])
def test_columns_can_be_mapped(tmp_path: Path, name: str) -> None:
    (page,) = read_all(mapped_file(tmp_path, name), columns=MAPPED)
    assert page.id == "s1"
    assert dict(page.fields) == {"title": "ACME 跑鞋", "description": "輕量"}
    assert dict(page.extra) == {"price": "12"}


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl", "parquet", "xlsx"])
def test_a_column_can_become_a_field_of_ones_own(tmp_path: Path, name: str) -> None:
    (page,) = read_all(mapped_file(tmp_path, name), columns={"headline": "name", "spec": "body"})
    assert dict(page.fields) == {"headline": "ACME 跑鞋", "spec": "輕量"}


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl", "parquet", "xlsx", "spans"])
@pytest.mark.parametrize(
    ("columns", "columns_text"),
    [
        ({"name": "title"}, "Did you mean --columns title=name?"),
        ({"name": "title", "body": "description"}, "Did you mean --columns title=name,description=body?"),
        ({"title": "nmae"}, "Did you mean --columns title=name?"),
        ({"title": "Name"}, "Did you mean --columns title=name?"),
        ({"title": "name;description=body"}, "title=name,description=body"),
    ],
    ids=str,
)
def test_a_mapping_that_does_not_fit_is_told_what_was_meant(
    tmp_path: Path, name: str, columns: dict[str, str], columns_text: str
) -> None:
    problems = Problems()
    try:
        assert list(read_pages(mapped_file(tmp_path, name), columns=columns, problems=problems)) == []
        message = str(problems.listed[0])
    except InputError as error:
        message = error.for_command_line()
    assert columns_text in message
    assert "name, body" in message


@pytest.mark.parametrize("field", ["title", "description"])
def test_columns_of_a_doccano_file_can_be_mapped(tmp_path: Path, field: str) -> None:
    line = {"sku": "s1", "body": "ACME 跑鞋", "store": "x", "label": [[0, 4, "brand"]]}
    path = written(tmp_path / "a.jsonl", json.dumps(line) + "\n")
    (page,) = read_all(path, format="doccano", columns={field: "body", "id": "sku", "shop": "store"})
    assert essence(page)["fields"] == [(field, "ACME 跑鞋")]
    assert spans(page) == [(field, 0, 4, "brand", "ACME")]
    assert (page.id, page.shop) == ("s1", "x")


@pytest.mark.parametrize("column", ["text", "body"])
def test_columns_of_a_span_file_can_be_mapped(tmp_path: Path, column: str) -> None:
    record = {"sku": "s1", column: "ACME 跑鞋", "entities": [{"name": "ACME", "span": [0, 4], "type": "brand"}]}
    path = written(tmp_path / "a.json", json.dumps([record]))
    (page,) = read_all(path, format="spans", columns={"description": column, "id": "sku"})
    assert page.id == "s1"
    assert spans(page) == [("description", 0, 4, "brand", "ACME")]


def test_column_names_of_a_table_are_found_in_any_case(tmp_path: Path) -> None:
    (page,) = read_all(written(tmp_path / "a.csv", "ID,Title,Description,Labels\n1,ACME,b,brand=ACME\n"))
    assert (page.id, dict(page.fields)) == ("1", {"title": "ACME", "description": "b"})
    assert spans(page) == [("title", 0, 4, "brand", "ACME")]


def test_an_empty_labels_cell_means_that_nobody_labelled(tmp_path: Path) -> None:
    again = read_all(written(tmp_path / "a.csv", "id,title,labels\n1,ACME,brand=ACME\n2,b,\n"))
    assert [page.labelled for page in again] == [True, False]


def test_a_column_called_more_that_is_not_ours_is_kept(tmp_path: Path) -> None:
    (page,) = read_all(written(tmp_path / "a.csv", "id,title,more\n1,ACME,see here\n"))
    assert dict(page.extra) == {"more": "see here"}


@pytest.mark.parametrize("pack", ["", ".gz"])
@pytest.mark.parametrize("kind", ["jsonl", "conll", "docstart", "words", "doccano", "spans"])
def test_pages_without_ids_get_unique_ones_with_the_files_stem(tmp_path: Path, kind: str, pack: str) -> None:
    data = CONTENTS[kind][1].encode()
    found, problems = read_with_problems(written(tmp_path / f"spring.dat{pack}", gzip.compress(data) if pack else data))
    ids = [page.id for page in found]
    assert len(set(ids)) == len(ids)
    assert all(page_id.startswith("spring-") for page_id in ids)
    assert not problems.counts


def test_rows_without_ids_get_unique_ones_in_tables(tmp_path: Path) -> None:
    rows = [["title"], ["a"], [None], ["b"]]
    again = [read_all(workbook(tmp_path / "spring.xlsx", rows)), read_all(written(tmp_path / "spring.csv", "title\na\n\nb\n"))]
    for found in again:
        ids = [page.id for page in found]
        assert [page["title"] for page in found] == ["a", "b"]
        assert len(set(ids)) == 2
        assert all(page_id.startswith("spring-") for page_id in ids)


@pytest.mark.parametrize("kind", CONTENTS)
def test_every_streamed_format_reads_from_standard_input(kind: str) -> None:
    done = subprocess.run([BATAG, "convert", "-", "-"], input=CONTENTS[kind][1].encode(), capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    assert all(json.loads(line)["title"] for line in done.stdout.splitlines())
    assert done.stdout


# What other tools write


def test_tsv_is_cut_at_tabs_whatever_its_header_holds(tmp_path: Path) -> None:
    again, problems = read_with_problems(written(tmp_path / "a.tsv", "title\nfast, light, cheap\nb\n"), format="tsv")
    assert [page["title"] for page in again] == ["fast, light, cheap", "b"]
    path = written(tmp_path / "b.tsv", "title\tprice, tax, fee\na, b\t3\n")
    assert [page["title"] for page in read_all(path, format="tsv")] == ["a, b"]
    assert not problems.counts


def test_tsv_with_quotes_and_empty_cells_is_read(tmp_path: Path) -> None:
    again, problems = read_with_problems(written(tmp_path / "a.tsv", 'id\ttitle\tdescription\n1\t27" screen\t\n2\t"a\tb"\tc\n'))
    assert [dict(page.fields) for page in again] == [{"title": '27" screen'}, {"title": "a\tb", "description": "c"}]
    assert not problems.counts


def test_workbook_cells_are_read_as_a_person_sees_them(tmp_path: Path) -> None:
    rows = [
        ["ID", "Title", "Description", "tags", "price"],
        [1.0, 501, None, None, 9.5],
        [],
        ["b", "ACME 鞋", "=1", "brand=ACME", 3],
    ]
    path = workbook(tmp_path / "a.xlsx", rows[:3])
    book = openpyxl.load_workbook(path)
    book.active.append(["b", "ACME 鞋", "純棉", "brand=ACME", 3])
    book.save(path)
    book.close()
    first, second = read_all(path)
    assert (first.id, dict(first.fields), first.labelled) == ("1", {"title": "501"}, False)
    assert first.extra["price"] == "9.5"
    assert (second.id, spans(second)) == ("b", [("title", 0, 4, "brand", "ACME")])


def test_span_json_is_read_with_its_text_and_its_other_keys(tmp_path: Path) -> None:
    (page,) = read_all(written(tmp_path / "ner.json", json.dumps(SPANS)))
    assert essence(page)["fields"] == [("title", "ACME 跑鞋")]
    assert spans(page) == [("title", 0, 4, "brand", "ACME")]
    assert page.labelled
    assert dict(page.extra) == {"curid": "1"}


def test_a_record_of_span_json_without_entities_is_an_unlabelled_page(tmp_path: Path) -> None:
    records = [*SPANS, {"curid": "2", "text": "跑鞋"}, {"curid": "3", "text": "跑鞋", "entities": None}]
    again, problems = read_with_problems(written(tmp_path / "ner.json", json.dumps(records)))
    assert [(page["title"], page.labelled) for page in again] == [("ACME 跑鞋", True), ("跑鞋", False), ("跑鞋", False)]
    assert not problems.counts


@pytest.mark.parametrize("tasks", [STUDIO, STUDIO_MIN], ids=["full", "min"])
def test_label_studio_offsets_are_utf16_units(tmp_path: Path, tasks: list[Any]) -> None:
    again, problems = read_with_problems(written(tmp_path / "a.json", json.dumps(tasks)))
    (page,) = again
    assert (page.id, page.labelled) == ("7", True)
    assert spans(page) == [("title", 2, 6, "brand", "ACME")]
    assert not problems.counts


def test_label_studio_spans_go_to_the_field_they_name(tmp_path: Path) -> None:
    result = [{"to_name": "description", "value": {"start": 2, "end": 4, "text": "跑鞋", "labels": ["goods"]}}]
    tasks = [{"id": 1, "data": {"title": "a", "description": "😀跑鞋"}, "annotations": [{"result": result}]}]
    (page,) = read_all(written(tmp_path / "a.json", json.dumps(tasks)))
    assert spans(page) == [("description", 1, 3, "goods", "跑鞋")]


def test_label_studio_takes_the_ground_truth_and_leaves_cancelled_work(tmp_path: Path) -> None:
    def by(label: str, **extra: bool) -> dict[str, Any]:
        return {"result": [{"value": {"start": 0, "end": 1, "labels": [label]}}], **extra}

    tasks = [
        {"data": {"text": "abc"}, "annotations": [by("first"), by("truth", ground_truth=True)]},
        {"data": {"text": "abc"}, "annotations": [by("bad", was_cancelled=True)]},
        {"data": {"text": "abc"}, "annotations": []},
        {"data": {"text": "abc"}},
        {"data": {"text": "abc"}, "completions": [by("old")]},
    ]
    again, problems = read_with_problems(written(tmp_path / "a.json", json.dumps(tasks)))
    assert [[tag.label for tag in page.tags] for page in again] == [["truth"], [], [], [], ["old"]]
    assert [page.labelled for page in again] == [True, False, False, False, True]
    assert problems.counts == {"other-annotation": 1}


@pytest.mark.parametrize("key", ["label", "labels"])
def test_doccano_triples_are_read(tmp_path: Path, key: str) -> None:
    line = {"id": 3, "text": "😀 ACME 跑鞋", key: [[2, 6, "brand"], [7, 9, "goods"]], "Comments": []}
    (page,) = read_all(written(tmp_path / "a.jsonl", json.dumps(line) + "\n"))
    assert (page.id, spans(page)) == ("3", [("title", 2, 6, "brand", "ACME"), ("title", 7, 9, "goods", "跑鞋")])


def test_doccano_entities_are_read(tmp_path: Path) -> None:
    entities = [{"id": 9, "label": "brand", "start_offset": 2, "end_offset": 6}]
    line = {"id": 3, "text": "😀 ACME", "entities": entities, "relations": []}
    (page,) = read_all(written(tmp_path / "a.jsonl", json.dumps(line) + "\n"))
    assert spans(page) == [("title", 2, 6, "brand", "ACME")]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["ACME B-brand", "Air I-brand", "shoes B-goods", "now O"], [("brand", "ACME Air"), ("goods", "shoes")]),
        (["ACME NNP B-brand", "Air NNP I-brand", "shoes NN O"], [("brand", "ACME Air")]),
        (["EU NNP I-NP I-ORG", "rejects VBZ I-VP O", "German JJ I-NP I-MISC"], [("ORG", "EU"), ("MISC", "German")]),
        (["Aa I-x", "Bb B-x", "Cc I-x", "Dd O", "Ee I-y", "Ff O"], [("x", "Aa"), ("x", "Bb Cc"), ("y", "Ee")]),
        (["Aa B-x", "Bb I-x", "Cc E-x", "Dd S-x", "Ee O"], [("x", "Aa Bb Cc"), ("x", "Dd")]),
        (["Aa B-x", "Bb M-x", "Cc E-x", "Dd U-y", "Ee B-x", "Ff L-x"], [("x", "Aa Bb Cc"), ("y", "Dd"), ("x", "Ee Ff")]),
        (["Aa x", "Bb x", "Cc O", "Dd y"], [("x", "Aa Bb"), ("y", "Dd")]),
        (["Aa none", "Bb x", "Cc none", "Dd none"], [("x", "Bb")]),
    ],
    ids=["bio2", "bio3", "bio4-iob1", "iob1", "iobes", "bmes-bilou", "flat", "flat-none"],
)
def test_conll_columns_and_schemes_are_read(tmp_path: Path, lines: list[str], expected: list[Any], newline: str) -> None:
    text = newline.join(["-DOCSTART-" + " -X-" * lines[0].count(" "), "", *lines, "", *lines, ""])
    again, problems = read_with_problems(written(tmp_path / "a.conll", text))
    assert len(again) == 2
    for page in again:
        assert page["title"] == " ".join(line.split(" ")[0] for line in lines)
        assert [(tag.label, tag.text) for tag in page.tags] == expected
        assert all(page["title"][tag.start : tag.end] == tag.text for tag in page.tags)
    assert not problems.counts


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["\t", " "])
def test_white_space_as_a_token_survives_column_files(tmp_path: Path, newline: str, mark: str) -> None:
    tokens = ["全", "新", "\u3000", "跑", "鞋", "\u00a0", "\x1c", "\u0085", "\u2028"]
    labels = ["O", "O", "O", "B-goods", "I-goods", "O", "O", "O", "O"]
    text = newline.join([*(f"{token}{mark}{label}" for token, label in zip(tokens, labels, strict=True)), "", ""])
    again, problems = read_with_problems(written(tmp_path / "a.conll", text * 2))
    assert [page["title"] for page in again] == ["".join(tokens)] * 2
    assert [spans(page) for page in again] == [[("title", 3, 5, "goods", "跑鞋")]] * 2
    assert again[0].tokens == {"title": tuple((place, place + 1) for place in range(len(tokens)))}
    assert not problems.counts


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (["Red", "running", "shoes"], "Red running shoes"),
        (["全新", "跑鞋", "42"], "全新跑鞋42"),
        (["すごい", "ガーゼ", "です"], "すごいガーゼです"),
    ],
)
def test_words_are_joined_as_their_language_writes_them(tmp_path: Path, tokens: list[str], expected: str) -> None:
    lines = "".join(f"{token}\t{label}\n" for token, label in zip(tokens, ["none", "goods", "none"], strict=True))
    (page,) = read_all(written(tmp_path / "a.words", lines))
    assert page["title"] == expected
    assert spans(page) == [("title", expected.index(tokens[1]), expected.index(tokens[1]) + len(tokens[1]), "goods", tokens[1])]


def test_a_language_that_is_given_decides_how_words_are_joined(tmp_path: Path) -> None:
    path = written(tmp_path / "a.words", "iPhone\tgoods\nPro\tnone\n")
    assert [page["title"] for page in read_all(path, language="ja")] == ["iPhonePro"]
    assert [page["title"] for page in read_all(path, language="en")] == ["iPhone Pro"]


def test_a_scheme_is_known_though_the_head_of_the_file_has_no_tag(tmp_path: Path) -> None:
    nothing = "word O\n" * 20 + "\n"
    path = written(tmp_path / "a.conll", nothing * 2_500 + "ACME B-brand\nAir I-brand\nshoes O\n")
    reader = read_pages(path)
    last = list(reader)[-1]
    reader.source.raw.close()
    assert spans(last) == [("title", 0, 8, "brand", "ACME Air")]


def test_zero_pages_of_a_wrong_format_flag_are_not_silent(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", '{"title": "a"}\n{"title": "b"}\n')
    for name in ("spans", "label-studio"):
        problems = Problems()
        assert read_all(path, format=name, problems=problems) == []
        assert problems.counts
