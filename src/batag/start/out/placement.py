"""Put finished files where people open them; a file that somebody changed since is kept beside, under another name."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from batag.pages.file import digest, open_output

WRITTEN = "written.json"
_OURS = re.compile(r"(?:tags(?:-\d+|-long)?\.xlsx|tags\.csv|report\.html|to_review\.(?:jsonl|xlsx))")


def written_before(records: Iterable[Path]) -> frozenset[str]:
    """The digests of all files that earlier runs wrote, from their records."""
    found: set[str] = set()
    for path in records:
        with suppress(OSError, ValueError, AttributeError):
            found.update(json.loads(path.read_bytes()).values())
    return frozenset(found)


def place(made: Sequence[Path], out: Path, *, record: Path, before: Collection[str]) -> tuple[list[Path], list[str]]:
    """Move files into a folder, and return their new paths and what to say.

    The record has their digests before the first is moved, so that after a crash too it is known which files are ours.
    """
    digests = {path.name: digest(path) for path in made}
    with open_output(record) as stream:
        stream.write(json.dumps(digests, indent=1).encode())
    ours = {*before, *digests.values()}
    notes = []
    for path in sorted(path for path in out.iterdir() if _OURS.fullmatch(path.name) and path.is_file()):
        if digest(path) not in ours:
            kept = _free(path)
            path.rename(kept)
            todo = ": to have its labels used, put it into labels/person/" if path.stem == "to_review" else ""
            notes.append(f"{path.name} was changed since batag wrote it: your file is kept as {kept.name}{todo}")
        elif path.name not in digests:
            path.unlink()  # a second workbook that is no longer needed
    for path in made:
        os.replace(path, out / path.name)
    return [out / path.name for path in made], notes


def _free(path: Path) -> Path:
    """A name that no file has."""
    number, free = 1, path.with_name(f"{path.stem}-edited{path.suffix}")
    while free.exists():
        number += 1
        free = path.with_name(f"{path.stem}-edited-{number}{path.suffix}")
    return free
