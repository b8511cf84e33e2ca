"""A cell of a table: one training, addressed by what it is made of, and its scores on test."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from batag.encoders import build_encoder
from batag.encoders.prediction import predict_labels
from batag.errors import InputError
from batag.evaluation.tokens import TokenScores
from batag.experiments.corpus import Corpus
from batag.experiments.sources import sources_digest
from batag.objectives import build_objective
from batag.pages.formats import read_pages
from batag.training.checkpoint import load_weights_file
from batag.training.data import DataFiles
from batag.training.examples import Example, label_words, make_examples
from batag.training.loop import other_weights
from batag.training.recipe import Recipe
from batag.training.run import BEST, LAST, RECIPE, Run

FORMAT = 1
_WITHOUT_EFFECT = ("checkpoint_steps", "threads")


@dataclass(frozen=True)
class Cell:
    """A recipe on a corpus."""

    recipe: Recipe
    corpus: Corpus

    @cached_property
    def what(self) -> str:
        """The hash of recipe and corpus."""
        recipe = self.recipe.model_dump()
        for key in _WITHOUT_EFFECT:
            del recipe["training"][key]
        said = {"format": FORMAT, "recipe": recipe, "corpus": self.corpus.facts}
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]

    @cached_property
    def sources(self) -> str:
        """The hash of the code that it runs: of the encoders and objectives only its own."""
        with torch.device("meta"):
            encoder = build_encoder(self.recipe.encoder.name, width=2, depth=1, heads=1, inner=2)
        objective = build_objective(self.recipe.objective.name, [1, 1])
        return sources_digest(["batag.training.run", type(encoder).__module__, type(objective).__module__])[:16]

    @property
    def key(self) -> str:
        """Its address: the same numbers come of the same key on the same machine."""
        return f"{self.what}-{self.sources}"


def run_cell(cell: Cell, folder: Path) -> dict[str, Any]:
    """Train (or go on with the training left in `folder`), score test, and say all that the tables need."""
    if (folder / RECIPE).exists():
        run = Run.open(folder)
    else:
        shutil.rmtree(folder, ignore_errors=True)
        run = Run.create(folder, cell.recipe, DataFiles((cell.corpus.train,), (cell.corpus.dev,), cell.corpus.reading))
    began = time.monotonic()
    facts = {
        "key": cell.key,
        "format": FORMAT,
        "corpus": {"name": cell.corpus.name} | cell.corpus.facts,
        "recipe": cell.recipe.model_dump(),
        "versions": {"batag": version("batag"), "torch": torch.__version__, "python": platform.python_version()},
        "date": datetime.now(UTC).date().isoformat(),
    }
    run.prepare(device="cpu")
    assert run.data is not None
    assert run.learner is not None
    try:
        for _ in run.train():
            pass
    except InputError as error:
        if "no weight was touched" not in str(error):
            raise
        return facts | {"failed": error.what, "epochs": _epochs(run), "seconds": round(time.monotonic() - began, 1)}
    test = _test_examples(run, cell.corpus)
    scores = {}
    for moment, weights, epoch in (
        ("end", run.learner.weights(), run.learner.epochs),
        ("best", *_best(folder / BEST)),
    ):
        with other_weights(run.learner.model, weights):
            scores[moment] = {"epoch": epoch} | _score(run, test)
    return facts | {
        "parameters": sum(parameter.numel() for parameter in run.learner.model.parameters()),
        "pages": {part: run.data.facts[part]["pages"] for part in ("train", "dev")} | {"test": len(test)},
        "classes": TokenScores(run.data.scheme).classes,
        "counts": run.data.counts,
        "seconds": round(time.monotonic() - began, 1),
        "epochs": _epochs(run),
        "test": scores,
    }


def forget_run(folder: Path) -> None:
    """Remove the training of a finished cell; its weights are the largest part of it."""
    for name in (LAST, BEST):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _best(path: Path) -> tuple[Any, int]:
    weights, facts = load_weights_file(path)
    return weights, int(facts["epoch"])


def _epochs(run: Run) -> list[dict[str, Any]]:
    kept = ("epoch", "step", "loss", "macro_f1", "macro_f2", "macro_f1_without_none", "macro_f2_without_none")
    return [
        {key: _short(line[key]) for key in kept}
        | {"seconds": line["seconds"], "true": line["true"], "predicted": line["predicted"]}
        for line in run.metrics.lines()
        if line["kind"] == "epoch"
    ]


def _short(value: float) -> float:
    return round(value, 6) if isinstance(value, float) else value


def _test_examples(run: Run, corpus: Corpus) -> dict[str, list[Example]]:
    """The examples of each test page; a long page has several."""
    assert run.data is not None
    found = label_words(read_pages(corpus.test, **corpus.reading), run.data.segmentation)
    chosen = run.recipe.training
    pages: dict[str, list[Example]] = {}
    for number, (_, words, of_fields) in enumerate(found.pages):
        found.pages[number] = (str(number), words, of_fields)  # ids of pages need not be unique
    for example in make_examples(found, run.data.scheme, window=chosen.window, overlap=chosen.overlap):
        pages.setdefault(example.page, []).append(example)
    return pages


def _score(run: Run, test: dict[str, list[Example]]) -> dict[str, Any]:
    """The four macros, amounts, and the confusions of each page (for resampling pages)."""
    assert run.data is not None
    assert run.learner is not None
    examples = [example for page in test.values() for example in page]
    predicted = iter(predict_labels(run.learner.model, [example.words for example in examples], run.device))
    total = TokenScores(run.data.scheme)
    pages: list[Sequence[int]] = []
    for page in test.values():
        own = TokenScores(run.data.scheme)
        for example in page:
            own.add(example.labels, next(predicted))
        total.confusion += own.confusion
        pages.append(own.confusion.flatten().tolist())
    report = total.report()
    amounts = {key: {name: row[key] for name, row in report["classes"].items()} for key in ("true", "predicted")}
    return total.summary() | amounts | {"confusion": report["confusion"], "pages": pages}
