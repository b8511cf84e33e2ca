"""Recipes in TOML: the default recipe has every value, a user's recipe has only its changes."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from batag.bundles.description import LONGEST_WINDOW, EncoderOf, HeadOf, InputOf, Share
from batag.encoders import ENCODERS, build_encoder
from batag.errors import InputError, UsageError, nearest, unknown_name
from batag.heads.classifier import own_options
from batag.objectives import build_objective
from batag.pages.cleaning import Cleaner, parse_rules
from batag.segmentation import SEGMENTATIONS
from batag.training.schedule import VERSIONS
from batag.training.setting import parse_setting

Weight = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1, le=100_000_000)]
Selection = Literal["tag_f1", "tag_f2", "macro_f1", "macro_f2", "macro_f1_without_none", "macro_f2_without_none"]
_EPOCHS, _STEPS, _MOST_EPOCHS = 8, 1_000, 60
AUTO = "auto"
_PRETRAINED = ("vectors", "backbone")
_LINE = re.compile(r"(\w+) = (.*?)(  #.*)?$")


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class PagesTable(_Table):
    """How pages are turned into labelled tokens."""

    segmentation: str
    rules: str
    dictionary: str
    scheme: Literal["flat", "bio"]


class InputTable(InputOf, _Table):
    """How tokens are turned into vectors."""

    vectors: str
    backbone: str
    terms: str
    term_dropout: Share
    min_word_count: Count
    spaces: bool
    repeats: bool

    @property
    def of_bundle(self) -> dict[str, Any]:
        """The values that are stored in a bundle."""
        return self.model_dump(include=set(InputOf.model_fields))

    @property
    def pretrained(self) -> tuple[str, str] | None:
        """The kind of pretrained features that is named, and the file or model; None without one."""
        return next(((kind, source) for kind in _PRETRAINED if (source := getattr(self, kind)) and source != AUTO), None)


class EncoderTable(EncoderOf, _Table):
    """The encoder; `options` are those that only this encoder has."""

    options: dict[Annotated[str, Field(pattern=r"^\w+$")], str | int | float | bool]


class HeadTable(HeadOf, _Table):
    """How vectors are turned into label probabilities."""


class ObjectiveTable(_Table):
    """The loss."""

    name: str
    weights: Literal["fixed", "dynamic"]
    level: Literal["auto", "page", "token"]


class ScheduleTable(_Table):
    """The learning rate."""

    version: str
    warmup: Literal["auto"] | Count
    scale: Literal["peak"] | Annotated[float, Field(gt=0)]
    beta: Literal["joined"] | float


class DialTable(_Table):
    """The operating points: the beta of the F score that each maximises on dev."""

    clean: Annotated[float, Field(gt=0, le=100)]
    balanced: Annotated[float, Field(gt=0, le=100)]
    rich: Annotated[float, Field(gt=0, le=100)]

    @property
    def betas(self) -> tuple[float, float, float]:
        return self.clean, self.balanced, self.rich


class SourcesTable(_Table):
    """The weights of tokens by the source of their labels."""

    person: Weight
    column: Weight
    terms: Weight
    model: Weight
    llm: Weight


class TrainingTable(_Table):
    """The training loop."""

    batch: Annotated[int, Field(ge=1, le=100_000)]
    epochs: Literal["auto"] | Annotated[int, Field(ge=1, le=1_000_000)]
    seed: Annotated[int, Field(ge=0, lt=2**31)]
    replay: Annotated[float, Field(ge=0)]
    average: Share
    adversarial_epsilon: Share
    clip: Annotated[float, Field(ge=0)]
    window: Annotated[int, Field(ge=2, le=LONGEST_WINDOW)]
    overlap: Annotated[int, Field(ge=0, le=LONGEST_WINDOW)]
    threads: Annotated[int, Field(ge=1, le=1_024)]
    checkpoint_steps: Count
    export: bool
    selection: Selection

    def epochs_of(self, steps: int) -> int:
        """The number of epochs, if one epoch has `steps` steps; with `auto`, small data sets get more epochs."""
        return self.epochs if self.epochs != "auto" else min(max(_EPOCHS, math.ceil(_STEPS / steps)), _MOST_EPOCHS)


class Recipe(_Table):
    """A complete recipe."""

    pages: PagesTable
    input: InputTable
    encoder: EncoderTable
    head: HeadTable
    objective: ObjectiveTable
    schedule: ScheduleTable
    sources: SourcesTable
    training: TrainingTable
    dial: DialTable

    @property
    def learns_pages(self) -> bool:
        """Whether the loss is the likelihood of whole pages, instead of an objective on single tokens."""
        return self.head.chain and self.objective.level != "token" and self.objective.name == "CE"

    @classmethod
    def resolve(cls, *changes: Mapping[str, Any], where: str = "recipe") -> Recipe:
        """The default recipe with changes (partial recipes) applied in order."""
        values: dict[str, Any] = tomllib.loads(default_text())
        for change in changes:
            _merge(values, change, path=(), where=where)
        try:
            recipe = cls.model_validate(values)
        except ValidationError as error:
            first, *others = error.errors()
            key = ".".join(str(part) for part in first["loc"][:2])
            # A value that may be of two kinds has a message for each.
            messages = [first["msg"], *(each["msg"] for each in others if each["loc"][:2] == first["loc"][:2])]
            what = f"{key} = {json.dumps(first['input'], default=str)}: {', or '.join(messages)}"
            raise UsageError(what, where=where, todo=_meaning(key)) from error
        recipe.check(where)
        return recipe

    def check(self, where: str) -> None:
        """Check what types cannot: names that exist, and numbers that fit together."""
        _one_of("encoder.name", self.encoder.name, ENCODERS, where)
        _one_of("schedule.version", self.schedule.version, VERSIONS, where)
        _one_of("pages.segmentation", self.pages.segmentation, SEGMENTATIONS, where)
        build_objective(self.objective.name, [1, 1])
        with torch.device("meta"):
            options = own_options(self.encoder.model_dump())
            build_encoder(self.encoder.name, width=2, depth=1, heads=1, inner=2, **options)
        Cleaner(parse_rules(self.pages.rules))
        problems = {
            "encoder.heads": self.encoder.width % self.encoder.heads and "must divide encoder.width",
            "input.backbone": bool(self.input.vectors not in ("", AUTO) and self.input.backbone)
            and "and input.vectors are both set",
            **{
                f"input.{name}": getattr(self.input, name)
                and 'needs input.kind = "rich" and input.part_of_speech_buckets above 0'
                for name in ("spaces", "repeats", "terms")
                if self.input.kind != "rich" or not self.input.part_of_speech_buckets
            },
            "input.max_ngram": self.input.max_ngram < self.input.min_ngram and "is below input.min_ngram",
            "dial.rich": list(self.dial.betas) != sorted(self.dial.betas) and "is below balanced, or that below clean",
            "objective.level": bool(self.objective.level == "page" and not self.learns_pages)
            and '"page" needs head.chain and the objective CE',
            "training.overlap": self.training.overlap >= self.training.window and "is not smaller than training.window",
        }
        for key, problem in problems.items():
            if problem:
                raise UsageError(f"{key} {problem}", where=where, todo=_meaning(key))

    def text(self) -> str:
        """The recipe as TOML, every value with its comment."""
        values = self.model_dump()
        lines, table = [], values
        for line in default_text().splitlines():
            if line.startswith("["):
                lines.append(line)
                table = values
                for part in line[1 : line.index("]")].split("."):
                    table = table[part]
                if line.startswith("[encoder.options]"):
                    lines += [f"{key} = {_toml(value)}" for key, value in table.items()]
            elif form := _LINE.match(line):
                lines.append(f"{form[1]} = {_toml(table[form[1]])}{form[3] or ''}")
            else:
                lines.append(line)
        return "\n".join(lines) + "\n"


def default_text() -> str:
    """The text of the default recipe's file."""
    return resources.files("batag.training").joinpath("default.toml").read_text(encoding="utf-8")


