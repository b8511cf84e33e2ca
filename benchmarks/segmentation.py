"""Characters a second, one thread, side by side in one run: batag's whole line (read .jsonl.gz, clean, segment) and its
segmenters alone, jieba and spaCy's blank pipelines alone. Rounds are interleaved; the table gives the median and range."""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from place import new_file

from batag.pages.formats import read_pages, write_pages
from batag.pages.page import Page
from batag.sample import LANGUAGES, sample_pages
from batag.segmentation import build_segmenter
from batag.segmentation.segmentation import Segmentation

NAMES = {"zh-Hant": "chinese", "ja": "japanese", "en": "english"}


def peers(language: str) -> dict[str, Callable[[str], object]]:
    """What else people use, each as a function of one text; loaded and warmed up."""
    import spacy

    found: dict[str, Callable[[str], object]] = {}
    if language == "zh-Hant":
        import jieba

        jieba.setLogLevel(logging.ERROR)
        found["jieba.cut"] = lambda text: list(jieba.cut(text))
        found["jieba.tokenize (offsets)"] = lambda text: list(jieba.tokenize(text))
        found["spaCy blank zh (characters)"] = spacy.blank("zh")
        jieba_pipeline = spacy.blank("zh", config={"nlp": {"tokenizer": {"segmenter": "jieba"}}})
        found["spaCy blank zh (jieba)"] = jieba_pipeline
    else:
        found[f"spaCy blank {language}"] = spacy.blank(language)
    return found


def jieba_line(path: Path) -> Callable[[], None]:
    """Reading and cleaning as we do, jieba where our segmenter would be."""
    import jieba

    cleaner = Segmentation().cleaner

    def run() -> None:
        for page in read_pages(path):
            for text in page.fields.values():
                list(jieba.tokenize(cleaner(text).text))

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=new_file, help="also write the numbers to this JSON file")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    results: dict[str, dict[str, dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for language in LANGUAGES:
            pages = list(sample_pages(language, pages=arguments.pages, style="paper"))
            path = Path(folder, f"{language}.jsonl.gz")
            write_pages(pages, path)
            results[language] = measure(language, pages, path, arguments.rounds)
    print(f"Sample catalogue, {arguments.pages:,} pages a language, {arguments.rounds} interleaved rounds, one thread.\n")
    print("| language | what | million characters/s, median (range) | against the first row |\n|---|---|---|---|")
    for language, rows in results.items():
        first = next(iter(rows.values()))["median"]
        for name, row in rows.items():
            speeds = f"{row['median']:.2f} ({row['least']:.2f} to {row['most']:.2f})"
            print(f"| {language} | {name} | {speeds} | {row['median'] / first:.2f} |")
    if arguments.out:
        arguments.out.write_text(json.dumps(results, ensure_ascii=False, indent=2) + "\n")


def measure(language: str, pages: list[Page], path: Path, rounds: int) -> dict[str, dict[str, float]]:
    texts = [text for page in pages for text in page.fields.values()]
    characters = sum(map(len, texts))
    whole, alone = Segmentation(), build_segmenter(NAMES[language])

    def line() -> None:
        for _ in whole.many(read_pages(path)):
            pass

    def over_texts(function: Callable[[str], object]) -> Callable[[], None]:
        def run() -> None:
            for text in texts:
                function(text)

        return run

    runs: dict[str, Callable[[], None]] = {"batag, whole line": line}
    if language == "zh-Hant":
        runs["the same line with jieba.tokenize"] = jieba_line(path)
    runs["batag, segmenter alone"] = over_texts(alone.segment)
    runs |= {name: over_texts(function) for name, function in peers(language).items()}
    for run in runs.values():
        run()
    speeds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            speeds[name].append(characters / (time.perf_counter() - start) / 1e6)
    return {name: {"median": statistics.median(s), "least": min(s), "most": max(s)} for name, s in speeds.items()}


if __name__ == "__main__":
    main()
