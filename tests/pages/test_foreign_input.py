"""Input that is not a plain whole file of pages: pipes, files of other kinds, files cut anywhere."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from tests.strategies import WRITABLE, read_all, read_with_problems, written

from batag.catalogue.inputs import Inputs
from batag.catalogue.rows import read_rows
from batag.errors import BatagError, InputError
from batag.pages.formats import NEEDS_TOKENS, write_pages
from batag.pages.page import Page, Tag
from batag.segmentation.segmentation import Segmentation, bring_tokens

BATAG = str(Path(sys.executable).with_name("batag"))


def archive(*names: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        for name in names:
            made.writestr(name, "x")
    return stream.getvalue()


def database(folder: Path) -> bytes:
    made = sqlite3.connect(folder / "made.db")
    made.execute("create table pages (title text)")
    made.commit()
    made.close()
    return (folder / "made.db").read_bytes()


FOREIGN: dict[str, tuple[str, bytes]] = {
    "pdf": ("a PDF", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n" + bytes(range(256)) * 9),
    "png": (r"a picture \(PNG\)", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 9),
    "jpeg": (r"a picture \(JPEG\)", b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(range(256)) * 9),
    "gif": (r"a picture \(GIF\)", b"GIF89a" + bytes(range(256)) * 9),
    "webp": (r"a picture \(WEBP\)", b"RIFF\x24\x10\0\0WEBPVP8 " + bytes(range(256)) * 9),
    "xls": (r"an old Excel workbook \(\.xls\)", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512)),
    "doc": (r"an old Word document", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512) + "WordDocument".encode("utf-16-le")),
    "docx": (r"a Word document \(\.docx\)", archive("[Content_Types].xml", "_rels/.rels", "word/document.xml")),
    "zip": (r"a ZIP archive \(a\.csv, b\.csv\)", archive("a.csv", "b.csv")),
    "html": ("an HTML page", b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>title,id</body></html>"),
    "tar": ("a tar archive", b"a.csv" + bytes(252) + b"ustar\x0000" + bytes(300)),
    "xz": ("compressed with xz", b"\xfd7zXZ\0\0\x04" + bytes(40)),
}


@pytest.mark.parametrize("suffix", [".csv", ".bin", ".gz"])
@pytest.mark.parametrize("kind", FOREIGN)
def test_a_file_that_holds_no_pages_is_called_what_it_is(tmp_path: Path, kind: str, suffix: str) -> None:
    called, content = FOREIGN[kind]
    path = written(tmp_path / f"a{suffix}", gzip.compress(content) if suffix == ".gz" else content)
    with pytest.raises(InputError, match=f"is {called}") as error:
        read_all(path)
    assert error.value.todo


def test_a_database_is_called_that(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is an SQLite database"):
        read_all(written(tmp_path / "a.csv", database(tmp_path)))


@pytest.mark.parametrize("first", ["ID3,title", "MZ,title", "ORC,title", "BM title,title", "II*,title", "RIFF,title"])
def test_a_table_whose_first_column_looks_odd_is_a_table(tmp_path: Path, first: str) -> None:
    (page,) = read_all(written(tmp_path / "a.csv", f"{first}\nx,跑鞋\n"))
    assert page["title"] == "跑鞋"


# Pipes are read once

PAGE = Page("p", {"title": "ACME 跑鞋"}, tags=(Tag("title", 0, 4, "brand", "ACME"),))


def through_a_pipe(folder: Path, content: bytes) -> Path:
    """A named pipe that somebody writes into once, its first bytes one by one."""
    path = folder / "pipe"
    os.mkfifo(path)

    def fill() -> None:
        with path.open("wb", buffering=0) as pipe:
            for place in range(6):
                pipe.write(content[place : place + 1])
            pipe.write(content[6:])

    threading.Thread(target=fill, daemon=True).start()
    return path


@pytest.mark.parametrize("compression", ["", ".gz", ".zst"])
@pytest.mark.parametrize("format", [*WRITABLE, "xlsx"])
def test_a_named_pipe_is_read_as_a_file_is(tmp_path: Path, format: str, compression: str) -> None:
    page = bring_tokens(PAGE, Segmentation()) if format in NEEDS_TOKENS else PAGE
    write_pages([page], tmp_path / "file", format=format)
    packed = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}[compression]((tmp_path / "file").read_bytes())
    for given_format in (None, format):
        found = read_all(through_a_pipe(tmp_path, packed), format=given_format)
        (tmp_path / "pipe").unlink()
        assert [each["title"] for each in found] == ["ACME 跑鞋"]


@pytest.mark.parametrize("format", [*WRITABLE, "xlsx"])
def test_a_catalogue_job_opens_a_pipe_once(tmp_path: Path, format: str) -> None:
    page = bring_tokens(PAGE, Segmentation()) if format in NEEDS_TOKENS else PAGE
    write_pages([page], tmp_path / "file", format=format)
    inputs = Inputs(paths=(str(through_a_pipe(tmp_path, (tmp_path / "file").read_bytes())),))
    assert not inputs.resumable
    assert inputs.identities()[0]["bytes"] is None
    inputs.check_alike()
    rows = [row for part in inputs.parts() for row in read_rows(part, whole=True).pages]
    assert [row["title"] for row in rows if isinstance(row, Page)] == ["ACME 跑鞋"]


def test_process_substitution_and_dev_stdin_are_files_for_commands(tmp_path: Path) -> None:
    written(tmp_path / "a.jsonl", json.dumps({"title": "ACME 跑鞋"}) + "\n")
    for command in (
        f"{BATAG} segment <(cat a.jsonl)",
        f"cat a.jsonl | {BATAG} segment /dev/stdin",
        f"cat a.jsonl | {BATAG} convert /dev/stdin -",
    ):
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr.decode()
        assert "跑鞋" in done.stdout.decode()


# Files cut anywhere, values that Python cannot hold


@pytest.mark.parametrize("compression", ["", ".gz", ".zst"])
@pytest.mark.parametrize("format", [*WRITABLE, "xlsx"])
def test_a_file_cut_anywhere_is_an_error_or_a_listed_problem(tmp_path: Path, format: str, compression: str) -> None:
    page = bring_tokens(PAGE, Segmentation()) if format in NEEDS_TOKENS else PAGE
    write_pages([page] * 3, tmp_path / "file", format=format)
    packed = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}[compression]((tmp_path / "file").read_bytes())
    draw = random.Random(21)
    for place in {0, 1, 2, 3, len(packed) - 1, *draw.choices(range(len(packed)), k=12)}:
        path = written(tmp_path / f"cut.{format}{compression}", packed[:place])
        for given_format in (None, format):
            try:
                read_all(path, format=given_format)
            except BatagError as error:
                assert error.what  # noqa: PT017
            try:
                for part in Inputs(paths=(str(path),), format=given_format).parts():
                    read_rows(part, whole=True)
            except BatagError as error:
                assert error.what  # noqa: PT017


def bad_texts() -> pa.Array:
    return pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\3\0\0\0"), pa.py_buffer(b"\xff\xfea")])


ODD = {
    "a list": pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), bad_texts()),
    "a struct": pa.StructArray.from_arrays([bad_texts()], names=["k"]),
    "a map": pa.MapArray.from_arrays(pa.array([0, 1], pa.int32()), bad_texts(), bad_texts()),
    "a far date": pa.array([2**62], pa.int64()).view(pa.timestamp("us")),
    "a list of far dates": pa.ListArray.from_arrays(
        pa.array([0, 1], pa.int32()), pa.array([2**62], pa.int64()).view(pa.timestamp("us"))
    ),
    "an unknown time zone": pa.array([1], pa.timestamp("us", tz="Mars/Base")),
    "billionths of a second": pa.array([123456789], pa.int64()).view(pa.time64("ns")),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("beside", ["good", "bad"])
def test_odd_values_of_parquet_are_read_as_well_as_can_be(tmp_path: Path, kind: str, beside: str) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"title": ["跑鞋"], "odd": ODD[kind], "note": bad_texts() if beside == "bad" else ["x"]}), path)
    (page,), problems = read_with_problems(path)
    assert page["title"] == "跑鞋"
    assert page.extra["odd"] is not None
    assert problems.counts.keys() <= {"bad-encoding"}
    rows = [row for part in Inputs(paths=(str(path),)).parts() for row in read_rows(part, whole=True).pages]
    assert [row["title"] for row in rows if isinstance(row, Page)] == ["跑鞋"]


def test_a_score_of_four_hundred_digits_is_no_reason_to_die(tmp_path: Path) -> None:
    tag = f'{{"start": 0, "end": 1, "label": "x", "score": {"9" * 400}}}'
    (page,) = read_all(written(tmp_path / "a.jsonl", f'{{"title": "ab", "tags": [{tag}]}}\n'))
    assert [(each.text, each.score) for each in page.tags] == [("a", None)]
