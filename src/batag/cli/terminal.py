"""Output for people: progress and problems on standard error, tables or JSON on standard output."""

from __future__ import annotations

import io
import json
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from batag.errors import BatagError
from batag.settings import settings

if TYPE_CHECKING:
    from rich.text import Text

    from batag.cli.console import SafeConsole
    from batag.pages.formats import PageReader
    from batag.pages.page import Page
    from batag.pages.problems import Problems

_LOG_SECONDS = 30
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")
"""Characters that change the text direction, and unusual line breaks."""


def console(*, error: bool = False) -> SafeConsole:
    """A console; without a terminal (a pipe, a file) it is plain and 120 columns wide."""
    from batag.cli.console import SafeConsole

    watched = (sys.stderr if error else sys.stdout).isatty()
    return SafeConsole(stderr=error, width=None if watched else 120, soft_wrap=not watched)


def visible(text: str) -> str:
    """Text of a page with the characters replaced that control the terminal or the text direction; offsets stay the same."""
    if text.isprintable():
        return text
    return "".join("\ufffd" if _moves(each) else each for each in text)


def _moves(character: str) -> bool:
    return character in _TURNING or (unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t")


def one_line(text: str) -> str:
    """Text without line breaks."""
    return "\\n".join(visible(text).splitlines())


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 page`, `2,000 pages`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def cell(text: str) -> Text:
    """A table cell whose text is not interpreted as markup."""
    from rich.text import Text

    return Text(visible(text))


def escaped_cells(count: int) -> str:
    """A sentence about the number of escaped cells."""
    return (
        f"cells that got an apostrophe in front: {count:,} (the column `batag` lists them, and batag removes it when reading)"
    )


def print_json(data: Any) -> None:
    from batag.pages.page import without_surrogates

    # A file's name may hold bytes that are not text.
    typer.echo(without_surrogates(json.dumps(data, ensure_ascii=False, indent=2)))


@contextmanager
def collected_problems(*, strict: bool, path: Path | None) -> Iterator[Problems]:
    """Collect the problems of the input; print a summary at the end and, if `path` is given, write all of them to that file."""
    from batag.pages.file import open_output
    from batag.pages.problems import Problems

    problems = Problems(strict=strict)
    stopped: BaseException | None = None
    with nullcontext() if path is None else open_output(path) as stream:
        log = None if stream is None else io.TextIOWrapper(stream, "utf-8", write_through=True)
        problems.log = log
        try:
            yield problems
        except (BatagError, KeyboardInterrupt) as error:  # what was found until then is shown and written all the same
            stopped = error
        if log is not None:
            log.detach()
    show_problems(problems, path)
    if stopped is not None:
        raise stopped


def show_problems(problems: Problems, path: Path | None) -> None:
    """Print the first problems and how many there are of each kind."""
    if not len(problems):
        return
    err = console(error=True)
    for problem in problems.listed[: settings.shown_problems]:
        err.print(str(problem), style="yellow")
    effects = ", ".join(f"{number:,} {effect}" for effect, number in problems.effects().items())
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in problems.counts.most_common())
    rest = f"all in {path}" if path else "--problems FILE lists all" if len(problems) > settings.shown_problems else ""
    err.print(f"{counted(len(problems), 'problem')}: {effects} ({kinds}){'; ' + rest if rest else ''}", style="bold yellow")


def watched(reader: PageReader, *, doing: str = "reading") -> Iterator[Page]:
    """Yield the pages of an input, with a progress bar at a terminal."""
    yield from progress(reader, doing=f"{doing} {Path(reader.source.name).name}", fraction=reader.source.fraction_read)


def progress(
    items: Iterable[Any],
    *,
    doing: str,
    total: int | None = None,
    fraction: Any = None,
    unit: str = "pages",
    every: int = 500,
    announced: bool = False,
) -> Iterator[Any]:
    """Yield the items while showing count, rate and time left on standard error: a bar at a terminal, a line now and then in a
    log (with a first line if `announced`)."""
    err, pace = console(error=True), Pace()
    if not err.is_terminal:
        for count, item in enumerate(items, 1):
            if announced and count == 1:
                err.print(doing)
            yield item
            if pace.due():
                done = count / total if total else fraction() if fraction else None
                left = f", {time_left(pace.seconds, done)}" if done else ""
                err.print(f"{doing}: {count:,} {unit}, {count / pace.seconds:,.0f} per second{left}")
        return
    with bar(doing, err, total=total if total is not None else 1.0 if fraction else None) as show:
        for count, item in enumerate(items, 1):
            yield item
            if count % every == 0:
                done = float(count) if total is not None else fraction() if fraction else None
                show(done, f"{count:,} {unit}, {count / pace.seconds:,.0f} per second")


@contextmanager
def bar(doing: str, err: SafeConsole, *, total: float | None) -> Iterator[Callable[[float | None, str], None]]:
    """Show a progress bar with the time left, if this is a terminal; the yielded function sets how far it is and its text."""
    from rich import progress as bars

    columns = (
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.TextColumn("{task.fields[status]}", markup=False),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as display:
        task = display.add_task(one_line(doing), total=total, status="")
        yield lambda done, status: display.update(task, completed=done, status=status)


class Pace:
    """Decides when the next line of a log is due."""

    def __init__(self) -> None:
        self.began = self._last = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return max(time.monotonic() - self.began, 1e-9)

    def due(self) -> bool:
        """Whether a line is due now; if so, it counts as printed."""
        now = time.monotonic()
        if now - self._last < _LOG_SECONDS:
            return False
        self._last = now
        return True


def time_left(seconds: float, done: float) -> str:
    """Estimate the remaining time, when the fraction `done` (0 to 1) took `seconds`."""
    left = seconds * (1 - done) / done
    if left < 90:
        return f"about {left:.0f} s left"
    return f"about {left / 60:.0f} min left" if left < 5_400 else f"about {left / 3_600:.1f} h left"
