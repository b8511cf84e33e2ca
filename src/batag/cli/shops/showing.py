"""What `batag start` prints: its choices and what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batag.cli.tables import percent
from batag.cli.terminal import Pace, bar, cell, counted, time_left

if TYPE_CHECKING:
    from batag.cli.console import SafeConsole
    from batag.start.columns import Columns
    from batag.start.folder import Shop
    from batag.start.learning.comparison import Comparison
    from batag.start.learning.unlisted import Check
    from batag.start.lists import Lists
    from batag.start.survey import Survey
    from batag.start.table import Table

_SHOWN = 10


def show_columns(table: Table, found: Columns, err: SafeConsole) -> None:
    """Print which column holds which field, why, and three examples."""
    from rich.table import Table as Grid

    kind = f" (an export of {found.export})" if found.export else ""
    err.print(f"{table.path}: {table.format}{kind}, {counted(len(table.names), 'column')}")
    grid = Grid("column", "field", "why", "examples")
    used = [each for each in found.columns if each.field]
    others = [each for each in found.columns if not each.field]
    for each in (*used, *others[: 2 * _SHOWN]):
        grid.add_row(cell(each.name), each.field or f"({each.holds})", each.why, cell(" | ".join(each.examples)))
    err.print(grid)
    if len(others) > 2 * _SHOWN:
        err.print(f"and {counted(len(others) - 2 * _SHOWN, 'column')} more that nothing is read from")
    if not found.is_named:
        note = f"no known column name: the first row ({_some(list(table.names))}) is taken for the names; add them if not"
        err.print(note, style="yellow")
    if found.column("brand") is None:
        note = "no brand column: brands come from lists and the base bundle alone (--columns brand=NAME names one)"
        err.print(note, style="yellow")
    err.print("another choice: --columns title=NAME,brand=NAME; brand=- for none")


def show_survey(survey: Survey, err: SafeConsole) -> None:
    """Print the counts of the export."""
    languages = ", ".join(f"{name} {number:,}" for name, number in survey.languages.most_common())
    counts = f"{counted(survey.pages, 'page')}, {counted(len(survey.brands), 'brand value')}, "
    counts += f"{counted(len(survey.categories), 'category value')}"
    rest = [f"{survey.without_text:,} rows without text (variants, empty rows)"] if survey.without_text else []
    rest += [f"{survey.unreadable:,} rows that cannot be read"] if survey.unreadable else []
    err.print(f"{'; '.join([counts, *rest])}; languages: {languages}")


def show_lists(lists: Lists, survey: Survey, shop: Shop, err: SafeConsole) -> None:
    """Print how many terms there are, how many stand in pages, and those that never do."""
    from rich.table import Table as Grid

    grid = Grid("terms", "from", "terms", "found", "most frequent (pages)")
    groups: dict[tuple[str, str], list[Any]] = {}
    for term in lists.terms:
        groups.setdefault((term.label, term.source), []).append(term)
    for (label, source), terms in groups.items():
        best = sorted(terms, key=lambda term: (-term.pages, term.text))[:3]
        shown = ", ".join(f"{term.text} {term.pages:,}" for term in best if term.pages)
        grid.add_row(cell(label), cell(source), f"{len(terms):,}", f"{sum(bool(t.pages) for t in terms):,}", cell(shown))
    if groups:
        err.print(grid)
    unsure = [term.text for term in lists.terms if not term.sure and term.pages]
    if unsure:
        err.print(f"brands that are ordinary words too, tagged mainly in rows whose brand column has them: {_some(unsure)}")
    if missing := [term.text for term in lists.not_found]:
        err.print(f"{counted(len(missing), 'term')} on none of {counted(survey.sampled, 'page')}: {_some(missing)}")
    for label in lists.by_people:
        waiting = (lists.waiting or {}).get(label, 0)
        more = f"; {counted(waiting, 'proposed term')} that it lacks in {label}.txt.proposed" if waiting else ""
        err.print(f"{shop.path('terms') / f'{label}.txt'} is used as you saved it{more}")


def show_refused(lines: Sequence[str], err: SafeConsole) -> None:
    """Print the rows of people that cannot be used, and what to do."""
    for line in lines[: 2 * _SHOWN]:
        err.print(line, style="bold yellow")
    if (more := len(lines) - 2 * _SHOWN) > 0:
        err.print(f"and {counted(more, 'row')} more of people that cannot be used (--json lists them)", style="bold yellow")


def show_labels(labels: Mapping[str, Any], err: SafeConsole) -> None:
    """Print the labels by source."""
    sources = ", ".join(f"{name} {number:,}" for name, number in labels["sources"].items()) or "none"
    people = f"; {counted(labels['people'], 'page')} labelled by people" if labels["people"] else ""
    err.print(f"labels on {counted(labels['pages'], 'page')} by source: {sources}{people}")


def show_check(check: Check | None, err: SafeConsole) -> None:
    """Print how brands fared that nobody listed."""
    if check is None:
        err.print("brands nobody listed: not measured (too few brands in pages that are not in batag's lexicon)")
        return
    figures = f"found {percent(check.found)} %, right {percent(check.right)} %"
    counts = f"{counted(check.brands, 'brand')} hidden, {counted(check.mentions, 'mention')}"
    err.print(f"brands nobody listed: {figures} ({counts}; measured by the brand column, not by people)")


def show_comparison(made: Comparison, err: SafeConsole) -> None:
    """Print whether learning helped."""
    kept = f"on {counted(made.pages, 'page')} that were not learnt from"
    found = f"{percent(made.found_before)} % before learning, {percent(made.found)} % after"
    err.print(f"{kept}: of the tags that the brand column and the lists give, the bundle finds without them {found}")
    err.print(f"tag F1 on made-up pages: {percent(made.made_up_before)} before learning, {percent(made.made_up)} after")
    if made.people:
        theirs = f"{percent(made.people_before)} before learning, {percent(made.people_now)} after"
        err.print(f"tag F1 on {counted(made.people, 'page')} that people labelled, not learnt from: {theirs}")


def show_choice(bundle: Path, *, learnt: bool, base: Path | str, why: str, err: SafeConsole) -> None:
    """Print in one line which bundle is used, and why."""
    what = "learnt from this shop's pages" if learnt else f"{base} with the shop's lists, without learning"
    err.print(f"bundle in use: {bundle.name}, {what}, because {why}", style="" if learnt else "yellow")


@contextmanager
def training_watch(doing: str, err: SafeConsole) -> Iterator[Callable[[Any, int, int, str], None]]:
    """A bar (or lines in a log) for a training whose number of epochs is told by its first one."""
    first: list[tuple[int, Pace]] = []
    with bar(doing, err, total=1.0) as show:

        def watch(done: Any, steps: int, epochs: int, measured: str) -> None:
            if not first:  # what was prepared before it says nothing of the steps
                first.append((done.step, Pace()))
            ((begin, pace),) = first
            share = done.step / (steps * epochs) if epochs else 0.0
            begun = begin / (steps * epochs) if epochs else 0.0
            left = f", {time_left(pace.seconds, (share - begun) / (1 - begun))}" if share > begun and begun < 1 else ""
            what = f"epoch {done.epoch}" + (f" of {epochs}" if epochs else "")
            if hasattr(done, "scores"):
                summary = done.scores.summary()
                err.print(f"{doing}: {what}, loss {done.loss:.4f}, tag F1 {percent(summary['tag_f1'])} on {measured}{left}")
            else:
                show(share or None, f"{what}, step {done.step:,}")
                if not err.is_terminal and pace.due():
                    err.print(f"{doing}: {what}, step {done.step:,}{left}")

        yield watch


def _some(texts: list[str]) -> str:
    more = f" and {len(texts) - _SHOWN:,} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more
