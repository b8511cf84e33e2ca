"""How many of the tags have a category of the taxonomy, and which have none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from batag.errors import UsageError
from batag.terms.forms import Form
from batag.terms.lexicon import GOODS
from batag.terms.meaning import kind_of_label


def cover(forms: Mapping[tuple[str, str], Form], *, label: str | None = None) -> dict[str, Any]:
    """The counts of tags and forms with a category, and all forms by count: of one label, or of labels that mean goods."""
    labels = list(dict.fromkeys(form.label for form in forms.values()))
    if label is not None and label not in labels:
        raise UsageError(f"there is no tag with the label {label!r}", todo=f"There are {', '.join(labels)}")
    chosen = [label] if label is not None else [each for each in labels if kind_of_label(each) == GOODS] or labels
    own = sorted((form for form in forms.values() if form.label in chosen), key=lambda form: (-form.count, form.text))
    mapped = [(form, match) for form in own if (match := form.meaning.category) is not None]
    return {
        "labels": chosen,
        "tags": {"all": sum(form.count for form in own), "mapped": sum(form.count for form, _ in mapped)},
        "forms": {"all": len(own), "mapped": len(mapped)},
        "mapped": [
            {"text": form.text, "tags": form.count, "category": match.id, "confidence": match.confidence, "by": match.by}
            for form, match in mapped
        ],
        "unmapped": [{"text": form.text, "tags": form.count} for form in own if form.meaning.category is None],
    }
