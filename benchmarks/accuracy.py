"""batag beside the tools that users would pick instead: the same tokens, splits and scores, several seeds.

Run `python benchmarks/accuracy.py FOLDER_OF_CORPORA taobao-words --seeds 3` (needs the extra `bench`). The best epoch and the
operating points are chosen on dev; test is scored once. Finished runs are kept in --out and not trained again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch

from batag.evaluation.operating_point import NAMES, choose_dial, class_numbers, label_offsets, log_probabilities
from batag.evaluation.tags import TagScores
from batag.evaluation.tokens import TokenScores
from batag.experiments.comparison import compare
from batag.labels.scheme import Scheme
from batag.pages.formats import read_pages
from batag.segmentation.segmentation import Segmentation
from batag.training.examples import Example, choose_scheme, label_words, make_examples

sys.path.insert(0, str(Path(__file__).parent))


@dataclass(frozen=True)
class Corpus:
    """Files by split, and how labels are read."""

    files: str
    scheme: str = "flat"


CORPORA = {
    "taobao-words": Corpus("taobao-zh/words.{}.tsv"),
    "wikipedia-words": Corpus("wikipedia-ja/words.{}.tsv"),
    "conll2003": Corpus("conll2003-en/{}.txt", "bio"),
    "taobao-chars": Corpus("taobao-zh/chars.{}.txt", "bio"),
}
SYSTEMS = ("batag", "bat-paper", "crf", "spacy", "bilstm-crf")
PEERS = {"crf": "crf", "spacy": "spacy_ner", "bilstm-crf": "bilstm_crf"}
PAPER = ("input.kind=word", "input.word_dropout=0", "input.dropout=0", "encoder.dropout=0", "training.average=0")
WITHOUT_PROBABILITIES = ("spacy",)


def read(corpus: Corpus, data: Path) -> tuple[Scheme, dict[str, list[Example]]]:
    found = {
        split: label_words(read_pages(data / corpus.files.format(split)), Segmentation()) for split in ("train", "dev", "test")
    }
    scheme = choose_scheme(corpus.scheme, found["train"], where="train")
    return scheme, {split: make_examples(pages, scheme, window=10**6, overlap=0) for split, pages in found.items()}


def batag_predict(name: str, corpus: Corpus, data: Path, seed: int, folder: Path) -> tuple[Any, float]:
    """Train through the ordinary run; a predictor of probabilities and the seconds that training took."""
    from batag.tagging.tagger import Tagger
    from batag.training.data import DataFiles
    from batag.training.recipe import read_recipe
    from batag.training.run import BUNDLE, RECIPE, Run

    settings = [f"training.seed={seed}", f"pages.scheme={corpus.scheme}", *(PAPER if name == "bat-paper" else ())]
    files = DataFiles(*((data / corpus.files.format(split),) for split in ("train", "dev")))
    began = time.monotonic()
    if not (folder / BUNDLE).exists():
        run = (
            Run.open(folder) if (folder / RECIPE).exists() else Run.create(folder, read_recipe(None, settings=settings), files)
        )
        run.prepare(device="cpu")
        for _ in run.train():
            pass
    tagger = Tagger.load(folder, device="cpu")
    return tagger.engine.probabilities, time.monotonic() - began


def run(job: tuple[str, str, int, Path, Path]) -> dict[str, Any]:
    """One system on one corpus with one seed."""
    system, name, seed, data, out = job
    path = out / f"{name}-{system}-{seed}.json"
    if path.exists():
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return kept
    torch.set_num_threads(1)
    corpus = CORPORA[name]
    scheme, examples = read(corpus, data)
    began = time.monotonic()
    if system in PEERS:
        predict = import_module(f"peers.{PEERS[system]}").fit(examples["train"], examples["dev"], scheme, seed=seed)
        seconds = time.monotonic() - began
    else:
        predict, seconds = batag_predict(system, corpus, data, seed, out / f"{name}-{system}-{seed}")
    dev = predict([each.words for each in examples["dev"]])
    began = time.monotonic()
    test = predict([each.words for each in examples["test"]])
    speed = sum(len(each.words) for each in examples["test"]) / (time.monotonic() - began)
    points = offsets(examples["dev"], dev, scheme) if system not in WITHOUT_PROBABILITIES else {}
    result = {"system": system, "corpus": name, "seed": seed, "seconds": round(seconds, 1), "tokens_a_second": round(speed)}
    result["points"] = {
        point: score(examples["test"], test, scheme, values) for point, values in ({"as it is": None} | points).items()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result), encoding="utf-8")
    print(
        system,
        name,
        seed,
        f"{seconds:.0f} s",
        {k: round(100 * v["macro_f1"], 1) for k, v in result["points"].items()},
        flush=True,
    )
    return result


def offsets(dev: Sequence[Example], found: Sequence[Any], scheme: Scheme) -> dict[str, Any]:
    """The operating points of a system that gives probabilities, chosen on dev in the same way for all."""
    known = [np.array(each.labels) >= 0 for each in dev]
    logits = np.concatenate([log_probabilities(np.asarray(values)[k]) for values, k in zip(found, known, strict=True)])
    labels = np.concatenate([np.array(each.labels, dtype=np.int64)[k] for each, k in zip(dev, known, strict=True)])
    pages = np.concatenate([np.full(int(k.sum()), number) for number, k in enumerate(known)])
    dial = choose_dial(logits, class_numbers(scheme)[labels], pages, scheme)
    return {name: label_offsets(scheme, dial.offsets(richness)) for name, richness in NAMES.items()}


def score(test: Sequence[Example], found: Sequence[Any], scheme: Scheme, offsets: Any) -> dict[str, Any]:
    """Token and tag level, and each page's confusions for the bootstrap."""
    total, tags, pages = TokenScores(scheme), TagScores(), []
    for example, values in zip(test, found, strict=True):
        logits = log_probabilities(np.asarray(values)) + (0.0 if offsets is None else offsets)
        labels = logits.argmax(1) if len(logits) else np.zeros(0, dtype=np.int64)
        own = TokenScores(scheme)
        own.add(example.labels, labels)
        total.confusion += own.confusion
        pages.append(own.confusion.flatten().tolist())
        gold, said = (scheme.decode([max(label, 0) for label in each]) for each in (example.labels, labels.tolist()))
        tags.add([(span[:2], span[2]) for span in gold], [(span[:2], span[2]) for span in said])
    micro = tags.report()["micro"]
    return total.summary() | {"tag_f1": micro["f1"], "tag_f2": micro["f2"], "pages": pages}


