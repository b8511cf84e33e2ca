"""A catalogue job from the command line: what is written where, progress, and what there is to say at the end."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from batag.catalogue.inputs import Inputs, find_inputs, is_input
from batag.catalogue.job import Job
from batag.catalogue.output import COMPRESSIONS, SUFFIXES
from batag.catalogue.place import is_remote, local
from batag.catalogue.tagged import Options, PartFacts
from batag.catalogue.totals import Totals
from batag.cli.inputs import names_a_file
from batag.cli.terminal import console, counted, escaped_cells, one_line, print_json, show_problems
from batag.engines.choice import LARGE_BYTES, choose_engine
from batag.errors import BatagError, InputError, UsageError
from batag.evaluation.operating_point import parse_richness
from batag.pages.file import open_output
from batag.pages.formats import check_format, format_of_name, format_to_write
from batag.pages.languages import check_language
from batag.pages.problems import Problems
from batag.pages.targets import check_targets
from batag.settings import settings

_LOG_SECONDS = 60


@dataclass(frozen=True)
class Shape:
    """What is written: one file or a folder of parts, in a format, compressed or not."""

    out: str
    format: str
    compression: str
    one_file: bool

    @property
    def is_job(self) -> bool:
        """Column formats, which need tokens, are written page after page."""
        return self.format in SUFFIXES


def shape_of(out: str, to: str | None) -> Shape:
    """By the name and what was said: a folder has a slash at its end, is there already, or has no suffix."""
    out = local(out)
    path = Path(out)
    if is_remote(out) and not out.endswith("/") and format_of_name(out):
        raise UsageError(
            "one file can be written on this machine only", where=out, todo="Name a folder, with a slash at its end"
        )
    folder = out.endswith("/") or is_remote(out) or path.is_dir() or (to is None and not path.suffix and not path.exists())
    said, _, packed = (to or "").partition(".")
    if packed not in COMPRESSIONS:
        raise UsageError(f"--to {to}: {packed!r} is not a compression", todo="There are gz and zst, as in jsonl.gz")
    if folder:
        format = check_format(said) if said else "parquet"
        if format not in SUFFIXES:
            raise UsageError(f"{format} is not written in parts", todo=f"Name a file, or say --to {', '.join(SUFFIXES)}")
        if format in ("parquet", "xlsx") and packed:
            raise UsageError(f"{format} would be compressed twice", todo=f"It is compressed inside: say --to {format}")
        return Shape(out, format, packed, False)
    if packed and path.suffix != f".{packed}":
        raise UsageError(f"{out} does not say that it is compressed", todo=f"Name it {out}.{packed}")
    format = format_to_write(out, said or None)
    if path.exists() and not path.is_file():
        return Shape(out, "device", "", True)
    # It is compressed as a whole, by its name, when the parts are joined.
    return Shape(out, format, "", True)


def check_there(given: Sequence[str]) -> None:
    """A name that looks like a file's and leads nowhere is a mistake, not a text."""
    for each in given:
        if not is_input(each) and names_a_file(each):
            raise InputError("cannot be opened (No such file or directory)", where=each, todo="Check the name")


def check_labels(wanted: Sequence[str], known: Sequence[str]) -> None:
    """Labels that a bundle does not have are a mistake, not an empty result."""
    if missing := [label for label in wanted if label not in known]:
        raise UsageError(f"the bundle has no label {missing[0]!r}", todo=f"It has {', '.join(known)}")


