"""Bad input: every kind of it has a defined answer; nothing stops the reader and nothing vanishes."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import zstandard
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.strategies import WRITABLE, read_all, read_with_problems, written

from batag.errors import BatagError, InputError, UsageError
from batag.pages.formats import NEEDS_TOKENS, read_pages, write_pages
from batag.pages.page import Page, Tag
from batag.pages.problems import KINDS, Problems
from batag.segmentation.segmentation import Segmentation, bring_tokens

BATAG = str(Path(sys.executable).with_name("batag"))
# tests/contract/test_formats.py looks for files left open; without this every later test would answer for them.


def lines(*records: Any) -> str:
    """JSON lines; a text is a line as it is."""
    return "".join((record if isinstance(record, str) else json.dumps(record, ensure_ascii=False)) + "\n" for record in records)


def titles(found: list[Page]) -> list[str]:
    return [page["title"] for page in found]


def tagged(tags: Any, title: str = "ACME 跑鞋", **more: Any) -> dict[str, Any]:
    return {"id": "x", "title": title, "tags": tags, **more}


# A bad record in the middle: the pages around it are there, it is counted and listed, strict reading stops at it

BEFORE, AFTER = {"id": "before", "title": "前"}, {"id": "after", "title": "後"}
BAD_LINES: dict[str, tuple[str, str]] = {
    "no JSON": ("bad-json", "not json at all"),
    "half an object": ("bad-json", '{"title": "a"'),
    "a list": ("bad-json", '["title", "a"]'),
    "a number": ("bad-json", "17"),
    "a text": ("bad-json", '"title"'),
    "null": ("bad-json", "null"),
    "true": ("bad-json", "true"),
    "NULs": ("bad-json", "\0\0\0\0"),
    "too deep": ("bad-json", '{"title": "a", "x": ' + "[" * 100_000 + "]" * 100_000 + "}"),
    "single quotes": ("bad-json", "{'title': 'a'}"),
    "title is a list": ("bad-field", '{"title": ["a"]}'),
    "title is an object": ("bad-field", '{"title": {"zh": "a"}}'),
    "title is true": ("bad-field", '{"title": true}'),
    "fields is a list": ("bad-field", '{"fields": ["a"]}'),
    "a field is a number in a list": ("bad-field", '{"fields": {"title": [1]}}'),
    "no text": ("empty-page", '{"id": 3}'),
    "blank text": ("empty-page", '{"title": " \\u3000\\n", "description": ""}'),
    "null text": ("empty-page", '{"title": null}'),
    "no fields": ("empty-page", '{"fields": {}}'),
    "empty object": ("empty-page", "{}"),
    "over a million characters": ("too-long", '{"title": "' + "a" * 1_000_001 + '"}'),
}


@pytest.mark.parametrize("kind", BAD_LINES)
def test_a_bad_line_is_listed_and_the_pages_around_it_are_read(tmp_path: Path, kind: str) -> None:
    expected, line = BAD_LINES[kind]
    path = written(tmp_path / "a.jsonl", lines(BEFORE, line, AFTER))
    found, problems = read_with_problems(path)
    assert [page.id for page in found] == ["before", "after"]
    assert problems.counts == {expected: 1}
    assert problems.listed[0].where == f"{path}:2"
    assert problems.listed[0].reason
    assert problems.listed[0].effect == "page skipped"


@pytest.mark.parametrize("kind", BAD_LINES)
def test_strict_reading_stops_at_a_bad_line_and_names_it(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path / "a.jsonl", lines(BEFORE, BAD_LINES[kind][1], AFTER))
    with pytest.raises(InputError, match=r"a\.jsonl:2"):
        read_all(path, problems=Problems(strict=True))


def test_a_number_of_five_thousand_digits_is_no_reason_to_die(tmp_path: Path) -> None:
    """In a process of its own: a parser in C once fell over it."""
    number = "9" * 5_000
    record = '{"title": "a", "n": ' + number + "}"
    jsonl = written(tmp_path / "a.jsonl", lines(record, AFTER))
    array = written(tmp_path / "a.json", f'[{{"text": "a", "entities": [], "n": {number}}}]')
    second = written(tmp_path / "b.jsonl", lines(BEFORE, record, AFTER))
    for path in (jsonl, array, second):
        done = subprocess.run([BATAG, "convert", path, "-"], capture_output=True, timeout=60)
        assert done.returncode in (0, 1), (path.name, done.returncode)
        assert b"Traceback" not in done.stderr
        assert path is array or "後" in done.stdout.decode()


def test_a_number_where_text_was_expected_is_read_as_text_and_listed(tmp_path: Path) -> None:
    found, problems = read_with_problems(
        written(tmp_path / "a.jsonl", lines({"title": 501}, {"title": "a", "description": 2.5}))
    )
    assert [dict(page.fields) for page in found] == [{"title": "501"}, {"title": "a", "description": "2.5"}]
    assert problems.counts == {"number-as-text": 2}


def test_all_problems_are_counted_and_only_the_first_are_kept(tmp_path: Path) -> None:
    _, problems = read_with_problems(written(tmp_path / "a.jsonl", "no\n" * 1_500 + lines(AFTER)))
    assert problems.counts == {"bad-json": 1_500}
    assert (len(problems), len(problems.listed)) == (1_500, 1_000)


def test_every_problem_goes_to_the_log(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", "no\n" * 1_500 + lines(AFTER))
    with (tmp_path / "log").open("w+", encoding="utf-8") as log:
        read_all(path, problems=Problems(log=log))
        log.seek(0)
        logged = [json.loads(line) for line in log]
    assert len(logged) == 1_500
    assert logged[7] == {
        "kind": "bad-json",
        "where": f"{path}:8",
        "reason": logged[7]["reason"],
        "page": "",
        "effect": "page skipped",
    }


# Tags

TITLE = "ACME 跑鞋"
BAD_TAGS: dict[str, tuple[str, Any]] = {
    "after the end": ("out-of-range", {"start": 5, "end": 8, "label": "x"}),
    "empty": ("out-of-range", {"start": 3, "end": 3, "label": "x"}),
    "backwards": ("out-of-range", {"start": 4, "end": 2, "label": "x"}),
    "negative": ("out-of-range", {"start": -3, "end": -1, "label": "x"}),
    "half negative": ("out-of-range", {"start": -1, "end": 2, "label": "x"}),
    "fractions": ("bad-tag", {"start": 0.0, "end": 4.0, "label": "x"}),
    "texts": ("bad-tag", {"start": "0", "end": "4", "label": "x"}),
    "booleans": ("bad-tag", {"start": False, "end": True, "label": "x"}),
    "null": ("bad-tag", {"start": None, "end": 4, "label": "x"}),
    "missing end": ("bad-tag", {"start": 0, "label": "x"}),
    "no label": ("bad-tag", {"start": 0, "end": 4}),
    "empty label": ("bad-tag", {"start": 0, "end": 4, "label": ""}),
    "label is a number": ("bad-tag", {"start": 0, "end": 4, "label": 1}),
    "unknown field": ("bad-tag", {"field": "body", "start": 0, "end": 4, "label": "x"}),
    "field is a list": ("bad-tag", {"field": [], "start": 0, "end": 4, "label": "x"}),
    "field is an object": ("bad-tag", {"field": {}, "start": 0, "end": 4, "label": "x"}),
    "field is null": ("bad-tag", {"field": None, "start": 0, "end": 4, "label": "x"}),
    "a number": ("bad-tag", 7),
    "a list of two": ("bad-tag", [0, 4]),
    "another text": ("text-mismatch", {"start": 0, "end": 4, "label": "x", "text": "ACNE"}),
    "text is a number": ("text-mismatch", {"start": 0, "end": 4, "label": "x", "text": 5}),
    "far off": ("out-of-range", {"start": 10**12, "end": 10**12 + 1, "label": "x"}),
    "far off with text": ("out-of-range", {"start": 10**12, "end": 10**12 + 1, "label": "x", "text": "A"}),
}


@pytest.mark.parametrize("kind", BAD_TAGS)
def test_a_bad_tag_is_listed_and_the_rest_of_the_page_stays(tmp_path: Path, kind: str) -> None:
    expected, bad = BAD_TAGS[kind]
    good = {"field": "title", "start": 5, "end": 7, "label": "goods"}
    path = written(tmp_path / "a.jsonl", lines(BEFORE, tagged([bad, good]), AFTER))
    found, problems = read_with_problems(path)
    assert [page.id for page in found] == ["before", "x", "after"]
    assert [tag.text for tag in found[1].tags] == ["跑鞋"]
    assert problems.counts == {expected: 1}
    assert (problems.listed[0].where, problems.listed[0].page) == (f"{path}:2", "x")
    with pytest.raises(InputError, match=r"a\.jsonl:2 \(page x\)"):
        read_all(path, problems=Problems(strict=True))


@pytest.mark.parametrize("tags", [5, True, "no pairs here", 2.5, [["a"]], {"brand": 5}])
def test_tags_that_are_no_tags_are_listed(tmp_path: Path, tags: Any) -> None:
    found, problems = read_with_problems(written(tmp_path / "a.jsonl", lines(BEFORE, tagged(tags), AFTER)))
    assert [(page.id, page.tags) for page in found] == [("before", ()), ("x", ()), ("after", ())]
    assert problems.counts == {"bad-tag": 1}


def test_of_overlapping_tags_the_longer_stays_and_of_equals_the_first(tmp_path: Path) -> None:
    tags = [[0, 4, "short"], [0, 7, "long"], [5, 7, "inner"]]
    equals = [[0, 4, "first"], [0, 4, "second"], [2, 6, "third"], [4, 7, "touching"]]
    found, problems = read_with_problems(written(tmp_path / "a.jsonl", lines(tagged(tags), tagged(equals, id="y"))))
    assert [[tag.label for tag in page.tags] for page in found] == [["long"], ["first", "touching"]]
    assert problems.counts == {"overlap": 4}
    assert "overlaps" in problems.listed[0].reason


def test_utf16_offsets_are_recognised_by_their_text(tmp_path: Path) -> None:
    tags = [{"start": 3, "end": 7, "label": "brand", "text": "ACME"}, {"start": 8, "end": 10, "label": "goods", "text": "跑鞋"}]
    found, problems = read_with_problems(written(tmp_path / "a.jsonl", lines(tagged(tags, title="😀 ACME 跑鞋"))))
    assert [(tag.start, tag.end, tag.text) for tag in found[0].tags] == [(2, 6, "ACME"), (7, 9, "跑鞋")]
    assert problems.counts == {"offset-units": 2}


@pytest.mark.parametrize(
    "span",
    [
        [True, 3, "x"],
        [0, True, "x"],
        [0.5, 2, "x"],
        ["0", "2", "x"],
        [0, 99, "x"],
        [-2, 2, "x"],
        [2, 2, "x"],
        [0, 2, None],
        [0, 2],
    ],
)
@pytest.mark.parametrize("shape", ["triple", "entity"])
def test_bad_doccano_spans_are_listed(tmp_path: Path, span: list[Any], shape: str) -> None:
    item: Any = span
    if shape == "entity":
        item = dict(zip(("start_offset", "end_offset", "label"), span, strict=False))
    path = written(tmp_path / "a.jsonl", lines({"text": "前", "label": []}, {"id": "x", "text": "abcdef", "label": [item]}))
    found, problems = read_with_problems(path, format="doccano")
    assert [page.tags for page in found] == [(), ()]
    assert problems.counts.total() == 1
    assert problems.counts.keys() <= {"bad-tag", "out-of-range"}
    assert problems.listed[0].where == f"{path}:2"


@pytest.mark.parametrize("label", ["positive", {"brand": "abc"}, 5, ["positive"]])
def test_doccano_labels_that_are_no_spans_do_not_vanish(tmp_path: Path, label: Any) -> None:
    found, problems = read_with_problems(written(tmp_path / "a.jsonl", lines({"text": "abc", "label": label})))
    assert titles(found) == ["abc"]
    assert problems.counts or found[0].extra or found[0].tags


@pytest.mark.parametrize(
    "span", [[True, 2], [0.0, 2.0], ["0", "1"], [0, 99], [-1, 2], [1, 1], [0], None, "ab", [0, 1, 2], {"start": 0}]
)
def test_bad_spans_of_span_json_are_listed(tmp_path: Path, span: Any) -> None:
    entity = {"span": span, "type": "x"}
    records = [{"text": "前", "entities": []}, {"text": "abcdef", "entities": [entity, {"span": [3, 4], "type": "y"}]}]
    path = written(tmp_path / "a.json", json.dumps(records))
    found, problems = read_with_problems(path)
    assert [[tag.label for tag in page.tags] for page in found] == [[], ["y"]]
    assert problems.counts.total() == 1
    assert problems.listed[0].where == f"{path}, record 2"


RESULT = {"to_name": "text", "value": {"start": 0, "end": 2, "labels": ["x"]}}
BAD_TASKS: list[Any] = [
    {"data": {"text": "abc"}, "annotations": 5},
    {"data": {"text": "abc"}, "annotations": "five"},
    {"data": {"text": "abc"}, "annotations": {"result": []}},
    {"data": {"text": "abc"}, "annotations": [5]},
    {"data": {"text": "abc"}, "annotations": [{"result": 5}]},
    {"data": {"text": "abc"}, "annotations": [{"result": [5]}]},
    {"data": {"text": "abc"}, "annotations": [{"result": [{"to_name": [], "value": {"start": 0, "end": 2, "labels": ["x"]}}]}]},
    {"data": {"text": "abc"}, "annotations": [{"result": [{"value": {"start": True, "end": 2, "labels": ["x"]}}]}]},
    {"data": {"text": "abc"}, "annotations": [{"result": [{"value": {"start": 0, "end": 99, "labels": ["x"]}}]}]},
    {"data": {"text": "abc"}, "annotations": [{"result": [{"value": {"start": 2, "end": 1, "labels": ["x"]}}]}]},
    {"data": {"text": "😀bc"}, "annotations": [{"result": [{"value": {"start": 1, "end": 3, "labels": ["x"]}}]}]},
    {"data": {"text": "abc"}, "annotations": [{"result": [{"value": {"start": 0, "end": 2, "labels": ["x"], "text": "bc"}}]}]},
    {"data": {"text": "abc"}, "annotations": [{"result": [{"value": {"choices": ["x"]}}]}]},
    {"data": {"text": "abc"}, "annotations": [{"result": [{"type": "relation"}]}]},
    {"data": ["abc"], "annotations": []},
    {"data": None, "annotations": []},
    {"data": {}, "annotations": []},
    {"data": {"text": 5}, "annotations": []},
    {"data": {"text": None}, "annotations": []},
    {"data": {"text": "abc", "fields": 5}, "annotations": []},
    "a text",
    None,
    [],
]


@pytest.mark.parametrize("task", BAD_TASKS, ids=lambda task: json.dumps(task)[:70])
def test_a_bad_label_studio_task_is_listed_and_its_neighbours_are_read(tmp_path: Path, task: Any) -> None:
    good = {"data": {"text": "ACME"}, "annotations": [{"result": [RESULT]}]}
    path = written(tmp_path / "a.json", json.dumps([good, task, good]))
    found, problems = read_with_problems(path, format="label-studio")
    assert [tag.text for page in (found[0], found[-1]) for tag in page.tags] == ["AC", "AC"]
    assert all(not page.tags for page in found[1:-1])
    assert problems.counts.total() >= 1
    assert {problem.where for problem in problems.listed} == {f"{path}, record 2"}


def test_tokens_that_do_not_follow_the_text_are_listed_and_the_page_stays(tmp_path: Path) -> None:
    bad = [
        ["x"],
        ["跑鞋", "ACME"],
        [[0, 99]],
        [[3, 1]],
        [[0, 3], [2, 4]],
        [1, 2],
        "ACME",
        5,
        {"body": ["a"]},
        [["a", "b"]],
        [True],
    ]
    records = [tagged([], tokens=tokens, id=str(number)) for number, tokens in enumerate(bad)]
    found, problems = read_with_problems(written(tmp_path / "a.jsonl", lines(*records)))
    assert [page.tokens for page in found] == [None] * len(bad)
    assert problems.counts == {"split-token": len(bad)}


# Ids and languages


def test_a_duplicate_id_is_noted_and_both_pages_are_kept(tmp_path: Path) -> None:
    found, problems = read_with_problems(written(tmp_path / "a.jsonl", lines(BEFORE, AFTER, BEFORE, {"id": 7, "title": "a"})))
    assert [page.id for page in found] == ["before", "after", "before", "7"]
    assert problems.counts == {"duplicate-id": 1}
    assert problems.listed[0].where.endswith(":3")


def test_a_language_that_is_not_ours_is_noted(tmp_path: Path) -> None:
    records = [{"title": "a", "language": language} for language in ("tlh", 5, ["en"], "zh_TW", "EN-us", None, "")]
    found, problems = read_with_problems(written(tmp_path / "a.jsonl", lines(*records)))
    assert [page.language for page in found] == [None, None, None, "zh-Hant", "en", None, None]
    assert problems.counts == {"unknown-language": 3}
    with pytest.raises(UsageError, match="zh-Hant"):
        read_pages(tmp_path / "a.jsonl", language="klingon")


# Bytes: marks, line ends, encodings, damage


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", lines({"id": "1", "title": "跑鞋"}, {"id": "2", "title": "b"})),
        ("a.csv", "id,title\n1,跑鞋\n2,b\n"),
        ("a.tsv", "id\ttitle\n1\t跑鞋\n2\tb\n"),
        ("a.json", json.dumps([{"id": "1", "title": "跑鞋"}, {"id": "2", "title": "b"}])),
        ("a.words", "# id = 1\n跑鞋\tgoods\n\n# id = 2\nb\tnone\n"),
    ],
)
def test_marks_and_line_ends_are_no_part_of_the_text(tmp_path: Path, name: str, text: str, newline: str, encoding: str) -> None:
    path = written(tmp_path / name, text.replace("\n", newline).encode(encoding))
    found, problems = read_with_problems(path)
    assert [(page.id, dict(page.fields)) for page in found] == [("1", {"title": "跑鞋"}), ("2", {"title": "b"})]
    assert not problems.counts


def test_line_ends_of_old_macs_are_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="CR alone"):
        read_all(written(tmp_path / "a.csv", "id,title\r1,a\r2,b\r"))


TEXTS = {
    "cp950": "化粧水保濕，全新運動跑鞋輕量透氣男女適用台灣製造免運費，舒適好穿不磨腳，限時優惠中",
    "gb18030": "全新运动跑鞋轻便透气男女适用中国制造包邮，舒适好穿不磨脚，限时优惠中",
    "cp932": "新品ランニングシューズ軽量で通気性抜群です。送料無料、サイズ交換もできます",
    "utf-16-le": "全新運動跑鞋輕量透氣男女適用",
    "utf-16-be": "全新運動跑鞋輕量透氣男女適用",
}
FILES: dict[str, Callable[[str], str]] = {
    "a.jsonl": lambda text: lines(*({"id": str(number), "title": f"{text} {number}"} for number in range(12))),
    "a.csv": lambda text: "id,title\n" + "".join(f"{number},{text} {number}\n" for number in range(12)),
    "a.words": lambda text: "".join(
        "".join(f"{word}\tnone\n" for word in text) + f"{number}\tgoods\n\n" for number in range(12)
    ),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("encoding", TEXTS)
def test_another_encoding_is_an_error_that_offers_its_name(tmp_path: Path, name: str, encoding: str) -> None:
    path = written(tmp_path / name, FILES[name](TEXTS[encoding]).encode(encoding))
    with pytest.raises(InputError, match=f'encoding="{encoding}"'):
        read_all(path)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("encoding", TEXTS)
def test_a_named_encoding_is_read(tmp_path: Path, name: str, encoding: str) -> None:
    path = written(tmp_path / name, FILES[name](TEXTS[encoding]).encode(encoding))
    found, problems = read_with_problems(path, encoding=encoding)
    assert [page["title"].replace(" ", "") for page in found] == [f"{TEXTS[encoding]}{number}" for number in range(12)]
    assert not problems.counts


@pytest.mark.parametrize(
    ("named_encoding", "really", "text"),
    [
        ("big5", "cp950", "化粧水 碁石 裏 恒 €"),
        ("Big5", "cp950", "化粧水"),
        ("shift_jis", "cp932", "①髙島屋 ㈱ №"),
        ("sjis", "cp932", "①髙島屋"),
        ("gb2312", "gbk", "朱镕基 輕量"),
        ("gbk", "gb18030", "㐂 跑鞋"),
    ],
)
def test_an_older_standard_means_what_files_are_really_in(tmp_path: Path, named_encoding: str, really: str, text: str) -> None:
    path = written(tmp_path / "a.csv", f"id,title\n1,{text}\n".encode(really))
    (page,), problems = read_with_problems(path, encoding=named_encoding)
    assert page["title"] == text
    assert not problems.counts


@pytest.mark.parametrize("named_encoding", ["big5", "shift_jis", "gb2312", "gbk"])
def test_nothing_of_an_older_standard_is_lost_in_the_wider_one(tmp_path: Path, named_encoding: str) -> None:
    known = [character for character in map(chr, range(0x80, 0x10000)) if len(character.encode(named_encoding, "ignore")) == 2]
    path = written(tmp_path / "a.csv", b"id,title\n1," + "".join(known).encode(named_encoding) + b"\n")
    (page,), problems = read_with_problems(path, encoding=named_encoding)
    assert len(page["title"]) == len(known) > 5_000
    assert not problems.counts


def test_the_guess_has_the_name_that_people_know_and_one_that_reads_the_file(tmp_path: Path) -> None:
    title = "Dior 迪奧 化粧水 限量 保濕"
    path = written(tmp_path / "a.csv", f"id,title\n1,{title}\n".encode("cp950"))
    with pytest.raises(InputError, match=r'cp950 \(Big5\): use encoding="cp950"'):
        read_all(path)
    assert titles(read_all(path, encoding="cp950")) == [title]


def test_characters_of_hong_kong_are_offered_their_own_encoding(tmp_path: Path) -> None:
    text = "id,title\n" + "1,佢哋嘅運動跑鞋 喺香港製造 輕量透氣\n" * 6
    path = written(tmp_path / "a.csv", text.encode("big5hkscs"))
    with pytest.raises(InputError, match='encoding="big5hkscs"'):
        read_all(path)


@pytest.mark.parametrize("encoding", ["nope", "hex", "rot13", "base64", "zlib", "idna", "undefined"])
def test_what_is_no_encoding_of_text_is_a_usage_error(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(UsageError):
        read_all(written(tmp_path / "a.jsonl", lines(BEFORE)), encoding=encoding)


STRAY = {
    "a.jsonl": b'{"id": "1", "title": "\xe8\xb7\x91"}\n{"id": "2", "title": "x\xffy"}\n{"id": "3", "title": "\xe8\xb7\x91"}\n'
    b'{"id": "4", "title": "\xe8\xb7\x91"}\n',
    "a.csv": b"id,title\n1,\xe8\xb7\x91\n2,x\xffy\n3,\xe8\xb7\x91\n4,\xe8\xb7\x91\n",
    "a.words": b"\xe8\xb7\x91\tnone\n\nx\xffy\tnone\n\n\xe8\xb7\x91\tnone\n\n\xe8\xb7\x91\tnone\n",
    "a.json": b'[{"id": "1", "title": "\xe8\xb7\x91"},\n{"id": "2", "title": "x\xffy"},\n{"id": "3", "title":"\xe8\xb7\x91"},\n'
    b'{"id": "4", "title": "\xe8\xb7\x91"}\n]\n',
}


@pytest.mark.parametrize("name", STRAY)
def test_a_stray_byte_becomes_a_replacement_character_and_is_listed(tmp_path: Path, name: str) -> None:
    found, problems = read_with_problems(written(tmp_path / name, STRAY[name]))
    assert titles(found) == ["跑", "x\ufffdy", "跑", "跑"]
    assert problems.counts == {"bad-encoding": 1}


@pytest.mark.parametrize("encoding", ["big5", "utf-16"])
def test_a_stray_byte_of_a_named_encoding_is_listed_too(tmp_path: Path, encoding: str) -> None:
    stray = b"\xff\xff" if encoding == "big5" else b"\x00\xdc"
    records = [lines({"id": str(number), "title": "跑鞋"}).encode(encoding.replace("16", "16-le")) for number in range(4)]
    data = records[0] + records[1].replace("鞋".encode(encoding.replace("16", "16-le")), stray) + records[2] + records[3]
    found, problems = read_with_problems(written(tmp_path / "a.jsonl", data), encoding=encoding)
    assert [page.id for page in found] == ["0", "1", "2", "3"]
    assert found[1]["title"].startswith("跑\ufffd")
    assert problems.counts == {"bad-encoding": 1}


@pytest.mark.parametrize("shift", [0, 1, 2])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_a_long_first_line_of_wide_characters_is_still_utf8(tmp_path: Path, name: str, shift: int) -> None:
    record = {"id": "a" * (shift + 1), "title": "跑" * 200_000}
    path = written(tmp_path / name, json.dumps(record if name == "a.jsonl" else [record], ensure_ascii=False) + "\n")
    assert [len(title) for title in titles(read_all(path))] == [200_000]


def test_nul_and_control_characters_are_kept_and_listed(tmp_path: Path) -> None:
    found, problems = read_with_problems(written(tmp_path / "a.jsonl", lines(BEFORE, '{"title": "a\0b\x07\tc"}', AFTER)))
    assert titles(found) == ["前", "a\0b\x07\tc", "後"]
    assert problems.counts == {"control-characters": 1}
    found, _ = read_with_problems(written(tmp_path / "a.csv", "id,title\n1,a\0b\n2,c\n"))
    assert titles(found) == ["a\0b", "c"]


@pytest.mark.parametrize("cut", [1, 5, 12])
def test_a_truncated_last_line_is_listed_as_such(tmp_path: Path, cut: int) -> None:
    path = written(tmp_path / "a.jsonl", lines(BEFORE, {"id": "2", "title": "abcdefghij"}, AFTER).encode()[: -cut - 1])
    found, problems = read_with_problems(path)
    assert [page.id for page in found] == ["before", "2"]
    assert problems.counts == {"truncated": 1}
    assert problems.listed[0].where == f"{path}:3"


def test_a_last_line_without_its_end_is_a_page(tmp_path: Path) -> None:
    for name, text in (("a.jsonl", lines(BEFORE, AFTER)), ("a.csv", "title\n前\n後\n"), ("a.words", "前\tnone\n\n後\tnone\n")):
        found, problems = read_with_problems(written(tmp_path / name, text.rstrip("\n")))
        assert titles(found) == ["前", "後"]
        assert not problems.counts


def many(count: int) -> bytes:
    draw = random.Random(3)
    records = ({"id": str(number), "title": f"{draw.random()} 跑鞋 {draw.random()}"} for number in range(count))
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def recoverable(pack: str, data: bytes) -> list[str]:
    """The ids of all whole lines that can be got out of a damaged file."""
    plain = b""
    if pack == ".gz":
        unpack = zlib.decompressobj(31)
        try:
            for place in range(len(data)):
                plain += unpack.decompress(data[place : place + 1])
        except zlib.error:
            pass
    else:
        unpacked = zstandard.ZstdDecompressor().decompressobj()
        try:
            for place in range(len(data)):
                plain += unpacked.decompress(data[place : place + 1])
        except zstandard.ZstdError:
            pass
    return [json.loads(line)["id"] for line in plain.split(b"\n")[:-1]]


def packed(pack: str, data: bytes) -> bytes:
    return gzip.compress(data, 1) if pack == ".gz" else zstandard.ZstdCompressor(write_checksum=True).compress(data)


@pytest.mark.parametrize(
    ("pack", "count", "kept"),
    [
        *[(".gz", count, kept) for count, kept in [(20, 0.5), (20, -8), (5_000, 0.5), (5_000, 0.9), (5_000, -8), (5_000, -1)]],
        *[(".zst", count, kept) for count, kept in [(5_000, 0.5), (5_000, 0.9), (5_000, -8), (5_000, -1)]],
    ],
)
def test_a_truncated_compressed_file_keeps_the_pages_before_its_end(tmp_path: Path, pack: str, count: int, kept: float) -> None:
    data = packed(pack, many(count))
    data = data[: int(len(data) * kept) if kept > 0 else int(kept)]
    expected = recoverable(pack, data)
    found, problems = read_with_problems(written(tmp_path / f"a.jsonl{pack}", data))
    assert problems.counts == {"truncated": 1}
    assert [page.id for page in found] == expected


@pytest.mark.parametrize("pack", [".gz", ".zst"])
def test_a_corrupt_compressed_file_keeps_the_pages_before_the_damage(tmp_path: Path, pack: str) -> None:
    data = bytearray(packed(pack, many(20_000)))
    middle = len(data) * 3 // 4
    data[middle : middle + 40] = b"\xff" * 40
    found, problems = read_with_problems(written(tmp_path / f"a.jsonl{pack}", bytes(data)))
    assert [page.id for page in found[:10_000]] == [str(number) for number in range(10_000)]
    assert problems.counts["truncated"] == 1


@pytest.mark.parametrize("pack", [".gz", ".zst"])
def test_what_only_begins_like_a_compressed_file_is_an_error(tmp_path: Path, pack: str) -> None:
    magic = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}[pack]
    for rest in (b"", b"\x08", b"garbage all the way" * 10):
        with pytest.raises(InputError, match="cannot be read"):
            read_all(written(tmp_path / f"a.jsonl{pack}", magic + rest))


# A line of 50 MB


def peak_of(action: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("pack", ["", ".gz", ".zst"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.words"])
def test_a_line_of_fifty_megabytes_is_skipped_without_being_held(tmp_path: Path, name: str, pack: str) -> None:
    head, long, tail = {
        "a.jsonl": (lines(BEFORE), '{"id": "long", "title": "%s"}', lines(AFTER)),
        "a.csv": ("id,title\nbefore,前\n", "long,%s", "after,後\n"),
        "a.words": ("# id = before\n前\tnone\n\n", "# id = long\nlong\tnone\n%s\tnone\n", "\n# id = after\n後\tnone\n"),
    }[name]
    before, after = long.split("%s")
    path = tmp_path / (name + pack)
    with path.open("wb") as raw:
        stream: Any = raw
        if pack == ".gz":
            stream = gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=1)
        elif pack == ".zst":
            stream = zstandard.ZstdCompressor().stream_writer(raw, closefd=False)
        stream.write((head + before).encode())
        for _ in range(50):
            stream.write(b"x" * 1_000_000)
        stream.write((after + "\n" + tail).encode())
        if pack:
            stream.close()
    result: list[Any] = []
    assert peak_of(lambda: result.extend(read_with_problems(path))) < 60_000_000
    found, problems = result
    assert [page.id for page in found if page.id != "long"] == ["before", "after"]
    assert problems.counts["too-long"] == 1


def test_a_record_over_the_limit_in_an_array_is_a_listed_page(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with path.open("wb") as stream:
        stream.write(b'[{"id": "before", "title": "a"}, {"id": "long", "title": "')
        for _ in range(18):
            stream.write(b"x" * 1_000_000)
        stream.write(b'"}, {"id": "after", "title": "b"}]')
    found, problems = read_with_problems(path)
    assert [page.id for page in found] == ["before", "after"]
    assert problems.counts == {"too-long": 1}


def test_a_column_file_without_blank_lines_is_a_page_too_long(tmp_path: Path) -> None:
    path = written(tmp_path / "a.words", "before\tnone\n\n" + "running\tnone\n" * 150_000 + "\nafter\tnone\n")
    found, problems = read_with_problems(path)
    assert titles(found) == ["before", "after"]
    assert problems.counts == {"too-long": 1}


# Tables


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_a_quote_that_does_not_close_costs_its_own_row_only(tmp_path: Path, mark: str) -> None:
    rows = [
        ["id", "title"],
        ["1", '"a ""b"" c"'],
        ["2", '"open'],
        ["3", '"c"'],
        ["4", "d"],
        ["5", '27" screen'],
        ["6", '"line\r\nbreak"'],
    ]
    path = written(tmp_path / "a.csv", "".join(mark.join(row) + "\r\n" for row in rows))
    found, problems = read_with_problems(path)
    assert [(page.id, page["title"]) for page in found] == [
        ("1", 'a "b" c'), ("3", "c"), ("4", "d"), ("5", '27" screen'), ("6", "line\r\nbreak"),
    ]  # fmt: skip
    assert problems.counts == {"bad-row": 1}
    assert problems.listed[0].where == f"{path}:3"
    with pytest.raises(InputError, match=r"a\.csv:3"):
        read_all(path, problems=Problems(strict=True))


def test_a_quote_that_opens_in_the_last_row_costs_that_row_only(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", 'id,title\n1,a\n2,"b\n')
    found, problems = read_with_problems(path)
    assert [page.id for page in found] == ["1"]
    assert problems.counts == {"bad-row": 1}


def test_an_open_quote_before_many_rows_is_quick_and_costs_one_row(tmp_path: Path) -> None:
    rows = "".join(f'{number},"a ""{number}""",\n' for number in range(20_000))
    path = written(tmp_path / "a.csv", 'id,title,x\n0,"open,\n' + rows)
    found, problems = read_with_problems(path)
    assert len(found) == 20_000
    assert problems.counts == {"bad-row": 1}


