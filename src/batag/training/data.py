"""The pages of a run: which files they come from, what is in them, and that they are still the same when it is resumed."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from batag.bundles.bundle import Bundle, read_bundle
from batag.encoders.shipped import SHIPPED
from batag.encoders.spelling import Speller
from batag.encoders.vocabulary import Vocabulary
from batag.errors import InputError
from batag.labels.scheme import Scheme
from batag.labels.weak import is_weak
from batag.pages.cleaning import parse_rules
from batag.pages.formats import read_pages
from batag.pages.page import Page
from batag.pages.problems import Problems
from batag.pages.splitting import assign_splits
from batag.segmentation.dictionary import Dictionary
from batag.segmentation.segmentation import Segmentation
from batag.training.examples import Example, LabelledWords, choose_scheme, label_counts, label_words, make_examples
from batag.training.recipe import Recipe
from batag.training.start import check_start

DATA, RECIPE, BUNDLE = "data.json", "recipe.toml", "bundle"
_PARTS = ("train", "dev", "dictionary", "start", "frozen")


@dataclass(frozen=True)
class OldPages:
    """A file of pages that were learnt from before, and how to read it."""

    path: Path
    reading: Mapping[str, Any]


@dataclass(frozen=True)
class DataFiles:
    """Files of training and dev pages and how to read them; without dev files a tenth of the training pages is held out.

    `replay` are old pages to mix in; `start` is the description of the bundle that training begins with, `frozen`
    the files of word vectors or of a backbone, `shipped` what there was in batag to know words by when the run began.
    """

    train: tuple[Path, ...]
    dev: tuple[Path, ...] = ()
    reading: Mapping[str, Any] | None = None
    dictionary: tuple[Path, ...] = ()
    replay: tuple[OldPages, ...] = ()
    start: tuple[Path, ...] = ()
    frozen: tuple[Path, ...] = ()
    shipped: tuple[str, ...] = SHIPPED

    def facts(self) -> dict[str, Any]:
        """As it stands in the run's `data.json`."""
        files: dict[str, Any] = {part: [_file(path) for path in getattr(self, part)] for part in _PARTS}
        files["replay"] = [_file(old.path) | {"reading": dict(old.reading)} for old in self.replay]
        return files | {"reading": dict(self.reading or {}), "shipped": list(self.shipped)}

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> DataFiles:
        """The same files again; one that has changed since is an error."""
        todo = "Put the old file back, or train anew with the new one"
        paths = {part: tuple(_unchanged(said, todo=todo) for said in facts.get(part, ())) for part in _PARTS}
        replay = tuple(OldPages(_unchanged(said, todo=todo), said["reading"]) for said in facts.get("replay", ()))
        return cls(**paths, replay=replay, reading=facts["reading"], shipped=tuple(facts.get("shipped", ("ja",))))

    def replaying(self, old: Sequence[Path] | None, start: Path) -> DataFiles:
        """With old pages to mix in: these, or else those that the run which made the bundle was trained on."""
        if old is not None:
            return replace(self, replay=tuple(OldPages(path, self.reading or {}) for path in old))
        folder = start.parent if start.name == BUNDLE else start
        if not (folder / RECIPE).is_file() or not (folder / DATA).is_file():
            return self
        todo = "Name old pages with --replay, or do without them: --set training.replay=0"
        try:
            facts = json.loads((folder / DATA).read_bytes())
            pages = [OldPages(_unchanged(said, todo=todo), facts["reading"]) for said in facts["train"]]
            pages += (OldPages(_unchanged(said, todo=todo), said["reading"]) for said in facts.get("replay", ()))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"is damaged ({error})", where=str(folder / DATA), todo=todo) from error
        return replace(self, replay=tuple(pages))

    def pages(self, part: str, problems: Problems) -> Iterator[Page]:
        """The pages of train or dev, one file after the other."""
        for path in getattr(self, part):
            yield from read_pages(path, **(self.reading or {}), problems=problems)

    def old_pages(self, problems: Problems) -> Iterator[Page]:
        """The pages to mix in."""
        for old in self.replay:
            yield from read_pages(old.path, **old.reading, problems=problems)


def _file(path: Path) -> dict[str, Any]:
    return {"file": str(path.resolve()), "sha256": digest(path)}


def _unchanged(said: Mapping[str, Any], *, todo: str) -> Path:
    path = Path(said["file"])
    if digest(path) != said["sha256"]:
        raise InputError("has changed since the run began", where=said["file"], todo=todo)
    return path


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            f"cannot be opened ({error.strerror})", where=str(path), todo="Check the name and the rights"
        ) from error


@dataclass
class Data:
    """Everything that training needs to know of the pages."""

    scheme: Scheme
    vocabulary: Vocabulary
    dictionary: Dictionary | None
    segmentation: Segmentation
    train: list[Example]
    dev: list[Example]
    facts: dict[str, Any]
    start: Bundle | None = None

    @cached_property
    def counts(self) -> list[int]:
        """N_1..N_C of the training tokens."""
        return label_counts(self.train, len(self.scheme.labels))


