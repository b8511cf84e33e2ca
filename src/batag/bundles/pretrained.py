"""The pretrained features of a bundle, verified before they are used."""

from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from batag.bundles.description import AGAIN, BACKBONE, DESCRIPTION, Description, FeatureOf
from batag.errors import InputError
from batag.features.character_vectors import CharacterVectors
from batag.features.pretrained import PretrainedFeatures, PretrainedWords, join, join_words
from batag.features.shipped import SHIPPED, shipped_digest
from batag.features.word_vectors import WordVectors

_WORDS = {each.kind: each for each in (WordVectors, CharacterVectors)}


def feature_files(pretrained: PretrainedFeatures | None) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """Return the entries of pretrained features for `bundle.json`, and their files by name."""
    entries, files = [], dict[str, bytes]()
    for part in pretrained.parts if pretrained is not None else ():
        own = part.files()
        entries.append({"kind": part.kind, "language": part.language, "width": part.width, "files": list(own)})
        files |= own
    return entries, files


def check_backbone(folder: Path, description: Description) -> None:
    """Raise an error if the folder of a backbone contains files that the bundle does not list, because its library would read
    them."""
    inside = {path.relative_to(folder).as_posix() for path in (folder / BACKBONE).rglob("*") if not path.is_dir()}
    if spare := sorted(inside - description.files.keys()):
        raise InputError("is not a file of this bundle", where=str(folder / spare[0]), todo="Remove it")


def load_pretrained(folder: Path, description: Description) -> PretrainedFeatures | None:
    """Return the pretrained features of a bundle whose files were verified, or None."""
    backbone = None
    if description.reads_pages:
        from batag.features.backbone import Backbone

        backbone = Backbone(folder / BACKBONE)
    found = join(join_words([_words(folder, each) for each in description.features if each.kind != BACKBONE]), backbone)
    for part, each in zip(found.parts if found is not None else (), description.features, strict=True):
        if part.kind != each.kind or part.width != each.width:
            what = f"does not fit {DESCRIPTION}: {part.width} features per token, not {each.width}"
            raise InputError(what, where=str(folder / (each.files or [DESCRIPTION])[-1]), todo=AGAIN)
    return found


def _words(folder: Path, feature: FeatureOf) -> PretrainedWords:
    if feature.shipped:
        name = feature.language or ""
        if name not in SHIPPED or shipped_digest(name) != feature.shipped:
            what = f"was made with other pretrained features ({name}) than come with this batag"
            raise InputError(what, where=str(folder / DESCRIPTION), todo="Use the bundle of this batag, or train it again")
        return SHIPPED[name]()
    try:
        names, arrays = ((folder / name).read_bytes() for name in feature.files)
        return _WORDS[feature.kind].of_files(names, arrays, language=feature.language)
    except (SafetensorError, ValueError, KeyError, RecursionError) as error:
        where = str(folder / feature.files[-1])
        raise InputError(f"does not fit {DESCRIPTION} ({error})", where=where, todo=AGAIN) from error
