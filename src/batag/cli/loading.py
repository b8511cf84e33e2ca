"""The tagger of a command."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from batag.engines.choice import choose_engine
from batag.tagging.tagger import Tagger


def load_tagger(bundle: Path, *, engine: str = "auto", device: str, stop_words: Iterable[Path] = ()) -> Tagger:
    """The tagger of a bundle, with one engine for all pages."""
    chosen = choose_engine(bundle, wanted=engine, device=device)
    return Tagger.load(bundle, engine=chosen, device=device, stop_words=stop_words)
