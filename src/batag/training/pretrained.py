"""The pretrained features of a run: what its recipe names, what its base bundle has, or what comes with batag."""

from __future__ import annotations

from pathlib import Path

from batag.features.backbone import Backbone, backbone_files
from batag.features.pretrained import PretrainedFeatures, join
from batag.features.shipped import words_for
from batag.features.word_vectors import read_vectors, vector_files
from batag.training.data import Data, DataFiles
from batag.training.recipe import AUTO, Recipe


def pretrained_files(recipe: Recipe) -> tuple[Path, ...]:
    """The files of the word vectors or the backbone that a recipe names."""
    if recipe.input.pretrained is None:
        return ()
    kind, source = recipe.input.pretrained
    return vector_files(source) if kind == "vectors" else tuple(backbone_files(Path(source)))


def choose_pretrained(recipe: Recipe, files: DataFiles, data: Data) -> PretrainedFeatures | None:
    """The pretrained features, if there are any; what the recipe names comes from the very files that were looked at."""
    chosen = recipe.input
    named = chosen.pretrained[0] if chosen.pretrained is not None else ""
    if named == "vectors":
        return join(read_vectors(*files.pretrained))
    if not named and data.base is not None and data.base.pretrained is not None:
        return data.base.pretrained
    backbone = Backbone(files.pretrained[0].parent) if named else None
    words = words_for(data.statistics["train"]["languages"]) if chosen.vectors == AUTO and chosen.kind == "rich" else None
    return join(words, backbone)
