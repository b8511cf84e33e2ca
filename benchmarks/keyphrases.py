"""Measures keywords on public sets of keyphrases, beside the libraries that take the language.

Run `python benchmarks/keyphrases.py FOLDER_OF_CORPORA`. Statistics are those of the texts of each set. F1 is averaged over
pages with a key; English phrases are compared by Porter stems, Chinese and Japanese ones by their characters. `--choose` first
chooses the weights of `auto` on half of the pages of each set (by a hash of the id); the figures are of the other half.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import snowballstemmer
from peers.keyword_libraries import libraries
from place import new_folder

from batag.keywords import build_extractor
from batag.keywords.candidate import candidates
from batag.keywords.document import Document, documents
from batag.keywords.signals import SIGNALS, signals
from batag.keywords.statistics import Statistics
from batag.pages.page import Page
from batag.segmentation.chinese import simplify
from batag.segmentation.segmentation import Segmentation

SETS = {"inspec-en": "en", "500n-en": "en", "csl-zh": "zh", "taiwan-zh-hant": "zh", "abeja-ja": "ja"}
METHODS = ("auto", "tfidf", "bm25", "yake", "textrank", "singlerank", "rake")
PUBLISHED = {"yake": (29.46, 33.01), "tfidf": (28.75, 34.94), "singlerank": (27.83, 34.18), "textrank": (27.07, 34.20)}
AT = (5, 10, 15)
RESAMPLES = 2_000
WEIGHTS = Path(__file__).parents[1] / "src/batag/keywords/auto.toml"
_porter = snowballstemmer.stemmer("porter")
_WORD = re.compile(r"[^\W_]+(?:[-'’&.][^\W_]+)*|\S")


@dataclass
class Example:
    """A page with its true keys, in the form in which they are compared."""

    id: str
    document: Document
    keys: set[str]

    @property
    def reported(self) -> bool:
        """Whether it is of the half that is reported; the other half chooses."""
        return int(hashlib.sha256(self.id.encode()).hexdigest(), 16) % 2 == 1


@cache
def stem(word: str) -> str:
    return str(_porter.stemWord(word))


def form(text: str, language: str) -> str:
    """The form in which phrases are compared."""
    if language == "en":
        return " ".join(stem(word) for word in _WORD.findall(text.lower()))
    plain = re.sub(r"\s+", "", text.lower())
    return simplify(plain) if language == "zh" else plain


def read(data: Path, name: str) -> list[Example]:
    """The pages of a set that have keys: Inspec's test split; of Taiwan's tags those that stand in the text."""
    language = SETS[name]
    with open(data / "keyphrases" / name / "pages.jsonl", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row.get("split", "test") == "test"]
    pages = [Page(r["id"], {key: r[key] for key in ("title", "description")}, language=r["language"]) for r in rows]
    examples = []
    for row, document in zip(rows, documents(pages, Segmentation()), strict=True):
        keys = {form(key, language) for key in row.get("keyphrases", row.get("tags"))}
        if "tags" in row:
            text = form(row["title"] + row["description"], language)
            keys = {key for key in keys if key in text}
        if keys:
            examples.append(Example(str(row["id"]), document, keys))
    return examples


def f1(keys: set[str], found: Sequence[str], top: int) -> float:
    kept = found[:top]
    return 200 * len(keys & set(kept)) / (len(keys) + len(kept)) if kept else 0.0


def scores(examples: Sequence[Example], rank: Callable[[Document], list[str]], language: str) -> tuple[np.ndarray, float]:
    """F1 of each page at 5, 10 and 15, and pages per second."""
    began = time.perf_counter()
    ranked = [rank(each.document) for each in examples]
    rate = len(examples) / (time.perf_counter() - began)
    unique = [list(dict.fromkeys(form(text, language) for text in own)) for own in ranked]
    return np.array([[f1(e.keys, own, top) for top in AT] for e, own in zip(examples, unique, strict=True)]), rate


def interval(difference: np.ndarray) -> tuple[float, float]:
    """The 95 % bootstrap interval of a mean over pages."""
    rng = np.random.default_rng(0)
    means = difference[rng.integers(0, len(difference), (RESAMPLES, len(difference)))].mean(1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def counted(examples: Sequence[Example]) -> Statistics:
    return Statistics().fit(each.document for each in examples)


def measure(data: Path, name: str) -> dict[str, Any]:
    """All methods and libraries on one set."""
    examples, language = read(data, name), SETS[name]
    statistics = counted(examples)
    ranks: dict[str, Callable[[Document], list[str]]] = {}
    for method in METHODS:
        own = build_extractor(method, statistics=statistics)
        ranks[method] = lambda document, own=own: [each.text for each in own.rank(document, top=25)]
    alone = build_extractor("auto")
    ranks["auto, no statistics"] = lambda document: [each.text for each in alone.rank(document, top=25)]
    ranks |= libraries(examples[0].document.language)
    half = np.array([each.reported for each in examples])
    rows: dict[str, Any] = {}
    values: dict[str, np.ndarray] = {}
    for label, rank in ranks.items():
        values[label], rate = scores(examples, rank, language)
        rows[label] = {"all": values[label].mean(0).tolist(), "half": values[label][half].mean(0).tolist(), "rate": rate}
        gap = (values["auto"] - values[label])[half]
        rows[label]["auto_minus"] = [[float(gap[:, at].mean()), *interval(gap[:, at])] for at in range(len(AT))]
        print(name, label, [round(each, 1) for each in rows[label]["half"]], f"{rate:.0f} pages a second", flush=True)
    return {"language": language, "pages": len(examples), "reported": int(half.sum()), "rows": rows}


def examples_of(chosen: Sequence[Example], language: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Signals and truth of the phrases of each page, with and without statistics."""
    for statistics in (counted(chosen), Statistics()):
        for each in chosen:
            found = candidates(each.document)
            texts = [form(each.document.text_of(*own.occurrences[0]), language) for own in found.values()]
            truth = np.array([text in each.keys for text in texts], dtype=float)
            if truth.any():
                yield np.array(list(signals(each.document, found, statistics).values())), truth


