"""The same job on a real Ray of two workers on this machine, one of them killed in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.processes import PATIENCE, started, wait_until
from tests.tiny import catalogue, tiny_exported

from batag.catalogue.inputs import Inputs
from batag.catalogue.job import Job
from batag.catalogue.tagged import Options
from batag.errors import UsageError
from batag.pages.formats import write_pages
from batag.pages.problems import Problems

ENVIRONMENT = os.environ | {"BATAG_PART_PAGES": "10", "RAY_USAGE_STATS_ENABLED": "0"}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("part-*")}


def actors() -> list[int]:
    """Processes of Ray that tag."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if path.read_bytes().startswith(b"ray::_Tagging"):
                found.append(int(path.parent.name))
    return found


def command(source: Path, out: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "batag", "tag", str(tiny_exported()), str(source), "-o", str(out), "--engine", "onnx", *more]


@pytest.mark.long
def test_a_killed_worker_is_replaced_and_the_manifest_makes_the_job_go_on(tmp_path: Path) -> None:
    pages = catalogue(20, split="test")
    write_pages((page for _ in range(20) for page in pages), tmp_path / "pages.parquet")
    whole, out = tmp_path / "whole", tmp_path / "out"
    subprocess.run(
        command(tmp_path / "pages.parquet", whole, "--workers", "1"), env=ENVIRONMENT, check=True, capture_output=True
    )
    arguments = command(tmp_path / "pages.parquet", out, "--cluster", "ray", "--workers", "2")
    with started(arguments, env=ENVIRONMENT) as process:
        wait_until(lambda: len(contents(out)) >= 3, while_runs=process)
        os.kill(actors()[0], signal.SIGKILL)
        message = process.communicate(timeout=PATIENCE)[1].decode()
    assert process.returncode == 0, message
    assert f"{len(pages) * 20:,} pages tagged" in message
    assert contents(out) == contents(whole)
    for name in ("part-000002", "part-000005"):
        (out / f"{name}.parquet").unlink()
    again = subprocess.run(arguments, env=ENVIRONMENT, check=True, capture_output=True, text=True)
    assert f"{len(pages) * 20 - 20:,} of them before" in again.stderr
    assert contents(out) == contents(whole)


@pytest.mark.long
def test_nobody_waits_for_a_worker_that_finds_no_place(tmp_path: Path) -> None:
    write_pages(catalogue(30, split="test"), tmp_path / "pages.jsonl")
    program = (
        "import ray, sys\n"
        "from batag.catalogue.inputs import Inputs\n"
        "from batag.catalogue.job import Job\n"
        "from batag.catalogue.tagged import Options\n"
        "from batag.pages.problems import Problems\n"
        "from pathlib import Path\n"
        "ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)\n"
        "bundle, pages, out = sys.argv[1:]\n"
        "job = Job(bundle=Path(bundle), engine='onnx', inputs=Inputs(paths=(pages,)), out=out, options=Options(),\n"
        "          workers=3, cluster='ray')\n"
        "print(job.run(problems=Problems()).pages)\n"
    )
    given = [str(tiny_exported()), str(tmp_path / "pages.jsonl"), str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-c", program, *given], env=ENVIRONMENT, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "90"


@pytest.mark.parametrize("address", ["spark", "http://head:8265", ""])
def test_what_is_not_a_cluster_is_a_mistake_of_the_call(tmp_path: Path, address: str) -> None:
    write_pages(catalogue(1), tmp_path / "pages.jsonl")
    inputs = Inputs(paths=(str(tmp_path / "pages.jsonl"),))
    job = Job(
        bundle=tiny_exported(), engine="onnx", inputs=inputs, out=str(tmp_path / "out"), options=Options(), cluster=address
    )
    with pytest.raises(UsageError, match="is not a cluster"):
        job.run(problems=Problems())
    assert not (tmp_path / "out").exists()
