"""The frozen input that a bundle carries: what others learnt of words, or a backbone, checked before anything is made of it."""

from __future__ import annotations

from pathlib import Path

from safetensors import SafetensorError

from batag.bundles.description import AGAIN, DESCRIPTION, Description
from batag.encoders import character_vectors
from batag.encoders.character_vectors import CharacterVectors
from batag.encoders.frozen import Frozen, FrozenWords, JoinedWords
from batag.encoders.word_vectors import WordVectors, files_of
from batag.errors import InputError

_TABLES = ("vectors", "english")
_WORDS = {kind: files_of(kind) for kind in _TABLES} | {"characters": character_vectors.FILES}
_BACKBONE = ("backbone/config.json", "backbone/model.safetensors")


def check_frozen(folder: Path, description: Description) -> None:
    """Whether it is all there, and nothing beside it that somebody else put there."""
    listed, where = set(description.files), str(folder / DESCRIPTION)
    if bool(description.frozen) != bool(description.input.frozen_width):
        raise InputError("says of a frozen input only half", where=where, todo=AGAIN)
    wanted = {name for kind in filter(None, description.frozen.split("+")) for name in _WORDS.get(kind, _BACKBONE)}
    if missing := sorted(wanted - listed):
        raise InputError(f"does not list {missing[0]}", where=where, todo=AGAIN)
    inside = {path.relative_to(folder).as_posix() for path in (folder / "backbone").rglob("*") if not path.is_dir()}
    if spare := sorted(inside - listed):
        raise InputError("is not a file of this bundle", where=str(folder / spare[0]), todo="Remove it")


def load_frozen(folder: Path, description: Description) -> Frozen | None:
    """The frozen input of a bundle whose files were checked."""
    kind, width = description.frozen, description.input.frozen_width
    if not kind:
        return None
    parts = [_load(folder, part) for part in kind.split("+")]
    found = parts[0] if len(parts) == 1 else JoinedWords([part for part in parts if isinstance(part, FrozenWords)])
    if found.width != width:
        what = f"does not fit {DESCRIPTION}: {found.width} numbers a token, not {width}"
        raise InputError(what, where=str(folder / _where(kind.split("+")[-1])), todo=AGAIN)
    return found


def _load(folder: Path, kind: str) -> Frozen:
    try:
        if kind == "backbone":
            from batag.encoders.backbone import Backbone

            return Backbone(folder / _where(kind))
        said, arrays = ((folder / name).read_bytes() for name in _WORDS[kind])
        return WordVectors.of_files(said, arrays, kind=kind) if kind in _TABLES else CharacterVectors.of_files(said, arrays)
    except (SafetensorError, ValueError, KeyError, RecursionError) as error:
        raise InputError(f"does not fit {DESCRIPTION} ({error})", where=str(folder / _where(kind)), todo=AGAIN) from error


def _where(kind: str) -> str:
    return _WORDS[kind][1] if kind in _WORDS else kind
