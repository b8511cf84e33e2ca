"""Problems of the input: counted and listed with file and line; they never end a job."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TextIO

from batag.errors import EmptyTableError, InputError
from batag.pages.page import without_surrogates
from batag.settings import settings

_LONGEST = 1_000
Note = Callable[[str, str], None]
"""A function that notes a problem (kind and reason) of the current page."""
SKIPPED_PAGE, SKIPPED_TAG, REPAIRED, NOTED = "page skipped", "tag skipped", "repaired", "noted"

KINDS = {
    "bad-json": (SKIPPED_PAGE, "the line is not JSON, or not a JSON object"),
    "bad-row": (SKIPPED_PAGE, "a row of a table has too many cells or a quote that does not close"),
    "bad-field": (SKIPPED_PAGE, "a field is of a type that cannot be read as text"),
    "bad-line": (SKIPPED_PAGE, "a line of a column file has no label; its page is skipped"),
    "empty-page": (SKIPPED_PAGE, "no field has any text"),
    "too-long": (SKIPPED_PAGE, "the record or the page is over the limit of the settings"),
    "truncated": (SKIPPED_PAGE, "the file ends in the middle of a record, or cannot be read further"),
    "bad-tag": (
        SKIPPED_TAG,
        "a tag lacks whole offsets, a label or a field; a page none of whose tags can be used counts as not labelled",
    ),
    "out-of-range": (SKIPPED_TAG, "a tag is empty or ends after the end of its field"),
    "text-mismatch": (SKIPPED_TAG, "the text of a tag is not the text at its offsets"),
    "overlap": (SKIPPED_TAG, "two tags overlap; the longer one is kept, or the first if they are equally long"),
    "not-found": (SKIPPED_TAG, "a label given as plain text does not occur in the page"),
    "not-a-span": (SKIPPED_TAG, "an annotation that is not a labelled span of text"),
    "empty-table": (NOTED, "one of several files is an empty table, without the names of its columns; it has no pages"),
    "other-annotation": (NOTED, "the task has several annotations or predictions; the ground truth or the first is used"),
    "duplicate-id": (NOTED, "the id is already the id of an earlier page; both pages are kept"),
    "ids-not-remembered": (NOTED, "too many ids to find all duplicates"),
    "unknown-language": (NOTED, "an unknown language; the language is detected from the text"),
    "unknown-reviewed": (
        NOTED,
        "`reviewed` is neither true nor false; whether the page was reviewed follows from its tags",
    ),
    "unknown-source": (NOTED, "a tag has an unknown source; it counts as `model`"),
    "cut-cell": (NOTED, "a text or its tags are longer than a cell of Excel can hold; the rest is left out"),
    "no-value": (NOTED, "a cell of a workbook is a formula whose value was not saved; it is read as empty"),
    "unnamed-cells": (NOTED, "rows of a workbook are wider than its first row, which names the columns; noted once a file"),
    "bad-encoding": (REPAIRED, "bytes that are invalid in the file's encoding became U+FFFD"),
    "control-characters": (REPAIRED, "raw NUL or control characters inside a JSON string; kept, cleaning removes them"),
    "offset-units": (REPAIRED, "offsets were UTF-16 units; they were converted to code points"),
    "broken-sequence": (REPAIRED, "I- without its B-: read as the start of a tag"),
    "number-as-text": (REPAIRED, "a number where text was expected; its digits are the text"),
    "split-token": (
        REPAIRED,
        "given tokens that do not match the text: JSON is segmented instead, the tokens of a column file are joined",
    ),
}
"""Every kind of problem with its effect and meaning (docs/formats.md has the same list)."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem; `where` is file:line (or file, record n)."""

    kind: str
    where: str
    reason: str
    page: str = ""

    @property
    def effect(self) -> str:
        return KINDS[self.kind][0]

    def __post_init__(self) -> None:
        # A file's name may hold bytes that are not text, and all of this is written somewhere.
        for name in ("where", "reason", "page"):
            object.__setattr__(self, name, without_surrogates(getattr(self, name)))
        if len(self.reason) > _LONGEST:
            object.__setattr__(self, "reason", f"{self.reason[:_LONGEST]}...")

    def __str__(self) -> str:
        page = f" (page {self.page})" if self.page else ""
        return f"{self.where}{page}: {self.reason}; {self.effect}"


class Problems:
    """Collects problems: all are counted, the first are kept, and a log gets every one; with `strict` the first is an error."""

    def __init__(
        self, *, strict: bool = False, log: TextIO | None = None, on_problem: Callable[[Problem], object] | None = None
    ) -> None:
        self.strict = strict
        self.log = log
        self.on_problem = on_problem
        self.counts: Counter[str] = Counter()
        self.listed: list[Problem] = []
        self.ids: set[int] = set()
        """Hashes of the ids so far, over all inputs of a job."""

    def __len__(self) -> int:
        return self.counts.total()

    def add(self, kind: str, where: str, reason: str, *, page: str = "") -> None:
        """Note one problem."""
        self.report(Problem(kind, where, reason, page))

    def at(self, where: str, page: str = "") -> Note:
        """A function that notes problems of one page."""
        return lambda kind, reason: self.add(kind, where, reason, page=page)

    def report(self, problem: Problem) -> None:
        """Add a problem that was found elsewhere."""
        if self.strict:
            where = problem.where + (f" (page {problem.page})" if problem.page else "")
            todo, python = "Correct it, or read without --strict", "Correct it, or leave strict out"
            raise InputError(problem.reason, where=where, todo=todo, python=python)
        self.counts[problem.kind] += 1
        if len(self.listed) < settings.remembered_problems:
            self.listed.append(problem)
        if self.on_problem is not None:
            self.on_problem(problem)
        if self.log is not None:
            self.log.write(json.dumps(asdict(problem) | {"effect": problem.effect}, ensure_ascii=False) + "\n")

    @contextmanager
    def reading_one_of(self, files: Sized) -> Iterator[None]:
        """Among several files an empty table is a problem, and the others are read; alone it stays an error."""
        try:
            yield
        except EmptyTableError as error:
            if len(files) == 1:
                raise
            self.add("empty-table", error.where, error.what)

    def no_page(self, where: str) -> InputError:
        """The error for an input without pages; it mentions problems only if there are any."""
        todo = "See the problems above" if self.counts else "The file is empty: name one that has pages"
        return InputError("no page could be read", where=where, todo=todo)

    def effects(self) -> dict[str, int]:
        """How many pages and tags were skipped, and how many problems were repaired or noted."""
        totals: Counter[str] = Counter()
        for kind, number in self.counts.items():
            totals[KINDS[kind][0]] += number
        return dict(totals)


class Notes(Problems):
    """The problems of the current record until they are taken."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: list[Problem] = []

    def report(self, problem: Problem) -> None:
        self._waiting.append(problem)

    def take(self) -> tuple[Problem, ...]:
        """Return and clear the problems noted since the last call."""
        if not self._waiting:
            return ()
        taken, self._waiting = tuple(self._waiting), []
        return taken
