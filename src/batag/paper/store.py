"""Finished cells on disk: one JSON file per cell, named by its key and written atomically."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from batag.errors import InputError
from batag.pages.file import open_output
from batag.paper.cell import Cell, commit
from batag.paper.corpus import PARTS, Corpus


@dataclass(frozen=True)
class Store:
    """A folder with `cells/KEY.json` and, while they train, `runs/KEY-COMMIT`."""

    folder: Path

    @property
    def cells(self) -> Path:
        return self.folder / "cells"

    def run_folder(self, cell: Cell) -> Path:
        """The folder in which a cell is trained; another commit starts again instead of resuming."""
        return self.folder / "runs" / f"{cell.key}-{commit() or 'unknown'}"

    def find(self, cell: Cell) -> dict[str, Any] | None:
        """The result of a finished cell, whichever commit trained it, or None."""
        path = self.cells / f"{cell.key}.json"
        return _read(path) if path.exists() else None

    def corpus(self, name: str) -> Corpus:
        """The corpus of finished cells with that name, identified by hashes; its files need not exist."""
        cells = map(_read, sorted(self.cells.glob("*.json")))
        found = {json.dumps(each["corpus"], sort_keys=True): each["corpus"] for each in cells if each["corpus"]["name"] == name}
        if len(found) != 1:
            what = f"{len(found) or 'no'} corpora of finished cells are called {name!r}"
            raise InputError(what, where=str(self.cells), todo="Name its files with --train, --dev and --test")
        identity = {key: value for key, value in next(iter(found.values())).items() if key != "name"}
        train, dev, test = map(Path, PARTS)
        return Corpus(name, train, dev, test, reading=identity["reading"], known=identity)

    @contextmanager
    def at_work(self, cell: Cell, *, wait: bool) -> Iterator[bool]:
        """Try to take the lock of a cell; yields whether this process may train it. With `wait`, wait for the lock."""
        (self.folder / "runs").mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.folder / "runs" / f"{cell.key}.lock")
        try:
            lock.acquire(timeout=-1 if wait else 0)
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    def put(self, cell: Cell, result: dict[str, Any]) -> None:
        self.cells.mkdir(parents=True, exist_ok=True)
        with open_output(self.cells / f"{cell.key}.json") as stream:
            stream.write(json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")

    def forget_run(self, cell: Cell) -> None:
        """Remove the run folder of a finished cell, which is large because of its weights."""
        shutil.rmtree(self.run_folder(cell), ignore_errors=True)


def _read(path: Path) -> dict[str, Any]:
    try:
        result: dict[str, Any] = json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"is damaged ({error})", where=str(path), todo="Remove it; the cell is trained again") from error
    return result
