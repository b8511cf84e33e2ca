"""What canonical forms and categories add to the time of tagging: the starter, with and without them, in one process.

python benchmarks/terms.py [--taxonomy ours.tsv] [--pages 400] [--rounds 7]

Each round tags new pages of the sample in four languages, once without names, once with canonical forms and, with a taxonomy,
once with categories too. The order alternates. `added` is the median over the rounds of the ratio of both CPU times; on a busy
machine it swings by far more than it measures. `inside` is the CPU time spent on names by the time of everything else in that
run, which swings little. The first round, which reads the lexicon, is not counted; how long reading takes is printed apart.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from batag.bundles.found import STARTER_FOLDER
from batag.pages.page import Page, Tag
from batag.sample import sample_pages
from batag.tagging.tagger import Tagger
from batag.terms.taxonomy import read_taxonomy
from batag.terms.terms import Terms

LANGUAGES = ("zh-Hant", "zh-Hans", "ja", "en")
WITHOUT, NAMES, CATEGORIES = "without", "canonical", "category"


class Timed(Terms):
    """Terms that know how much CPU time they took."""

    seconds = 0.0

    def name_tags(self, pages: Iterable[tuple[str | None, Sequence[Tag]]]) -> list[list[Tag]]:
        """The tags with names."""
        listed = [(language, list(tags)) for language, tags in pages]
        start = time.process_time()
        named = super().name_tags(listed)
        self.seconds += time.process_time() - start
        return named


class Nothing(Timed):
    """Terms that leave tags as they are."""

    def name_tags(self, pages: Iterable[tuple[str | None, Sequence[Tag]]]) -> list[list[Tag]]:
        """The tags without names."""
        return [list(tags) for _, tags in pages]


def main() -> None:
    """Tag in rounds, print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bundle", type=Path, default=STARTER_FOLDER, help="bundle to tag with (default: the starter)")
    parser.add_argument("--taxonomy", type=Path, help="file that batag terms import wrote")
    parser.add_argument("--pages", type=int, default=400, help="pages of a round")
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    taxonomy = {} if asked.taxonomy is None else {CATEGORIES: Timed(taxonomy=read_taxonomy(asked.taxonomy))}
    terms: dict[str, Timed] = {WITHOUT: Nothing(), NAMES: Timed(), **taxonomy}
    loading = reading_time(terms[CATEGORIES if taxonomy else NAMES])
    taggers = {name: Tagger.load(asked.bundle, threads=1, terms=each) for name, each in terms.items()}
    rounds = list(new_pages(asked.pages, asked.rounds + 1))
    ratios: dict[str, list[float]] = {name: [] for name in terms if name != WITHOUT}
    inside: dict[str, list[float]] = {name: [] for name in ratios}
    speed: list[float] = []
    for number, pages in enumerate(rounds):
        order = list(taggers)[:: -1 if number % 2 else 1]
        seconds: dict[str, float] = {}
        named: dict[str, float] = {}
        for name in order:
            before = terms[name].seconds
            seconds[name] = tagging_time(taggers[name], pages)
            named[name] = terms[name].seconds - before
        if number:
            speed.append(len(pages) / seconds[WITHOUT])
            for name, own in ratios.items():
                own.append(100 * (seconds[name] / seconds[WITHOUT] - 1))
                inside[name].append(100 * named[name] / (seconds[name] - named[name]))
    for name, own in ratios.items():
        report = {"with": name, "pages": asked.pages, "rounds": asked.rounds}
        print(json.dumps(report | {"added_percent": spread(own), "inside_percent": spread(inside[name])}))
    print(json.dumps({"pages_a_cpu_second_without": round(statistics.median(speed)), "reading_cpu_seconds": round(loading, 2)}))


def new_pages(number: int, rounds: int) -> Iterable[list[Page]]:
    """Pages of four languages for each round, none of them in two rounds."""
    each = number // len(LANGUAGES)
    drawn = [list(sample_pages(pages=each * rounds, language=language, seed=24)) for language in LANGUAGES]
    for start in range(0, each * rounds, each):
        yield [page for pages in drawn for page in pages[start : start + each]]


def spread(percents: list[float]) -> dict[str, float]:
    """The median and the quarters."""
    low, middle, high = statistics.quantiles(percents, n=4)
    return {"median": round(middle, 1), "low": round(low, 1), "high": round(high, 1)}


def tagging_time(tagger: Tagger, pages: list[Page]) -> float:
    """CPU seconds to tag pages."""
    start = time.process_time()
    for _ in tagger.tag_many(pages):
        pass
    return time.process_time() - start


def reading_time(terms: Terms) -> float:
    """CPU seconds until the first tag has its name."""
    start = time.process_time()
    terms.meaning("防水登山鞋", label="goods")
    return time.process_time() - start


if __name__ == "__main__":
    main()
