"""The unit of work of a job: some rows of one input. The output of a part depends on nothing else."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from batag.pages.formats.reading import Record


@dataclass(frozen=True, kw_only=True)
class Part:
    """Rows `first` to `first + rows - 1` of a source: either its `records`, or a range of a Parquet file that the worker reads
    itself. `content` is a digest of the input. Parts of tables have the column `names`, the `header` (the names as written in
    the file) and, for Parquet, the `types`. `usual_language` is the language of most pages at the beginning of the source,
    `fraction` how much of it has been read at the end of the part."""

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
    fraction: float = 1.0

    @property
    def where(self) -> str:
        """The rows of the part in words."""
        return f"{self.source}, rows {self.first} to {self.first + self.rows - 1}"

    @property
    def is_range(self) -> bool:
        return not self.records

    @property
    def table_columns(self) -> tuple[str, ...]:
        """The columns (and types, if there are any) that all parts of one table must have in common."""
        return tuple(map(" ".join, zip(self.header, self.types, strict=True))) if self.types else self.header

    def digest(self) -> str:
        """A digest of the part's input, to notice changes."""
        everything = (self.format, self.first, self.rows, self.content, self.names, self.usual_language)
        return hashlib.blake2b(repr(everything).encode(errors="replace"), digest_size=16).hexdigest()
