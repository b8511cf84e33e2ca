"""Keywords of pages without any label; extractors are found by name and imported when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from batag.errors import unknown_name

if TYPE_CHECKING:
    from batag.keywords.extractor import Extractor

EXTRACTORS = ("tfidf", "bm25", "yake", "textrank", "singlerank", "rake")


def build_extractor(name: str, **options: Any) -> Extractor:
    """Build the extractor of that name."""
    if name not in EXTRACTORS:
        raise unknown_name(name, EXTRACTORS, "a method")
    module = import_module(f"batag.keywords.{name}")
    extractor: Extractor = getattr(module, name.capitalize())(**options)
    return extractor
