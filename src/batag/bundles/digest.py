"""The checksum that `bundle.json` has of its own content; it does not depend on white space or the order of keys."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from batag.errors import InputError

DIGEST = "sha256"
_BY_COMMAND = (
    "Copy the bundle again; change it only with commands: the dial with batag train --resume RUN --set dial.rich=3, "
    "engines with batag export"
)


def with_digest(description: Mapping[str, Any]) -> bytes:
    """Return a description as JSON bytes, with the checksum of everything else as its last key."""
    rest = {key: value for key, value in description.items() if key != DIGEST}
    return json.dumps(rest | {DIGEST: _digest(rest)}, ensure_ascii=False, indent=2).encode()


def check_digest(description: Mapping[str, Any], path: Path) -> None:
    """Raise an error if a description does not match its own checksum."""
    try:
        found = _digest({key: value for key, value in description.items() if key != DIGEST})
    except (ValueError, RecursionError):
        found = ""
    if not found or description.get(DIGEST) != found:
        what = "does not match its own SHA-256: it is damaged or was edited by hand"
        raise InputError(what, where=str(path), todo=_BY_COMMAND)


def _digest(rest: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
