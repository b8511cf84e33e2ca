"""Write everything that people open, in one pass over the export and its tags."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.compute as pc

from batag.pages.corrections import in_order
from batag.pages.formats.row import text_cell
from batag.pages.page import Page
from batag.segmentation.detection import possible_languages
from batag.start.out.export import Export
from batag.start.out.facts import Facts
from batag.start.out.frequent import Frequent
from batag.start.out.names import Namer, Names
from batag.start.out.report import ReportData, write_report
from batag.start.out.review import TO_REVIEW, ReviewChooser, write_review
from batag.start.out.review_book import REVIEW_BOOK, write_review_book
from batag.start.out.richness import count_dial
from batag.start.out.rows import part_columns, tagged_rows
from batag.start.out.survey import Survey, Surveyor
from batag.start.out.tables import TableWriter
from batag.tagging.tagger import Tagger

REPORT = "report.html"
_EVERY = 500
_UNFINISHED = re.compile(r"\.(tags[^.]*\.(xlsx|csv)|report\.html|to_review\.(?:jsonl|xlsx))\.\d+\.tmp")
Progress = Callable[[str, int, float | None], None]


@dataclass(frozen=True)
class Written:
    """The files that were written, what to say about them, and the counts."""

    files: tuple[Path, ...]
    notes: tuple[str, ...]
    survey: Survey


def write_out(
    out: Path,
    *,
    export: Export,
    tagged: Path,
    labels: Sequence[str],
    facts: Facts,
    tagger: Tagger | None = None,
    review: int = 100,
    reviewed: Iterable[Page] = (),
    top: int = 5,
    report_language: str | None = None,
    progress: Progress = lambda step, rows, fraction: None,
) -> Written:
    """Write `tags.xlsx`, `tags.csv`, `report.html`, `to_review.xlsx` and `to_review.jsonl` of a tagged export into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    for path in out.iterdir():
        if _UNFINISHED.fullmatch(path.name):  # of a run that was killed
            path.unlink(missing_ok=True)
    header = export.header()
    labels = in_order(labels)
    total, counts, names, errors = _overview(tagged)
    problems = errors > 0 and (export.group is None or any(row.error for row in tagged_rows(export, tagged)))
    surveyor = Surveyor(labels, listed=facts.listed)
    chooser = ReviewChooser(labels, number=review, reviewed=reviewed)
    category = header.index(export.category) if export.category in header else None
    writer = TableWriter(
        out, header=header, labels=labels, problems=problems, number=top, counts=counts, names=names, language=facts.language
    )
    with writer:
        for number, row in enumerate(tagged_rows(export, tagged), 1):
            writer.add(row)
            surveyor.add(row)
            if row.page is not None:
                own = "" if category is None else text_cell(row.cells[category])
                chooser.add(row, category=own, language=_language(row.page))
            if number % _EVERY == 0:
                progress("tables", number, min(number / max(total, 1), 1.0))
    tables = writer.tables()
    progress("review", surveyor.survey.pages, None)
    chosen = chooser.chosen()
    write_review(chosen, out / TO_REVIEW)
    write_review_book(chosen, out / REVIEW_BOOK, labels=labels, columns=export.columns, language=facts.language)
    progress("report", surveyor.survey.pages, None)
    drawn = surveyor.drawn.items
    data = ReportData(
        facts=facts,
        survey=surveyor.survey,
        names=names,
        date=facts.date or datetime.now(UTC).date().isoformat(),
        pages=tuple(drawn),
        to_review=tuple(chosen),
        dial=() if tagger is None else count_dial(tagger, drawn),
        notes=tables.notes,
    )
    write_report(out / REPORT, data, language=report_language)
    return Written((*tables.files, out / REPORT, out / REVIEW_BOOK, out / TO_REVIEW), tables.notes, surveyor.survey)


def _overview(tagged: Path) -> tuple[int, dict[str, int], Names, int]:
    """The number of rows, the tags of each canonical form, their names, and the number of rows with an error."""
    rows = errors = 0
    forms, namer = Frequent(), Namer()
    for batch in part_columns(tagged, ["tags", "error"]):
        rows += batch.num_rows
        errors += batch.num_rows - batch.column("error").null_count
        tags = pc.list_flatten(batch.column("tags"))
        found, texts = (pc.struct_field(tags, name).to_pylist() for name in ("canonical", "text"))
        forms.add(each for each in found if each is not None)
        namer.add(zip(found, texts, strict=True))
    return rows, dict(forms.counts), namer.names(), errors


def _language(page: Page) -> str:
    """The language of a page as its letters show it."""
    if page.language is not None:
        return page.language
    found = possible_languages(" ".join(text[:200] for text in page.fields.values()))
    return found[0] if page.usual_language not in found else str(page.usual_language)
