"""`batag convert` as a person runs it: what it writes, what it says, and the code it ends with."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from tests.strategies import read_all, written

BATAG = str(Path(sys.executable).with_name("batag"))
# tests/contract/test_formats.py looks for files left open; without this every later test would answer for them.

TAGS = [{"field": "title", "start": 0, "end": 4, "label": "brand"}, {"field": "title", "start": 7, "end": 9, "label": "goods"}]
RECORDS: list[dict[str, Any]] = [
    {"id": "1", "language": "zh-Hant", "shop": "s", "title": "ACME 全新跑鞋", "description": "輕量", "tags": TAGS},
    {"id": "2", "title": "=1+1", "description": "-5%", "price": 3},
]


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    return written(tmp_path / "pages.jsonl", "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in RECORDS))


def run(*arguments: object, data: bytes | None = None, code: int = 0) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run([BATAG, "convert", *map(str, arguments)], input=data, capture_output=True, timeout=120)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert done.returncode == code, done.stderr.decode()
    return done


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet", "a.conll", "a.words", "a.jsonl.gz", "a.csv.zst", "a.ndjson"])
def test_the_target_says_the_format_and_the_pages_come_back(tmp_path: Path, pages: Path, name: str) -> None:
    done = run(pages, tmp_path / name)
    assert done.stdout == b""
    assert "2 pages" in done.stderr.decode()
    again = read_all(tmp_path / name)
    assert [(page.id, dict(page.fields), page.shop, page.language) for page in again] == [
        ("1", {"title": "ACME 全新跑鞋", "description": "輕量"}, "s", "zh-Hant"),
        ("2", {"title": "=1+1", "description": "-5%"}, None, None),
    ]
    assert [[tag.text for tag in page.tags] for page in again] == [["ACME", "跑鞋"], []]
    assert [page.labelled for page in again] == [True, False]


@pytest.mark.parametrize("to", ["doccano", "label-studio", "words", "parquet"])
def test_a_format_can_be_named(tmp_path: Path, pages: Path, to: str) -> None:
    run(pages, tmp_path / "out.dat", "--to", to)
    assert [[tag.text for tag in page.tags] for page in read_all(tmp_path / "out.dat")] == [["ACME", "跑鞋"], []]


def test_a_csv_cell_is_written_as_it_is(tmp_path: Path, pages: Path) -> None:
    run(pages, tmp_path / "a.csv")
    data = (tmp_path / "a.csv").read_bytes()
    assert not data.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    assert (rows[1]["title"], rows[1]["description"]) == ("=1+1", "-5%")


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_a_cell_that_a_spreadsheet_would_run_is_escaped_on_request_and_comes_back(
    tmp_path: Path, pages: Path, name: str
) -> None:
    message = run(pages, tmp_path / name, "--excel-safe", "--bom").stderr.decode()
    assert "apostrophe in front: 2 " in message
    report = json.loads(run(pages, tmp_path / name, "--excel-safe", "--json").stdout)
    assert report["escaped_cells"] == {"title": 1, "description": 1}
    text = io.StringIO((tmp_path / name).read_bytes().decode("utf-8-sig"), newline="")
    rows = list(csv.DictReader(text, delimiter="," if name == "a.csv" else "\t"))
    assert (rows[1]["title"], rows[1]["description"]) == ("'=1+1", "'-5%")
    assert not any(cell[:1] in set("=+-@\t\r") for row in rows for cell in row.values())
    assert [row["batag"] for row in rows] == ["", '{"escaped":["title","description"]}']
    run(tmp_path / name, tmp_path / "b.jsonl")
    assert [page["title"] for page in read_all(tmp_path / "b.jsonl")] == ["ACME 全新跑鞋", "=1+1"]


@pytest.mark.parametrize("option", ["--bom", "--excel-safe"])
def test_what_is_for_excel_is_refused_elsewhere(tmp_path: Path, pages: Path, option: str) -> None:
    done = run(pages, tmp_path / "a.jsonl", option, code=2)
    assert option in done.stderr.decode()
    assert not (tmp_path / "a.jsonl").exists()


def test_a_byte_order_mark_is_written_on_request(tmp_path: Path, pages: Path) -> None:
    run(pages, tmp_path / "a.csv", "--bom")
    assert (tmp_path / "a.csv").read_bytes().startswith(b"\xef\xbb\xbfid,")
    assert [page.id for page in read_all(tmp_path / "a.csv")] == ["1", "2"]


def test_standard_output_gets_the_pages_and_nothing_else(pages: Path) -> None:
    done = run(pages, "-")
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ["1", "2"]
    done = run(pages, "-", "--to", "csv", "--json")
    assert done.stdout.startswith(b"id,language")
    done = run("-", "-", "--to", "words", data=pages.read_bytes())
    assert "跑鞋\tgoods" in done.stdout.decode()
    done = run(pages, "-", "--to", "parquet")
    assert done.stdout[:4] == b"PAR1"


def test_problems_go_to_standard_error_and_not_among_the_pages(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", '{"id": "1", "title": "a"}\nbroken\n')
    done = run(path, "-")
    assert len(done.stdout.splitlines()) == 1
    assert f"{path}:2" in done.stderr.decode()
    assert "1 page skipped" in done.stderr.decode()


def test_json_tells_what_was_done(tmp_path: Path, pages: Path) -> None:
    written(pages, pages.read_text(encoding="utf-8") + "broken\n")
    done = run(pages, tmp_path / "a.parquet", "--json")
    report = json.loads(done.stdout)
    assert report == {
        "in": str(pages),
        "from": "jsonl",
        "out": str(tmp_path / "a.parquet"),
        "to": "parquet",
        "pages": 2,
        "problems": {"bad-json": 1},
    }


def test_every_problem_goes_to_the_problem_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", "broken\n" * 1_200 + '{"title": "a", "tags": [[0, 99, "x"]]}\n')
    done = run(path, tmp_path / "b.jsonl", "--problems", tmp_path / "problems.jsonl")
    problems = [json.loads(line) for line in (tmp_path / "problems.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(problems) == 1_201
    assert problems[-1]["kind"] == "out-of-range"
    assert problems[-1]["where"] == f"{path}:1201"
    assert str(tmp_path / "problems.jsonl") in done.stderr.decode()
    assert len(done.stderr.splitlines()) < 20


def test_the_problem_file_is_there_though_no_page_could_be_read(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", "broken\n")
    run(path, tmp_path / "b.jsonl", "--problems", tmp_path / "problems.jsonl", code=1)
    assert len((tmp_path / "problems.jsonl").read_text().splitlines()) == 1


def test_strict_ends_with_one_and_leaves_no_output(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", '{"title": "a"}\nbroken\n')
    done = run(path, tmp_path / "b.jsonl", "--strict", code=1)
    assert f"{path}:2" in done.stderr.decode()
    assert [each.name for each in tmp_path.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.jsonl", None, "missing.jsonl"),
        ("a.jsonl", "", "no page"),
        ("a.jsonl", "broken\n", "no page"),
        ("a.csv", "name\na\n", "--columns"),
        ("a.parquet", "PAR1garbage", "Parquet"),
        ("a.xlsx", "PK\x03\x04garbage", "workbook"),
        ("a.dat", "prose without any\nformat that we know of\n", "--format"),
        ("a.jsonl", '{"title": "全新運動跑鞋輕量透氣男女適用台灣製造免運費"}\n'.encode("big5") * 5, "--encoding cp950"),
    ],
)
def test_input_that_is_wrong_ends_with_one_and_says_what_to_do(tmp_path: Path, name: str, content: Any, message: str) -> None:
    path = tmp_path / name if content is None else written(tmp_path / name, content)
    done = run(path, tmp_path / "out.jsonl", code=1)
    assert message in done.stderr.decode()
    assert done.stdout == b""
    assert "batag: " in done.stderr.decode()


def test_a_folder_as_input_or_output_ends_with_one(tmp_path: Path, pages: Path) -> None:
    assert "folder" in run(tmp_path, tmp_path / "b.jsonl", code=1).stderr.decode()
    (tmp_path / "out.jsonl").mkdir()
    assert "out.jsonl" in run(pages, tmp_path / "out.jsonl", code=1).stderr.decode()
    assert "nowhere" in run(pages, tmp_path / "nowhere" / "b.jsonl", code=1).stderr.decode()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out.jsonl", "pages.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["out.xls"], "--to"),
        (["out"], "--to"),
        (["out.jsonl", "--to", "jsnl"], "jsonl"),
        (["out.jsonl", "--to", "spans"], "--to"),
        (["out.jsonl", "--format", "cvs"], "csv"),
        (["out.jsonl", "--columns", "title"], "title=name"),
        (["out.jsonl", "--columns", "=x"], "title=name"),
        (["out.jsonl", "--language", "klingon"], "zh-Hant"),
        (["out.jsonl", "--encoding", "nope"], "cp950"),
        (["out.jsonl", "--encoding", "hex"], "encoding"),
        (["out.conll", "--segmentation", "nope"], "chinese"),
        (["out.jsonl", "--nope"], "--nope"),
        ([], "OUT"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_a_wrong_call_ends_with_two_and_offers_the_right_one(
    tmp_path: Path, pages: Path, arguments: list[str], message: str
) -> None:
    done = run(pages, *([tmp_path / arguments[0], *arguments[1:]] if arguments else []), code=2)
    assert message in done.stderr.decode()
    assert [each.name for each in tmp_path.iterdir()] == ["pages.jsonl"]


def test_columns_and_format_can_be_said(tmp_path: Path) -> None:
    path = written(tmp_path / "a.dat", "sku;name;body\n1;ACME;b\n")
    run(path, tmp_path / "b.jsonl", "--format", "csv", "--columns", "id=sku,title=name,description=body")
    assert [json.loads(line) for line in (tmp_path / "b.jsonl").read_text(encoding="utf-8").splitlines()] == [
        {"id": "1", "title": "ACME", "description": "b"}
    ]


def test_another_encoding_can_be_named(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "id,title\n1,全新運動跑鞋\n".encode("big5"))
    run(path, tmp_path / "b.jsonl", "--encoding", "big5")
    assert read_all(tmp_path / "b.jsonl")[0]["title"] == "全新運動跑鞋"


def test_a_reader_that_goes_away_is_no_error(pages: Path) -> None:
    written(pages, pages.read_text(encoding="utf-8") * 20_000)
    with subprocess.Popen([BATAG, "convert", str(pages), "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        message = process.stderr.read()
        assert process.wait(timeout=60) == 0
    assert b"Traceback" not in message
    assert b"Broken" not in message


def test_help_names_every_option() -> None:
    text = run("--help").stdout.decode()
    for option in ("--to", "--bom", "--excel-safe", "--format", "--columns", "--encoding", "--strict", "--problems", "--json"):
        assert option in text


def test_a_workbook_has_a_column_of_plain_text_for_each_label_and_corrections_in_it_come_back(tmp_path: Path) -> None:
    title = "ACME 全新跑鞋 輕量"
    tags = [tag | {"source": "model"} for tag in TAGS]
    records = [{"id": name, "title": title, "tags": tags, "reviewed": False} for name in ("as it was", "checked", "changed")]
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    run(written(tmp_path / "to_review.jsonl", lines), tmp_path / "a.xlsx")
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    header = [cell.value for cell in book.active[1]]
    assert header[-4:] == ["brand (tags)", "goods (tags)", "tags", "reviewed"]
    assert [cell.value for cell in book.active[2]][-4:-2] == ["ACME", "跑鞋"]
    assert book.active.column_dimensions["I"].hidden
    assert [(page.tags[0].source, page.reviewed) for page in read_all(tmp_path / "a.xlsx")] == [("model", False)] * 3
    book.active.cell(3, len(header)).value = True
    book.active.cell(4, len(header)).value = "是"
    book.active.cell(4, len(header) - 3).value = "全新; 輕量"
    book.save(tmp_path / "b.xlsx")
    found = read_all(tmp_path / "b.xlsx")
    assert [page.reviewed for page in found] == [False, True, True]
    assert [[tag.text for tag in page.tags] for page in found] == [["ACME", "跑鞋"], ["ACME", "跑鞋"], ["全新", "跑鞋", "輕量"]]
    assert {tag.source for page in found[1:] for tag in page.tags} == {"person"}
