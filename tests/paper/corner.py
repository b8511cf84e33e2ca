"""A corpus and settings with which a cell takes a second or two."""

from __future__ import annotations

from pathlib import Path

from tests.tiny import catalogue

from batag.pages.formats import write_pages
from batag.paper.corpus import Corpus

SMALL = (
    *("encoder.width=16", "encoder.depth=1", "encoder.heads=2", "encoder.inner=32", "schedule.warmup=20"),
    *("schedule.scale=0.1", "training.batch=16"),
)


def corner_corpus(folder: Path, *, name: str = "corner") -> Corpus:
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for part, pages in (("train", 24), ("dev", 6), ("test", 8)):
        files[part] = folder / f"{part}.jsonl"
        write_pages(catalogue(pages, split=part), files[part])
    return Corpus(name, files["train"], files["dev"], files["test"])
