"""The tagger of a command."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import torch

from batag.settings import settings
from batag.tagging.tagger import Tagger


def load_tagger(bundle: Path, *, device: str, stop_words: Iterable[Path] = ()) -> Tagger:
    """The tagger of a bundle, with as many threads as the settings say."""
    torch.set_num_threads(settings.threads)
    return Tagger.load(bundle, device=device, stop_words=stop_words)
