"""The corpus of a table: files of training, dev and test pages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from batag.pages.file import digest
from batag.pages.formats import write_pages
from batag.sample import LANGUAGES, sample_pages

PARTS = ("train", "dev", "test")


@dataclass(frozen=True)
class Corpus:
    """Three files, how to read them, and a name for headings; `known` is the identity of files that are not on this machine."""

    name: str
    train: Path
    dev: Path
    test: Path
    reading: Mapping[str, Any] = field(default_factory=dict)
    known: Mapping[str, Any] | None = None

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Hashes of the files and how they are read; their paths do not matter."""
        if self.known is not None:
            return dict(self.known)
        reading = {key: value for key, value in self.reading.items() if value}
        return {part: digest(getattr(self, part)) for part in PARTS} | {"reading": reading}


def sample_corpus(folder: Path, *, pages: int) -> Corpus:
    """The sample catalogue in three languages, written to files below a folder."""
    folder = folder / f"sample-{pages}"
    files = {part: folder / f"{part}.jsonl" for part in PARTS}
    folder.mkdir(parents=True, exist_ok=True)
    for part, path in files.items():
        amount = pages if part == "train" else max(pages // 4, 10)
        write_pages((page for each in LANGUAGES for page in sample_pages(each, pages=amount, split=part, style="paper")), path)
    return Corpus("sample", files["train"], files["dev"], files["test"])
