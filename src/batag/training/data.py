"""The pages of a run: their files and statistics, and a check that the files have not changed when the run is resumed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any

from batag.bundles.bundle import Bundle, find_bundle, read_bundle, read_description
from batag.bundles.description import DESCRIPTION
from batag.errors import BatagError, InputError
from batag.features.term_lists import TermLists, read_lists
from batag.features.vocabulary import Vocabulary
from batag.labels.provenance import Measuring, as_learnt, measured_by
from batag.labels.scheme import Scheme
from batag.pages.cleaning import parse_rules
from batag.pages.duplicates import twins_of
from batag.pages.file import digest
from batag.pages.page import Page
from batag.pages.problems import Problems
from batag.pages.splitting import assign_splits
from batag.segmentation.dictionary import Dictionary
from batag.segmentation.majority import read_with_language
from batag.segmentation.segmentation import Segmentation
from batag.settings import settings
from batag.training.base_bundle import check_base, grown_vocabulary
from batag.training.examples import (
    Dev,
    Example,
    LabelledWords,
    choose_scheme,
    label_counts,
    label_words,
    make_examples,
    repeated,
)
from batag.training.recipe import Recipe

DATA, RECIPE, BUNDLE = "data.json", "recipe.toml", "bundle"
_PARTS = ("train", "dev", "dictionary", "base", "pretrained", "terms")
_OLD = {"replay": "train", "old_dev": "dev"}
_FEWEST_OLD_DEV = 200
"""Minimum number of old dev pages, even if there are fewer new ones; choosing operating points needs them."""


@dataclass(frozen=True)
class OldPages:
    """A file of pages that the base bundle was trained on, and how to read it."""

    path: Path
    reading: Mapping[str, Any]


@dataclass(frozen=True)
class DataFiles:
    """The files of training and dev pages and how to read them; without dev files a tenth of the training pages is held out.

    `replay` are old pages to mix in, `old_dev` old pages to evaluate on besides dev; `base` is the description of the base
    bundle, `pretrained` the files of word vectors or of a backbone, `terms` the file of listed names.
    """

    train: tuple[Path, ...]
    dev: tuple[Path, ...] = ()
    reading: Mapping[str, Any] | None = None
    dictionary: tuple[Path, ...] = ()
    replay: tuple[OldPages, ...] = ()
    old_dev: tuple[OldPages, ...] = ()
    base: tuple[Path, ...] = ()
    pretrained: tuple[Path, ...] = ()
    terms: tuple[Path, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The files as they are recorded in the run's `data.json`."""
        files: dict[str, Any] = {part: [_file(path) for path in getattr(self, part)] for part in _PARTS}
        for part in _OLD:
            files[part] = [_file(old.path) | {"reading": dict(old.reading)} for old in getattr(self, part)]
        return files | {"reading": dict(self.reading or {})}

    @classmethod
    def of_dict(cls, saved: Mapping[str, Any]) -> DataFiles:
        """Restore the files from `data.json`; one that has changed is an error."""
        todo = "Put the old file back, or train again with the new one"
        paths = {part: tuple(_unchanged(entry, todo=todo) for entry in saved.get(part, ())) for part in _PARTS}
        replay, old_dev = (tuple(_old_pages(saved, part, todo=todo)) for part in _OLD)
        return cls(**paths, replay=replay, old_dev=old_dev, reading=saved["reading"])

    def going_on_from(self, bundle: Path, *, old: Sequence[Path] | None = None, replay: bool = True) -> DataFiles:
        """The files with a base bundle and old pages to mix in: the given ones, or those that the bundle was trained on."""
        folder = find_bundle(bundle)
        reading = {**(self.reading or {}), "usual_columns": read_description(folder).usual_columns}
        files = replace(self, base=(folder / DESCRIPTION,), reading=reading)
        if not replay:
            return files
        if old is not None:
            return replace(files, replay=tuple(OldPages(path, reading) for path in old))
        bundle = bundle.resolve()
        folder = bundle.parent if bundle.name == BUNDLE else bundle
        if not (folder / RECIPE).is_file() or not (folder / DATA).is_file():
            return files
        todo = "Name old pages with --replay, or do without them: --set training.replay=0"
        try:
            saved = json.loads((folder / DATA).read_bytes())
            of = partial(_old_pages, saved, todo=todo)
            learnt, measured = ((*of(own), *of(part)) for part, own in _OLD.items())
        except BatagError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(f"is damaged ({error})", where=str(folder / DATA), todo=todo) from error
        return replace(files, replay=learnt, old_dev=measured)

    def pages(self, part: str, problems: Problems) -> Iterator[Page]:
        """Yield the pages of train or dev, one file after the other."""
        for path in (files := getattr(self, part)):
            with problems.reading_one_of(files):
                yield from read_with_language(path, **(self.reading or {}), problems=problems)

    def old_pages(self, part: str, problems: Problems) -> Iterator[Page]:
        """Yield the old pages to mix in (`replay`) or to evaluate on (`old_dev`)."""
        for old in getattr(self, part):
            yield from read_with_language(old.path, **old.reading, problems=problems)


