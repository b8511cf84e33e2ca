"""Which segmenter's borders are the borders of tags: labelled pages (a file in any format, tokens ignored) cut in several ways.

python benchmarks/borders.py chinese PAGES...      rjieba with and without words guessed from statistics
python benchmarks/borders.py japanese PAGES...     SudachiPy small (modes A, B, C) and fugashi with ipadic
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import accumulate

from batag.labels.alignment import align
from batag.pages.formats import read_pages
from batag.segmentation import build_segmenter
from batag.segmentation.segmentation import Segmentation

Cut = Callable[[str], list[int]]


def chinese() -> dict[str, Cut]:
    import rjieba

    from batag.segmentation.chinese import simplify

    return {
        "rjieba, words of the dictionary (ours)": lambda text: list(accumulate(map(len, rjieba.cut(simplify(text), False)))),
        "rjieba, with guessed words": lambda text: list(accumulate(map(len, rjieba.cut(simplify(text), True)))),
    }


def japanese() -> dict[str, Cut]:
    import fugashi
    import ipadic
    from sudachipy import Dictionary

    small = Dictionary(dict="small")
    mecab = fugashi.GenericTagger(ipadic.MECAB_ARGS)

    def sudachi(mode: str) -> Cut:
        tokenizer = small.tokenizer(mode=mode, fields=set())
        return lambda text: [morpheme.end() for morpheme in tokenizer.tokenize(text)]

    def fugashi_cut(text: str) -> list[int]:
        ends = list(accumulate(len(word.white_space) + len(word.surface) for word in mecab(text)))
        return ends if ends and ends[-1] == len(text) else [*ends, len(text)]

    modes = {f"SudachiPy small, mode {mode}{' (ours)' if mode == 'C' else ''}": sudachi(mode) for mode in "CBA"}
    return modes | {"fugashi with ipadic": fugashi_cut}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language", choices=("chinese", "japanese"))
    parser.add_argument("pages", nargs="+")
    arguments = parser.parse_args()
    pages = [page for path in arguments.pages for page in read_pages(path)]
    tags, characters = sum(len(page.tags) for page in pages), sum(page.characters for page in pages)
    print(f"{len(pages):,} pages, {tags:,} tags\n")
    print("| segmenter | tokens a page | tags that do not fit | tags lost | million characters/s |")
    print("|---|---|---|---|---|")
    for name, cut in {"chinese": chinese, "japanese": japanese}[arguments.language]().items():
        segmenter = build_segmenter(arguments.language)
        segmenter.cut = cut  # type: ignore[method-assign]
        segmentation = Segmentation(arguments.language)
        segmentation._segmenters[arguments.language] = segmenter
        tokens = misfits = lost = 0
        start = time.perf_counter()
        fields = [(page, segmentation(page)) for page in pages]
        seconds = time.perf_counter() - start
        for page, tokenized in fields:
            for field in tokenized:
                tokens += len(field.tokens)
                _, misaligned = align(page, field)
                misfits += len(misaligned)
                lost += sum(1 for item in misaligned if item.lost)
        shares = f"{misfits:,} ({misfits / tags:.1%}) | {lost:,} ({lost / tags:.1%})"
        print(f"| {name} | {tokens / len(pages):.1f} | {shares} | {characters / seconds / 1e6:.2f} |")


if __name__ == "__main__":
    main()
