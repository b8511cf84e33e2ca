"""A cell of a table: one training, identified by its recipe and corpus, and its test scores."""

import platform
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from batag.errors import InputError
from batag.evaluation.tokens import TokenScores
from batag.heads.prediction import predict_labels
from batag.pages.problems import Problems
from batag.paper.address import address
from batag.paper.corpus import PARTS, Corpus
from batag.segmentation.majority import read_with_language
from batag.training.checkpoint import load_weights_file
from batag.training.data import RECIPE, DataFiles
from batag.training.examples import Example, label_words, make_examples
from batag.training.folder import BEST
from batag.training.loop import DivergedError, other_weights, repeatable
from batag.training.prepared import PreparedRun
from batag.training.recipe import Recipe
from batag.training.run import Run

FORMAT = 1


@dataclass(frozen=True)
class Cell:
    """A recipe on a corpus."""

    recipe: Recipe
    corpus: Corpus

    @cached_property
    def key(self) -> str:
        """The address of its recipe and corpus."""
        return address(self.recipe.model_dump(), self.corpus.identity)


def run_cell(cell: Cell, folder: Path) -> dict[str, Any]:
    """Train a cell (or resume its training in `folder`), score the test pages, and return everything the tables need."""
    metadata = {
        "key": cell.key,
        "format": FORMAT,
        "commit": commit(),
        "corpus": {"name": cell.corpus.name} | cell.corpus.identity,
        "recipe": cell.recipe.model_dump(),
        "versions": {"batag": version("batag"), "torch": torch.__version__, "python": platform.python_version()},
        "date": datetime.now(UTC).date().isoformat(),
    }
    problems = Problems()
    run = _begun(cell, folder).prepare(device="cpu", problems=problems)
    test, test_statistics = _test_examples(run, cell.corpus, problems)
    try:
        run.finish()
    except DivergedError as error:
        return metadata | {"failed": error.what, "epochs": _epochs(run)}
    weights, best = load_weights_file(folder / BEST)
    scores = {}
    with repeatable(cell.recipe.training.threads, strict=True):
        for moment, chosen, epoch in (
            ("end", run.learner.weights(), run.learner.epochs),
            ("best", weights, int(best["epoch"])),
        ):
            with other_weights(run.learner.model, chosen):
                scores[moment] = {"epoch": epoch} | _score(run, test)
    epochs = _epochs(run)
    return metadata | {
        "parameters": sum(parameter.numel() for parameter in run.learner.model.parameters()),
        "pages": {part: run.data.statistics[part]["pages"] for part in ("train", "dev")} | {"test": len(test)},
        "left_out": {
            part: _left_out(found) for part, found in (run.data.statistics | {"test": test_statistics}).items() if part in PARTS
        },
        "problems": dict(problems.counts),
        "classes": TokenScores(run.data.scheme).classes,
        "counts": run.data.counts,
        "seconds": epochs[-1]["seconds"],
        "epochs": epochs,
        "test": scores,
    }


@cache
def commit() -> str | None:
    """The last commit of batag's sources, with `-dirty` if they have changed since; None outside a repository."""
    folder = str(resources.files("batag"))
    found = []
    for call in (("log", "-1", "--format=%h", "--abbrev=12"), ("status", "--porcelain")):
        try:
            done = subprocess.run(["git", "-C", folder, *call, "--", folder], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        found.append(done.stdout.strip())
    return f"{found[0]}{'-dirty' if found[1] else ''}" if found[0] else None


def _begun(cell: Cell, folder: Path) -> Run:
    """The interrupted training in a folder, or a new one."""
    if (folder / RECIPE).exists():
        with suppress(InputError):  # for example, files of pages that have moved
            return Run.open(folder)
    shutil.rmtree(folder, ignore_errors=True)
    return Run.create(folder, cell.recipe, DataFiles((cell.corpus.train,), (cell.corpus.dev,), cell.corpus.reading))


def _left_out(found: dict[str, Any]) -> dict[str, int]:
    return {key: found[key] for key in ("not_labelled", "tags_misaligned", "tags_lost") if found[key]}


def _epochs(run: PreparedRun) -> list[dict[str, Any]]:
    """The results of each epoch; `seconds` is the processor time of the training, including the time before it was resumed."""
    kept = ("epoch", "step", "loss", "macro_f1", "macro_f2", "macro_f1_without_none", "macro_f2_without_none")
    epochs: list[dict[str, Any]] = []
    before, last = 0.0, 0.0
    for line in run.metrics.lines():
        if line["kind"] == "epoch":
            if line["busy"] < last:  # resumed: the clock began anew
                before += last
            last = line["busy"]
            numbers = {key: round(line[key], 6) if isinstance(line[key], float) else line[key] for key in kept}
            epochs.append(numbers | {"seconds": round(before + last, 1), "true": line["true"], "predicted": line["predicted"]})
    return epochs


def _test_examples(run: PreparedRun, corpus: Corpus, problems: Problems) -> tuple[dict[str, list[Example]], dict[str, Any]]:
    """The examples of each test page (several for a long page), and their statistics."""
    found = label_words(read_with_language(corpus.test, **corpus.reading, problems=problems), run.data.segmentation)
    if not any(page.words for page in found.pages):
        raise InputError("no labelled page to score", where=str(corpus.test), todo="Name labelled pages with --test")
    chosen = run.recipe.training
    pages: dict[str, list[Example]] = {}
    for number, page in enumerate(found.pages):
        found.pages[number] = page._replace(id=str(number))  # ids of pages need not be unique
    for example in make_examples(found, run.data.scheme, window=chosen.window, overlap=chosen.overlap):
        pages.setdefault(example.page, []).append(example)
    return pages, found.statistics()


def _score(run: PreparedRun, test: dict[str, list[Example]]) -> dict[str, Any]:
    """The four macro scores, predicted counts, and the confusion matrix of each page (for the bootstrap)."""
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
