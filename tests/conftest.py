from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# New examples on every run of a developer; the same ones in CI, where a new find should not stop somebody else's change.
settings.register_profile("batag", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("batag")

# Files that take a minute or more begin first, so that no core is left with one of them at the end.
LONGEST = ("test_readme", "crash/test_training", "crash/test_catalogue", "crash/test_paper", "cli/test_demo", "test_cluster")

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not any(name in item.path.as_posix() for name in LONGEST))


@pytest.fixture(scope="session")
def batag() -> Run:
    """Runs the command line as a person would, in a process of its own; nothing is a terminal there."""
    script = Path(sys.executable).with_name("batag")

    def run(
        *arguments: object, cwd: Path | None = None, stdin: str | bytes = b"", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        done = subprocess.run(
            [str(script), *map(str, arguments)],
            cwd=cwd,
            input=data,
            capture_output=True,
            timeout=120,
            env=os.environ | environment,
            check=False,
        )
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return run
