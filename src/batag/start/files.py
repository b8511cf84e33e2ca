"""The files for people of one start: tables, report and pages to review, with what only the stages before know."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from batag.pages.problems import Problems
from batag.start.folder import write_json
from batag.start.learning.unlisted import Check
from batag.start.lists import BRAND, Lists
from batag.start.out import BrandCheck, ColumnUse, Command, Export, Facts, Missing, Written, write_out
from batag.start.out.placement import WRITTEN, place, written_before
from batag.start.out.review_book import REVIEW_BOOK
from batag.start.survey import Survey
from batag.start.tagging import inputs_of
from batag.start.task import Task
from batag.tagging.tagger import Tagger


def write_files(
    task: Task,
    survey: Survey,
    lists: Lists,
    bundle: Path,
    *,
    labels: Mapping[str, Any],
    check: Check | None,
    progress: Any = lambda step, rows, fraction: None,
) -> Written:
    """Write the files for people."""
    tagger = Tagger.load(bundle, device="cpu")
    used = [ColumnUse(each.field, each.name, each.examples) for each in task.columns.columns if each.field]
    facts = Facts(
        shop=task.shop.name,
        bundle=bundle.name,
        language=survey.language,
        columns=used,
        listed=[term.text for term in lists.of(BRAND)],
        terms=len(lists.terms),
        not_found=[Missing(term.text, term.label, term.source) for term in lists.not_found],
        learned_from=labels.get("sources", {}) | ({"person": labels["people"]} if labels.get("people") else {}),
        new_brands=None if check is None else BrandCheck(check.brands, check.mentions, check.found, check.right),
        commands=next_commands(task),
    )
    making = task.run / "out"
    written = write_out(
        making,
        export=Export.of(inputs_of(task.rows), brand=task.rows.brand, category=task.rows.category, group=task.columns.group),
        tagged=task.shop.path("tagged"),
        labels=tagger.labels,
        facts=facts,
        tagger=tagger,
        reviewed=list(task.reviewed(Problems())),
        progress=progress,
    )
    before = written_before(run / WRITTEN for run in task.shop.runs())
    files, notes = place(written.files, task.shop.path("out"), record=task.run / WRITTEN, before=before)
    shutil.rmtree(making, ignore_errors=True)
    write_json(task.run / "done.json", {"files": [path.name for path in files]})
    return replace(written, files=tuple(files), notes=(*written.notes, *notes))


def next_commands(task: Task) -> list[Command]:
    """What to type next."""
    shop, out = task.shop.folder, task.shop.path("out")
    again = f"batag start {task.table.path} --out {shop}"
    return [
        Command(f'batag tag {shop} "{_example(task)}"', "tag"),
        Command(f"{again}   # once {out / REVIEW_BOOK}, corrected, is in {task.shop.path('people')}", "again"),
    ]


def _example(task: Task) -> str:
    title = task.columns.column("title") or ""
    return next(iter(task.table.column(title)), "title")[:60].replace('"', "'")
