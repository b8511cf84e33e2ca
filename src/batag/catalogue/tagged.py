"""A part tagged: rows in, bytes of a finished part out, and what there is to say about it."""

from __future__ import annotations

import gc
import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from batag.catalogue.output import encode
from batag.catalogue.part import Part
from batag.catalogue.rows import Rows, read_rows
from batag.evaluation.decoding import Richness
from batag.pages.page import Page, Tag, without_surrogates
from batag.tagging.tagger import Known, Tagger, distinct

POOL = 2_048
_KEPT_TOKENS = 500_000
Progress = Callable[[int], None]


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is asked of the tags; the same for all parts of a job."""

    format: str = "parquet"
    compression: str = ""
    richness: Richness = None
    labels: tuple[str, ...] = ()
    min_score: float = 0.0
    distinct: bool = False
    bom: bool = False
    excel_safe: bool = False


@dataclass(frozen=True, kw_only=True)
class PartFacts:
    """What a manifest says of a finished part: `failed` has the reason of each row without tags, `listed` what was
    repaired or is odd, the first of it, `escaped` how many cells were."""

    number: int
    source: str
    first: int
    rows: int
    errors: int
    seen_before: int
    tokens: int
    tags: dict[str, int]
    problems: dict[str, int]
    failed: list[str]
    listed: list[dict[str, str]]
    input: str
    sha256: str
    bytes: int
    seconds: float
    escaped: int = 0


def tag_part(
    tagger: Tagger, part: Part, options: Options, *, progress: Progress = lambda pages: None
) -> tuple[bytes, PartFacts]:
    """The bytes of the tagged part. Batches and caches do not reach over it: it comes out the same whenever it is made."""
    began = time.monotonic()
    with _without_collection():
        return _tag_part(tagger, part, options, progress, began)


def _tag_part(tagger: Tagger, part: Part, options: Options, progress: Progress, began: float) -> tuple[bytes, PartFacts]:
    rows = read_rows(part, whole=options.format != "parquet" or part.kind != "range")
    tags, tokens, seen_before, untold = _tags(tagger, rows, options, progress)
    if untold:
        rows.counts["untold-language"] += untold
    errors = [without_surrogates(page) if isinstance(page, str) else None for page in rows.pages]
    made = encode(
        rows,
        tags,
        errors,
        format=options.format,
        compression=options.compression,
        bom=options.bom,
        excel_safe=options.excel_safe,
        labels=tagger.labels,
        shown=options.labels or tagger.labels,
    )
    data = made.data
    failed = [reason for reason in made.errors if reason is not None]
    return data, PartFacts(
        number=part.number,
        source=without_surrogates(part.source),
        first=part.first,
        rows=part.rows,
        errors=len(failed),
        seen_before=seen_before,
        tokens=tokens,
        tags=dict(Counter(tag.label for each in tags for tag in each)),
        problems=dict(rows.counts),
        failed=failed,
        listed=[asdict(each) for each in rows.listed],
        input=part.digest(),
        sha256=hashlib.sha256(data).hexdigest(),
        bytes=len(data),
        seconds=round(time.monotonic() - began, 3),
        escaped=made.escaped,
    )


@contextmanager
def _without_collection() -> Iterator[None]:
    """A part makes very many small things and no cycles of them: looking for cycles cost a fifth of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _tags(tagger: Tagger, rows: Rows, options: Options, progress: Progress) -> tuple[list[Sequence[Tag]], int, int, int]:
    """The tags of each row, how many tokens were read, how many pages stood in the part before (letter by letter, or as the
    same words after cleaning), and how many have the language of most pages of their file."""
    known: dict[tuple[Any, ...], int] = {}
    of_row: list[int] = []
    distinct_pages: list[Page] = []
    for page in rows.pages:
        if isinstance(page, str):
            of_row.append(-1)
            continue
        key = (page.language, None if page.tokens is None else tuple(page.tokens.items()), *page.fields.items())
        number = known.setdefault(key, len(distinct_pages))
        if number == len(distinct_pages):
            distinct_pages.append(page)
        of_row.append(number)
    found: list[Sequence[Tag]] = []
    by_file: list[bool] = []
    answers: Known = {}
    tokens = kept = again = 0
    for start in range(0, len(distinct_pages), POOL):
        predictions = tagger.predict_all(distinct_pages[start : start + POOL], known=answers)
        found += [chosen(tags, options) for tags in tagger.tags_of_all(predictions, options.richness)]
        by_file += [prediction.by_file for prediction in predictions]
        lengths = [sum(len(field.tokens) for field in prediction.fields) for prediction in predictions]
        tokens += sum(lengths)
        again += sum(prediction.again for prediction in predictions)
        kept += sum(length for length, prediction in zip(lengths, predictions, strict=True) if not prediction.again)
        if kept > _KEPT_TOKENS:
            answers.clear()
            kept = 0
        progress(len(predictions))
    good = sum(number >= 0 for number in of_row)
    progress(len(of_row) - len(distinct_pages))
    untold = sum(by_file[number] for number in of_row if number >= 0)
    return [found[number] if number >= 0 else () for number in of_row], tokens, good - len(distinct_pages) + again, untold


def chosen(tags: Sequence[Tag], options: Options) -> Sequence[Tag]:
    if options.labels or options.min_score:
        kept = set(options.labels)
        tags = [tag for tag in tags if (not kept or tag.label in kept) and (tag.score or 0.0) >= options.min_score]
    return distinct(tags) if options.distinct else tags
