"""`batag tag --server`: tag files through a service."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from batag.cli import options
from batag.cli.terminal import console
from batag.errors import InputError, UsageError

if TYPE_CHECKING:
    from batag.catalogue.tagged import Options
    from batag.pages.page import Page

KEY = "BATAG_KEY"
"""The variable of the environment that has the key of a service: what stands on a command line, others can read."""


def tag_remotely(
    server: str, files: Sequence[str], out: str | None, chosen: Options, *, reading: options.Reading, restart: bool
) -> None:
    """Tag the pages of files, and write them to a file or to standard output."""
    from batag.catalogue.inputs import find_inputs, is_input
    from batag.catalogue.totals import Totals
    from batag.cli.cataloguing import summary
    from batag.cli.files import save, text_or_pages
    from batag.client import Client
    from batag.pages.fields import MAIN_FIELD
    from batag.pages.file import check_targets
    from batag.pages.record import dump, to_record
    from batag.segmentation.segmentation import Segmentation

    for each in files:
        if not is_input(each):
            raise UsageError(f"{each!r} is not a file", todo="With --server name files of pages, or - for standard input")
    target = "" if out is None or out == "-" else out
    inputs = find_inputs(list(files), format=reading.format, out=target, one_file=True)
    check_targets([out, reading.problems], inputs)
    if target and os.path.exists(target) and not (restart and os.path.isfile(target)):
        raise InputError("is there already", where=target, todo="Use --restart to replace a file, or name another")
    totals = Totals(began=time.monotonic())
    with reading.collected() as found, Client(server, key=os.environ.get(KEY)) as client:
        (model, *_) = client.models()

        def tagged() -> Iterator[Page]:
            pages = text_or_pages(inputs, field=MAIN_FIELD, doing="tagging", problems=found, **reading.options)
            answers = client.tag_pages(
                pages,
                richness=chosen.richness,
                labels=chosen.labels or None,
                min_score=chosen.min_score or None,
                distinct=chosen.distinct or None,
                top=chosen.top or None,
            )
            for page in answers:
                totals.pages += 1
                totals.tags.update(each.label for each in page.tags)
                totals.errors += page.extra["error"] is not None
                yield page

        if target or chosen.format != "jsonl":
            table = {name: True for name in ("bom", "excel_safe") if getattr(chosen, name)}
            own = Segmentation("auto")
            save(tagged(), out or "-", source=", ".join(files), format=chosen.format, problems=found, segmentation=own, **table)
        else:
            for page in tagged():
                sys.stdout.buffer.write(dump(to_record(page)) + b"\n")
            sys.stdout.buffer.flush()
    where = target or "standard output"
    console(error=True).print(f"{summary(totals, where)} by bundle {model['bundle']} of {server}", markup=False)