def _old_pages(saved: Mapping[str, Any], part: str, *, todo: str) -> Iterator[OldPages]:
    """Yield the files of pages in a run's `data.json`, with the options they were read with."""
    for entry in saved.get(part, ()):
        yield OldPages(_unchanged(entry, todo=todo), entry["reading"] if part in _OLD else saved["reading"])


def _file(path: Path) -> dict[str, Any]:
    return {"file": str(path.resolve()), "sha256": digest(path)}


def _unchanged(entry: Mapping[str, Any], *, todo: str) -> Path:
    path = Path(entry["file"])
    if digest(path) != entry["sha256"]:
        raise InputError("has changed since the run began", where=entry["file"], todo=todo)
    return path


@dataclass
class Data:
    """The pages of a run, ready for training."""

    scheme: Scheme
    vocabulary: Vocabulary
    dictionary: Dictionary | None
    segmentation: Segmentation
    train: list[Example]
    new_dev: Dev
    statistics: dict[str, Any]
    base: Bundle | None = None
    old_dev: Dev = field(default_factory=Dev)
    allowed: Sequence[str] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    terms: TermLists | None = None

    @property
    def dev(self) -> list[Example]:
        """All dev examples: new ones, then old ones."""
        return [*self.new_dev.examples, *self.old_dev.examples]

    @property
    def judge(self) -> Dev:
        """The dev pages that select the best epoch and give the scores: the new ones, or the old ones if none can be scored."""
        return self.new_dev or self.old_dev

    @cached_property
    def tuned_by_both(self) -> bool:
        """Whether operating points and calibration also use old dev pages, because a class has too few tags on new ones."""
        return bool(self.old_dev) and self.new_dev.fewest_tags(self.scheme) < settings.rare_dev_tags

    def learnt_from(self) -> dict[str, Any]:
        """The entries of `bundle.json` about the training pages; fields and columns of the base bundle are included."""
        known, train = None if self.base is None else self.base.description, self.statistics["train"]
        return {
            "languages": list(train["languages"]),
            "fields": list(dict.fromkeys((*train["fields"], *(known.fields if known else ())))),
            "columns": (known.columns if known else {}) | dict(self.columns),
            "trained_on": train | {f"{part}_pages": self.statistics[part]["pages"] for part in ("dev", "old_dev")},
        }

    @cached_property
    def counts(self) -> list[int]:
        """The numbers of training tokens N_1..N_C of the labels."""
        return label_counts(self.train, len(self.scheme.labels))


