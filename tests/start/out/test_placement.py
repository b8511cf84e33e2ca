from __future__ import annotations

import os
from pathlib import Path

import pytest

from batag.start.out.placement import WRITTEN, place, written_before


class Folder:
    """The folder that people look into, and runs that write files for it."""

    def __init__(self, path: Path) -> None:
        self.out, self.runs = path / "out", path / "runs"
        self.out.mkdir()

    def run(self, name: str, **files: str) -> list[str]:
        """Write files (without their ending) in one more run, and return what is said."""
        making = self.runs / name / "out"
        making.mkdir(parents=True)
        made = []
        for stem, text in files.items():
            made.append(making / f"{stem}.{'jsonl' if stem == 'to_review' else 'xlsx'}")
            made[-1].write_text(text)
        before = written_before(each / WRITTEN for each in self.runs.iterdir())
        return place(made, self.out, record=self.runs / name / WRITTEN, before=before)[1]

    @property
    def texts(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in self.out.iterdir()}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_file_that_nobody_changed_is_replaced(folder: Folder) -> None:
    assert folder.run("0001", tags="one", to_review="a") == []
    assert folder.run("0002", tags="two", to_review="b") == []
    assert folder.texts == {"tags.xlsx": "two", "to_review.jsonl": "b"}


def test_a_file_that_somebody_changed_is_kept_under_another_name_and_it_is_said(folder: Folder) -> None:
    folder.run("0001", tags="one", to_review="a")
    (folder.out / "tags.xlsx").write_text("mine")
    (folder.out / "to_review.jsonl").write_text("labels of mine")
    assert folder.run("0002", tags="two", to_review="b") == [
        "tags.xlsx was changed since batag wrote it: your file is kept as tags-edited.xlsx",
        "to_review.jsonl was changed since batag wrote it: your file is kept as to_review-edited.jsonl: to have its labels "
        "used, put it into labels/person/",
    ]
    (folder.out / "tags.xlsx").write_text("mine again")
    folder.run("0003", tags="three", to_review="c")
    assert folder.texts == {
        "tags.xlsx": "three",
        "tags-edited.xlsx": "mine",
        "tags-edited-2.xlsx": "mine again",
        "to_review.jsonl": "c",
        "to_review-edited.jsonl": "labels of mine",
    }


def test_a_second_workbook_goes_when_it_is_not_needed_unless_somebody_changed_it(folder: Folder) -> None:
    folder.run("0001", **{"tags": "one", "tags-2": "more", "tags-3": "last"})
    (folder.out / "tags-3.xlsx").write_text("mine")
    folder.run("0002", tags="two")
    assert folder.texts == {"tags.xlsx": "two", "tags-3-edited.xlsx": "mine"}


def test_a_file_that_was_there_before_the_first_run_is_kept(folder: Folder) -> None:
    (folder.out / "tags.xlsx").write_text("mine")
    folder.run("0001", tags="one")
    assert folder.texts == {"tags.xlsx": "one", "tags-edited.xlsx": "mine"}


def test_after_a_crash_between_two_moves_no_file_is_taken_for_a_persons(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.run("0001", tags="one", to_review="a")

    plain = os.replace

    def dies(source: Path, target: Path) -> None:
        plain(source, target)
        if Path(target).parent == folder.out:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("os.replace", dies)
        with pytest.raises(KeyboardInterrupt):
            folder.run("0002", tags="two", to_review="b")
    assert folder.texts == {"tags.xlsx": "two", "to_review.jsonl": "a"}
    assert folder.run("0003", tags="three", to_review="c") == []
    assert set(folder.texts) == {"tags.xlsx", "to_review.jsonl"}
