"""Engines that are added to a bundle after it was made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from batag.bundles.bundle import KNOWN
from batag.bundles.description import DESCRIPTION, EngineOf
from batag.pages.file import open_output

_WITH_KNOWN = 5


def add_engine(folder: Path, name: str, facts: EngineOf, *, files: Mapping[str, bytes], torch: EngineOf) -> None:
    """Add an engine with its files, and the rate that torch had beside it.

    The old file is taken off the list before it is replaced: whenever this ends, the bundle is whole.
    """
    path = folder / DESCRIPTION
    said: dict[str, Any] = json.loads(path.read_bytes())
    engines: dict[str, Any] = said.setdefault("engines", {})
    if any(file in said["files"] for file in files):
        engines.pop(name, None)
        said["files"] = {file: each for file, each in said["files"].items() if file not in files}
        _write(path, json.dumps(said, ensure_ascii=False, indent=2).encode())
    for file, data in files.items():
        _write(folder / file, data)
        said["files"][file] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    if KNOWN in said["files"]:
        said["format"] = max(said["format"], _WITH_KNOWN)
    engines |= {"torch": torch.model_dump(exclude_defaults=True), name: facts.model_dump()}
    _write(path, json.dumps(said, ensure_ascii=False, indent=2).encode())


def _write(path: Path, data: bytes) -> None:
    with open_output(path) as stream:
        stream.write(data)
