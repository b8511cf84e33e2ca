"""Where training begins: from chance, or from what a bundle (or a pretrained folder) knows already."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from batag.bundles.bundle import Bundle, find_bundle, read_description
from batag.errors import UsageError
from batag.features.vocabulary import PADDING, UNKNOWN, Vocabulary
from batag.heads.classifier import TokenClassifier
from batag.heads.neighbours import SHARE
from batag.pages.cleaning import DEFAULT_RULES, parse_rules
from batag.training.recipe import Recipe, default_text
from batag.training.setting import renamed

_SPELLING = ("kind", "shortest", "longest", "buckets", "shapes", "parts")
_WORDS, _FROZEN, _CHAIN, _READER = "input.words.weight", "input.frozen.", "chain.", "neighbours."
_FOLLOWS = ("chain.follows", "neighbours.chain.follows")
_OF_LABELS = (
    "head.weight",
    "head.bias",
    *(f"{chain}.{end}" for chain in ("chain", "neighbours.chain") for end in ("begins", "ends")),
)
_IN_COLUMNS = ("neighbours.facts", "neighbours.edge")


def recipe_of(start: Path) -> dict[str, Any]:
    """What a bundle was trained with, as far as this batag knows the keys; what it carries itself is taken from it."""
    folder = find_bundle(start)
    said = read_description(folder)
    default = tomllib.loads(default_text())
    recipe = {
        table: {key: value for key, value in values.items() if key in default[table]}
        for table, values in renamed(said.recipe).items()
        if table in default and isinstance(values, Mapping)
    }
    rules = said.segmentation.rules or [f"-{rule}" for rule in DEFAULT_RULES]
    own = {
        "pages": {"segmentation": said.segmentation.name, "rules": ",".join(rules), "dictionary": ""}
        | ({"scheme": said.scheme.name} if said.scheme.classes else {}),
        "input": said.input.model_dump(exclude={"frozen_width"}) | {"pretrained": str(folder), "vectors": "", "backbone": ""},
        "encoder": said.encoder.model_dump(),
        **({"head": said.head.model_dump(exclude=None if said.head.neighbours else {"rows"})} if said.scheme.classes else {}),
        "training": {"window": said.window, "overlap": said.overlap},
    }
    return {table: recipe.get(table, {}) | own.get(table, {}) for table in recipe.keys() | own.keys()}


def check_start(start: Bundle, recipe: Recipe) -> None:
    """Whether a recipe means the same by its weights as the bundle does: tokens, input and encoder are alike."""
    said = start.description
    spelling = _SPELLING if said.input.kind == "rich" else ("kind",)
    was = {
        "pages.segmentation": said.segmentation.name,
        "pages.rules": tuple(said.segmentation.rules),
        **{f"input.{key}": value for key, value in said.input if key in spelling},
        **{f"encoder.{key}": value for key, value in said.encoder if key != "dropout"},
    }
    if said.scheme.classes:
        was |= {"pages.scheme": said.scheme.name, "head.chain": said.head.chain}
    if said.head.neighbours:
        was |= {"head.neighbours": said.head.neighbours, "head.rows": said.head.rows}
    wanted = {"pages": recipe.pages, "input": recipe.input, "encoder": recipe.encoder, "head": recipe.head}
    for key, value in was.items():
        table, name = key.split(".")
        here = parse_rules(recipe.pages.rules) if key == "pages.rules" else getattr(wanted[table], name)
        if here != value:
            todo = "Leave it as it was, or train without a start"
            raise UsageError(f"{key} = {here!r} does not fit the start {start.folder}, which has {value!r}", todo=todo)
    if said.frozen and recipe.input.frozen:
        todo = "Leave input.vectors and input.backbone out: the start brings its own"
        raise UsageError(f"the start {start.folder} has a frozen input already ({said.frozen})", todo=todo)


@torch.no_grad()
def begin_with(model: TokenClassifier, start: Bundle, *, vocabulary: Vocabulary, labels: Sequence[str]) -> None:
    """Put the weights of a bundle into a fresh model, word by word and label by label; what it does not know stays fresh.

    A new word begins as an unknown one.
    """
    own = model.state_dict()
    names = start.description.labels if start.scheme.classes else []
    known = [(number, names.index(label)) for number, label in enumerate(labels) if label in names]
    here, there = (torch.tensor(column, dtype=torch.long) for column in (zip(*known, strict=True) if known else ((), ())))
    for name, value in start.weights.items():
        if name == _WORDS:
            numbers = [start.vocabulary.number(word) for word in vocabulary.words]
            own[name].copy_(value[torch.tensor([PADDING, UNKNOWN, *numbers])])
        elif name in _FOLLOWS:
            own[name][here[:, None], here] = value[there[:, None], there]
        elif name in _OF_LABELS:
            own[name][here] = value[there]
        elif name in _IN_COLUMNS:
            own[name][:, here] = value[:, there]
        elif name != SHARE:  # dev chooses it anew
            own[name].copy_(value)
    assert all(name in start.weights or name.startswith((_FROZEN, _CHAIN, _READER)) for name in own)
