"""Run a catalogue job from the command line: choose the output, show progress, print a summary."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from batag.bundles.shop import export_reading
from batag.catalogue.inputs import Inputs, find_inputs
from batag.catalogue.job import Job
from batag.catalogue.output import COMPRESSIONS
from batag.catalogue.place import is_remote, local
from batag.catalogue.tagged import Options
from batag.catalogue.totals import Totals
from batag.cli.files import note_by_file, note_lost_sources
from batag.cli.options import Reading
from batag.cli.terminal import bar, collected_problems, console, counted, escaped_cells, print_json
from batag.engines.choice import LARGE_BYTES, choose_engine
from batag.errors import InputError, UsageError
from batag.evaluation.operating_point import parse_richness
from batag.pages.file import check_targets
from batag.pages.formats import NEEDS_TOKENS, format_of_name, format_to_write
from batag.pages.formats.format import PACKED_INSIDE
from batag.pages.languages import check_language
from batag.pages.page import MODEL
from batag.pages.source import open_source
from batag.terms.terms import Terms

_LOG_SECONDS = 60


@dataclass(frozen=True)
class Shape:
    """The shape of the output: one file or a folder of parts, its format and compression. A pipe or a device cannot be the
    output of a job."""

    out: str
    format: str
    compression: str = ""
    one_file: bool = True
    is_job: bool = True


def shape_of(out: str, to: str | None) -> Shape:
    """The shape that the name of the output and --to ask for. A folder has a slash at its end, exists already, or has no
    suffix."""
    out = local(out)
    path = Path(out)
    if is_remote(out) and not out.endswith("/") and format_of_name(out):
        raise UsageError(
            "a single output file must be on this machine", where=out, todo="Name a folder, with a slash at its end"
        )
    folder = out.endswith("/") or is_remote(out) or path.is_dir() or (to is None and not path.suffix and not path.exists())
    wanted, _, packed = (to or "").partition(".")
    if packed not in COMPRESSIONS:
        raise UsageError(f"--to {to}: {packed!r} is not a compression", todo="There are gz and zst, as in jsonl.gz")
    if folder:
        format = format_to_write("folder", wanted or "parquet")
        if format in PACKED_INSIDE and packed:
            raise UsageError(f"{format} would be compressed twice", todo=f"The format is compressed already: use --to {format}")
        return Shape(out, format, packed, one_file=False)
    if packed and path.suffix != f".{packed}":
        raise UsageError(f"{out} does not end in the suffix of the compression", todo=f"Name it {out}.{packed}")
    # It is compressed as a whole, by its name, when the parts are joined.
    return Shape(out, format_to_write(out, wanted or None), is_job=path.is_file() or not path.exists())


def check_labels(wanted: Sequence[str], known: Sequence[str]) -> None:
    """Raise an error for a label that the bundle does not have, instead of giving an empty result."""
    if missing := [label for label in wanted if label not in known]:
        raise UsageError(f"the bundle has no label {missing[0]!r}", todo=f"It has {', '.join(known)}")


def of_shop(bundle: Path, reading: Reading, files: Sequence[str]) -> tuple[Reading, dict[str, str]]:
    """How files are read for a shop's bundle: by the columns of its export, if they have them, and in its encoding if none
    of them is UTF-8."""
    columns, encoding = export_reading(bundle)
    if encoding is None or reading.encoding is not None or not files or not all(map(_is_not_utf8, files)):
        return reading, columns
    console(error=True).print(f"{', '.join(files)}: not UTF-8, so read as {encoding}, as the shop's export", style="yellow")
    return replace(reading, encoding=encoding), columns


def _is_not_utf8(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    try:
        open_source(path).close()
    except InputError as error:
        return error.what.startswith("is not UTF-8")
    return False


def run(
    bundle: Path,
    pages: Sequence[str],
    shape: Shape,
    chosen: Options,
    *,
    reading: Reading,
    engine: str,
    device: str,
    workers: int,
    cluster: str | None,
    restart: bool,
    stop_words: Path | None,
    terms: Terms,
    as_json: bool,
) -> None:
    """Run a job and print its summary."""
    from batag.bundles.bundle import find_bundle, read_description
    from batag.pages.stopwords import read_words

    description = read_description(find_bundle(bundle))
    check_labels(chosen.labels, description.scheme.classes)
    if parse_richness(chosen.richness) is not None and not description.dial:
        todo = "Leave richness out, or train again: without richness it gives the tags that are more probable than not"
        raise UsageError(f"this bundle has no operating points for richness {chosen.richness}", todo=todo)
    language = check_language(reading.language) if reading.language is not None else None
    paths = find_inputs(pages, format=reading.format, out=shape.out, one_file=shape.one_file)
    reading, columns = of_shop(bundle, reading, paths)
    usual = description.usual_columns | columns
    inputs = Inputs(paths=paths, usual_columns=usual, **reading.options | {"language": language})
    job = Job(
        bundle=bundle,
        engine=choose_engine(description, wanted=engine, device=device, large=_is_large(inputs)),
        inputs=inputs,
        out=shape.out,
        options=chosen,
        one_file=shape.one_file,
        workers=workers or (0 if cluster else len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1),
        cluster=cluster,
        device=device,
        restart=restart,
        strict=reading.strict,
        stop_words=() if stop_words is None else tuple(read_words(stop_words)),
        terms=terms,
    )
    check_targets([shape.out if shape.one_file else None, reading.problems], [*inputs.paths, find_bundle(bundle), stop_words])
    err = console(error=True)
    if not inputs.resumable:
        note = "standard input and pipes cannot be read again: this job cannot be resumed if it is interrupted"
        err.print(note, style="yellow")
    try:
        with collected_problems(strict=False, path=reading.problems) as found, job_bar(shape.out) as watch:
            totals = job.run(problems=found, watch=watch)
    except KeyboardInterrupt:
        err.print("stopped; finished parts are kept, run the same command again to resume", style="bold yellow")
        raise typer.Exit(130) from None
    if shape.format in NEEDS_TOKENS:
        note_lost_sources(shape.format, {MODEL: totals.tags.total()}, pages=totals.pages - totals.errors)
    note_by_file(totals.languages_by_file)
    if as_json:
        print_json(totals.to_dict() | {"engine": job.engine, "out": shape.out})
    else:
        err.print(summary(totals, shape.out))


def summary(totals: Totals, out: str) -> str:
    """The summary line at the end of a job."""
    tagged = max(totals.pages - totals.found, 0)
    seconds = max(totals.seconds, 1e-9)
    classes = ", ".join(f"{count:,} {name}" for name, count in totals.tags.most_common()) or "no tag"
    rate = f"{seconds:,.0f} s, {tagged / seconds:,.0f} pages per second"
    before = f", {totals.found:,} of them before" if totals.found else ""
    again = f", {100 * totals.seen_before / totals.pages:.1f} % seen before" if totals.seen_before else ""
    errors = f", {totals.errors:,} with an error" if totals.errors else ""
    cells = f"; {escaped_cells(totals.escaped)}" if totals.escaped else ""
    return f"{counted(totals.pages, 'page')} tagged in {out}{before} ({rate}{again}{errors}): {classes}{cells}"


def _is_large(inputs: Inputs) -> bool:
    """Whether the input is so large that tagging takes longer than loading torch; the size of a pipe is unknown."""
    sizes = [each["bytes"] for each in inputs.identities()]
    return not inputs.resumable or None in sizes or sum(sizes) > LARGE_BYTES


@contextmanager
def job_bar(out: str) -> Iterator[Callable[[Totals], None]]:
    """Show progress: pages and tokens per second, part, errors, time left; in a log one line per minute."""
    err = console(error=True)
    if not err.is_terminal:
        logged = time.monotonic()

        def log(totals: Totals) -> None:
            nonlocal logged
            if time.monotonic() - logged >= _LOG_SECONDS:
                logged = time.monotonic()
                left = f"; {100 * totals.fraction:.0f} % done" if totals.fraction else ""
                err.print(f"{_going(totals)}{left}")

        yield log
        return
    with bar(f"tagging to {out}", err, total=1.0) as show:
        yield lambda totals: show(totals.fraction, _going(totals))


def _going(totals: Totals) -> str:
    """The progress of a job in words."""
    pages = totals.pages + totals.going
    rate = (pages - totals.found) / max(totals.seconds, 1e-9)
    tokens = totals.tokens / max(totals.pages, 1) * rate
    errors = f", {counted(totals.errors, 'error')}" if totals.errors else ""
    return f"{counted(pages, 'page')}, part {totals.parts:,}, {rate:,.0f} pages and {tokens:,.0f} tokens per second{errors}"