def read_data(files: DataFiles, recipe: Recipe, *, problems: Problems, watch: Any = iter) -> Data:
    """Read, segment and label all pages; `watch` wraps the pages of each part (a progress bar)."""
    base = read_bundle(files.base[0].parent) if files.base else None
    if base is not None:
        check_base(base, recipe)
    terms = read_lists(recipe.input.terms, files.terms, base=base.terms if base is not None else None)
    dictionary = Dictionary.read(files.dictionary[0]) if files.dictionary else base.dictionary if base else None
    segmentation = Segmentation(
        recipe.pages.segmentation,
        rules=parse_rules(recipe.pages.rules),
        dictionary=dictionary,
        spaces=recipe.input.spaces,
    )
    where = ", ".join(map(str, files.train))
    weights = recipe.sources.model_dump()
    new = _Counted(as_learnt(page, weights) for page in watch(files.pages("train", problems)))
    replay = (as_learnt(page, weights) for page in files.old_pages("replay", problems))
    # Where people have reviewed old dev pages, machines measure no new ones.
    of_people = [page for page in files.old_pages("old_dev", problems) if page.reviewed] if recipe.training.replay else []
    if files.dev:
        old = _Counted(_drawn(replay, new, recipe))
        train, left_out = label_words(chain(new, old), segmentation, weights=weights), 0
        pages: Iterable[Page] = watch(files.pages("dev", problems))
    else:
        labelled = list(new)
        old = _Counted(_drawn(replay, new, recipe))
        train, pages, left_out = _held_out(labelled, list(old), segmentation, weights=weights, only_people=bool(of_people))
    measuring = Measuring(pages, only_people=bool(of_people))
    own = _Counted(measuring, keep=True)
    old_dev = _Counted(_drawn(of_people, own, recipe, fewest=_FEWEST_OLD_DEV), keep=True)
    found = {"train": train, "dev": label_words(own, segmentation), "old_dev": label_words(old_dev, segmentation)}
    known = base.scheme.classes if base is not None else ()
    scheme = choose_scheme(recipe.pages.scheme, found["train"], known=known, where=where)
    if not any(page.words for part in ("dev", "old_dev") for page in found[part].pages):
        held = "no labelled page in it" if files.dev else "there are too few pages labelled by people to hold some out"
        if not files.dev and not all(page.reviewed for page in train.pages):
            held += " (labels of machines cannot be used for evaluation)"
        raise InputError(
            f"no dev pages to choose the best epoch on: {held}",
            where=", ".join(map(str, files.dev)) or where,
            todo="Name a file with --dev",
            python="Give dev pages: dev=FILE",
        )
    size = {"window": recipe.training.window, "overlap": recipe.training.overlap}
    examples = {part: make_examples(words, scheme, **size) for part, words in found.items()}
    statistics: dict[str, Any] = {part: each.statistics() for part, each in found.items()} | {"held_out": not files.dev}
    unknown = sorted({*found["dev"].class_tokens, *found["old_dev"].class_tokens} - {"none", *scheme.classes})
    statistics["dev"] |= {"unknown_classes": unknown, "replayed": old_dev.labelled, "not_reviewed": measuring.not_reviewed}
    statistics["dev"] |= {"not_labelled": measuring.not_labelled, "in_train": repeated(found["dev"], of=found["train"])}
    statistics["measured_by"] = measured_by(own.kept or old_dev.kept, otherwise=measuring.by)
    for name, counts in statistics["train"]["sources"].items():
        counts["weight"] = weights[name]
    statistics["train"] |= {"replayed": old.labelled, "left_out": left_out}
    statistics["old_classes"] = list(known)
    dev = Dev(own.kept, examples["dev"]), Dev(old_dev.kept, examples["old_dev"])
    if not any(dev):
        todo = "Give dev pages with classes of the training pages"
        raise InputError("no token of dev can be scored", where=", ".join(map(str, files.dev)) or where, todo=todo)
    vocabulary = grown_vocabulary([example.words for example in examples["train"]], recipe, base)
    allowed = sorted(train.allowed.union(base.description.tagged_stop_words if base is not None else ()))
    made, asked = (scheme, vocabulary, dictionary, segmentation), (files.reading or {}).get("columns") or {}
    return Data(*made, examples["train"], dev[0], statistics, base, dev[1], allowed, asked, terms)


class _Counted:
    """Passes pages on while counting the labelled ones and, if asked, keeping them."""

    def __init__(self, pages: Iterable[Page], *, keep: bool = False) -> None:
        self._pages, self._keep = pages, keep
        self.labelled, self.kept = 0, list[Page]()

    def __iter__(self) -> Iterator[Page]:
        for page in self._pages:
            self.labelled += page.labelled
            if self._keep and page.labelled:
                self.kept.append(page)
            yield page


def _drawn(old: Iterable[Page], new: _Counted, recipe: Recipe, *, fewest: int = 0) -> Iterator[Page]:
    """Draw old pages at random, as many per new page as the recipe says (at least `fewest`), after all new pages were read."""
    kept = [page for page in old if page.labelled] if recipe.training.replay else []
    random.Random(recipe.training.seed).shuffle(kept)
    yield from kept[: max(round(new.labelled * recipe.training.replay), fewest)]


def _held_out(
    new: Sequence[Page],
    old: Sequence[Page],
    segmentation: Segmentation,
    *,
    weights: Mapping[str, float],
    only_people: bool,
) -> tuple[LabelledWords, list[Page], int]:
    """Split off dev: a tenth of the new pages that a person has reviewed (of all new pages if there are none, unless
    `only_people`). Returns train, dev, and how many other pages were left out because they are duplicates of dev pages."""
    labelled = [page for page in new if page.labelled]
    measuring = {id(page) for page in Measuring(labelled, only_people=only_people)}
    splits = iter(assign_splits((page for page in labelled if id(page) in measuring), shares=(0.9, 0.1, 0), seed=0).splits)
    parts = [next(splits) if id(page) in measuring else "other" for page in labelled] + ["other"] * len(old)
    pages = [*labelled, *old]
    dev = [page for page, part in zip(pages, parts, strict=True) if part == "dev"]
    twins = iter(twins_of(dev, [page for page, part in zip(pages, parts, strict=True) if part == "other"]))
    left_out = [part == "other" and next(twins) for part in parts]
    kept = zip(pages, parts, left_out, strict=True)
    train = label_words((page for page, part, left in kept if part != "dev" and not left), segmentation, weights=weights)
    train.not_labelled = len(new) - len(labelled)
    return train, dev, sum(left_out)
