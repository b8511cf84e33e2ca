"""What a stranger sends costs time and memory in proportion to its size: steps and bytes are counted, at one size and at four
times it."""

from __future__ import annotations

import csv
import gzip
import json
import sys
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from tests.strategies import read_with_problems, written

from batag.catalogue.inputs import Inputs
from batag.catalogue.rows import read_rows
from batag.errors import BatagError
from batag.evaluation.decoding import Prediction
from batag.labels.alignment import align
from batag.labels.weak import Marking, Terms
from batag.pages.duplicates import fingerprint
from batag.pages.formats import write_pages
from batag.pages.page import Page, Tag
from batag.segmentation import build_segmenter
from batag.segmentation.detection import possible_languages
from batag.segmentation.segmentation import Segmentation, bring_tokens
from batag.segmentation.segmenter import Segmenter
from batag.start.evidence import Evidence
from batag.start.lists import Term

FOURFOLD = 7
"""Four times the input may take so many times the steps: what is linear takes 4, sorting a little more, a square 16."""
THROUGH = frozenset("count index insert remove encode decode lower upper strip lstrip rstrip split replace".split())  # noqa: SIM905
"""Methods that look through all of what they are called on: they count as many steps as that is long."""


class Steps:
    """Counts lines of Python that are run (each turn of a loop is one), calls, and what the calls look through."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self, work: Callable[[], Any]) -> int:
        self.number = 0
        tracing, profiling = sys.gettrace(), sys.getprofile()
        sys.settrace(self._trace)
        sys.setprofile(self._profile)
        try:
            work()
        finally:
            sys.setprofile(profiling)
            sys.settrace(tracing)
        return self.number

    def _trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        self.number += 1
        return self._trace

    def _profile(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "c_call":
            held = getattr(arg, "__self__", None)
            self.number += len(held) if isinstance(held, (str, bytes, list)) and arg.__name__ in THROUGH else 1


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    """A counter; what is handed to the library for CSV counts too, character by character."""
    counter, reader = Steps(), csv.reader

    def counted(lines: Any, *args: Any, **options: Any) -> Any:
        def seen() -> Iterator[str]:
            for line in lines:
                counter.number += len(line)
                yield line

        return reader(seen(), *args, **options)

    monkeypatch.setattr(csv, "reader", counted)
    return counter


def grows_in_proportion(steps: Steps, work: Callable[[int], Callable[[], Any]], size: int) -> None:
    work(size // 4)()  # what is loaded and remembered once is no growth
    small, large = steps(work(size)), steps(work(4 * size))
    assert large <= FOURFOLD * small, f"{small:,} steps became {large:,}"


def line(**record: Any) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def tagged(number: int, *, tags: list[Any], text: str = "商a") -> str:
    return line(title=text * number, tags=tags)


def task(number: int, *, name: str, text: str) -> str:
    result = [
        {"to_name": name, "value": {"start": place, "end": place + 2, "text": text, "labels": ["x"]}} for place in range(number)
    ]
    return json.dumps([{"data": {"title": "😀a" * number, "description": "b"}, "annotations": [{"result": result}]}])


FILES: dict[str, tuple[str, int, Callable[[int], str]]] = {
    "rows that open a quote and close the last": ("a.csv", 100, lambda n: "title\n" + 'a","\n' * n),
    "rows that all open a quote": ("a.csv", 200, lambda n: "title\n" + '"a\n' * (2 * n + 1)),
    "a quote over many lines": ("a.csv", 200, lambda n: 'title\n"' + "a\n" * n),
    "quotes that close wrongly": ("a.csv", 200, lambda n: "title\n" + '"a\n' + "b\n" * n + '"x"y\n' * n),
    "rows": ("a.csv", 200, lambda n: "title,brand\n" + "a,b\n" * n),
    "columns": ("a.csv", 500, lambda n: "title," + ",".join(f"c{each}" for each in range(n)) + "\n" + "x" + ",1" * n + "\n"),
    "columns of one name": ("a.csv", 500, lambda n: "title" + ",c" * n + "\n" + "x" + ",1" * n + "\n"),
    "columns without a name": ("a.tsv", 500, lambda n: "title" + "\t" * n + "\nx" + "\t1" * n + "\n"),
    "separators": ("a.csv", 500, lambda n: "title,x\n" + "a" + "," * n + "\n"),
    "lines": ("a.jsonl", 200, lambda n: line(title="a") * n),
    "bad lines": ("a.jsonl", 200, lambda n: "{no\n" * n),
    "brackets": ("a.jsonl", 2_000, lambda n: '{"title": "a", "x": ' + "[" * n + "]" * n + "}\n"),
    "extra keys": ("a.jsonl", 500, lambda n: line(title="a", **{f"k{each}": 1 for each in range(n)})),
    "fields": ("a.jsonl", 500, lambda n: line(fields={f"f{each}": "a" for each in range(n)})),
    "tags backwards": ("a.jsonl", 500, lambda n: tagged(n, tags=[[2 * n - k - 1, 2 * n - k, "x"] for k in range(2 * n)])),
    "tags one in the other": ("a.jsonl", 300, lambda n: tagged(n, tags=[[k, 2 * n - k, "x"] for k in range(n)])),
    "tags over the whole page": ("a.jsonl", 300, lambda n: tagged(n, tags=[[0, 2 * n, "x"]] * n)),
    "tags with another text": (
        "a.jsonl",
        300,
        lambda n: tagged(n, text="😀a", tags=[{"start": k, "end": k + 2, "label": "x", "text": "no"} for k in range(n)]),
    ),
    "tags of many fields": (
        "a.jsonl",
        300,
        lambda n: line(
            fields={f"f{each}": "ab" for each in range(n)},
            tags=[{"field": f"f{each}", "start": 0, "end": 1, "label": "x"} for each in range(n)],
        ),
    ),
    "tokens": ("a.jsonl", 500, lambda n: line(title="ab " * n, tokens=["ab"] * n)),
    "labels as text": ("a.jsonl", 300, lambda n: line(title="商品 " * n, labels=";".join(f"b=x{each}" for each in range(n)))),
    "labels that are there": (
        "a.jsonl",
        300,
        lambda n: line(title=" ".join(f"x{each}" for each in range(n)), labels=[f"b=X{each}" for each in range(n)]),
    ),
    "the same label": ("a.csv", 300, lambda n: "title,labels\n" + "跑鞋 " * n + ',"' + "goods=跑鞋;" * n + '"\n'),
    "an array": ("a.json", 200, lambda n: json.dumps([{"text": "a", "entities": []}] * n)),
    "entities": (
        "a.json",
        300,
        lambda n: json.dumps([{"text": "ab" * n, "entities": [{"span": [0, 2 * n], "type": "x"}] * n}]),
    ),
    "results with another text": ("a.json", 200, lambda n: task(n, name="title", text="no")),
    "results of no field": ("a.json", 200, lambda n: task(n, name="other", text="no")),
    "doccano labels": ("a.jsonl", 300, lambda n: line(text="ab" * n, label=[[k, k + 1, "x"] for k in range(n)])),
    "doccano fields": (
        "a.jsonl",
        300,
        lambda n: line(text="a" * n, label=[[k, k + 1, "x"] for k in range(n)], fields={f"f{k}": [k, k + 1] for k in range(n)}),
    ),
    "tokens in columns": ("a.conll", 300, lambda n: "ab\tB-x\n" * n),
    "fields in columns": ("a.conll", 200, lambda n: "".join(f'# field = "f{each}"\nab\tB-x\n' for each in range(n))),
    "one field again": ("a.conll", 200, lambda n: "# field = a\n" + "ab\tB-x\nc\tO\n" * n + "# field = b\nab\tB-x\n" * n),
    "pages in columns": ("a.conll", 200, lambda n: "ab\tB-x\n\n" * n),
}


@pytest.mark.parametrize("name", FILES)
def test_reading_takes_steps_in_proportion_to_the_file(tmp_path: Path, steps: Steps, name: str) -> None:
    file, size, content = FILES[name]

    def work(number: int) -> Callable[[], Any]:
        path = written(tmp_path / f"{number}-{file}", content(number))
        return lambda: _read(path)

    grows_in_proportion(steps, work, size)


@pytest.mark.parametrize("name", [name for name, (file, _, _) in FILES.items() if not file.endswith(".json")])
def test_reading_a_catalogue_takes_steps_in_proportion_to_the_file(tmp_path: Path, steps: Steps, name: str) -> None:
    file, size, content = FILES[name]

    def work(number: int) -> Callable[[], Any]:
        path = written(tmp_path / f"{number}-{file}", content(number))
        return lambda: [read_rows(part, whole=True) for part in Inputs(paths=(str(path),)).parts()]

    grows_in_proportion(steps, work, size)


def _read(path: Path, **options: Any) -> None:
    with suppress(BatagError):  # a refusal is an answer too
        read_with_problems(path, **options)


# Workbooks: rows and cells say themselves where they stand


def workbook(path: Path, rows: str, *, strings: str = "") -> Path:
    """A workbook with these rows in its sheet."""
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    content = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{content}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{content}.worksheet+xml"/>'
        f'<Override PartName="/xl/sharedStrings.xml" ContentType="{content}.sharedStrings+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{kinds}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook {main} xmlns:r="{kinds}"><sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{kinds}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="r2" Type="{kinds}/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
        "xl/sharedStrings.xml": f"<sst {main}>{strings}</sst>",
        "xl/worksheets/sheet1.xml": f"<worksheet {main}><sheetData>{rows}</sheetData></worksheet>",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, xml in parts.items():
            archive.writestr(name, xml)
    return path


HEADER = '<row r="1"><c r="A1" t="str"><v>title</v></c></row>'
ROW = '<row r="{0}"><c r="A{0}" t="str"><v>x</v></c></row>'


def test_a_row_number_costs_nothing(tmp_path: Path, steps: Steps) -> None:
    near, far = (workbook(tmp_path / f"{row}.xlsx", HEADER + ROW.format(row)) for row in (2, 300_000))
    _read(near)
    assert steps(lambda: _read(far)) <= 2 * steps(lambda: _read(near))
    found, _ = read_with_problems(workbook(tmp_path / "a.xlsx", HEADER + ROW.format(10**12)))
    assert [page["title"] for page in found] == ["x"]


def test_a_column_far_off_costs_nothing_for_each_row(tmp_path: Path, steps: Steps) -> None:
    row = '<row r="{0}"><c r="A{0}" t="str"><v>x</v></c><c r="{1}{0}"><v>1</v></c></row>'
    near, far = (
        workbook(tmp_path / f"{column}.xlsx", HEADER + "".join(row.format(number, column) for number in range(2, 100)))
        for column in ("B", "XFD")
    )
    _read(near)
    assert steps(lambda: _read(far)) <= 2 * steps(lambda: _read(near))


@pytest.mark.parametrize("reference", ["A99999999999999999999", "ZZZZZZZZ1", "A", "1", "", "a1", "-1"])
def test_an_odd_reference_is_no_reason_to_die(tmp_path: Path, reference: str) -> None:
    rows = f'<row r="{reference}"><c r="{reference}" t="str"><v>x</v></c></row>' + ROW.format(3)
    _read(workbook(tmp_path / "a.xlsx", HEADER + rows))


# Memory


def peak(work: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _skippable(size: int) -> bytes:
    return b"\x50\x2a\x4d\x18" + size.to_bytes(4, "little") + bytes(size) + zstandard.compress(line(title="a").encode())


SWELLING: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "a frame to skip": ("a.jsonl.zst", lambda n: _skippable(n)),
    "zeros in gzip": ("a.jsonl.gz", lambda n: gzip.compress(b"0" * (8 * n), 9)),
    "zeros in zstd": ("a.jsonl.zst", lambda n: zstandard.compress(b"0" * (8 * n))),
    "zeros after text in zstd": (
        "a.jsonl.zst",
        lambda n: zstandard.compress(b"".join(bytes([each % 251]) * 3 for each in range(50_000)) + b"0" * (8 * n)),
    ),
    "blank lines in gzip": ("a.csv.gz", lambda n: gzip.compress(b"title\n" + b"\n" * (n // 50), 9)),
    "an array of zeros": ("a.json.gz", lambda n: gzip.compress(b'[{"text": "' + b"0" * (8 * n), 9)),
}


@pytest.mark.parametrize("name", SWELLING)
def test_what_swells_when_unpacked_is_never_held_whole(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file, content = SWELLING[name]
    small, large = (written(tmp_path / f"{number}-{file}", content(number)) for number in (1_000_000, 4_000_000))
    _read(small)
    # Four times as much, and the same peak: what is held is a record and a piece.
    assert peak(lambda: _read(large)) < 1.3 * peak(lambda: _read(small)) + 1_000_000


def test_a_sheet_that_swells_when_unpacked_is_never_held_whole(tmp_path: Path) -> None:
    small, large = (workbook(tmp_path / f"{n}.xlsx", HEADER + "<row/>" * n) for n in (10_000, 40_000))
    _read(small)
    assert peak(lambda: _read(large)) < 1.3 * peak(lambda: _read(small)) + 1_000_000


def test_shared_texts_that_swell_when_unpacked_are_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", HEADER + '<row><c t="s"><v>0</v></c></row>', strings="<si><t>a</t></si>" * 2_000_000)
    assert path.stat().st_size < 200_000
    assert peak(lambda: _read(path)) < 20_000_000


def test_tags_over_the_whole_page_do_not_hold_its_text_each(tmp_path: Path) -> None:
    def work(number: int) -> int:
        path = written(tmp_path / f"{number}.jsonl", tagged(number, tags=[[0, 2 * number, "x"]] * number))
        return peak(lambda: _read(path))

    work(100)
    assert work(8_000) <= FOURFOLD * work(2_000)


def test_rows_of_parquet_that_are_only_said_are_refused(tmp_path: Path) -> None:
    """A few bytes can say that a row comes very many times."""
    pq.write_table(pa.table({"title": pa.array(["a"] * 2_000_000)}), tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 20_000
    with pytest.raises(BatagError, match="2,000,000 rows in"):
        read_with_problems(tmp_path / "a.parquet")


# Text: cleaning, languages, segmentation, alignment

UNITS = [
    *("<", "(", "[", "{", "&", "#", '"', "'", "\\", "!", "?!", "★", "…", "ー", "〜", "=", "+", "-", ".", "1", "1,"),
    *("9\ufe0f\u20e3", "🇯", "\u200b", "\ufe0f", "\u3000", " ", "\n", "\0"),
    *("【", "《", "【限時", "(限", "<b", "<b ", "</b", "<!--", "<script>", "&amp;", "&#", "http://", "www.", "a", "a-", "A&"),
    *("あ", "ア", "商", "ｶﾞ", "か\u3099", "e\u0301", "\u0301", "😀", "👨\u200d"),
]  # fmt: skip


@pytest.mark.parametrize("language", ["zh-Hant", "ja", "en"])
def test_long_text_is_handed_to_a_segmenter_a_few_times_at_most(monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    handed = 0
    for name in ("english", "chinese", "japanese"):
        kind = type(build_segmenter(name))

        def cut(self: Segmenter, text: str, real: Callable[[Segmenter, str], list[int]] = kind.cut) -> list[int]:
            nonlocal handed
            handed += len(text)
            return real(self, text)

        monkeypatch.setattr(kind, "cut", cut)
    segmentation, often = Segmentation(rules=()), {}
    for unit in UNITS:
        handed, text = 0, (unit * 20_000)[:20_000]
        (field,) = segmentation(Page("a", {"title": text}, language=language))
        assert all(text[start:end].strip() for start, end in field.tokens)
        if handed > 3 * len(text):
            often[unit] = handed // len(text)
    assert not often


@pytest.mark.parametrize("unit", UNITS)
def test_cleaning_and_comparing_take_steps_in_proportion_to_the_text(steps: Steps, unit: str) -> None:
    def work(number: int) -> Callable[[], Any]:
        page = Page("a", {"title": unit * number})
        return lambda: (Segmentation()(page), fingerprint(page), possible_languages(page["title"]))

    grows_in_proportion(steps, work, 200)


def labelled(number: int) -> Page:
    """A page with as many tags as fit."""
    title = "ab &amp; <b>商品</b> " * number
    tags = tuple(Tag("title", place, place + 2, "x", "ab") for place in range(0, len(title), len(title) // number))
    return Page("a", {"title": title}, tags=tags, language="en")


@pytest.mark.parametrize(
    "work", ["align", "bring tokens", "mark", "mark again", "label-studio", "conll", "doccano", "csv", "parquet"]
)
def test_tags_cost_steps_in_proportion_to_the_page(tmp_path: Path, steps: Steps, work: str) -> None:
    segmentation = Segmentation()

    def done(number: int) -> Callable[[], Any]:
        page = labelled(number)
        if work == "align":
            (field,) = segmentation(page)
            return lambda: align(page, field)
        if work == "bring tokens":
            return lambda: bring_tokens(page, segmentation)
        if work in ("mark", "mark again"):
            before = tuple(replace(tag, source="model") for tag in page.tags) if work == "mark again" else ()
            unseen = Page("a", page.fields, language="en", tags=before)
            return lambda: list(Marking(Terms({"x": ["ab", "商品"]}))([unseen]))
        ready = bring_tokens(page, segmentation)
        return lambda: write_pages([ready], tmp_path / "a.out", format=work)

    grows_in_proportion(steps, done, 100)


def test_evidence_costs_in_proportion_however_often_a_brand_stands_in_capitals(steps: Steps) -> None:
    evidence = Evidence([Term(text="HP", label="brand", source="column", own=1, sure=False)], column=None)

    def work(number: int) -> Callable[[], Any]:
        page = Page("1", {"title": "HP abc " * number}, language="en")
        ((_, fields),) = Segmentation().many([page])
        prediction = Prediction(page, list(fields), [], "en")
        assert len(evidence(prediction, [])) >= number
        return lambda: evidence(prediction, [])

    grows_in_proportion(steps, work, 100)
