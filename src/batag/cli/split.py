"""`batag split`: train, dev and test without leaks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from batag.cli import options


def split(
    pages: Annotated[list[Path], typer.Argument(metavar="PAGES", help="Files of pages.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for train.jsonl, dev.jsonl, test.jsonl and split.json.")],
    shares: Annotated[str, typer.Option(help="train:dev:test.")] = "8:1:1",
    seed: Annotated[int, typer.Option(help="The same pages and seed give the same split.")] = 0,
    reading: options.Reading = options.READING,
    as_json: options.Json = False,
) -> None:
    """Divide pages so that the same or nearly the same text is never in two parts; each shop and language in its share."""
    import json
    from collections.abc import Iterator
    from contextlib import ExitStack

    from batag.cli.terminal import console, counted, print_json, watched
    from batag.errors import InputError, UsageError
    from batag.pages.file import check_targets, open_output
    from batag.pages.formats import read_pages, write_stream
    from batag.pages.page import Page, without_surrogates
    from batag.pages.problems import Problems
    from batag.pages.splitting import SPLITS, assign_splits, parse_shares

    check_targets([*(out / f"{name}.jsonl" for name in SPLITS), out / "split.json", reading.problems], pages)
    parts = parse_shares(shares)
    for path in pages:
        if (path.exists() and not path.is_file() and not path.is_dir()) or str(path) == "-":
            raise UsageError(f"{path} can be read only once, and split reads twice", todo="Save it to a file first")

    def read(found: Problems, doing: str) -> Iterator[Page]:
        for path in pages:
            reader = read_pages(path, **reading.options, problems=found)
            yield from watched(reader, doing=doing)

    with reading.collected() as found:
        assignment = assign_splits(read(found, "comparing"), shares=parts, seed=seed)
    if not assignment.splits:
        raise found.no_page(", ".join(map(str, pages)))
    report = {
        "pages": len(assignment.splits),
        "splits": assignment.counts,
        "groups": assignment.groups,
        "pages_with_twins": assignment.grouped,
        "shares": shares,
        "seed": seed,
        "files": [str(path) for path in pages],
    }
    empty = [name for name, share in zip(SPLITS, parts, strict=True) if share and not assignment.counts[name]]
    warning = (
        f"{' and '.join(empty)} got no page: the pages are too few or too much alike (twins stay together)" if empty else ""
    )
    report["warning"] = warning
    if out.exists() and not out.is_dir():
        raise InputError("is a file", where=str(out), todo="Name a folder")
    out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as files:
        streams = {name: files.enter_context(open_output(out / f"{name}.jsonl")) for name in SPLITS}
        written = 0
        for page, name in zip(read(Problems(), "writing"), assignment.splits, strict=False):
            write_stream([page], streams[name], format="jsonl")
            written += 1
        if written != len(assignment.splits):
            raise InputError("changed while it was read", where=", ".join(map(str, pages)), todo="Split it again")
        text = without_surrogates(json.dumps(report, ensure_ascii=False, indent=2))
        files.enter_context(open_output(out / "split.json")).write(text.encode())
    if as_json:
        print_json(report)
        return
    from rich.table import Table

    table = Table("split", "pages", "share", title=f"{counted(len(assignment.splits), 'page')} in {out}", title_justify="left")
    for name, number in assignment.counts.items():
        table.add_row(name, f"{number:,}", f"{number / len(assignment.splits):.1%}")
    console().print(table)
    note = f"pages with a twin (the same or nearly the same text): {assignment.grouped:,}; twins stay in one split"
    console().print(note, markup=False)
    if warning:
        console().print(warning, style="bold yellow", markup=False)
