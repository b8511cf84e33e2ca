"""Catalogue jobs that are killed, by the command line: whatever dies, the same command ends with the same bytes."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.conftest import mostly_long
from tests.processes import PATIENCE, started, wait_until
from tests.tiny import catalogue, tiny_exported

from batag.pages.formats import write_pages

PARTS = 60
ENVIRONMENT = os.environ | {"BATAG_PART_PAGES": "10", "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("catalogue") / "pages.jsonl.gz"
    pages = catalogue(10, split="test")
    write_pages((page for _ in range(PARTS * 10 // len(pages)) for page in pages), path)
    return path


def command(source: Path, out: Path, *more: str, engine: str = "onnx") -> list[str]:
    arguments = ["tag", str(tiny_exported()), str(source), "-o", str(out), "--engine", engine, *more]
    return [sys.executable, "-m", "batag", *arguments]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("part-*")}


def children(pid: int) -> list[int]:
    """The workers of a job."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError, ValueError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[1]) == pid and b"spawn_main" in (path.parent / "cmdline").read_bytes():
                found.append(int(path.parent.name))
    return found


@pytest.fixture(scope="module")
def whole(source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What an undisturbed run gives, in one process."""
    out = tmp_path_factory.mktemp("whole") / "out"
    subprocess.run(command(source, out, "--workers", "1"), check=True, env=ENVIRONMENT, capture_output=True)
    assert len(contents(out)) == PARTS
    return contents(out)


def test_kills_of_workers_and_drivers_lose_and_repeat_nothing(
    source: Path, whole: dict[str, bytes], tmp_path: Path, thorough: bool
) -> None:
    wanted, kills, runs = 30 if thorough else 6, 0, 0
    chance = random.Random(6)
    while kills < wanted:
        out = tmp_path / f"out-{runs}"
        code: int | None = None
        while code != 0:
            runs += 1
            assert runs < 10 * wanted, f"only {kills} kills hit in {runs} runs"
            with started(command(source, out, "--workers", "2"), env=ENVIRONMENT) as process:
                # From the first moment of the start to the middle of the work.
                time.sleep(chance.uniform(0.05, 2.5))
                workers = children(process.pid)
                victim = process.pid if chance.random() < 0.5 or not workers else chance.choice(workers)
                if kills < wanted and process.poll() is None:
                    with suppress(ProcessLookupError):
                        os.kill(victim, signal.SIGKILL)
                        kills += 1
                _, message = process.communicate(timeout=PATIENCE)
                code = process.returncode
                assert code in (0, -signal.SIGKILL), message.decode()
                # A worker that Python is just starting complains by itself of a driver that was killed.
                assert code != 0 or b"Traceback" not in message, message.decode()
        assert contents(out) == whole
        assert not list(out.rglob(".*.tmp"))


def test_a_disk_that_is_full_stops_the_job_and_with_room_it_goes_on(
    source: Path, whole: dict[str, bytes], tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("only root can make a small disk")
    try:
        for workers in ("1", "2"):
            done = subprocess.run(
                command(source, disk / "out", "--workers", workers),
                env=ENVIRONMENT,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 1, done.stderr
            assert "No space left on device" in done.stderr
            assert "run the same command again to resume" in done.stderr
            assert "Traceback" not in done.stderr
            assert not list((disk / "out").glob(".*.tmp"))
        assert 0 < len(contents(disk / "out")) < PARTS
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        subprocess.run(command(source, disk / "out", "--workers", "2"), env=ENVIRONMENT, check=True, capture_output=True)
        assert contents(disk / "out") == whole
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_limit_on_files_is_an_error_like_a_full_disk(source: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        command(source, tmp_path / "out", "--workers", "1"),
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000)),
    )
    assert done.returncode == 1, done.stderr
    assert "File too large" in done.stderr


def script(path: Path, of_part: str) -> Path:
    """The command line as a program of its own in which something happens to a part that is to be tagged."""
    path.write_text(
        "import os, sys, time\n"
        "import batag.catalogue.workers as workers\n"
        "real = workers.tag_part\n"
        "def tag_part(tagger, part, options, **more):\n"
        f"    {of_part}\n"
        "    return real(tagger, part, options, **more)\n"
        "workers.tag_part = tag_part\n"
        "from batag.cli import main\n"
        "if __name__ == '__main__': main()\n",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize("workers", mostly_long(["1", "2"], "2"))
def test_ctrl_c_waits_for_no_part_and_keeps_what_is_finished(
    source: Path, whole: dict[str, bytes], tmp_path: Path, workers: str
) -> None:
    out = tmp_path / "out"
    held = script(tmp_path / "job.py", "while part.number == 20: time.sleep(0.01)")
    arguments = command(source, out, "--workers", workers)
    with started([sys.executable, str(held), *arguments[3:]], env=ENVIRONMENT) as process:
        wait_until(lambda: len(contents(out)) >= 3, while_runs=process)
        os.killpg(process.pid, signal.SIGINT)
        _, message = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, message.decode()
    assert b"run the same command again to resume" in message
    assert b"Traceback" not in message, message.decode()
    kept = {path.name: path.stat().st_mtime_ns for path in out.glob("part-*")}
    assert 3 <= len(kept) < PARTS
    subprocess.run(arguments, env=ENVIRONMENT, check=True, capture_output=True)
    assert contents(out) == whole
    assert kept.items() <= {path.name: path.stat().st_mtime_ns for path in out.glob("part-*")}.items()


def test_a_part_that_kills_its_worker_three_times_stops_the_job_and_is_named(source: Path, tmp_path: Path) -> None:
    killing = script(tmp_path / "job.py", "if part.number == 3: os.kill(os.getpid(), 9)")
    arguments = command(source, tmp_path / "out", "--workers", "2")[3:]
    done = subprocess.run(
        [sys.executable, str(killing), *arguments],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 1, done.stderr
    assert "rows 31 to 40" in done.stderr
    assert "died 3 times (signal 9)" in done.stderr


@pytest.mark.long
def test_standard_input_is_tagged_but_cannot_go_on(source: Path, whole: dict[str, bytes], tmp_path: Path) -> None:
    for restart in ((), ("--restart",)):
        with source.open("rb") as stream:
            done = subprocess.run(
                command(Path("-"), tmp_path / "out", "--json", *restart),
                env=ENVIRONMENT,
                stdin=stream,
                capture_output=True,
                check=True,
            )
        assert b"cannot be read again" in done.stderr
        assert json.loads(done.stdout)["pages"] == PARTS * 10
        assert contents(tmp_path / "out").keys() == whole.keys()
    with source.open("rb") as stream:
        again = subprocess.run(
            command(Path("-"), tmp_path / "out"), env=ENVIRONMENT, stdin=stream, capture_output=True, text=True, check=False
        )
    assert again.returncode == 1
    assert "--restart" in again.stderr
