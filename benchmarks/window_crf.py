"""What the window CRF (`head.window_crf`) brings: the default recipe with it and without it, by corpus, size and seed.

Run `python benchmarks/window_crf.py FOLDER_OF_CORPORA --out benchmarks/results`. The encoder's weights after each epoch do
not depend on the window CRF, so one training gives both rows: each chooses its epoch and its operating points on dev by
itself, and is then scored on test. Finished trainings are kept in --runs.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parent))

from accuracy import CORPORA, WHOLE, read_pages_of, score_tags
from place import new_folder

from batag.evaluation.decoding import Decoding
from batag.evaluation.sweep import Sweep
from batag.evaluation.tag_points import choose_tag_dial
from batag.heads.torch_heads import MIXING_WEIGHT
from batag.pages.formats import write_pages
from batag.pages.stopwords import stop_words_by_language
from batag.segmentation.segmentation import Segmentation
from batag.training.checkpoint import load_weights_file
from batag.training.data import DataFiles
from batag.training.folder import BEST
from batag.training.loop import EpochDone, probabilities_with
from batag.training.loop import score as score_dev
from batag.training.metrics import Selection
from batag.training.recipe import read_recipe
from batag.training.run import Run
from batag.training.window_crf import choose_mixing_weight

NAMES = ("taobao-words", "wikipedia-words", "conll2003")
SIZES = (100, 500, 0)
POINTS = {"tag F1 (balanced)": ("balanced", "f1"), "tag F2 (rich)": ("rich", "f2")}


def run(name: str, size: int, seed: int, data: Path, runs: Path) -> None:
    """One training, scored with the window CRF and without it."""
    torch.set_num_threads(1)
    corpus = CORPORA[name]
    pages = corpus.pages(data)
    random.Random(seed).shuffle(pages["train"])
    pages["train"] = pages["train"][: size or None]
    stem = runs / f"{name}-{size or 'all'}-{seed}"
    files = {split: stem.with_name(f"{stem.name}-{split}.jsonl") for split in ("train", "dev")}
    for split, path in files.items():
        write_pages(pages[split], path)
    settings = [f"pages.scheme={corpus.scheme}", f"training.seed={seed}"]
    recipe = read_recipe(None, settings=settings)
    training = Run.create(stem, recipe, DataFiles((files["train"],), (files["dev"],))).prepare(device="cpu")
    model, data = training.learner.model, training.data
    alone, best = dict[str, torch.Tensor](), Selection(recipe.training.selection)
    for done in training.train():
        if isinstance(done, EpochDone):
            window_crf, model.window_crf = model.window_crf, None
            scores = score_dev(training.learner, data.judge.examples, data.scheme)
            if best.better(done.epoch, scores.summary()):
                alone = {name: value.clone() for name, value in training.learner.weights().items()}
            model.window_crf = window_crf
    scheme, parts = read_pages_of(pages, corpus.scheme)
    both = choose_mixing_weight(model, load_weights_file(stem / BEST)[0], parts["dev"].examples)
    found: dict[str, Any] = {"mixing_weight": both[MIXING_WEIGHT].item()}
    for row, weights in (("with", both), ("without", alone)):
        if row == "without":
            model.window_crf = None
        rows = {split: probabilities_with(model, weights, parts[split].examples) for split in ("dev", "test")}
        predicted = {
            split: list(parts[split].predictions(own, Segmentation(), **WHOLE, labels=len(scheme.labels)))
            for split, own in rows.items()
        }
        words = stop_words_by_language()
        dial = choose_tag_dial(Sweep(predicted["dev"], scheme, stop_words=words).tags, fewest=10)
        decoding = Decoding(scheme, dial=dial, stop_words=words)
        at = {point: score_tags(predicted["test"], decoding, point)["micro"] for point, _ in POINTS.values()}
        found[row] = {title: 100 * at[point][key] for title, (point, key) in POINTS.items()}
    part = stem.with_suffix(".part")
    part.write_text(json.dumps(found), encoding="utf-8")
    part.replace(stem.with_suffix(".json"))


def table(runs: Path, seeds: int) -> str:
    """Means over seeds, and the gain over all corpora that are there at each size."""
    lines = [
        "| corpus | pages | seeds | mixing weight | F1 with | F1 without | gain | F2 with | F2 without | gain |",
        f"|{'---|' * 10}",
    ]
    gains: dict[int, list[float]] = {}
    for size, name in product(SIZES, NAMES):
        paths = [runs / f"{name}-{size or 'all'}-{seed}.json" for seed in range(seeds)]
        found = [json.loads(path.read_text("utf-8")) for path in paths if path.exists()]
        if not found:
            continue
        cells = [name, str(size or "all"), str(len(found)), f"{statistics.mean(each['mixing_weight'] for each in found):.2f}"]
        for title in POINTS:
            one, other = (statistics.mean(each[row][title] for each in found) for row in ("with", "without"))
            cells += [f"{one:.1f}", f"{other:.1f}", f"{one - other:+.2f}"]
        gains.setdefault(size, []).append(one - other)
        lines.append(f"| {' | '.join(cells)} |")
    lines.append("")
    for size, own in gains.items():
        lines.append(f"- {size or 'all'} pages: tag F2 {statistics.mean(own):+.2f} (mean of {len(own)} corpora)")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--runs", type=new_folder, default="window-crf-runs")
    parser.add_argument("--out", type=new_folder)
    parser.add_argument("--show", action="store_true", help="train nothing, print what is there")
    options = parser.parse_args()
    work = [(name, size, seed) for size, seed, name in product(SIZES, range(options.seeds), NAMES)]
    missing = [each for each in work if not (options.runs / f"{each[0]}-{each[1] or 'all'}-{each[2]}.json").exists()]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for each in [] if options.show else [pool.submit(run, *job, options.data, options.runs) for job in missing]:
            each.result()
            print(table(options.runs, options.seeds), flush=True)
    text = table(options.runs, options.seeds)
    print(text)
    if options.out:
        where = f"{platform.machine()}, torch {torch.__version__}, {date.today()}"
        (options.out / "window-crf.md").write_text(f"{text}\n\n{where}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
