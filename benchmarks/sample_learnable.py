"""How learnable the sample catalogue is: recall of tags that train never showed, by memory and by two CRFs, as a table.

Run `python benchmarks/sample_learnable.py --pages 2000`; a tag is found only if its borders are right too.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pycrfsuite

from batag.pages.page import Page
from batag.sample import LANGUAGES, sample_pages
from batag.segmentation.segmentation import Segmentation

Token = tuple[str, str]  # text, label
LABELS = ("none", "goods", "brand")


def fields_in_tokens(page: Page, segmentation: Segmentation) -> Iterator[list[Token]]:
    """Each field as cleaned words, each with the label of most of its characters."""
    for field in segmentation(page):
        labels = ["none"] * len(page[field.name])
        for tag in page.tags:
            if tag.field == field.name:
                labels[tag.start : tag.end] = [tag.label] * (tag.end - tag.start)
        parts = (labels[start:end] for start, end in field.origins)
        yield [(word, max(LABELS, key=part.count)) for word, part in zip(field.words, parts, strict=True)]


def shape(word: str) -> str:
    """Kinds of characters, runs shortened: NORDVIK -> X, 120cm -> dx, ルモラ -> k."""
    kinds = "".join(
        "d" if c.isdigit() else "X" if c.isupper() else "x" if c.islower() else "k" if "ァ" <= c <= "ー"
        else "h" if "ぁ" <= c <= "ん" else "c" if c.isalpha() else c
        for c in word
    )  # fmt: skip
    return re.sub(r"(.)\1+", r"\1", kinds)


def own(word: str) -> list[str]:
    """Features of a token by itself."""
    sizes = range(1, min(3, len(word)) + 1)
    affixes = [f"p{word[:size]}" for size in sizes] + [f"s{word[-size:]}" for size in sizes]
    return [f"w{word}", f"h{shape(word)}", f"n{min(len(word), 8)}", *affixes]


def features(words: Sequence[str], *, context: bool) -> list[list[str]]:
    """Features of every token of a field; with context also those of two neighbours on each side."""
    rows = [own(word) for word in words]
    if not context:
        return rows
    around = [[], [], *([f"w{word}", f"h{shape(word)}", f"s{word[-2:]}"] for word in words), [], []]
    padded = ["<", *words, ">"]
    return [
        row
        + [f"{place - 2}{item}" for place in (0, 1, 3, 4) for item in (around[at + place] or ["edge"])]
        + [f"before{padded[at]}|{row[1]}", f"after{row[1]}|{padded[at + 2]}", f"start{min(at, 3)}"]
        for at, row in enumerate(rows)
    ]


def crf(train: Sequence[list[Token]], *, context: bool) -> pycrfsuite.Tagger:
    """A trained CRF."""
    trainer = pycrfsuite.Trainer(verbose=False)
    for tokens in train:
        trainer.append(features([word for word, _ in tokens], context=context), [label for _, label in tokens])
    trainer.set_params({"c1": 0.1, "c2": 0.1, "max_iterations": 60, "feature.minfreq": 2})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
    return tagger


def runs(labels: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Stretches of one label other than none."""
    start = 0
    for at in range(1, len(labels) + 1):
        if at == len(labels) or labels[at] != labels[start]:
            if labels[start] != "none":
                yield start, at, labels[start]
            start = at


def key(text: str) -> str:
    """One form for every way to write a word."""
    return unicodedata.normalize("NFKC", text).casefold().replace(" ", "")


def recall(language: str, *, pages: int, seed: int) -> dict[str, dict[str, float]]:
    """Recall of unseen tags in dev by method and label, and precision of the CRF with context."""
    segmentation = Segmentation()
    known = {"goods": set[str](), "brand": set[str]()}
    train, dev = [], []
    votes: dict[str, dict[str, int]] = {}
    for page in sample_pages(language, pages=pages, seed=seed, style="paper"):
        for tag in page.tags:
            known[tag.label].add(key(tag.text))
        for tokens in fields_in_tokens(page, segmentation):
            train.append(tokens)
            for word, label in tokens:
                counts = votes.setdefault(key(word), dict.fromkeys(LABELS, 0))
                counts[label] += 1
    for page in sample_pages(language, pages=max(pages // 2, 200), split="dev", seed=seed, style="paper"):
        dev += fields_in_tokens(page, segmentation)
    memory = {word: max(counts, key=lambda label: counts[label]) for word, counts in votes.items()}

    def remember(words: Sequence[str]) -> list[str]:
        return [memory.get(key(word), "none") for word in words]

    def by(tagger: pycrfsuite.Tagger, context: bool) -> Callable[[Sequence[str]], list[str]]:
        return lambda words: list(tagger.tag(features(words, context=context)))

    methods = {
        "memory": remember,
        "CRF without context": by(crf(train, context=False), False),
        "CRF with context": by(crf(train, context=True), True),
    }
    results = {}
    for name, method in methods.items():
        found, asked, guessed = {"goods": 0, "brand": 0}, {"goods": 0, "brand": 0}, {"goods": [0, 0], "brand": [0, 0]}
        for tokens in dev:
            words, gold = [word for word, _ in tokens], [label for _, label in tokens]
            guess = method(words)
            true = set(runs(gold))
            predicted = set(runs(guess))
            for run in predicted:
                guessed[run[2]][run in true] += 1
            for run in true:
                if key("".join(words[run[0] : run[1]])) not in known[run[2]]:
                    asked[run[2]] += 1
                    found[run[2]] += run in predicted
        results[name] = {label: found[label] / max(asked[label], 1) for label in found}
        results[name] |= {f"{label} precision": guessed[label][1] / max(sum(guessed[label]), 1) for label in guessed}
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--language", action="append", choices=LANGUAGES)
    options = parser.parse_args()
    print("| language | method | unseen brands | unseen goods | brand precision | goods precision |")
    print("|---|---|---:|---:|---:|---:|")
    for language in options.language or LANGUAGES:
        for method, row in recall(language, pages=options.pages, seed=options.seed).items():
            columns = (row["brand"], row["goods"], row["brand precision"], row["goods precision"])
            print(f"| {language} | {method} | " + " | ".join(f"{100 * value:.1f} %" for value in columns) + " |", flush=True)


if __name__ == "__main__":
    main()
