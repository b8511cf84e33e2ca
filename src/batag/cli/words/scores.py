"""`batag evaluate --keywords`: keywords, lists of terms and a bundle against labelled pages, in one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from batag.cli import options
from batag.cli.tables import percent
from batag.cli.terminal import cell, console, counted, print_json, watched
from batag.errors import InputError, UsageError
from batag.keywords import METHODS, extractor_class

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from batag.keywords.extractor import Keyword
    from batag.pages.page import Page
    from batag.pages.problems import Problems

    Ranking = Callable[[Iterable[Page]], Iterator[tuple[Page, list[Keyword]]]]


def evaluate_keywords(
    given: list[Path],
    *,
    methods: str,
    terms: list[str],
    gold: str | None,
    statistics: Path | None,
    backbone: Path | None,
    richness: str | None,
    reading: options.Reading,
    as_json: bool,
) -> None:
    """Score each method, and the bundle if the first name is a folder, on the same pages."""
    from batag.pages.file import check_targets, once_only

    bundle = given[0] if given and given[0].is_dir() else None
    files = given[1:] if bundle is not None else given
    names = [each.strip() for each in methods.split(",")]
    for name in names:
        extractor_class(name)
    if not files:
        raise UsageError("there are no pages to score on", todo=f"Write: batag evaluate --keywords {methods} PAGES")
    if (once := next(filter(once_only, files), None)) is not None:
        raise UsageError(f"--keywords reads the pages several times, and {once} can be read once", todo="Name a file")
    check_targets([reading.problems], files)
    rows: dict[str, dict[str, Any]] = {}
    with reading.collected() as problems:
        noted: Problems | None = problems
        rankings = _rankings(names, files, terms, bundle, statistics, backbone, richness, reading)
        for name, ranking in rankings:
            rows[name] = _scored(ranking, files, name, gold=gold, reading=reading, problems=noted)
            noted = None  # the problems of the input are told once
    if as_json:
        print_json({"files": [str(path) for path in files], "methods": rows, "problems": dict(problems.counts)})
        return
    _show(rows)


def _rankings(
    names: list[str],
    files: list[Path],
    terms: list[str],
    bundle: Path | None,
    statistics: Path | None,
    backbone: Path | None,
    richness: str | None,
    reading: options.Reading,
) -> Iterator[tuple[str, Ranking]]:
    from batag.cli.words.keywords import extractor_of
    from batag.evaluation.keywords import AT
    from batag.segmentation.segmentation import Segmentation

    cutter = Segmentation()
    for name in names:
        uses = extractor_class(name).uses_statistics
        extractor = extractor_of(
            name,
            list(map(str, files)),
            cutter,
            statistics=statistics if uses else None,
            backbone=backbone if name == "embedding" else None,
            reading=reading,
        )
        yield name, lambda pages, own=extractor: own.extract_many(pages, top=max(AT))  # type: ignore[misc]
    if terms:
        yield "lists", _by_lists(terms)
    if bundle is not None:
        yield str(bundle), _by_bundle(bundle, richness)


def _by_lists(terms: list[str]) -> Ranking:
    """Rank what term lists mark: in the order of the page."""
    from dataclasses import replace

    from batag.cli.words.weak import lists_of
    from batag.evaluation.keywords import ranked
    from batag.labels.weak import Marking

    marking = Marking(lists_of(terms))

    def rank(pages: Iterable[Page]) -> Iterator[tuple[Page, list[Keyword]]]:
        for page in pages:
            bare = replace(page, tags=(), labelled=False, reviewed=None)
            (marked,) = marking([bare])
            yield page, ranked(marked.tags)

    return rank


def _by_bundle(bundle: Path, richness: str | None) -> Ranking:
    """Rank a bundle's tags by score."""
    from batag.evaluation.keywords import ranked
    from batag.tagging.tagger import Tagger

    tagger = Tagger.load(bundle)
    tagger.decoding.least(richness)

    def rank(pages: Iterable[Page]) -> Iterator[tuple[Page, list[Keyword]]]:
        for prediction in tagger.predict(pages):
            yield prediction.page, ranked(tagger.tags_of(prediction, richness))

    return rank


def _scored(
    ranking: Ranking, files: list[Path], name: str, *, gold: str | None, reading: options.Reading, problems: Problems | None
) -> dict[str, Any]:
    from itertools import chain

    from batag.evaluation.keywords import KeywordScores
    from batag.labels.provenance import Measuring

    scores = KeywordScores()
    pages: Iterable[Page] = chain.from_iterable(watched(reading.pages(path, problems), doing=f"{name} on") for path in files)
    if gold is None:
        for page, found in ranking(Measuring(pages)):
            scores.add((tag.text for tag in page.tags), ((tag.field, tag.start, tag.end) for tag in page.tags), found)
    else:
        for page, found in ranking(pages):
            scores.add(_listed(page.extra, gold), (), found)
    if not scores.pages:
        what = "no page has a tag to score on" if gold is None else f"no page has a list of keywords in {gold!r}"
        raise InputError(what, where=", ".join(map(str, files)), todo="See docs/keywords.md")
    report = scores.report()
    return report if gold is None else {key: value for key, value in report.items() if key != "spans"}


def _listed(extra: Mapping[str, Any], name: str) -> list[str]:
    """The keywords of a column: a list, or texts with semicolons between them."""
    value = extra.get(name)
    if isinstance(value, str):
        value = value.split(";")
    return [str(each) for each in value] if isinstance(value, (list, tuple)) else []


def _show(rows: Mapping[str, Mapping[str, Any]]) -> None:
    from rich.table import Table

    out = console()
    tops = ("5", "10", "15")
    for kind, title in (("texts", "texts, mean over pages"), ("spans", "exact spans, all pages")):
        if not all(kind in row for row in rows.values()):
            continue
        table = Table(title, *(f"{score.upper()}@{top}" for score in ("f1", "f2") for top in tops))
        for name, row in rows.items():
            table.add_row(cell(name), *(percent(row[kind][top][score]) for score in ("f1", "f2") for top in tops))
        out.print(table)
    pages = max(row["pages"] for row in rows.values())
    out.print(f"labels ignored; {counted(pages, 'page')} with tags; methods: {', '.join(METHODS)}")
