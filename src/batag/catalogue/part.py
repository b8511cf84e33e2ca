"""The unit of work: some rows of one input, the same for a process and for a cluster; its output depends on it alone."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from batag.pages.formats.reading import Record


@dataclass(frozen=True, kw_only=True)
class Part:
    """Rows `first` to `first + rows - 1` of a source: its `records`, or without them a range of a Parquet file, which is read
    where it is tagged; `content` is a digest of what it holds. Of tables it has the columns' `names`, the
    `header` (the names as the file has them) and a range's `types`. `usual_language` is that of most pages at the beginning
    of the source, `share` tells how much of it is read at the end of the part."""

    number: int = 0
    file: int = 0
    source: str
    stem: str
    format: str
    first: int = 1
    rows: int = 0
    records: tuple[Record, ...] = field(default=(), repr=False)
    names: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    content: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    language: str | None = None
    usual_language: str | None = None
    share: float = 1.0

    @property
    def where(self) -> str:
        """Its rows, in words."""
        return f"{self.source}, rows {self.first} to {self.first + self.rows - 1}"

    @property
    def is_range(self) -> bool:
        return not self.records

    @property
    def table_columns(self) -> tuple[str, ...]:
        """What all parts of one table share: the columns as the file has them, and their types if there are any."""
        return tuple(map(" ".join, zip(self.header, self.types, strict=True))) if self.types else self.header

    def digest(self) -> str:
        """What tells whether it still holds the same."""
        everything = (self.format, self.first, self.rows, self.content, self.names, self.usual_language)
        return hashlib.blake2b(repr(everything).encode(errors="replace"), digest_size=16).hexdigest()
