"""The address of a cell: a hash of recipe and corpus that stays when recipes gain, lose or rename settings.

Only what differs from the paper's conditions is named in it, so that a setting that is off leaves no trace.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from batag.training.data import digest
from batag.training.setting import OLD_NAMES

NEUTRAL: Mapping[str, str | float] = {
    "pages.segmentation": "auto",
    "pages.rules": "",
    "pages.dictionary": "",
    "pages.scheme": "flat",
    "input.kind": "word",
    "input.word_dropout": 0,
    "input.dropout": 0,
    "input.pretrained": "",
    "input.vectors": "auto",  # means none for the paper's input
    "input.backbone": "",
    "input.at_least": 2,
    # What the paper's input does not read.
    "input.shortest": 1,
    "input.longest": 4,
    "input.buckets": 20_000,
    "input.shapes": 1_000,
    "input.parts": 1_000,
    "encoder.width": 128,
    "encoder.depth": 4,
    "encoder.heads": 4,
    "encoder.inner": 512,
    "encoder.position": "sinusoid",
    "encoder.dropout": 0,
    "head.chain": False,
    "head.neighbours": 0,
    "head.rows": 262_144,  # what no neighbours do not read
    "objective.weights": "fixed",
    "schedule.version": "v1",
    "schedule.warmup": "auto",
    "schedule.scale": "peak",
    "schedule.beta": "joined",
    "sources.person": 1,
    "sources.column": 0.3,
    "sources.model": 0.3,
    "sources.llm": 0.3,
    "training.weak": 0.3,
    "training.batch": 8,
    "training.average": 0,
    "training.adversary": 0,
    "training.clip": 0,
    "training.window": 256,
    "training.overlap": 64,
    "training.threads": 1,
    "training.selection": "macro_f2",
}
"""Values that an address leaves out. A new setting comes in here, with the value at which trainings stay as they were."""

UNREAD = ("training.checkpoint_steps", "training.replay", "dial.")
"""Settings (or tables) that decide no number of a cell."""


def address(recipe: Mapping[str, Any], corpus: Mapping[str, Any]) -> str:
    """The address of a recipe (as a cell's file has it, of any age) on a corpus (`Corpus.facts`)."""
    # An address knows a setting by its first name.
    old = {today: name for name, today in OLD_NAMES.items()}
    settings = {old.get(key, key): value for key, value in _flat(recipe)}
    named = {
        key: _plain(key, value)
        for key, value in settings.items()
        if not key.startswith(UNREAD) and (key not in NEUTRAL or value != NEUTRAL[key])
    }
    said = {"recipe": named, "corpus": {key: corpus[key] for key in ("train", "dev", "test", "reading")}}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]


def _flat(table: Mapping[str, Any], *path: str) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, *path, key)
        else:
            yield ".".join((*path, key)), value


def _plain(key: str, value: Any) -> Any:
    """1 for 1.0, and for a file of words what it holds: neither how a number is written nor where a file lies matters."""
    if key == "pages.dictionary":
        return digest(Path(value))
    return int(value) if isinstance(value, float) and value.is_integer() else value
