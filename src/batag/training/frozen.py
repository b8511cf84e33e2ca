"""What others learnt of words, for a run: what its recipe names, what it starts from, or what comes with batag."""

from __future__ import annotations

from pathlib import Path

from batag.encoders.backbone import Backbone, backbone_files
from batag.encoders.frozen import Frozen
from batag.encoders.shipped import words_for
from batag.encoders.word_vectors import read_vectors, vector_files
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
    if chosen.frozen is not None:
        return read_vectors(*files.frozen) if chosen.frozen[0] == "vectors" else Backbone(files.frozen[0].parent)
    if data.start is not None and data.start.frozen is not None:
        return data.start.frozen
    shipped = chosen.vectors == AUTO and chosen.kind == "rich"
    return words_for(data.facts["train"]["languages"], names=files.shipped) if shipped else None
