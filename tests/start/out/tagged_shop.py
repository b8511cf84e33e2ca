"""A shop's export with the parts of its finished job, made without a tagger: given words are the tags."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from batag.catalogue.inputs import Inputs
from batag.pages.formats.parquet import _tag_column
from batag.pages.page import MODEL, Tag
from batag.start.out import Export, Facts, Written, write_out

TITLE, TEXT = "商品名稱", "描述"
Words = Mapping[str, tuple[str, str | None, float]]
"""Label, canonical form and score by the word that is tagged."""
WORDS: Words = {
    "日立": ("brand", "HITACHI", 0.98),
    "HITACHI": ("brand", "HITACHI", 0.99),
    "冰箱": ("goods", "冰箱", 0.9),
    "耳機": ("goods", "耳機", 0.4),
    "melra": ("brand", "melra", 0.6),
}


@dataclass(frozen=True)
class TaggedShop:
    """The export, the folder of its job, and the folder for the files."""

    export: Export
    tagged: Path
    out: Path

    def write(self, *, labels: Sequence[str] = ("goods", "brand"), facts: Facts | None = None, **changes: Any) -> Written:
        """Write the files for people."""
        facts = facts or Facts(shop="好物", language="zh-Hant", date="2026-11-18")
        return write_out(self.out, export=self.export, tagged=self.tagged, labels=labels, facts=facts, **changes)


def tagged_shop(
    folder: Path,
    rows: Sequence[Sequence[str]],
    *,
    header: Sequence[str] = ("sku", TITLE, TEXT),
    words: Words = WORDS,
    **export: Any,
) -> TaggedShop:
    """Write the export and the parts."""
    path, tagged = folder / "shop.csv", folder / "tagged"
    tagged.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *rows])
    tags, errors = [], []
    for number, row in enumerate(rows, 2):
        fields = {name: cell for name, cell in zip(header, row, strict=True) if name in (TITLE, TEXT) and cell}
        tags.append([tag for name, text in fields.items() for tag in _tags(name, text, words)])
        errors.append(None if fields else f"{path}:{number}: no text in any field")
    write_part(tagged / "part-000000.parquet", tags, errors)
    columns = {name: column for name, column in {"id": "sku", "title": TITLE, "description": TEXT}.items() if column in header}
    inputs = Inputs(paths=(str(path),), columns=columns)
    return TaggedShop(Export.of(inputs, **export), tagged, folder / "out")


def write_part(path: Path, tags: Sequence[Sequence[Tag]], errors: Sequence[str | None]) -> None:
    """Write a part as the job does, as far as it is read again."""
    import pyarrow as pa

    pq.write_table(pa.table({"tags": _tag_column(tags), "error": pa.array(errors, pa.string())}), path)


def _tags(field: str, text: str, words: Words) -> list[Tag]:
    found = []
    for word, (label, canonical, score) in words.items():
        if (start := text.find(word)) >= 0:
            place = {"field": field, "start": start, "end": start + len(word), "text": word}
            found.append(Tag(**place, label=label, score=score, source=MODEL, canonical=canonical))
    return sorted(found, key=lambda tag: tag.start)
