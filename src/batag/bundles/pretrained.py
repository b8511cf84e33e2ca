"""The pretrained features that a bundle carries, checked before they are used."""

from __future__ import annotations

from pathlib import Path

from safetensors import SafetensorError

from batag.bundles.description import AGAIN, BACKBONE, DESCRIPTION, Description
from batag.errors import InputError
from batag.features import character_vectors
from batag.features.character_vectors import CharacterVectors
from batag.features.pretrained import PretrainedFeatures, PretrainedWords, join, join_words
from batag.features.word_vectors import WordVectors, files_of

_TABLES = ("vectors", "english")
_WORDS = {kind: files_of(kind) for kind in _TABLES} | {"characters": character_vectors.FILES}
_OF_BACKBONE = (f"{BACKBONE}/config.json", f"{BACKBONE}/model.safetensors")


def check_pretrained(folder: Path, description: Description) -> None:
    """Whether all their files are there, and nothing beside them that somebody else put there."""
    listed, where = set(description.files), str(folder / DESCRIPTION)
    if bool(description.pretrained) != bool(description.input.pretrained_width):
        raise InputError("has either the kind or the width of pretrained features, not both", where=where, todo=AGAIN)
    wanted = {name for kind in filter(None, description.pretrained.split("+")) for name in _WORDS.get(kind, _OF_BACKBONE)}
    if missing := sorted(wanted - listed):
        raise InputError(f"does not list {missing[0]}", where=where, todo=AGAIN)
    inside = {path.relative_to(folder).as_posix() for path in (folder / BACKBONE).rglob("*") if not path.is_dir()}
    if spare := sorted(inside - listed):
        raise InputError("is not a file of this bundle", where=str(folder / spare[0]), todo="Remove it")


def load_pretrained(folder: Path, description: Description) -> PretrainedFeatures | None:
    """The pretrained features of a bundle whose files were checked, if it has any."""
    kind, width = description.pretrained, description.input.pretrained_width
    if not kind:
        return None
    kinds = kind.split("+")
    backbone = None
    if BACKBONE in kinds:
        from batag.features.backbone import Backbone

        backbone = Backbone(folder / BACKBONE)
    found = join(join_words([_words(folder, part) for part in kinds if part != BACKBONE]), backbone)
    if found is not None and found.width != width:
        what = f"does not fit {DESCRIPTION}: {found.width} numbers per token, not {width}"
        where = BACKBONE if kinds[-1] == BACKBONE else _WORDS[kinds[-1]][1]
        raise InputError(what, where=str(folder / where), todo=AGAIN)
    return found


def _words(folder: Path, kind: str) -> PretrainedWords:
    try:
        names, arrays = ((folder / name).read_bytes() for name in _WORDS[kind])
        return WordVectors.of_files(names, arrays, kind=kind) if kind in _TABLES else CharacterVectors.of_files(names, arrays)
    except (SafetensorError, ValueError, KeyError, RecursionError) as error:
        where = str(folder / _WORDS[kind][1])
        raise InputError(f"does not fit {DESCRIPTION} ({error})", where=where, todo=AGAIN) from error
