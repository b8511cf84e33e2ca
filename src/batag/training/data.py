"""The pages of a run: which files they come from, what is in them, and that they are still the same when it is resumed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from batag.encoders.lexicon import Lexicon
from batag.encoders.vocabulary import Vocabulary
from batag.errors import InputError
from batag.labels.scheme import Scheme
from batag.pages.cleaning import parse_rules
from batag.pages.formats import read_pages
from batag.pages.page import Page
from batag.pages.problems import Problems
from batag.pages.splitting import assign_splits
from batag.segmentation.dictionary import Dictionary
from batag.segmentation.segmentation import Segmentation
from batag.training.examples import Example, LabelledWords, choose_scheme, label_counts, label_words, make_examples
from batag.training.recipe import Recipe

_PARTS = ("train", "dev", "dictionary")


@dataclass(frozen=True)
class DataFiles:
    """Files of training and dev pages and how to read them; without dev files a tenth of the training pages is held out."""

    train: tuple[Path, ...]
    dev: tuple[Path, ...] = ()
    reading: Mapping[str, Any] | None = None
    dictionary: tuple[Path, ...] = ()

    def facts(self) -> dict[str, Any]:
        """As it stands in the run's `data.json`."""
        files = {
            part: [{"file": str(path.resolve()), "sha256": digest(path)} for path in getattr(self, part)] for part in _PARTS
        }
        return files | {"reading": dict(self.reading or {})}

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> DataFiles:
        """The same files again; one that has changed since is an error."""
        paths = {part: tuple(Path(said["file"]) for said in facts[part]) for part in _PARTS}
        for said in chain.from_iterable(facts[part] for part in _PARTS):
            if digest(Path(said["file"])) != said["sha256"]:
                todo = "Put the old file back, or train anew with the new one"
                raise InputError("has changed since the run began", where=said["file"], todo=todo)
        return cls(**paths, reading=facts["reading"])

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

    @cached_property
    def counts(self) -> list[int]:
        """N_1..N_C of the training tokens."""
        return label_counts(self.train, len(self.scheme.labels))


def read_data(files: DataFiles, recipe: Recipe, *, problems: Problems, watch: Any = iter) -> Data:
    """Read, segment and label all pages; `watch` wraps the pages of each part (a progress bar)."""
    dictionary = Dictionary.read(files.dictionary[0]) if files.dictionary else None
    segmentation = Segmentation(recipe.pages.segmentation, rules=parse_rules(recipe.pages.rules), dictionary=dictionary)
    where = ", ".join(map(str, files.train))
    if files.dev:
        found = {part: label_words(watch(files.pages(part, problems)), segmentation) for part in ("train", "dev")}
    else:
        found = _held_out(list(watch(files.pages("train", problems))), segmentation)
    scheme = choose_scheme(recipe.pages.scheme, found["train"], where=where)
    if not any(words for _, words, _ in found["dev"].pages):
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
    return Data(scheme, _words(train, recipe), dictionary, segmentation, train, dev, facts)


def _held_out(pages: list[Page], segmentation: Segmentation) -> dict[str, LabelledWords]:
    labelled = [page for page in pages if page.labelled]
    splits = assign_splits(labelled, shares=(0.9, 0.1, 0), seed=0).splits
    parts: dict[str, Sequence[Page]] = {
        part: [page for page, split in zip(labelled, splits, strict=True) if split == part] for part in ("train", "dev")
    }
    found = {part: label_words(chosen, segmentation) for part, chosen in parts.items()}
    found["train"].not_labelled = len(pages) - len(labelled)
    return found


def _words(train: Sequence[Example], recipe: Recipe) -> Vocabulary:
    fold = Lexicon.fold if recipe.input.kind == "rich" else str
    return Vocabulary.of((fold(word) for example in train for word in example.words), at_least=recipe.input.at_least)
