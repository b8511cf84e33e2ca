"""The folder of a shop: what people made (terms, labels) apart from what can be made again (runs, bundles, tagged pages)."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from batag.bundles.description import DESCRIPTION
from batag.bundles.shop import CURRENT, SHOP, current_bundle
from batag.errors import InputError
from batag.pages.file import digest, locked, open_output, sync_folder

FORMAT = 1
PATHS = {
    "terms": "terms",
    "people": "labels/person",
    "labels": "labels/column.parquet",
    "tagged": "tagged",
    "bundles": "bundles",
    "current": CURRENT,
    "runs": "runs",
    "locks": "locks",
    "out": "out",
}
_NUMBERED = re.compile(r"(\d{4,})(?:-[0-9a-f]+)?")


@dataclass(frozen=True)
class Shop:
    """A shop's folder and the paths in it."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    def path(self, name: str) -> Path:
        """The path of a part of the folder."""
        return self.folder / PATHS[name]

    def open(self) -> None:
        """Make the folder, or check that it is a shop's; nothing of anybody else is touched."""
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError("is a file", where=str(self.folder), todo="Name a folder with --out")
        if self.folder.is_dir() and not (self.folder / SHOP).is_file() and not self._is_begun():
            what = "is there already, and is not the folder of a shop"
            raise InputError(what, where=str(self.folder), todo="Name a new folder with --out")
        if (self.folder / SHOP).is_file():
            self.read()
        for name in ("terms", "people", "bundles", "runs", "locks", "out"):
            self.path(name).mkdir(parents=True, exist_ok=True)

    def read(self) -> dict[str, Any]:
        """What stands in `shop.json`."""
        path = self.folder / SHOP
        try:
            found = json.loads(path.read_bytes())
            if not isinstance(found, dict) or type(found.get("format")) is not int:
                raise ValueError("it has no format")
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"is damaged ({error})", where=str(path), todo="Restore it, or name a new folder") from error
        if found["format"] > FORMAT:
            raise InputError(
                f"is of format {found['format']}; this batag reads up to {FORMAT}",
                where=str(path),
                todo="Install a newer batag",
            )
        return found

    def write(self, record: Mapping[str, Any]) -> None:
        """Write `shop.json`."""
        own = {"format": FORMAT, "batag": version("batag"), "paths": PATHS}
        write_json(self.folder / SHOP, own | dict(record))

    def alone(self) -> AbstractContextManager[None]:
        """Hold the lock: one start at a time."""
        return locked(
            self.path("locks"), "start.lock", busy="another batag start is running in it", todo="Wait for it or stop it"
        )

    def sweep(self) -> None:
        """Remove files that a crash left under a temporary name; only while nobody else is at work here."""
        own = (self.folder, self.path("terms"), self.path("labels").parent, self.path("bundles"), self.path("out"))
        strays = [*self.path("runs").rglob(".*.tmp"), *(path for folder in own for path in folder.glob(".*.tmp"))]
        for left in strays:
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)

    def runs(self) -> list[Path]:
        """The folders of the runs, oldest first."""
        return sorted(_numbered(self.path("runs")), key=_number)

    def new_run(self) -> Path:
        """The folder of the next run, which is not made yet."""
        return self.path("runs") / f"{max(map(_number, self.runs()), default=0) + 1:04}"

    def add_bundle(self, made: Path, *, number: int) -> Path:
        """Copy a finished bundle under its number and digest, if it is not there yet."""
        name = f"{number:04}-{digest(made / DESCRIPTION)[:8]}"
        target = self.path("bundles") / name
        if not target.exists():
            making = self.path("bundles") / f".{name}.{os.getpid()}.tmp"
            shutil.rmtree(making, ignore_errors=True)
            shutil.copytree(made, making)
            making.rename(target)
            sync_folder(target.parent)
        return target

    def use(self, bundle: Path) -> None:
        """Make a bundle the one in use; the names of those before stand behind it."""
        before = [name for name in self._names() if name != bundle.name]
        write_json(
            self.path("current"), {"bundle": f"bundles/{bundle.name}", "before": [f"bundles/{name}" for name in before][:50]}
        )

    def current(self) -> Path | None:
        """The bundle in use, or None."""
        return current_bundle(self.folder) if self.path("current").is_file() else None

    def _names(self) -> list[str]:
        with suppress(OSError, ValueError, AttributeError, TypeError):
            found = json.loads(self.path("current").read_bytes())
            return [Path(each).name for each in (found["bundle"], *found.get("before", ()))]
        return []

    def _is_begun(self) -> bool:
        """Whether a folder is empty, or what a start made before it was killed at its first step."""
        own = {Path(path).parts[0] for path in PATHS.values()} - {CURRENT}
        there = list(self.folder.iterdir())
        begun = all(path.name in own or path.name.startswith(f".{SHOP}.") for path in there)
        return begun and not any(path.is_file() for name in own - {"locks"} for path in (self.folder / name).rglob("*"))


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write a JSON file that appears only when it is whole."""
    with open_output(path) as stream:
        stream.write(json.dumps(record, ensure_ascii=False, indent=1).encode(errors="replace"))


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON file of ours; empty if it is not there or is none."""
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads(path.read_bytes())
        return found if isinstance(found, dict) else {}
    return {}


def _numbered(folder: Path) -> Iterator[Path]:
    yield from (path for path in folder.iterdir() if _NUMBERED.fullmatch(path.name)) if folder.is_dir() else ()


def _number(path: Path) -> int:
    found = _NUMBERED.fullmatch(path.name)
    return int(found[1]) if found else 0