def best_of(results: Sequence[dict[str, Any]], point: str) -> list[dict[str, Any]]:
    """A system's scores at a point, or as it is if it has none."""
    return [each["points"].get(point, each["points"]["as it is"]) for each in results]


def table(name: str, results: Sequence[dict[str, Any]]) -> str:
    """Mean and spread of each system at its balanced and rich points, and batag's lead over each."""
    lines = [
        f"## {name}\n",
        "| system | seeds | macro F1 (balanced) | macro F2 (rich) | without none F1 | F2 | tag F1 | tag F2 (rich) "
        "| training s | tokens/s |",
        f"|{'---|' * 10}",
    ]
    by = {system: [each for each in results if each["system"] == system] for system in SYSTEMS}
    for system, own in by.items():
        if own:
            balanced, rich = best_of(own, "balanced"), best_of(own, "rich")
            cells = [
                *(_spread(balanced, "macro_f1"), _spread(rich, "macro_f2"), _spread(balanced, "macro_f1_without_none")),
                *(_spread(rich, "macro_f2_without_none"), _spread(balanced, "tag_f1"), _spread(rich, "tag_f2")),
                *(f"{statistics.median(each[key] for each in own):,.0f}" for key in ("seconds", "tokens_a_second")),
            ]
            lines.append(f"| {system} | {len(own)} | {' | '.join(cells)} |")
    lines.append("\nbatag minus the other, points with the middle 95 % of a paired bootstrap over test pages:\n")
    for system, own in by.items():
        if own and by["batag"] and system != "batag":
            f1, f2 = (_lead(by["batag"], own, point, beta) for point, beta in (("balanced", 1), ("rich", 2)))
            lines.append(f"- {system}: macro F1 {f1}; macro F2 {f2}")
    return "\n".join(lines) + "\n"


def _spread(rows: Sequence[dict[str, Any]], key: str) -> str:
    values = [100 * row[key] for row in rows]
    return f"{statistics.mean(values):.1f}" + (f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else "")


def _lead(one: Sequence[dict[str, Any]], other: Sequence[dict[str, Any]], point: str, beta: float) -> str:
    pages = [np.array([row["pages"] for row in best_of(own, point)]) for own in (one, other)]
    return str(compare(pages[0], pages[1], beta=beta))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("corpora", nargs="*", choices=[*CORPORA, []])
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("accuracy"))
    options = parser.parse_args()
    names = options.corpora or list(CORPORA)
    jobs = [
        (system, name, seed, options.data, options.out)
        for seed in range(options.seeds)
        for name in names
        for system in options.systems.split(",")
    ]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        results = list(pool.map(run, jobs))
    for name in names:
        print(table(name, [each for each in results if each["corpus"] == name]))


if __name__ == "__main__":
    main()
