"""A run is the folder of one training. Its phases are types: a `Run` is prepared to a `PreparedRun`, and trained to a
`FinishedRun`."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import torch

from batag.encoders.device import choose_device
from batag.errors import BatagError, InputError, UsageError
from batag.features.term_lists import term_files
from batag.pages.formats import write_pages
from batag.pages.page import Page
from batag.pages.problems import Problems
from batag.training.base_bundle import load_base
from batag.training.checkpoint import disk_errors
from batag.training.data import DATA, RECIPE, Data, DataFiles, read_data
from batag.training.folder import LAST, check_new, check_whole, write_text
from batag.training.loop import EpochDone, Learner, StepDone, build_learner, repeatable
from batag.training.model import choose_pretrained, fresh_classifier, pretrained_files
from batag.training.prepared import PreparedRun
from batag.training.recipe import Recipe, read_recipe
from batag.training.window_crf import fit_window_crf

_MAY_CHANGE = {"training.epochs", "training.checkpoint_steps", "training.threads", "dial.clean", "dial.balanced", "dial.rich"}
Pages = Path | str | Iterable[Page] | Iterable[Path | str]
"""A file, several files, or the pages themselves."""
Progress = Callable[[StepDone | EpochDone], object]
"""Called after every training step and after every epoch."""


@dataclass(frozen=True)
class Run:
    """The folder of a training, its recipe and its files. It can be interrupted at any moment and resumed with the same result;
    a `new` run that cannot start leaves nothing behind."""

    folder: Path
    recipe: Recipe
    files: DataFiles
    new: bool = False

    @classmethod
    def create(cls, folder: Path, recipe: Recipe, files: DataFiles) -> Run:
        """Create a run in a new (or empty) folder."""
        check_new(folder)
        if not files.train:
            raise UsageError("no pages to train on", todo="Name a file of labelled pages")
        if recipe.pages.dictionary:
            files = replace(files, dictionary=(Path(recipe.pages.dictionary),))
        files = replace(files, pretrained=pretrained_files(recipe), terms=term_files(recipe.input.terms))
        saved = files.to_dict()
        run = cls(folder, recipe, files, new=True)
        try:
            with disk_errors(
                folder, what="the run cannot be started", todo="Free disk space, or name another folder with --out"
            ):
                folder.mkdir(parents=True, exist_ok=True)
                write_text(folder / DATA, json.dumps(saved, indent=2))  # in ASCII: names of files need not be text
                write_text(folder / RECIPE, recipe.text())  # last: with it the folder is that of a run
        except InputError:
            run.abandon()
            raise
        return run

    @classmethod
    def open(cls, folder: Path, *, settings: Sequence[str] | None = None) -> Run:
        """Open an existing run; of its recipe only the number of epochs and the dial may be changed."""
        if not (folder / RECIPE).is_file() or not (folder / DATA).is_file():
            raise InputError("is not the folder of a run", where=str(folder), todo="Name the folder that training wrote")
        for setting in settings or []:
            if setting.partition("=")[0].strip() not in _MAY_CHANGE:
                todo = f"With --resume only {', '.join(sorted(_MAY_CHANGE))} may change"
                raise UsageError(f"--set {setting} cannot be changed with --resume", todo=todo)
        recipe = read_recipe(folder / RECIPE, settings=settings or [])
        try:
            files = DataFiles.of_dict(json.loads((folder / DATA).read_bytes()))
        except BatagError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(f"is damaged ({error})", where=str(folder / DATA), todo="Train anew") from error
        check_whole(folder)
        return cls(folder, recipe, files)

    def prepare(
        self, *, device: str = "auto", problems: Problems | None = None, watch: Any = iter, fitting: Any = iter
    ) -> PreparedRun:
        """Read the pages, build the model, and restore the last checkpoint."""
        resumed = (self.folder / LAST).exists()
        try:
            # Errors about the device come before the pages are read, which takes long.
            chosen = choose_device(device)
            data = read_data(self.files, self.recipe, problems=Problems() if problems is None else problems, watch=watch)
            learner = self._learner(data, chosen)
            seconds = (0.0, 0.0) if resumed else self._fit(learner, data, watch=fitting)
        except BaseException:
            self.abandon()
            raise
        prepared = PreparedRun(self.folder, self.recipe, data=data, learner=learner, device=chosen, fitting=seconds)
        if resumed:
            prepared.go_on()
        return prepared

    def _learner(self, data: Data, device: torch.device) -> Learner:
        """A learner at step 0."""
        pretrained = choose_pretrained(self.recipe, self.files, data)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.recipe.training.seed)
            model = fresh_classifier(self.recipe, data.vocabulary, data.scheme, pretrained=pretrained, terms=data.terms)
            if data.base is not None:
                load_base(model, data.base, vocabulary=data.vocabulary, scheme=data.scheme)
        learner = build_learner(model, average=self.recipe.training.average, device=device)
        learner.fresh = data.base is None
        return learner

    def _fit(self, learner: Learner, data: Data, *, watch: Any) -> tuple[float, float]:
        """Fit the window CRF, if there is one; returns the seconds and the processor time that it took."""
        began = time.monotonic(), time.process_time()
        with repeatable(self.recipe.training.threads, strict=next(learner.model.parameters()).device.type == "cpu"):
            fit_window_crf(learner.model, data.train, term_dropout=self.recipe.input.term_dropout, watch=watch)
        return time.monotonic() - began[0], time.process_time() - began[1]

    def abandon(self) -> None:
        """Remove a run that has not been trained yet."""
        if self.new:
            with suppress(OSError):
                for name in (RECIPE, DATA):
                    (self.folder / name).unlink(missing_ok=True)
                self.folder.rmdir()


def nested(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Convert `{"encoder.depth": 6}` or `{"encoder": {"depth": 6}}` to tables of a recipe."""
    if not isinstance(settings, Mapping):
        todo = 'Give a dict, as in settings={"training.epochs": 5}'
        raise UsageError(f"settings cannot be of the type {type(settings).__name__}", todo=todo)
    found: dict[str, Any] = {}
    for name, value in settings.items():
        *tables, key = str(name).split(".")
        table = found
        for part in tables:
            table = table.setdefault(part, {})
        if isinstance(value, Mapping) and isinstance(table.get(key), dict):
            table[key] |= nested(value)
        else:
            table[key] = nested(value) if isinstance(value, Mapping) else value
    return found


