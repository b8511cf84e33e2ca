"""The unit of work: some rows of one input, the same for a process and for a cluster; its output depends on it alone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from batag.pages.page import Page

Entry = tuple[int, int, Any]
"""Where a row stands (its line), its number, and what it holds: bytes, cells or a page; a text says why it cannot be read."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Rows `first` to `first + rows - 1` of a source. `lines` are JSON, `cells` a table's (with the columns' `names`) and
    `sheet` those of a workbook, `pages` are read already; a `range` of a Parquet file is read where it is tagged. `header` has
    the names as they are spelt there, `usual_language` that of most pages at its beginning, `share` tells how much of the
    source is read at its end."""

    number: int
    file: int = 0
    source: str
    stem: str
    kind: str
    first: int
    rows: int
    names: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = field(default=(), repr=False)
    identity: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    language: str | None = None
    usual_language: str | None = None
    share: float = 1.0

    def digest(self) -> str:
        """What tells whether it still holds the same."""
        found = hashlib.blake2b(digest_size=16)
        found.update(
            f"{self.kind}\0{self.first}\0{self.rows}\0{self.identity}\0{self.names}\0{self.usual_language}".encode(
                errors="replace"
            )
        )
        for line, _, held in self.entries:
            text = held if isinstance(held, bytes) else _text(held).encode(errors="replace")
            found.update(b"%d:%d:" % (line, len(text)))
            found.update(text)
        return found.hexdigest()


def _text(held: Any) -> str:
    return repr((held.id, dict(held.fields), held.language, held.tokens)) if isinstance(held, Page) else repr(held)
