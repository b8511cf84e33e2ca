"""The address of a cell: a hash of the corpus and of what its recipe changes in the paper's conditions.

Settings with the paper's value do not enter the hash, so that such settings may be added, removed or renamed.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from batag.pages.file import digest

_UNREAD = ("training.checkpoint_steps", "training.export", "training.replay", "dial.")
"""Settings (or tables) that do not influence the result of a cell."""


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
    """A value for hashing: 1 for 1.0, and the content of a dictionary file instead of its path."""
    if key == "pages.dictionary":
        return digest(Path(value))
    return int(value) if isinstance(value, float) and value.is_integer() else value
