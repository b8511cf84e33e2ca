"""Write the bundle of a run: the best epoch's weights with their dev scores."""

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from torch import Tensor

from batag.bundles.bundle import write_bundle
from batag.features.pretrained import PretrainedFeatures
from batag.segmentation import DICTIONARIES
from batag.training.data import Data
from batag.training.recipe import Recipe


def ship(
    folder: Path,
    *,
    name: str,
    recipe: Recipe,
    data: Data,
    weights: Mapping[str, Tensor],
    pretrained: PretrainedFeatures | None,
    learnt: Mapping[str, Any],
) -> None:
    """Write the bundle of a run."""
    description = {
        "batag": version("batag"),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "name": name,
        "scheme": {"name": data.scheme.name, "classes": list(data.scheme.classes)},
        "segmentation": {"name": data.segmentation.name, "rules": list(data.segmentation.cleaner.rules)},
        "dictionaries": {name: version(name) for name in DICTIONARIES},
        "input": recipe.input.of_bundle,
        "encoder": recipe.encoder.model_dump(),
        "head": recipe.head.model_dump(),
        "window": recipe.training.window,
        "overlap": recipe.training.overlap,
        "recipe": recipe.model_dump(),
        "tagged_stop_words": list(data.allowed),
    }
    write_bundle(
        folder,
        weights=weights,
        vocabulary=data.vocabulary,
        dictionary=data.dictionary,
        pretrained=pretrained,
        terms=data.terms,
        description=description | dict(learnt),
    )
