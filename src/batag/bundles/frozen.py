"""The frozen input that a bundle carries: what others learnt of words, a backbone, or both, checked before it is used."""

from __future__ import annotations

from pathlib import Path

from safetensors import SafetensorError

from batag.bundles.description import AGAIN, BACKBONE, DESCRIPTION, Description
from batag.errors import InputError
from batag.features import character_vectors
from batag.features.character_vectors import CharacterVectors
from batag.features.pretrained import Frozen, FrozenWords, join_pages, join_words
from batag.features.word_vectors import WordVectors, files_of

_TABLES = ("vectors", "english")
_WORDS = {kind: files_of(kind) for kind in _TABLES} | {"characters": character_vectors.FILES}
_OF_BACKBONE = (f"{BACKBONE}/config.json", f"{BACKBONE}/model.safetensors")


def check_frozen(folder: Path, description: Description) -> None:
    """Whether it is all there, and nothing beside it that somebody else put there."""
    listed, where = set(description.files), str(folder / DESCRIPTION)
    if bool(description.frozen) != bool(description.input.frozen_width):
        raise InputError("says of a frozen input only half", where=where, todo=AGAIN)
    wanted = {name for kind in filter(None, description.frozen.split("+")) for name in _WORDS.get(kind, _OF_BACKBONE)}
    if missing := sorted(wanted - listed):
        raise InputError(f"does not list {missing[0]}", where=where, todo=AGAIN)
    inside = {path.relative_to(folder).as_posix() for path in (folder / BACKBONE).rglob("*") if not path.is_dir()}
    if spare := sorted(inside - listed):
        raise InputError("is not a file of this bundle", where=str(folder / spare[0]), todo="Remove it")


def load_frozen(folder: Path, description: Description) -> Frozen | None:
    """The frozen input of a bundle whose files were checked."""
    kind, width = description.frozen, description.input.frozen_width
    if not kind:
        return None
    kinds = kind.split("+")
    reader = _reader(folder) if BACKBONE in kinds else None
    found = join_pages(reader, join_words([_words(folder, part) for part in kinds if part != BACKBONE]))
    assert found is not None
    if found.width != width:
        what = f"does not fit {DESCRIPTION}: {found.width} numbers a token, not {width}"
        where = BACKBONE if kinds[-1] == BACKBONE else _WORDS[kinds[-1]][1]
        raise InputError(what, where=str(folder / where), todo=AGAIN)
    return found


def _reader(folder: Path) -> Frozen:
    from batag.features.backbone import Backbone

    return Backbone(folder / BACKBONE)


def _words(folder: Path, kind: str) -> FrozenWords:
    try:
        said, arrays = ((folder / name).read_bytes() for name in _WORDS[kind])
        return WordVectors.of_files(said, arrays, kind=kind) if kind in _TABLES else CharacterVectors.of_files(said, arrays)
    except (SafetensorError, ValueError, KeyError, RecursionError) as error:
        where = str(folder / _WORDS[kind][1])
        raise InputError(f"does not fit {DESCRIPTION} ({error})", where=where, todo=AGAIN) from error