def run(
    bundle: Path,
    pages: Sequence[str],
    shape: Shape,
    *,
    asked: dict[str, Any],
    reading: dict[str, Any],
    engine: str,
    device: str,
    workers: int,
    cluster: str | None,
    restart: bool,
    strict: bool,
    stop_words: Path | None,
    problems: Path | None,
    as_json: bool,
) -> None:
    """Run a job and say how it went."""
    from batag.bundles.bundle import find_bundle, read_description
    from batag.pages.stopwords import read_words

    said = read_description(find_bundle(bundle))
    check_labels(asked["labels"], said.scheme.classes)
    if parse_richness(asked["richness"]) is not None and not said.operating_points.points:
        todo = "Leave richness out, or train again: the bundle gives the most probable tags"
        raise UsageError(f"this bundle has no operating points for richness {asked['richness']}", todo=todo)
    inputs = Inputs(
        paths=find_inputs(pages, format=reading["format"], out=shape.out, one_file=shape.one_file),
        **reading | {"language": check_language(language) if (language := reading["language"]) is not None else None},
    )
    job = Job(
        bundle=bundle,
        engine=choose_engine(said, wanted=engine, device=device, large=_is_large(inputs)),
        device=device,
        inputs=inputs,
        out=shape.out,
        options=Options(format=shape.format, compression=shape.compression, **asked),
        one_file=shape.one_file,
        workers=workers or (0 if cluster else len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1),
        cluster=cluster,
        restart=restart,
        strict=strict,
        stop_words=() if stop_words is None else tuple(read_words(stop_words)),
    )
    check_targets([shape.out if shape.one_file else None, problems], [*inputs.paths, find_bundle(bundle), stop_words])
    err = console(error=True)
    if not inputs.resumable:
        note = "standard input or a pipe cannot be read again: this job cannot go on if it is left"
        err.print(note, style="yellow", markup=False)
    found = Problems()
    failed: list[str] = []
    stopped: BaseException | None = None
    with nullcontext() if problems is None else open_output(problems) as stream:
        if stream is not None:
            found.log = io.TextIOWrapper(stream, "utf-8", write_through=True)

        def told(facts: PartFacts) -> None:
            failed.extend(facts.failed[: max(0, settings.shown_problems - len(failed))])
            if found.log is not None:
                rows = [{"reason": reason, "effect": "error in its row"} for reason in facts.failed]
                for each in (*rows, *facts.listed):
                    found.log.write(json.dumps(each, ensure_ascii=False) + "\n")

        try:
            with _bar(shape.out) as watch:
                totals = job.run(problems=found, watch=watch, told=told)
        except (KeyboardInterrupt, BatagError) as error:  # what was found until then is shown and written all the same
            stopped = error
        if found.log is not None:
            found.log.detach()  # type: ignore[attr-defined]
    for reason in failed:
        err.print(reason, style="yellow", markup=False)
    if stopped is None and (more := totals.errors - len(failed)) > 0:
        rest = f"all in {problems}" if problems else "--problems FILE lists all, and each row says its own"
        err.print(f"... and {more:,} more rows with an error; {rest}", style="yellow", markup=False)
    show_problems(found, problems)
    if isinstance(stopped, KeyboardInterrupt):
        err.print("stopped; finished parts are kept, and the same command goes on", style="bold yellow", markup=False)
        raise typer.Exit(130)
    if stopped is not None:
        raise stopped
    if as_json:
        print_json(totals.facts() | {"engine": job.engine, "out": shape.out})
    else:
        err.print(summary(totals, shape.out), markup=False)


def summary(totals: Totals, out: str) -> str:
    """The last line."""
    tagged = max(totals.pages - totals.found, 0)
    seconds = max(totals.seconds, 1e-9)
    classes = ", ".join(f"{count:,} {name}" for name, count in totals.tags.most_common()) or "no tag"
    rate = f"{seconds:,.0f} s, {tagged / seconds:,.0f} a second"
    before = f", {totals.found:,} of them before" if totals.found else ""
    again = f", {100 * totals.seen_before / totals.pages:.1f} % seen before" if totals.seen_before else ""
    errors = f", {totals.errors:,} with an error" if totals.errors else ""
    untold = totals.problems["untold-language"]
    repaired = f", {counted(odd, 'small problem')} in the input" if (odd := totals.problems.total() - untold) else ""
    repaired += f", {untold:,} read in the language of most of their file" if untold else ""
    cells = f"; {escaped_cells(totals.escaped)}" if totals.escaped else ""
    return f"{counted(totals.pages, 'page')} tagged in {out}{before} ({rate}{again}{errors}{repaired}): {classes}{cells}"


def _is_large(inputs: Inputs) -> bool:
    """Whether tagging takes longer than loading torch; nobody knows how much a pipe will bring."""
    sizes = [each["bytes"] for each in inputs.identities()]
    return not inputs.resumable or None in sizes or sum(sizes) > LARGE_BYTES


@contextmanager
def _bar(out: str) -> Iterator[Callable[[Totals], None]]:
    """Progress: pages and tokens a second, part, errors, time left; in a log a line a minute."""
    err = console(error=True)
    if not err.is_terminal:
        said = time.monotonic()

        def log(totals: Totals) -> None:
            nonlocal said
            if time.monotonic() - said >= _LOG_SECONDS:
                said = time.monotonic()
                left = f"; {100 * totals.share:.0f} % done" if totals.share else ""
                err.print(f"{_going(totals)}{left}", markup=False)

        yield log
        return
    from rich import progress as bars

    columns = (
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.TextColumn("{task.fields[said]}"),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=err, transient=True) as display:
        task = display.add_task(one_line(f"tagging to {out}"), total=1.0, said="")

        def watch(totals: Totals) -> None:
            display.update(task, completed=totals.share, said=_going(totals))

        yield watch


def _going(totals: Totals) -> str:
    """How far a job is, in words."""
    pages = totals.pages + totals.going
    rate = (pages - totals.found) / max(totals.seconds, 1e-9)
    tokens = totals.tokens / max(totals.pages, 1) * rate
    errors = f", {totals.errors:,} errors" if totals.errors else ""
    return f"{pages:,} pages, part {totals.parts:,}, {rate:,.0f} pages and {tokens:,.0f} tokens a second{errors}"
