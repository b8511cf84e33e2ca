"""Keywords of pages without any label; extractors are found by name and imported when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from batag.errors import unknown_name

if TYPE_CHECKING:
    from batag.keywords.extractor import Extractor

METHODS = ("auto", "tfidf", "bm25", "yake", "textrank", "singlerank", "rake", "embedding")


def extractor_class(name: str) -> type[Extractor]:
    """The class of the extractor of that name."""
    if name not in METHODS:
        raise unknown_name(name, METHODS, "a method")
    found: type[Extractor] = getattr(import_module(f"batag.keywords.{name}"), name.capitalize())
    return found


def build_extractor(name: str = "auto", **options: Any) -> Extractor:
    """Build the extractor of that name: `statistics` of a corpus, `segmentation`, and `vectors` for `embedding`."""
    return extractor_class(name)(**options)