def choose(data: Path) -> None:
    """Fit the weights of each language on the half that is not reported; every set counts the same."""
    from sklearn.linear_model import LogisticRegression

    lines = ["# The weights of `auto`, chosen by `python benchmarks/keyphrases.py FOLDER --choose` on half of each public set."]
    for language in dict.fromkeys(SETS.values()):
        x, y, weight = [], [], []
        for name in (name for name, own in SETS.items() if own == language):
            pairs = list(examples_of([each for each in read(data, name) if not each.reported], language))
            size = sum(len(truth) for _, truth in pairs)
            for number, (rows, truth) in enumerate(pairs):
                x.append(rows)
                y.append(truth)
                weight.append(np.full(len(truth), (1.0 if 2 * number < len(pairs) else 0.5) * 20_000 / size))
        rows = np.concatenate(x)
        mean, deviation = rows.mean(0), rows.std(0) + 1e-9
        model = LogisticRegression(max_iter=500)
        model.fit((rows - mean) / deviation, np.concatenate(y), sample_weight=np.concatenate(weight))
        own = model.coef_[0] / deviation
        lines += ["", f"[{language}]", f"bias = {model.intercept_[0] - own @ mean:.2f}"]
        lines += [f"{name} = {value:.2f}" for name, value in zip(SIGNALS, own, strict=True)]
        print(language, "chosen on", len(rows), "phrases", flush=True)
    WEIGHTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def table(name: str, found: dict[str, Any]) -> list[str]:
    """The table of one set."""
    lines = [
        f"## {name} ({found['pages']:,} pages, {found['reported']:,} in the half that is reported)",
        "",
        "| | F1@5 | F1@10 | F1@15 | all pages: F1@5 / 10 / 15 | auto is better by (at 10) | 95 % interval | pages a second |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for label, row in found["rows"].items():
        half = " | ".join(f"{each:.1f}" for each in row["half"])
        whole = " / ".join(f"{each:.1f}" for each in row["all"])
        gap, low, high = row["auto_minus"][1]
        cells = f"{gap:+.1f} | {low:+.1f} to {high:+.1f}" if label != "auto" else " | "
        lines.append(f"| {label} | {half} | {whole} | {cells} | {row['rate']:,.0f} |")
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("sets", nargs="*", choices=[*SETS, []])
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--out", type=new_folder, default=str(Path(__file__).parent / "results"))
    options = parser.parse_args()
    if options.choose:
        choose(options.data)
    path = options.out / "keyphrases.json"
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    for name in options.sets or SETS:
        results[name] = measure(options.data, name)
        path.write_text(json.dumps(results, indent=1), encoding="utf-8")
    lines = ["# Keywords on public sets of keyphrases", "", "`python benchmarks/keyphrases.py FOLDER_OF_CORPORA`", ""]
    for name in (each for each in SETS if each in results):
        lines += table(name, results[name])
    (options.out / "keyphrases.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
