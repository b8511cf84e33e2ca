"""The hash of sources: what decides a cell's numbers changes it, what does not leaves it."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from batag.paper import sources
from batag.paper.sources import sources_digest

FILES = {
    "batag/encoders/fake.py": "from batag.encoders import other\nfrom batag.pages import page\n\ndef f(x):\n    return x + 1\n",
    "batag/encoders/other.py": "def g(x):\n    return 2 * x\n",
    "batag/encoders/unused.py": "def h(x):\n    return 3 * x\n",
}


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Made-up modules in the place of ours."""

    class Spec:
        def __init__(self, path: Path) -> None:
            self.origin = str(path)

    def find(name: str) -> Spec | None:
        path = tmp_path / name.replace(".", "/")
        for each in (path.with_suffix(".py"), path / "__init__.py"):
            if each.exists():
                return Spec(each)
        return None

    (tmp_path / "batag/encoders").mkdir(parents=True)
    (tmp_path / "batag/encoders/__init__.py").write_text("X = 1\n")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(sources, "find_spec", find)
    sources._read.cache_clear()
    sources._is_module.cache_clear()
    yield tmp_path
    sources._read.cache_clear()
    sources._is_module.cache_clear()


def digest() -> str:
    sources._read.cache_clear()
    return sources_digest(["batag.encoders.fake"])


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("batag/encoders/fake.py", "from batag.encoders import other\n\ndef f(x):\n    return x + 2\n"),
        ("batag/encoders/other.py", "def g(x):\n    return 4 * x\n"),
        ("batag/encoders/__init__.py", "X = 2\n"),
    ],
)
def test_code_that_runs_changes_it(house: Path, file: str, text: str) -> None:
    before = digest()
    (house / file).write_text(text)
    assert digest() != before


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("batag/encoders/fake.py", '"""Words."""\n' + FILES["batag/encoders/fake.py"]),
        ("batag/encoders/other.py", 'def g(x):\n    """Twice."""\n    # why\n    return 2*x\n'),
        ("batag/encoders/unused.py", "def h(x):\n    return 5 * x\n"),
    ],
)
def test_words_layout_and_other_modules_do_not(house: Path, file: str, text: str) -> None:
    before = digest()
    (house / file).write_text(text)
    assert digest() == before


def test_an_encoder_does_not_hang_on_the_other_encoders() -> None:
    loaded = {name: sources_digest(["batag.training.run", f"batag.encoders.{name}"]) for name in ("bat", "transformer")}
    assert loaded["bat"] != loaded["transformer"]
    assert sources_digest(["batag.training.run", "batag.encoders.bat"]) == loaded["bat"]


def test_what_is_imported_is_followed_through_our_folders_only() -> None:
    assert importlib.import_module("batag.training.run")
    assert "batag.pages.page" in sys.modules
    _, imported = sources._read("batag.training.loop")
    assert "batag.heads.prediction" in imported
    assert "batag.objectives.objective" in imported


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_commit_of_the_sources_is_told_and_whether_they_have_changed_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*words: str) -> str:
        identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
        return subprocess.run(["git", "-C", tmp_path, *identity, *words], capture_output=True, text=True, check=True).stdout

    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setattr(sources.resources, "files", lambda package: tmp_path / package)
    (tmp_path / "batag").mkdir()
    (tmp_path / "batag" / "one.py").write_text("X = 1\n")
    assert sources.commit() is None  # no repository
    git("init", "-q")
    assert sources.commit() is None  # somebody else's, which does not have the sources
    git("add", ".")
    git("commit", "-qm", "first")
    (tmp_path / "beside").write_text("not of the sources\n")
    assert sources.commit() == git("rev-parse", "--short=12", "HEAD").strip()
    (tmp_path / "batag" / "one.py").write_text("X = 2\n")
    assert sources.commit() == git("rev-parse", "--short=12", "HEAD").strip() + "-dirty"