def read_data(files: DataFiles, recipe: Recipe, *, problems: Problems, watch: Any = iter) -> Data:
    """Read, segment and label all pages; `watch` wraps the pages of each part (a progress bar)."""
    start = read_bundle(files.start[0].parent) if files.start else None
    if start is not None:
        check_start(start, recipe)
    dictionary = Dictionary.read(files.dictionary[0]) if files.dictionary else start.dictionary if start else None
    segmentation = Segmentation(recipe.pages.segmentation, rules=parse_rules(recipe.pages.rules), dictionary=dictionary)
    where = ", ".join(map(str, files.train))
    if files.dev:
        new = _Counted(watch(files.pages("train", problems)))
        old = _Counted(_drawn(files.old_pages(problems), new, recipe))
        train, left_out = label_words(chain(new, old), segmentation), 0
        dev = label_words(map(_of_people, watch(files.pages("dev", problems))), segmentation)
    else:
        new = _Counted(watch(files.pages("train", problems)))
        pages, old = list(new), _Counted(_drawn(files.old_pages(problems), new, recipe))
        train, dev, left_out = _held_out(pages, list(old), segmentation)
    found = {"train": train, "dev": dev}
    known = start.scheme.classes if start is not None else ()
    scheme = choose_scheme(recipe.pages.scheme, found["train"], known=known, where=where)
    if not any(page.words for page in found["dev"].pages):
        held = "no labelled page in it" if files.dev else "there are too few pages by people to hold some out"
        if not files.dev and any(page.weak for page in train.pages):
            held += " (weak labels are nothing to be measured by)"
        raise InputError(
            f"no dev pages to choose the best epoch by: {held}",
            where=", ".join(map(str, files.dev)) or where,
            todo="Name a file with --dev",
        )
    size = {"window": recipe.training.window, "overlap": recipe.training.overlap}
    examples = {part: make_examples(words, scheme, **size) for part, words in found.items()}
    facts: dict[str, Any] = {part: found[part].facts() for part in ("train", "dev")} | {"held_out": not files.dev}
    unknown = sorted(set(found["dev"].class_tokens) - {"none", *scheme.classes})
    facts["dev"]["unknown_classes"] = unknown
    facts["train"] |= {"replayed": old.labelled, "left_out": left_out}
    facts["old_classes"] = list(known)
    if not any(label >= 0 for example in examples["dev"] for label in example.labels):
        todo = "Give dev pages with classes of the training pages"
        raise InputError("no token of dev can be scored", where=", ".join(map(str, files.dev)) or where, todo=todo)
    vocabulary = _words(examples["train"], recipe, start)
    return Data(scheme, vocabulary, dictionary, segmentation, examples["train"], examples["dev"], facts, start)


class _Counted:
    """Pages as they come, and how many of them were labelled."""

    def __init__(self, pages: Iterable[Page]) -> None:
        self._pages, self.labelled = pages, 0

    def __iter__(self) -> Iterator[Page]:
        for page in self._pages:
            self.labelled += page.labelled
            yield page


def _drawn(old: Iterable[Page], new: _Counted, recipe: Recipe) -> Iterator[Page]:
    """As many old pages for each new one as the recipe says, drawn by the seed; asked for when all new ones have come."""
    kept = [page for page in old if page.labelled] if recipe.training.replay else []
    random.Random(recipe.training.seed).shuffle(kept)
    yield from kept[: round(new.labelled * recipe.training.replay)]


def _of_people(page: Page) -> Page:
    """Weak labels are no truth to be measured by: such a page counts as not labelled."""
    return replace(page, tags=(), labelled=False) if is_weak(page) else page


def _held_out(new: Sequence[Page], old: Sequence[Page], segmentation: Segmentation) -> tuple[LabelledWords, LabelledWords, int]:
    """Train and dev; dev is a tenth of the new pages that people labelled. What else would fall to dev (weak or old pages,
    perhaps twins of dev pages) is left out."""
    labelled = [page for page in new if page.labelled]
    people = [not is_weak(page) for page in labelled] + [False] * len(old)
    splits = assign_splits([*labelled, *old], shares=(0.9, 0.1, 0), seed=0).splits
    pages = list(zip([*labelled, *old], splits, people, strict=True))
    train = label_words((page for page, split, _ in pages if split == "train"), segmentation)
    dev = label_words((page for page, split, own in pages if split == "dev" and own), segmentation)
    train.not_labelled = len(new) - len(labelled)
    return train, dev, sum(split == "dev" and not own for _, split, own in pages)


def _words(train: Sequence[Example], recipe: Recipe, start: Bundle | None) -> Vocabulary:
    """The words of the training pages; those of the start keep their numbers."""
    fold = Speller.fold if recipe.input.kind == "rich" else str
    found = Vocabulary.of((fold(word) for example in train for word in example.words), at_least=recipe.input.at_least)
    return found if start is None else Vocabulary(dict.fromkeys((*start.vocabulary.words, *found.words)))
