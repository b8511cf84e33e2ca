"""The catalogue job of a shop: its export tagged with its bundle, its lists and its rows' own brands."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from batag.bundles.bundle import find_bundle, read_description
from batag.catalogue.inputs import Inputs
from batag.catalogue.job import Job
from batag.catalogue.tagged import Options
from batag.catalogue.totals import Totals
from batag.engines.choice import choose_engine
from batag.errors import InputError
from batag.pages.fields import KNOWN_KEYS
from batag.pages.page import Page
from batag.pages.problems import Problems
from batag.start.evidence import Evidence
from batag.start.lists import Lists
from batag.start.survey import Rows
from batag.terms.terms import Terms

_OTHER = ("contains a job with different", "has changed since the job began", "has fewer rows than")
_LARGE = 20_000
"""From so many pages on the fastest engine pays, however long it takes to load."""


def inputs_of(rows: Rows) -> Inputs:
    """The export as the input of a job."""
    return Inputs(paths=(rows.path,), format=rows.format, columns=rows.columns, language=rows.language, encoding=rows.encoding)


def tag_export(
    rows: Rows,
    *,
    bundle: Path,
    out: Path,
    lists: Lists,
    people: Sequence[Page],
    terms: Terms,
    pages: int,
    problems: Problems,
    shaping: bool = True,
    watch: Callable[[Totals], None] = lambda totals: None,
) -> Totals:
    """Tag the export, or go on with it; parts of an older bundle or export are replaced."""
    column = None if rows.brand is None else rows.brand.lower() if rows.brand.lower() in KNOWN_KEYS else rows.brand
    description = read_description(find_bundle(bundle))
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1

    def job(*, restart: bool) -> Totals:
        return Job(
            bundle=bundle,
            engine=choose_engine(description, wanted="auto", device="cpu", large=pages >= _LARGE),
            inputs=inputs_of(rows),
            out=str(out),
            options=Options(format="parquet"),
            workers=cores,
            restart=restart,
            terms=terms,
            marking=Evidence.of(lists, column=column, people=people, shaping=shaping),
        ).run(problems=problems, watch=watch)

    try:
        return job(restart=False)
    except InputError as error:
        if not error.what.startswith(_OTHER):
            raise
        return job(restart=True)
