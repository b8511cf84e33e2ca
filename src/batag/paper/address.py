"""The address of a cell: a hash of the recipe's differences from the paper's conditions, and of the corpus.

A setting that has the paper's value leaves no trace, so that recipes may gain, lose or rename such settings.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from batag.training.data import digest

_UNREAD = ("training.checkpoint_steps", "training.export", "training.replay", "dial.")
"""Settings (or tables) that decide no number of a cell."""


@cache
def paper_conditions() -> dict[str, Any]:
    """The paper's value of every setting, by its dotted name."""
    return dict(_flat(tomllib.loads(resources.files(__package__).joinpath("recipe.toml").read_text(encoding="utf-8"))))


def address(recipe: Mapping[str, Any], corpus: Mapping[str, Any]) -> str:
    """The address of a recipe on a corpus (`Corpus.identity`)."""
    paper = paper_conditions()
    named = {
        key: _plain(key, value)
        for key, value in _flat(recipe)
        if not key.startswith(_UNREAD) and (key not in paper or value != paper[key])
    }
    hashed = {"recipe": named, "corpus": {key: corpus[key] for key in ("train", "dev", "test", "reading")}}
    return hashlib.sha256(json.dumps(hashed, sort_keys=True).encode()).hexdigest()[:16]


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
