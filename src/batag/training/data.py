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
from batag.encoders.lexicon import Lexicon
from batag.encoders.vocabulary import Vocabulary
from batag.errors import InputError
from batag.labels.scheme import Scheme
from batag.labels.weak import WEAK
from batag.pages.cleaning import parse_rules
from batag.pages.formats import read_pages
from batag.pages.page import Page
from batag.pages.problems import Problems
from batag.pages.splitting import assign_splits
from batag.segmentation.dictionary import Dictionary
from batag.segmentation.segmentation import Segmentation
from batag.training.examples import Example, LabelledWords, choose_scheme, label_counts, label_words, make_examples
from batag.training.recipe import Recipe

DATA = "data.json"
_PARTS = ("train", "dev", "dictionary", "replay", "start", "frozen")


@dataclass(frozen=True)
class DataFiles:
    """Files of training and dev pages and how to read them; without dev files a tenth of the training pages is held out.

    `replay` are old pages to mix in; `start` is the description of the bundle that training begins with, `frozen`
    the files of word vectors or of a backbone.
    """

    train: tuple[Path, ...]
    dev: tuple[Path, ...] = ()
    reading: Mapping[str, Any] | None = None
    dictionary: tuple[Path, ...] = ()
    replay: tuple[Path, ...] = ()
    start: tuple[Path, ...] = ()
    frozen: tuple[Path, ...] = ()

    def facts(self) -> dict[str, Any]:
        """As it stands in the run's `data.json`."""
        files = {
            part: [{"file": str(path.resolve()), "sha256": digest(path)} for path in getattr(self, part)] for part in _PARTS
        }
        return files | {"reading": dict(self.reading or {})}

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> DataFiles:
        """The same files again; one that has changed since is an error."""
        paths = {part: tuple(Path(said["file"]) for said in facts.get(part, ())) for part in _PARTS}
        for said in chain.from_iterable(facts.get(part, ()) for part in _PARTS):
            if digest(Path(said["file"])) != said["sha256"]:
                todo = "Put the old file back, or train anew with the new one"
                raise InputError("has changed since the run began", where=said["file"], todo=todo)
        return cls(**paths, reading=facts["reading"])

    def replaying(self, old: Sequence[Path] | None, start: Path) -> DataFiles:
        """With old pages to mix in: these, or else those that the run which made the bundle was trained on."""
        if old is not None:
            return replace(self, replay=tuple(old))
        for folder in (start, start.parent):
            if (folder / DATA).is_file():
                before = DataFiles.of_facts(json.loads((folder / DATA).read_bytes()))
                return replace(self, replay=(*before.train, *before.replay))
        return self

    def pages(self, part: str, problems: Problems) -> Iterator[Page]:
        """The pages of train or dev, one file after the other."""
        for path in getattr(self, part):
            yield from read_pages(path, **(self.reading or {}), problems=problems)


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
    dictionary = Dictionary.read(files.dictionary[0]) if files.dictionary else None
    segmentation = Segmentation(recipe.pages.segmentation, rules=parse_rules(recipe.pages.rules), dictionary=dictionary)
    where = ", ".join(map(str, files.train))
    start = read_bundle(files.start[0].parent) if files.start else None
    pages = _mixed(watch(files.pages("train", problems)), files.pages("replay", problems), recipe)
    if files.dev:
        found = {
            "train": label_words(pages, segmentation),
            "dev": _of_people(watch(files.pages("dev", problems)), segmentation),
        }
    else:
        found = _held_out(list(pages), segmentation)
    known = start.scheme.classes if start is not None else ()
    scheme = choose_scheme(recipe.pages.scheme, found["train"], known=known, where=where)
    if not any(page.words for page in found["dev"].pages):
        held = "there are too few pages to hold some out" if not files.dev else "no labelled page in it"
        raise InputError(
            f"no dev pages to choose the best epoch by: {held}",
            where=", ".join(map(str, files.dev)) or where,
            todo="Name a file with --dev",
        )
    size = {"window": recipe.training.window, "overlap": recipe.training.overlap}
    train, dev = (make_examples(found[part], scheme, **size) for part in ("train", "dev"))
    facts: dict[str, Any] = {part: found[part].facts() for part in ("train", "dev")} | {"held_out": not files.dev}
    unknown = sorted(set(found["dev"].class_tokens) - {"none", *scheme.classes})
    facts["dev"]["unknown_classes"] = unknown
    return Data(scheme, _words(train, recipe, start), dictionary, segmentation, train, dev, facts, start)


def _mixed(new: Iterable[Page], old: Iterable[Page], recipe: Recipe) -> Iterator[Page]:
    """New pages, then as many old ones for each as the recipe says, drawn by the seed."""
    count = 0
    for page in new:
        count += page.labelled
        yield page
    kept = [page for page in old if page.labelled]
    random.Random(recipe.training.seed).shuffle(kept)
    yield from kept[: round(count * recipe.training.replay)]


def _of_people(pages: Iterable[Page], segmentation: Segmentation) -> LabelledWords:
    """Weak labels are no truth to be measured by: such pages count as not labelled."""
    return label_words(
        (replace(page, tags=(), labelled=False) if page.extra.get(WEAK) else page for page in pages), segmentation
    )


def _held_out(pages: list[Page], segmentation: Segmentation) -> dict[str, LabelledWords]:
    labelled = [page for page in pages if page.labelled]
    people = [page for page in labelled if not page.extra.get(WEAK)]
    splits = assign_splits(people, shares=(0.9, 0.1, 0), seed=0).splits
    dev = [page for page, split in zip(people, splits, strict=True) if split == "dev"]
    chosen = {id(page) for page in dev}
    train = [page for page in labelled if id(page) not in chosen]
    found = {"train": label_words(train, segmentation), "dev": label_words(dev, segmentation)}
    found["train"].not_labelled = len(pages) - len(labelled)
    return found


def _words(train: Sequence[Example], recipe: Recipe, start: Bundle | None) -> Vocabulary:
    """The words of the training pages; those of the start keep their numbers."""
    fold = Lexicon.fold if recipe.input.kind == "rich" else str
    found = Vocabulary.of((fold(word) for example in train for word in example.words), at_least=recipe.input.at_least)
    return found if start is None else Vocabulary(dict.fromkeys((*start.vocabulary.words, *found.words)))
