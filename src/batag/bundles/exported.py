"""Engines that are added to a finished bundle."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from batag.bundles.description import DESCRIPTION, GRAPH, KNOWN, EngineOf
from batag.bundles.digest import with_digest
from batag.pages.file import open_output

_FILES = {KNOWN, GRAPH}


def add_engine(folder: Path, name: str, entry: EngineOf, *, files: Mapping[str, bytes], torch: EngineOf) -> None:
    """Add an engine with its files, and the throughput of torch that was measured beside it.

    An old file is removed from the description before it is replaced, so that the bundle is valid at every moment.
    """
    path = folder / DESCRIPTION
    described: dict[str, Any] = json.loads(path.read_bytes())
    engines: dict[str, Any] = described["engines"]
    if any(file in described["files"] for file in files):
        engines.pop(name, None)
        described["files"] = {file: each for file, each in described["files"].items() if file not in files}
        _write(path, with_digest(described))
    for file, data in files.items():
        _write(folder / file, data)
        described["files"][file] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    engines |= {"torch": torch.model_dump(exclude_defaults=True), name: entry.model_dump()}
    _write(path, with_digest(described))


def engines_of(folder: Path, made: Mapping[str, bytes]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the engines of the bundle in `folder` and their files if it was `made` from the same files, so that only its dial
    has changed; nothing if it is damaged or another one."""
    try:
        described = json.loads((folder / DESCRIPTION).read_bytes())
        digests = {name: each["sha256"] for name, each in described["files"].items()}
        if not described.get("engines") or not digests.keys() - made.keys() <= _FILES:
            return {}, {}
        kept = {name: (folder / name).read_bytes() for name in digests.keys() - made.keys()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}, {}
    found = {name: hashlib.sha256(data).hexdigest() for name, data in (dict(made) | kept).items()}
    return (described["engines"], kept) if found == digests else ({}, {})


def _write(path: Path, data: bytes) -> None:
    with open_output(path) as stream:
        stream.write(data)
