"""The end of a run: the best epoch's weights, with their scores on dev, as a bundle."""

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from torch import Tensor

from batag.bundles.bundle import Bundle, write_bundle
from batag.features.pretrained import PretrainedFeatures
from batag.labels.scheme import Scheme
from batag.segmentation import DICTIONARIES
from batag.segmentation.segmentation import Segmentation
from batag.training.data import Data
from batag.training.dial import DialOfDev
from batag.training.recipe import Recipe


def ship(
    folder: Path,
    *,
    name: str,
    recipe: Recipe,
    data: Data,
    weights: Mapping[str, Tensor],
    scores: Mapping[str, Any],
    dial: DialOfDev,
    pretrained: PretrainedFeatures | None,
) -> None:
    """Write the bundle; it also reads the fields and columns of its base bundle."""
    known = None if data.base is None else data.base.description
    write_bundle(
        folder,
        weights=weights,
        vocabulary=data.vocabulary,
        dictionary=data.dictionary,
        pretrained=pretrained,
        description=_description(name, recipe, data.scheme, data.segmentation)
        | dial.to_dict(data.scheme.classes)
        | {
            "tagged_stop_words": list(data.allowed),
            "languages": list(data.statistics["train"]["languages"]),
            "fields": list(dict.fromkeys((*data.statistics["train"]["fields"], *(known.fields if known else ())))),
            "columns": (known.columns if known else {}) | dict(data.columns),
            "metrics": {"dev": dict(scores)},
            "trained_on": data.statistics["train"]
            | {"dev_pages": data.statistics["dev"]["pages"], "old_dev_pages": data.statistics["old_dev"]["pages"]},
        },
    )


def ship_distilled(
    folder: Path,
    *,
    name: str,
    recipe: Recipe,
    teacher: Bundle,
    weights: Mapping[str, Tensor],
    metrics: Mapping[str, Any],
    dial: Mapping[str, Any],
    pretrained: PretrainedFeatures | None,
    trained_on: Mapping[str, Any],
) -> None:
    """Write the bundle of a student, which knows the words and classes of its teacher."""
    write_bundle(
        folder,
        weights=weights,
        vocabulary=teacher.vocabulary,
        dictionary=teacher.dictionary,
        pretrained=pretrained,
        description=_description(name, recipe, teacher.scheme, teacher.segmentation)
        | dict(dial)
        | {
            "tagged_stop_words": teacher.description.tagged_stop_words,
            "languages": teacher.description.languages,
            "fields": teacher.description.fields,
            "columns": teacher.description.columns,
            "metrics": dict(metrics),
            "trained_on": dict(trained_on),
        },
    )


def _description(name: str, recipe: Recipe, scheme: Scheme, segmentation: Segmentation) -> dict[str, Any]:
    """What every bundle says of itself."""
    return {
        "batag": version("batag"),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "name": name,
        "scheme": {"name": scheme.name, "classes": list(scheme.classes)},
        "segmentation": {"name": segmentation.name, "rules": list(segmentation.cleaner.rules)},
        "dictionaries": {name: version(name) for name in DICTIONARIES},
        "input": recipe.input.of_bundle,
        "encoder": recipe.encoder.model_dump(),
        "head": recipe.head.model_dump(),
        "window": recipe.training.window,
        "overlap": recipe.training.overlap,
        "recipe": recipe.model_dump(),
    }
