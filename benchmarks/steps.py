"""One step at a time: how much each change of the recipe moves the scores on dev. Test is not looked at.

Run `python benchmarks/steps.py FOLDER_OF_CORPORA taobao-words "" encoder.depth=4 "head.chain=false training.average=0"`:
each argument after the corpus is a variant, its settings with spaces between ("" is the default). Operating points are chosen
on four fifths of dev and scored on the last, in turn. Finished trainings are kept in --runs.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent))

from accuracy import BETAS, CORPORA, score_tokens, train_batag
from place import new_folder

from batag.evaluation.calibration import calibrate, expected_calibration_error
from batag.evaluation.decoding import Prediction
from batag.evaluation.fscore import macro_fbeta
from batag.evaluation.operating_point import NAMES
from batag.evaluation.sweep import Sweep
from batag.evaluation.tag_points import choose_tag_dial
from batag.pages.page import Page
from batag.tagging.tagger import Tagger

FOLDS = 5
Scores = dict[str, float]


def step(job: tuple[str, str, int, Path, Path]) -> Scores:
    """Train a variant; its cross-fitted scores and loss on dev, seconds of training, and tokens that it tags a second."""
    name, variant, seed, data, runs = job
    torch.set_num_threads(1)
    corpus, settings = CORPORA[name], variant.split()
    folder = runs / f"{name}-{hashlib.sha256(variant.encode()).hexdigest()[:12]}-{seed}"
    tagger, seconds = train_batag(corpus, [f"training.seed={seed}", *settings], data, folder)
    return scores_on_dev(tagger, corpus.pages(data)["dev"]) | {"seconds": seconds}


def scores_on_dev(tagger: Tagger, pages: Sequence[Page]) -> Scores:
    """Tags and tokens at points that were chosen on four fifths of the pages, scored on the last, in turn; the calibration
    error of tag scores; the mean -ln p of a token's label, which is less noisy than F scores."""
    began = time.monotonic()
    found = list(tagger.predict(page for page in pages if page.labelled))
    whole = Sweep(found, tagger.scheme, stop_words=tagger.decoding.stop_words)
    speed = len(whole.truth) / (time.monotonic() - began)
    counts = {key: np.zeros(3) for key in (*BETAS, "none")}
    confusions = {point: np.zeros((1 + len(tagger.scheme.classes),) * 2) for point in BETAS}
    for fold in range(FOLDS):
        parts: tuple[list[Prediction], list[Prediction]] = ([], [])
        for place, each in enumerate(found):
            parts[place % FOLDS == fold].append(each)
        learnt, held = (Sweep(part, tagger.scheme, stop_words=tagger.decoding.stop_words) for part in parts)
        dial, every = choose_tag_dial(learnt.tags, fewest=10), np.ones(len(parts[1]))
        for point in BETAS:
            counts[point] += held.tags.counts(dial.offsets(NAMES[point]), every)
        counts["none"] += held.tags.counts(np.zeros(len(tagger.scheme.classes)), every)
        of_tokens = score_tokens({"dev": parts[0], "test": parts[1]}, tagger.scheme)["pages"]
        for point, total in confusions.items():
            total += np.sum(of_tokens[point], axis=0).reshape(total.shape)

    def tag_score(kind: str, beta: float) -> float:
        right, predicted, true = counts[kind]
        return float(100 * (1 + beta**2) * right / (beta**2 * true + predicted))

    own = whole.truth >= 0
    shown = whole.shown(choose_tag_dial(whole.tags, fewest=10))
    _, _, calibrated = calibrate(whole.raw[shown], whole.tags.right_N[shown], whole.tags.pages_N[shown])
    return {
        "tag_f1": tag_score("balanced", 1),
        "tag_f2": tag_score("rich", 2),
        "tag_f1_without_offsets": tag_score("none", 1),
        "ece": 100 * expected_calibration_error(calibrated, whole.tags.right_N[shown]),
        "token_f1": 100 * macro_fbeta(confusions["balanced"], 1),
        "token_f2": 100 * macro_fbeta(confusions["rich"], 2),
        "loss": float(-np.log(np.maximum(whole.marginals[own, whole.truth[own]], 1e-9)).mean()),
        "speed": speed,
    }


TITLES = {
    "tag_f1": "tag F1 (balanced)",
    "tag_f2": "tag F2 (rich)",
    "tag_f1_without_offsets": "tag F1, no offsets",
    "ece": "ECE",
    "token_f1": "token macro F1",
    "token_f2": "token macro F2",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("corpus", choices=list(CORPORA))
    parser.add_argument("variants", nargs="+")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--runs", type=new_folder, default="step-runs")
    options = parser.parse_args()
    jobs = [
        (options.corpus, variant, seed, options.data, options.runs)
        for seed in range(options.seeds)
        for variant in options.variants
    ]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        found = dict(zip(jobs, pool.map(step, jobs), strict=True))
    print(f"| variant | {' | '.join(TITLES.values())} | loss | training s | tokens/s |")
    print(f"|{'---|' * (len(TITLES) + 4)}")
    for variant in options.variants:
        own = [scores for job, scores in found.items() if job[1] == variant]
        means = {key: [scores[key] for scores in own] for key in own[0]}
        cells = [f"{statistics.mean(means[key]):.1f} ({', '.join(f'{x:.1f}' for x in means[key])})" for key in TITLES]
        cells.append(f"{statistics.mean(means['loss']):.3f}")
        cells += [f"{statistics.median(means[key]):,.0f}" for key in ("seconds", "speed")]
        print(f"| {variant or 'default'} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
