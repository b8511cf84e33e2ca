"""Files: output whole or not at all, compression told by content, the same pages in the same bytes."""

from __future__ import annotations

import gzip
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard
from tests.processes import started
from tests.strategies import read_all, written

from batag.errors import BatagError, InputError
from batag.pages.file import locked, open_output
from batag.pages.formats import write_pages
from batag.pages.page import Page

# tests/contract/test_formats.py looks for files left open; without this every later test would answer for them.

PAGES = [Page(str(number), {"title": f"跑鞋 {number}"}) for number in range(500)]
NAMES = ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.csv", "a.parquet", "a.conll"]


def broken() -> Iterator[Page]:
    yield from PAGES
    raise RuntimeError("in the middle")


@pytest.mark.parametrize("name", NAMES)
def test_an_exception_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name, "old")
    with pytest.raises(RuntimeError, match="in the middle"):
        write_pages(broken(), path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", NAMES)
def test_an_exception_leaves_no_new_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(RuntimeError, match="in the middle"):
        write_pages(broken(), tmp_path / name)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interruption_leaves_nothing_behind(tmp_path: Path, error: type[BaseException]) -> None:
    def stopped() -> Iterator[Page]:
        yield PAGES[0]
        raise error

    with pytest.raises(error):
        write_pages(stopped(), tmp_path / "a.jsonl")
    assert os.listdir(tmp_path) == []


def test_the_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    path = written(tmp_path / "a", "old")
    with open_output(path) as stream:
        stream.write(b"new")
        stream.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a"]


def test_a_missing_folder_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere/a\.jsonl"):
        write_pages(PAGES, tmp_path / "nowhere" / "a.jsonl")


def test_a_folder_as_target_is_an_error_of_ours_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").mkdir()
    with pytest.raises(BatagError):
        write_pages(PAGES, tmp_path / "a.jsonl")
    assert os.listdir(tmp_path) == ["a.jsonl"]


def test_a_pipe_is_written_into_and_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pipe.jsonl"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_pages(PAGES[:2], path)
        assert stat.S_ISFIFO(path.stat().st_mode)
        assert os.read(reader, 1 << 16).count(b"\n") == 2
    finally:
        os.close(reader)


def test_a_link_keeps_pointing_at_the_file_that_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = written(tmp_path / "real" / "a.jsonl", "old")
    link = tmp_path / "link.jsonl"
    link.symlink_to(target)
    write_pages(PAGES[:1], link)
    assert link.is_symlink()
    assert "跑鞋 0" in target.read_text(encoding="utf-8")


def test_a_file_can_be_rewritten_from_itself(tmp_path: Path) -> None:
    write_pages(PAGES, tmp_path / "a.jsonl.gz")
    write_pages(read_all(tmp_path / "a.jsonl.gz"), tmp_path / "a.jsonl.gz")
    assert read_all(tmp_path / "a.jsonl.gz") == PAGES


@pytest.mark.parametrize("name", NAMES)
def test_the_same_pages_give_the_same_bytes(tmp_path: Path, name: str) -> None:
    write_pages(PAGES, tmp_path / name)
    (tmp_path / "other").mkdir()
    if name.endswith(".gz"):
        time.sleep(1.1)
    write_pages(iter(PAGES), tmp_path / "other" / name)
    assert (tmp_path / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_a_compressed_file_has_no_name_in_it(tmp_path: Path) -> None:
    write_pages(PAGES, tmp_path / "secret.jsonl.gz")
    write_pages(PAGES, tmp_path / "b.jsonl.gz")
    assert (tmp_path / "secret.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


def lines(some: list[Page]) -> bytes:
    return "".join(f'{{"id": "{page.id}", "title": "{page["title"]}"}}\n' for page in some).encode()


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
@pytest.mark.parametrize("cut", [1, 250, 499])
def test_files_of_several_frames_are_read_whole(tmp_path: Path, pack: object, cut: int) -> None:
    assert callable(pack)
    path = written(tmp_path / "a.dat", pack(lines(PAGES[:cut])) + pack(b"") + pack(lines(PAGES[cut:])))
    assert read_all(path) == PAGES


def test_zstandard_frames_may_part_a_line(tmp_path: Path) -> None:
    data = lines(PAGES)
    pieces = [data[place : place + 1_000] for place in range(0, len(data), 1_000)]
    assert read_all(written(tmp_path / "a.dat", b"".join(map(zstandard.compress, pieces)))) == PAGES


def test_zstandard_frames_of_any_window_and_kind_are_read(tmp_path: Path) -> None:
    parameters = zstandard.ZstdCompressionParameters.from_level(
        19, window_log=24, write_checksum=True, write_content_size=False
    )
    data = zstandard.ZstdCompressor(compression_params=parameters).compress(lines(PAGES))
    assert read_all(written(tmp_path / "a.dat", data)) == PAGES


def test_notes_between_zstandard_frames_are_skipped(tmp_path: Path) -> None:
    """What parallel and seekable writers put around their frames."""
    note, data = b"\x50\x2a\x4d\x18\x04\x00\x00\x00note", zstandard.compress(lines(PAGES))
    assert read_all(written(tmp_path / "a.jsonl.zst", data + note)) == PAGES
    assert read_all(written(tmp_path / "b.jsonl.zst", note + data)) == PAGES


def test_compression_is_told_by_content_and_not_by_name(tmp_path: Path) -> None:
    assert read_all(written(tmp_path / "a.jsonl.gz", lines(PAGES))) == PAGES
    assert read_all(written(tmp_path / "a.jsonl", gzip.compress(lines(PAGES)))) == PAGES


@pytest.mark.parametrize("pack", [".gz", ".zst"])
def test_what_is_written_compressed_can_be_read_whatever_its_format(tmp_path: Path, pack: str) -> None:
    path = tmp_path / f"a.parquet{pack}"
    try:
        write_pages(PAGES, path)
    except BatagError:
        assert not path.exists()
        return
    assert read_all(path) == PAGES


def test_bytes_that_unpack_to_very_much_do_not_fill_the_memory(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "a.jsonl.zst"
    with path.open("wb") as raw, zstandard.ZstdCompressor().stream_writer(raw, closefd=False) as stream:
        stream.write(b'{"title": "a", "x": "')
        for _ in range(64):
            stream.write(bytes(1_000_000).replace(b"\0", b"x"))
        stream.write(b'"}\n{"title": "after"}\n')
    tracemalloc.start()
    try:
        found = read_all(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [page["title"] for page in found] == ["after"]
    assert peak < 60_000_000


def test_a_lock_is_held_by_one_process_and_freed_by_a_kill(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from batag.pages.file import locked\n"
        "with locked(Path(sys.argv[1]), 'lock', busy='busy', todo='wait'):\n    print('held', flush=True); time.sleep(600)"
    )
    with started([sys.executable, "-c", code, str(tmp_path)]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(InputError, match="busy") as caught, locked(tmp_path, "lock", busy="busy", todo="wait"):
            raise AssertionError("two hold it")
        assert caught.value.where == str(tmp_path)
        process.kill()
        process.wait()
        for _ in range(2):
            with locked(tmp_path, "lock", busy="busy", todo="wait"):
                pass
