from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tests.forked import Forker
from tests.processes import PATIENCE

# New examples on every run of a developer; the same ones in CI, where a new find should not stop somebody else's change.
settings.register_profile("batag", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("batag")

# Files that take a minute or more begin first, so that no core is left with one of them at the end.
LONGEST = (
    *(
        "test_readme",
        "crash/test_training",
        "crash/test_catalogue",
        "crash/test_paper",
        "cli/test_demo",
        "catalogue/test_cluster",
    ),
    *(
        "training/test_run",
        "cli/test_training_commands",
        "training/test_loop",
        "training/test_base_bundle",
        "training/test_vectors",
    ),
)

WORKSHOP = "BATAG_TESTS_WORKSHOP"
"""Names the folder of what is made once for all workers of a test run."""

DOT = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB4iG8MwAAAABJRU5ErkJggg==")
"""A PNG of one pixel."""

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all", action="store_true", help="also what takes long: tests marked long, more kills, every line of the README"
    )


def pytest_configure(config: pytest.Config) -> None:
    here = Path(__file__).parent
    gone = [name for name in LONGEST if not (here / f"{name}.py").is_file()]
    assert not gone, f"LONGEST names files that are not there: {gone}"
    config.addinivalue_line("markers", "long: takes long; runs only with --all (make test-all)")
    if not hasattr(config, "workerinput"):  # the process that the workers are started by
        os.environ[WORKSHOP] = tempfile.mkdtemp(prefix="batag-tests-")


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ.pop(WORKSHOP), ignore_errors=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--all"):
        long = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]
    items.sort(key=lambda item: not any(name in item.path.as_posix() for name in LONGEST))


def mostly_long(values: Iterable[Any], *short: Any) -> list[Any]:
    """Cases of a test of which only the `short` ones run without --all."""
    parts = [value if isinstance(value, tuple) else (value,) for value in values]
    return [pytest.param(*part, marks=() if part in short or part[0] in short else pytest.mark.long) for part in parts]


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Matrices are tiny and the machine is shared; a test that changes it changes nothing for the next."""
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _dots_for_pictures(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Trainings in this process save a dot instead of their curves: to draw them takes longer than to train a tiny model."""
    module = sys.modules.get("batag.training.prepared")
    if module is not None and "with_picture" not in request.fixturenames:
        for name in ("draw_curves", "draw_dial"):
            monkeypatch.setattr(module, name, lambda drawn, path, *, title: path.write_bytes(DOT))


@pytest.fixture
def with_picture() -> None:
    """This test wants the curves."""


@pytest.fixture(scope="module")
def few_rounds() -> Iterator[None]:
    """The window CRF of trainings in this process is fitted in a few rounds, which nothing but its scores depends on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("batag.training.window_crf.ROUNDS", 6)
        yield


@pytest.fixture(scope="session")
def thorough(pytestconfig: pytest.Config) -> bool:
    """Whether a test may take as long as it likes."""
    return bool(pytestconfig.getoption("--all"))


@pytest.fixture(scope="session")
def batag() -> Iterator[Run]:
    """Runs the command line as a person would, in a process of its own; nothing is a terminal there."""
    script = Path(sys.executable).with_name("batag")
    with Forker() as forker:

        def run(*arguments: object, cwd: Path | None = None, stdin: str | bytes = b"", **environment: str) -> Done:
            data = stdin if isinstance(stdin, bytes) else stdin.encode()
            written = [str(each) for each in arguments]
            if environment or data:
                done = subprocess.run(
                    [str(script), *written],
                    cwd=cwd,
                    input=data,
                    capture_output=True,
                    timeout=PATIENCE,
                    env=os.environ | environment,
                    check=False,
                )
            else:
                done = forker.run(written, cwd=cwd)
            assert b"Traceback" not in done.stderr, done.stderr.decode()
            return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

        yield run