def files_of(given: Pages, out: Path, part: str) -> tuple[Path, ...]:
    """The named files; pages in memory are written to `OUT.pages`, so that the run can be resumed."""
    if isinstance(given, (str, Path)):
        return (Path(given),)
    if isinstance(given, (Page, Mapping, bytes)) or not isinstance(given, Iterable):
        raise _not_pages(given, part)
    rest = iter(given)
    first = next(rest, None)
    if isinstance(first, (str, Path)):
        return tuple(_path(each, part) for each in (first, *rest))
    if first is None:
        raise InputError(f"no {part} pages", todo="Name a file of labelled pages, or give pages")
    path = _pages_folder(out) / f"{part}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_pages((_page(each, part) for each in chain([first], rest)), path)
    return (path,)


@contextmanager
def new_pages(out: Path) -> Iterator[None]:
    """Remove `OUT.pages` if it was made here and the run cannot start."""
    folder = _pages_folder(out)
    there = folder.exists()
    try:
        yield
    except BaseException:
        if not there:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _pages_folder(out: Path) -> Path:
    return out.with_name(f"{out.name}.pages")


def _path(given: object, part: str) -> Path:
    if not isinstance(given, (str, Path)):
        raise _not_pages(given, part)
    return Path(given)


def _page(given: object, part: str) -> Page:
    if not isinstance(given, Page):
        raise _not_pages(given, part)
    return given


def _not_pages(given: object, part: str) -> UsageError:
    todo = "Give the name of a file, a list of names, or pages of the class Page"
    return UsageError(f"{part} pages cannot be of the type {type(given).__name__}", todo=todo)
