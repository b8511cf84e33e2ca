"""What others learnt of words, for a run: what its recipe names, what its base bundle has, or what comes with batag."""

from __future__ import annotations

from pathlib import Path

from batag.features.backbone import Backbone, backbone_files
from batag.features.pretrained import Frozen, join_pages
from batag.features.shipped import words_for
from batag.features.word_vectors import read_vectors, vector_files
from batag.training.data import Data, DataFiles
from batag.training.recipe import AUTO, Recipe


def frozen_files(recipe: Recipe) -> tuple[Path, ...]:
    """The files of the word vectors or the backbone that a recipe names."""
    if recipe.input.frozen is None:
        return ()
    kind, source = recipe.input.frozen
    return vector_files(source) if kind == "vectors" else tuple(backbone_files(Path(source)))


def choose_frozen(recipe: Recipe, files: DataFiles, data: Data) -> Frozen | None:
    """What others learnt, or nothing; what the recipe names comes from the very files that were looked at."""
    chosen = recipe.input
    named = chosen.frozen[0] if chosen.frozen is not None else ""
    if named == "vectors":
        return read_vectors(*files.frozen)
    if not named and data.base is not None and data.base.frozen is not None:
        return data.base.frozen
    reader = Backbone(files.frozen[0].parent) if named else None
    if chosen.vectors != AUTO or chosen.kind != "rich":
        return reader
    return join_pages(reader, words_for(data.facts["train"]["languages"]))
