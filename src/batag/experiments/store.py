"""Finished cells on disk: one JSON file a cell, under its key, written whole."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batag.errors import InputError
from batag.experiments.cell import Cell
from batag.pages.file import open_output


@dataclass(frozen=True)
class Store:
    """A folder with `cells/KEY.json` and, while they train, `runs/KEY`."""

    folder: Path

    @property
    def cells(self) -> Path:
        return self.folder / "cells"

    def run_folder(self, cell: Cell) -> Path:
        return self.folder / "runs" / cell.key

    def find(self, cell: Cell, *, stale: bool = False) -> dict[str, Any] | None:
        """A finished cell; `stale` also takes one that other sources made, the newest."""
        path = self.cells / f"{cell.key}.json"
        if path.exists():
            return _read(path)
        others = sorted(self.cells.glob(f"{cell.what}-*.json"), key=lambda each: each.stat().st_mtime) if stale else []
        return _read(others[-1]) | {"stale": True} if others else None

    def put(self, cell: Cell, result: dict[str, Any]) -> None:
        self.cells.mkdir(parents=True, exist_ok=True)
        with open_output(self.cells / f"{cell.key}.json") as stream:
            stream.write(json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


def _read(path: Path) -> dict[str, Any]:
    try:
        result: dict[str, Any] = json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"is damaged ({error})", where=str(path), todo="Remove it; the cell is trained again") from error
    return result