def test_rows_with_too_many_cells_are_listed_and_with_too_few_are_read(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "id,title,description\n1,a,b\n2,a,b,c\n3,a\n4\n,,\n5,a,b,\n")
    found, problems = read_with_problems(path)
    assert [(page.id, dict(page.fields)) for page in found] == [
        ("1", {"title": "a", "description": "b"}),
        ("3", {"title": "a"}),
        ("5", {"title": "a", "description": "b"}),
    ]
    assert problems.counts == {"bad-row": 1, "empty-page": 1}
    assert [problem.where for problem in problems.listed] == [f"{path}:3", f"{path}:5"]


def test_the_line_of_a_problem_counts_line_breaks_inside_cells(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", 'id,title\n1,"a\nb\nc"\n2,x,y\n')
    assert read_with_problems(path)[1].listed[0].where == f"{path}:5"


def test_a_table_without_a_title_lists_its_columns(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"name, body") as caught:
        read_all(written(tmp_path / "a.csv", "id,name,body\n1,a,b\n"))
    assert "columns=" in str(caught.value)
    assert "--columns" in caught.value.for_command_line()


def test_a_mapping_to_a_missing_column_lists_the_columns(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nome.*name, body"):
        read_all(written(tmp_path / "a.csv", "id,name,body\n1,a,b\n"), columns={"title": "nome"})


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json"])
def test_a_misspelt_column_is_an_error_that_offers_the_nearest_one_also_beside_an_own_title(tmp_path: Path, name: str) -> None:
    records = [{"id": "1", "title": "old", "name": "a"}, {"id": "2", "title": "b"}]
    text = "id,title,name\n1,old,a\n2,b,\n" if name == "a.csv" else lines("{", *records)
    text = json.dumps(records) if name == "a.json" else text
    with pytest.raises(InputError) as caught:
        read_all(written(tmp_path / name, text), columns={"title": "nam"})
    todo = "Did you mean --columns title=name? The columns are id, title, name"
    assert (caught.value.where, caught.value.todo) == (str(tmp_path / name), todo)
    assert "no column 'nam' (for the field title)" in caught.value.what


def test_records_of_json_lines_may_lack_a_column_that_others_have(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", lines({"body": "x"}, {"name": "a", "body": "y"}, {"body": "z"}))
    found, problems = read_with_problems(path, columns={"title": "name", "description": "body"})
    assert [dict(page.fields) for page in found] == [
        {"description": "x"},
        {"title": "a", "description": "y"},
        {"description": "z"},
    ]
    assert len(problems) == 0


def test_json_lines_whose_first_record_is_longer_than_what_is_looked_at_are_read(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", lines({"long": "x" * 300_000, "name": "a"}))
    assert titles(read_all(path, columns={"title": "name"})) == ["a"]


@pytest.mark.parametrize(
    ("columns", "meant"),
    [
        (
            {"name": "title"},
            "Did you mean --columns title=name? The field comes first, then the file's column. The columns are",
        ),
        (
            {"name": "title", "body": "text"},
            "Did you mean --columns title=name,text=body? The field comes first, then the file's column. The columns are",
        ),
        ({"title": "name，description=body"}, "Put commas between the pairs: title=name,description=body. The columns are"),
    ],
)
def test_a_mapping_that_does_not_fit_is_answered_in_whole_sentences(
    tmp_path: Path, columns: dict[str, str], meant: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_all(written(tmp_path / "a.csv", "id,name,body\n1,a,b\n"), columns=columns)
    assert caught.value.todo.startswith(meant)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
@pytest.mark.parametrize("out", ["b.jsonl", "b.csv", "b.parquet"])
def test_a_column_whose_name_another_takes_is_kept(tmp_path: Path, name: str, out: str) -> None:
    record = {"id": "1", "title": "old", "title_": "x", "name": "new"}
    text = ",".join(record) + "\n" + ",".join(record.values()) + "\n" if name == "a.csv" else lines(record)
    found = read_all(written(tmp_path / name, text), columns={"title": "name"})
    write_pages(found, tmp_path / out)
    for (page,) in (found, read_all(tmp_path / out)):
        assert (page["title"], dict(page.extra)) == ("new", {"title_": "x", "title__": "old"})


def test_two_columns_may_change_their_names(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "id,title,description\n1,a,b\n")
    (page,) = read_all(path, columns={"title": "description", "description": "title"})
    assert (dict(page.fields), dict(page.extra)) == ({"title": "b", "description": "a"}, {})


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_an_empty_row_whose_column_was_mapped_is_not_told_to_map_it(tmp_path: Path, name: str) -> None:
    text = "id,name\n1,a\n2,\n" if name == "a.csv" else lines({"id": "1", "name": "a"}, {"id": "2", "name": ""})
    _, problems = read_with_problems(written(tmp_path / name, text), columns={"title": "name"})
    assert [problem.reason for problem in problems.listed] == ["no text in any field; the record has id, name"]


# Column files


@pytest.mark.parametrize("bad", ["alone", "word\t", "\tO", "word\t \t", "a b c d e"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_column_line_without_a_label_costs_its_page_only(tmp_path: Path, bad: str, place: int) -> None:
    blocks = ["ACME\tB-brand\nshoes\tO", "old\tO\nboots\tB-goods", "new\tO\nshoes\tB-goods"]
    blocks.insert(place, f"x\tO\n{bad}\ny\tO")
    path = written(tmp_path / "a.conll", "\n\n".join(blocks) + "\n")
    found, problems = read_with_problems(path)
    assert titles(found) == ["ACME shoes", "old boots", "new shoes"]
    assert problems.counts == {"bad-line": 1}
    assert problems.listed[0].where == f"{path}:{place * 3 + 2}"


def test_the_first_line_of_a_column_file_may_be_bad(tmp_path: Path) -> None:
    found, problems = read_with_problems(written(tmp_path / "a.conll", "word\t\nx\tO\n\nACME\tB-brand\nshoes\tO\n"))
    assert titles(found) == ["ACME shoes"]
    assert problems.counts == {"bad-line": 1}


def test_a_broken_sequence_is_repaired_and_listed(tmp_path: Path) -> None:
    text = "ACME\tB-brand\nshoes\tO\n\nold\tO\nboots\tI-goods\nhere\tI-brand\n\nnew\tB-goods\nones\tO\n"
    found, problems = read_with_problems(written(tmp_path / "a.conll", text))
    assert [(tag.label, tag.text) for tag in found[1].tags] == [("goods", "boots"), ("brand", "here")]
    assert problems.counts == {"broken-sequence": 2}


COMMENTS = [
    "# field = [1]", '# field = {"a": 1}', "# text = [1]", '# text = "another text"', '# text = "\\ud800"', '# extra = "x"',
    "# extra = [1]", "# extra = {", "# shop = [1]", '# shop = {"a": 1}', "# id = [1]", '# id = "', '# id = "\\ud800"',
    "# id = " + "[" * 5000, "# language = [1]", "# labelled = [1]", "# tags = [1]", '# tags = "x"', "# tags = [[]]",
    '# tags = [["title", 0, 99, "x"]]', '# tags = [["title", -1, 2, "x"]]', '# tags = [["title", "0", "2", "x"]]',
    '# tags = [[[], 0, 2, "x"]]', '# tags = [["title", 0, 2, 5]]', '# tags = [["title", true, 2, "x"]]',
]  # fmt: skip


@pytest.mark.parametrize("comment", COMMENTS, ids=lambda comment: comment[:40])
def test_a_comment_with_odd_content_breaks_nothing(tmp_path: Path, comment: str) -> None:
    block = '# id = "2"\n# field = "title"\n# text = "ACME shoes"\n' + comment + "\nACME\tB-brand\nshoes\tO\n"
    path = written(tmp_path / "a.conll", '# id = "1"\nold\tO\n\n' + block + '\n# id = "3"\nnew\tO\n')
    found, _ = read_with_problems(path)
    assert (found[0].id, found[-1].id) == ("1", "3")
    check_pages(found)


def test_a_lost_blank_line_between_pages_does_not_mix_them(tmp_path: Path) -> None:
    some = [
        Page("1", {"title": "ACME shoes"}, language="en", tags=(Tag("title", 5, 10, "goods", "shoes"),)),
        Page("2", {"title": "ab"}, language="en", labelled=True),
    ]
    write_pages([bring_tokens(page, Segmentation()) for page in some], tmp_path / "a.conll")
    text = (tmp_path / "a.conll").read_text().replace("\n\n#", "\n#")
    found, problems = read_with_problems(written(tmp_path / "b.conll", text))
    check_pages(found)
    assert titles(found) == ["ACME shoes", "ab"] or problems.counts


# Whole files


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        ("", "truncated"),
        ('{"title": "c', "truncated"),
        ('{"title": "c"}, nonsense', "truncated"),
        ("nonsense]", "bad-json"),
        ('{"title": "c"} {"title": "d"}]', "bad-json"),
        ("\0]", "bad-json"),
        ("null, 3]", "bad-json"),
    ],
)
def test_a_damaged_array_keeps_the_pages_before_the_damage(tmp_path: Path, end: str, kind: str) -> None:
    path = written(tmp_path / "a.json", '[{"title": "a"}, {"title": "b"}, ' + end)
    found, problems = read_with_problems(path)
    assert titles(found)[:2] == ["a", "b"]
    assert problems.counts.keys() == {kind}
    assert f"{path}, record" in problems.listed[0].where
    with pytest.raises(InputError, match=r"a\.json, record"):
        read_all(path, problems=Problems(strict=True))


def test_a_bad_element_of_an_array_costs_itself_only(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", '[{"title": "a"}, {"title" "b"}, {"title": "]}\\"[{"}, {"title": "d"},]')
    found, problems = read_with_problems(path)
    assert titles(found) == ["a", ']}"[{', "d"]
    assert problems.counts == {"bad-json": 1}


@pytest.mark.parametrize(
    ("bad", "title"),
    [
        (r'{"title": "a\ud800b"}', "a\ufffdb"),
        (r'{"title": "\ud83d \ude00"}', "\ufffd \ufffd"),
        ('{"title": "a\tb"}', "a\tb"),
        ('{"title": "b", "ean": 12345678901234567890123}', "b"),
        ('{"title": "b", "rate": NaN}', "b"),
    ],
)
def test_an_odd_value_in_an_array_does_not_end_it(tmp_path: Path, bad: str, title: str) -> None:
    """The same values on a line of JSON lines are read (and noted where something was repaired)."""
    found, problems = read_with_problems(written(tmp_path / "a.json", f'[{{"title": "a"}},\n{bad},\n{{"title": "c"}}\n]\n'))
    assert titles(found) == ["a", title, "c"]
    assert "truncated" not in problems.counts
    found, problems = read_with_problems(written(tmp_path / "a.jsonl", lines({"title": "a"}, bad, {"title": "c"})))
    assert titles(found) == ["a", title, "c"]


def parquet(tmp_path: Path, count: int = 3_000) -> bytes:
    write_pages((Page(str(number), {"title": f"跑鞋 {number}"}) for number in range(count)), tmp_path / "whole.parquet")
    return (tmp_path / "whole.parquet").read_bytes()


def test_parquet_garbage_is_an_error(tmp_path: Path) -> None:
    whole = parquet(tmp_path)
    for data in (b"", b"PAR1", b"PAR1" + b"x" * 100, b"PAR1" + b"x" * 100 + b"PAR1", whole[:-1], whole[: len(whole) // 2]):
        with pytest.raises(InputError, match="Parquet"):
            read_all(written(tmp_path / "a.parquet", data))


def test_parquet_damaged_in_the_middle_is_listed(tmp_path: Path) -> None:
    data = bytearray(parquet(tmp_path))
    data[10:60] = b"\xff" * 50
    found, problems = read_with_problems(written(tmp_path / "a.parquet", bytes(data)))
    assert len(found) < 3_000
    assert problems.counts == {"truncated": 1}


def test_text_that_is_not_utf8_in_a_parquet_file_costs_its_own_row_at_most(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    titles_column = pa.array([b"a", b"x\xffy", b"c"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"id": ["1", "2", "3"], "title": titles_column}), tmp_path / "a.parquet")
    found, problems = read_with_problems(tmp_path / "a.parquet")
    assert [page.id for page in found if page.id != "2"] == ["1", "3"]
    assert problems.counts.total() == 1


def test_a_parquet_file_with_two_columns_of_one_name_is_read_or_refused(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"Title": ["a"], "title": ["b"]}), tmp_path / "a.parquet")
    try:
        (page,) = read_all(tmp_path / "a.parquet")
    except BatagError:
        return
    assert page["title"] in ("a", "b")


def workbook(tmp_path: Path, rows: list[list[Any]]) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "whole.xlsx")
    book.close()
    return (tmp_path / "whole.xlsx").read_bytes()


def rezipped(tmp_path: Path, data: bytes, part: str, change: Callable[[bytes], bytes | None]) -> bytes:
    """The workbook with one part of it changed or left out."""
    import zipfile

    written(tmp_path / "from.zip", data)
    with zipfile.ZipFile(tmp_path / "from.zip") as old, zipfile.ZipFile(tmp_path / "to.zip", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == part:
                changed = change(content)
                if changed is None:
                    continue
                content = changed
            new.writestr(name, content)
    return (tmp_path / "to.zip").read_bytes()


@pytest.mark.parametrize("part", ["xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/styles.xml", "[Content_Types].xml"])
@pytest.mark.parametrize("change", ["cut", "garbage", "gone", "empty"])
def test_a_workbook_with_a_damaged_part_is_an_error_or_listed(tmp_path: Path, part: str, change: str) -> None:
    whole = workbook(tmp_path, [["title"], *([f"a {number}"] for number in range(50))])
    changes: dict[str, Callable[[bytes], bytes | None]] = {
        "cut": lambda content: content[: len(content) // 2],
        "garbage": lambda content: b"\x00garbage<",
        "gone": lambda content: None,
        "empty": lambda content: b"",
    }
    path = written(tmp_path / "a.xlsx", rezipped(tmp_path, whole, part, changes[change]))
    try:
        found, problems = read_with_problems(path)
    except InputError:
        return
    assert len(found) == 50 or problems.counts


def test_workbook_garbage_is_an_error(tmp_path: Path) -> None:
    whole = workbook(tmp_path, [["title"], ["a"]])
    for data in (b"", b"PK\x03\x04", b"PK\x03\x04" + b"x" * 200, whole[: len(whole) // 2], whole[:-10]):
        with pytest.raises(InputError):
            read_all(written(tmp_path / "a.xlsx", data))
    with pytest.raises(InputError, match="title"):
        read_all(written(tmp_path / "a.xlsx", workbook(tmp_path, [])))


@pytest.mark.parametrize("name", ["a.jsonl", "a.conll", "a.words", "a.json", "a"])
@pytest.mark.parametrize("content", ["", "\n", "\r\n \n", "\ufeff"])
def test_an_empty_file_has_no_pages(tmp_path: Path, name: str, content: str) -> None:
    found, problems = read_with_problems(written(tmp_path / name, content))
    assert found == []
    assert not problems.counts


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet", "a.xlsx"])
def test_an_empty_table_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        read_all(written(tmp_path / name, ""))


def test_a_folder_and_a_missing_file_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="folder"):
        read_pages(tmp_path)
    with pytest.raises(InputError, match=r"missing\.jsonl.*opened"):
        read_pages(tmp_path / "missing.jsonl")


def test_every_kind_of_problem_says_what_happens(tmp_path: Path) -> None:
    assert {effect for effect, _ in KINDS.values()} == {"page skipped", "tag skipped", "repaired", "noted"}
    problems = Problems()
    for kind in KINDS:
        problems.add(kind, "file:1", "because", page="7")
    assert len(problems) == len(KINDS)
    assert sum(problems.effects().values()) == len(KINDS)
    assert str(problems.listed[0]).startswith("file:1 (page 7): because; ")


# Records of any shape

odd = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 12)
    | st.just(10**25)
    | st.floats()
    | st.sampled_from(["", "ACME 跑鞋", "title", "x=ACME"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["title", "start", "end", "label", "x"]), inner, max_size=3)
    ),
    max_leaves=5,
)
KEYS = {
    "jsonl": ["id", "title", "description", "fields", "tags", "labels", "tokens", "language", "shop", "extra"],
    "doccano": ["id", "text", "data", "label", "labels", "entities", "fields", "title", "tags", "tokens"],
    "spans": ["id", "title", "text", "entities", "tags", "fields", "curid"],
    "label-studio": ["id", "data", "annotations", "completions", "label", "text", "title", "result", "value"],
}
offsets = st.integers(-1, 10) | odd
some_tag = st.fixed_dictionaries(
    {}, optional={"field": st.just("title") | odd, "start": offsets, "end": offsets, "label": odd, "text": odd}
)
entity = st.fixed_dictionaries(
    {}, optional={"span": st.lists(offsets, max_size=3) | odd, "type": odd, "name": odd, "start_offset": offsets}
)
result = st.fixed_dictionaries(
    {},
    optional={
        "to_name": odd,
        "value": st.fixed_dictionaries({}, optional={"start": offsets, "end": offsets, "labels": odd, "text": odd}),
    },
)
shaped = {
    "title": st.just("ACME 跑鞋"),
    "text": st.just("ACME 跑鞋"),
    "tags": st.lists(some_tag, max_size=3),
    "label": st.lists(st.lists(offsets, min_size=3, max_size=3) | result, max_size=2),
    "entities": st.lists(entity, max_size=2),
    "data": st.fixed_dictionaries({"text": st.just("ACME 跑鞋") | odd}),
    "annotations": st.lists(st.fixed_dictionaries({"result": st.lists(result, max_size=2) | odd}), max_size=2),
}


@pytest.mark.parametrize("name", KEYS)
@given(data=st.data())
@hypothesis_settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_a_record_of_any_shape_is_a_page_or_a_listed_problem(tmp_path: Path, name: str, data: st.DataObject) -> None:
    keys = data.draw(st.lists(st.sampled_from(KEYS[name]), unique=True, max_size=5))
    record = {key: data.draw(shaped.get(key, odd) | odd, label=key) for key in keys}
    good = {"id": "good", "title": "b", "text": "b"}
    if name == "label-studio":
        good = {"data": good}
    array = name in ("spans", "label-studio")
    text = json.dumps([record, good]) if array else lines(record, good)
    found, problems = read_with_problems(written(tmp_path / "a.json", text), format=name)
    check_pages(found)
    assert found[-1].id == "good"
    assert len(found) + problems.effects().get("page skipped", 0) == 2
    write_pages(found, tmp_path / "again.jsonl")


# Mutations


def check_pages(found: list[Page]) -> None:
    """What holds for every page whatever it was read from."""
    for page in found:
        assert isinstance(page.id, str)
        assert page.shop is None or isinstance(page.shop, str)
        assert any(page.fields.values())
        last: dict[str, int] = {}
        for tag in page.tags:
            assert 0 <= last.get(tag.field, 0) <= tag.start < tag.end <= len(page[tag.field])
            assert tag.text == page[tag.field][tag.start : tag.end]
            assert isinstance(tag.label, str)
            last[tag.field] = tag.end
        for name, tokens in (page.tokens or {}).items():
            assert all(0 <= start < end <= len(page[name]) for start, end in tokens)


def sample_pages() -> list[Page]:
    fields = {"title": "ACME 全新跑鞋, 42", "description": '輕量 "透氣"\n=1+1 😀'}
    tags = (
        Tag("title", 0, 4, "brand", "ACME"),
        Tag("title", 7, 9, "goods", "跑鞋"),
        Tag("description", 0, 2, "feature", "輕量"),
    )
    return [Page(f"p{number}", fields, language="zh-Hant", shop="s", tags=tags, extra={"price": 3}) for number in range(4)]


def sample_file(tmp_path: Path, name: str) -> tuple[str, bytes]:
    if name == "xlsx":
        return "a.xlsx", workbook(
            tmp_path, [["id", "title", "tags"], ["1", "ACME 鞋", "brand=ACME"], ["2", "b", None], [3, 4, 5]]
        )
    if name == "tsv":
        return "a.tsv", 'id\ttitle\ttags\n1\tACME 鞋\tbrand=ACME\n2\tb\t\n3\t"q"\tgoods=q\n'.encode()
    if name == "spans":
        record = {"text": "ACME 鞋", "entities": [{"name": "ACME", "span": [0, 4], "type": "brand"}]}
        return "a.json", json.dumps([record] * 4, indent=1).encode()
    if name == "conll4":
        return "a.conll", b"-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\n\nPeter NNP I-NP I-PER\n"
    pack = name.partition(".")[2]
    path = tmp_path / f"sample{WRITABLE[name.partition('.')[0]]}{'.' + pack if pack else ''}"
    some = sample_pages()
    if name in NEEDS_TOKENS:
        some = [bring_tokens(page, Segmentation()) for page in some]
    write_pages(some, path, format=name.partition(".")[0])
    return path.name, path.read_bytes()


ODD = [
    b"\0",
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b"\t",
    b"\n",
    b"\r",
    b"\xff",
    b"null",
    b"-1",
    b"1e999",
    b"9" * 30,
    b"\\ud800",
    b"=",
    b"# id = [",
]


def mutated(data: bytes, draw: random.Random) -> bytes:
    for _ in range(draw.randint(1, 3)):
        place = draw.randrange(len(data) + 1)
        rows = data.split(b"\n")
        match draw.randrange(9):
            case 0:
                data = data[:place]
            case 1:
                data = data[:place] + bytes([draw.randrange(256)]) + data[place + 1 :]
            case 2:
                data = data[:place] + b"\0" + data[place:]
            case 3:
                rows.insert(draw.randrange(len(rows)), draw.choice(rows))
                data = b"\n".join(rows)
            case 4:
                rows.pop(draw.randrange(len(rows)))
                data = b"\n".join(rows)
            case 5:
                draw.shuffle(rows)
                data = b"\n".join(rows)
            case 6:
                mark = draw.choice([b",", b"\t", b" ", b":"])
                row = draw.randrange(len(rows))
                cells = rows[row].split(mark)
                draw.shuffle(cells)
                rows[row] = mark.join(cells)
                data = b"\n".join(rows)
            case 7:
                data = data[:place] + draw.choice(ODD) + data[place:]
            case _:
                size = draw.randint(1, 8)
                data = data[:place] + data[place + size :]
    return data


FUZZED = [*WRITABLE, "jsonl.gz", "jsonl.zst", "csv.gz", "xlsx", "tsv", "spans", "conll4"]


@pytest.mark.parametrize("named", [True, False], ids=["flag", "detected"])
@pytest.mark.parametrize("name", FUZZED)
def test_a_mutated_file_gives_pages_and_problems_or_an_error_of_ours(tmp_path: Path, name: str, named: bool) -> None:
    file, data = sample_file(tmp_path, name)
    format = {"conll4": "conll"}.get(name, name.partition(".")[0]) if named else None
    failures: dict[str, str] = {}
    for seed in range(120):
        path = written(tmp_path / f"mutated-{file}", mutated(data, random.Random(f"{name}-{seed}")))
        problems = Problems()
        try:
            found = read_all(path, format=format, problems=problems)
            check_pages(found)
            write_pages(found, tmp_path / "again.jsonl")
        except BatagError:
            continue
        except Exception as error:
            trace = error.__traceback__
            while trace and trace.tb_next:
                trace = trace.tb_next
            line = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
            failures.setdefault(f"{type(error).__name__} at {line}", f"seed {seed}: {str(error)[:100]}")
    assert not failures
