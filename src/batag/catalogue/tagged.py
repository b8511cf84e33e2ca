"""Tag one part: rows in, the bytes of the output and a report out."""

import gc
import hashlib
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from batag.catalogue.output import Output, encode
from batag.catalogue.part import Part
from batag.catalogue.rows import Rows, read_rows
from batag.evaluation.decoding import Prediction, Richness
from batag.pages.page import Page, Tag, without_surrogates
from batag.pages.problems import Problem
from batag.tagging.tagger import Known, Tagger, distinct
from batag.tagging.top import top

POOL = 2_048
_KEPT_TOKENS = 500_000
Progress = Callable[[int], None]


class Marking(Protocol):
    """Changes the tags of a page by what else is known of its row, such as its brand. It goes to other processes."""

    def digest(self) -> str:
        """A digest of all that its tags depend on."""

    def key(self, page: Page) -> Hashable:
        """What the tags of a page depend on besides its text."""

    def __call__(self, prediction: Prediction, tags: Sequence[Tag]) -> list[Tag]:
        """The tags of a predicted page, changed."""


@dataclass(frozen=True, kw_only=True)
class Options(Output):
    """Which tags to keep and how to write them; the same for all parts of a job."""

    richness: Richness = None
    labels: tuple[str, ...] = ()
    min_score: float = 0.0
    distinct: bool = False
    top: int = 0


@dataclass(frozen=True, kw_only=True)
class PartReport:
    """The record of a finished part: numbers of rows and errors, tags by label, all problems, hashes of input and output, pages
    that occurred in the part before (`seen_before`), pages that got the language of most pages of their file,
    and escaped cells."""

    number: int
    source: str
    first: int
    rows: int
    errors: int
    seen_before: int
    languages_by_file: dict[str, int]
    tokens: int
    tags: dict[str, int]
    problems: list[dict[str, str]]
    input: str
    sha256: str
    bytes: int
    seconds: float
    escaped: int = 0


def tag_part(
    tagger: Tagger,
    part: Part,
    options: Options,
    *,
    progress: Progress = lambda pages: None,
    marking: Marking | None = None,
) -> tuple[bytes, PartReport]:
    """Tag a part; returns its output and report. Batches and caches never cross parts, so the output is always the same."""
    began = time.monotonic()
    with _without_collection():
        return _tag_part(tagger, part, options, progress, marking, began)


def _tag_part(
    tagger: Tagger, part: Part, options: Options, progress: Progress, marking: Marking | None, began: float
) -> tuple[bytes, PartReport]:
    rows = read_rows(part, whole=marking is not None or options.format != "parquet" or not part.is_range)
    tags, tokens, seen_before, languages_by_file = _tags(tagger, rows, options, progress, marking)
    shown = options.labels or tagger.labels
    data, written = encode(rows, tags, options, labels=tagger.labels, shown=shown, segmentation=tagger.segmentation)
    problems = [problem for own in rows.problems for problem in own]
    for number, what in written.cut.items():
        page = rows.pages[number]
        problems.append(Problem("cut-cell", page.where if page else part.where, what, page.id if page else ""))
    failed = {number for number, page in enumerate(rows.pages) if page is None}
    return data, PartReport(
        number=part.number,
        source=without_surrogates(part.source),
        first=part.first,
        rows=part.rows,
        errors=len(failed | written.cut.keys()),
        seen_before=seen_before,
        languages_by_file=dict(languages_by_file),
        tokens=tokens,
        tags=dict(Counter(tag.label for each in tags for tag in each)),
        problems=[asdict(problem) for problem in problems],
        input=part.digest(),
        sha256=hashlib.sha256(data).hexdigest(),
        bytes=len(data),
        seconds=round(time.monotonic() - began, 3),
        escaped=written.escaped.total(),
    )


@contextmanager
def _without_collection() -> Iterator[None]:
    """Switch Python's cycle collector off; a part creates many small objects but no cycles, and looking for them took a fifth
    of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _tags(
    tagger: Tagger, rows: Rows, options: Options, progress: Progress, marking: Marking | None
) -> tuple[list[Sequence[Tag]], int, int, Counter[str]]:
    """Return the tags of each row, the number of tokens, the number of pages that occurred in the part before (with the same
    text, or the same words after cleaning), and the number of pages by language that have that of most pages of their file."""
    known: dict[tuple[Any, ...], int] = {}
    of_row: list[int] = []
    distinct_pages: list[Page] = []
    for page in rows.pages:
        if page is None:
            of_row.append(-1)
            continue
        more = None if marking is None else marking.key(page)
        key = (page.language, more, None if page.tokens is None else tuple(page.tokens.items()), *page.fields.items())
        number = known.setdefault(key, len(distinct_pages))
        if number == len(distinct_pages):
            distinct_pages.append(page)
        of_row.append(number)
    found: list[Sequence[Tag]] = []
    by_file: list[str | None] = []
    answers: Known = {}
    tokens = kept = again = 0
    for start in range(0, len(distinct_pages), POOL):
        predictions = tagger.predict_all(distinct_pages[start : start + POOL], known=answers)
        tagged = tagger.tags_of_all(predictions, options.richness)
        if marking is not None:
            marked = ((each.language, marking(each, tags)) for each, tags in zip(predictions, tagged, strict=True))
            tagged = tagger.terms.name_tags(marked)
        found += [choose(tags, options) for tags in tagged]
        by_file += [each.language if each.by_file else None for each in predictions]
        lengths = [sum(len(field.tokens) for field in prediction.fields) for prediction in predictions]
        tokens += sum(lengths)
        again += sum(prediction.again for prediction in predictions)
        kept += sum(length for length, prediction in zip(lengths, predictions, strict=True) if not prediction.again)
        if kept > _KEPT_TOKENS:
            answers.clear()
            kept = 0
        progress(len(predictions))
    if options.top:
        # How many pages of this part have a canonical form: what few have says more.
        counts = Counter(form for tags in found for form in {tag.canonical for tag in tags if tag.canonical is not None})
        found = [top(tags, options.top, counts=counts) for tags in found]
    good = sum(number >= 0 for number in of_row)
    progress(len(of_row) - len(distinct_pages))
    languages = Counter(language for number in of_row if number >= 0 and (language := by_file[number]) is not None)
    return [found[number] if number >= 0 else () for number in of_row], tokens, good - len(distinct_pages) + again, languages


def choose(tags: Sequence[Tag], options: Options) -> Sequence[Tag]:
    """Keep the tags that the options ask for."""
    if options.labels or options.min_score:
        kept = set(options.labels)
        tags = [tag for tag in tags if (not kept or tag.label in kept) and (tag.score or 0.0) >= options.min_score]
    return distinct(tags) if options.distinct else tags