def read_recipe(
    path: Path | None,
    *,
    settings: Iterable[str] = (),
    changes: Mapping[str, Any] | None = None,
    base: Mapping[str, Any] | None = None,
) -> Recipe:
    """Read the recipe of a file (None for the default), changed by `table.key=value` settings or by tables of changes.

    With a `base`, that is used in place of the default recipe.
    """
    read: list[Mapping[str, Any]] = [] if base is None else [base]
    if path is not None:
        try:
            read.append(tomllib.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise InputError(f"cannot be opened ({error.strerror})", where=str(path), todo="Name a recipe (TOML)") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(
                f"is not TOML: {error}", where=str(path), todo="batag train --show-recipe prints a whole one"
            ) from error
        Recipe.resolve(*read, where=str(path))
    where = "--set" if settings else "settings" if changes else str(path or "recipe")
    return Recipe.resolve(*read, *map(parse_setting, settings), changes or {}, where=where)


def _toml(value: str | float | bool) -> str:
    """A value as TOML, which is JSON except for one control character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _merge(values: dict[str, Any], change: Mapping[str, Any], *, path: tuple[str, ...], where: str) -> None:
    for key, value in change.items():
        name = ".".join((*path, key))
        free = path == ("encoder", "options")
        if key not in values and not free:
            near = nearest(key, values, cutoff=0.5)
            hint = f"Did you mean {'.'.join((*path, near))}? " if near else ""
            place = f"[{'.'.join(path)}]" if path else "a recipe"
            raise UsageError(f"unknown key {name}", where=where, todo=f"{hint}{place} has {', '.join(values)}")
        if isinstance(values.get(key), dict):
            if not isinstance(value, Mapping):
                raise UsageError(f"{name} is a table, not a value", where=where, todo=f"Write [{name}] and its keys under it")
            _merge(values[key], value, path=(*path, key), where=where)
        else:
            # A whole number where a share is expected is a share.
            values[key] = float(value) if type(value) is int and isinstance(values.get(key), float) else value


def _one_of(key: str, value: str, known: Iterable[str], where: str) -> None:
    names = list(known)
    if value not in names:
        raise unknown_name(value, names, f"a value of {key}", where=where)


def _meaning(key: str) -> str:
    """The comment of a key in the default recipe."""
    table, name = key.split(".")[:2]
    section = default_text().split(f"[{table}]", 1)[-1]
    found = re.search(rf"^{re.escape(name)} = .*?  # (.*)$", section, re.MULTILINE)
    return f"{key}: {found[1]}" if found else ""
