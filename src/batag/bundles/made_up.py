"""Made-up pages are not a person's: what a bundle says of its training, with them named as what they are."""

from typing import Any

from batag.bundles.bundle import read_description
from batag.bundles.description import MODEL, Description
from batag.bundles.found import STARTER_FOLDER
from batag.labels.provenance import MADE_UP


def honest(description: Description) -> Description:
    """The description of a bundle, in which a starter (and its copy with the lists of a shop) has learnt from made-up pages."""
    trained, dev = description.trained_on, description.metrics.get("dev")
    if not _is_starter(description) or not isinstance(dev, dict):
        return description
    sources = {name: dict(counts) for name, counts in trained.get("sources", {}).items()}
    for counts in sources.values():
        counts |= {f"made_up_{each}": counts[each] for each in ("pages", "tags")}
    metrics: dict[str, Any] = description.metrics | {"dev": dev | {"measured_by": MADE_UP}}
    return description.model_copy(update={"trained_on": trained | {"sources": sources}, "metrics": metrics})


def _is_starter(description: Description) -> bool:
    """Whether it has the weights of the starter."""
    return description.files.get(MODEL) == read_description(STARTER_FOLDER).files.get(MODEL)
