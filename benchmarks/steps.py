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

from accuracy import CORPORA, choose_points, read, score, train_batag
from place import new_folder

from batag.evaluation.decoding import Decoding
from batag.evaluation.fscore import macro_fbeta
from batag.features.batches import Floats
from batag.training.examples import Dev, Example

FOLDS = 5
Scores = dict[str, float]


def step(job: tuple[str, str, int, Path, Path]) -> Scores:
    """Train a variant; its cross-fitted scores and loss on dev, seconds of training, and tokens that it tags a second."""
    name, variant, seed, data, runs = job
    torch.set_num_threads(1)
    corpus, settings = CORPORA[name], variant.split()
    folder = runs / f"{name}-{hashlib.sha256(variant.encode()).hexdigest()[:12]}-{seed}"
    tagger, seconds = train_batag(corpus, [f"training.seed={seed}", *settings], data, folder)
    scheme, parts = read(corpus, data)
    dev, pages = parts["dev"].examples, parts["dev"].pages
    assert len(dev) == len(pages), "a page without words"
    began = time.monotonic()
    found = tagger.engine.probabilities([each.words for each in dev])
    speed = sum(len(each.words) for each in dev) / (time.monotonic() - began)
    sums = {point: np.zeros((len(scheme.classes) + 1) ** 2) for point in ("balanced", "rich")}
    for fold in range(FOLDS):
        inside, others = ([place for place in range(len(dev)) if (place % FOLDS == fold) == own] for own in (True, False))
        learnt, held = (Dev([pages[n] for n in part], [dev[n] for n in part]) for part in (others, inside))
        decoding = Decoding(scheme, dial=choose_points(learnt, [found[place] for place in others], scheme))
        for point, total in sums.items():
            own = score(held, [found[place] for place in inside], decoding, point)
            total += np.sum(own["pages"], axis=0)
    size = len(scheme.classes) + 1
    f1, f2 = (macro_fbeta(sums[point].reshape(size, size), beta) for point, beta in (("balanced", 1), ("rich", 2)))
    return {"f1": 100 * f1, "f2": 100 * f2, "loss": loss(dev, found), "seconds": seconds, "speed": speed}


def loss(dev: Sequence[Example], found: Sequence[Floats]) -> float:
    """Mean -ln p of a token's label: less noisy than F scores."""
    predicted = [
        values[place, label]
        for example, values in zip(dev, found, strict=True)
        for place, label in enumerate(example.labels)
        if label >= 0
    ]
    return float(-np.log(np.maximum(predicted, 1e-9)).mean())


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
    print("| variant | macro F1 (balanced) | macro F2 (rich) | loss | training s | tokens/s |")
    print("|---|---|---|---|---|---|")
    for variant in options.variants:
        own = [scores for job, scores in found.items() if job[1] == variant]
        means = {key: [scores[key] for scores in own] for key in own[0]}
        cells = [f"{statistics.mean(means[key]):.1f} ({', '.join(f'{x:.1f}' for x in means[key])})" for key in ("f1", "f2")]
        cells.append(f"{statistics.mean(means['loss']):.3f}")
        cells += [f"{statistics.median(means[key]):,.0f}" for key in ("seconds", "speed")]
        print(f"| {variant or 'default'} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
