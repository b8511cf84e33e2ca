"""Tokens to vectors to logits; encoders are found by name and imported when first used."""

from __future__ import annotations

import difflib
import inspect
from importlib import import_module
from typing import TYPE_CHECKING, Any

from batag.errors import UsageError

if TYPE_CHECKING:
    from batag.encoders.encoder import Encoder

ENCODERS = ("bat", "transformer", "admin", "switch", "muse", "performer", "informer", "evolved")


def build_encoder(name: str, width: int = 128, depth: int = 4, heads: int = 4, inner: int = 512, **options: Any) -> Encoder:
    """The encoder of that name; `(vectors [B,L,D], mask [B,L], True = real token) -> [B,L,D]`, zero at padding."""
    if name not in ENCODERS:
        near = difflib.get_close_matches(name.lower(), ENCODERS, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise UsageError(f"{name!r} is not an encoder", todo=f"{hint}There are {', '.join(ENCODERS)}")
    kind = getattr(import_module(f"batag.encoders.{name}"), name.capitalize())
    known = set(inspect.signature(kind).parameters)
    if unknown := sorted(options.keys() - known):
        raise UsageError(f"the encoder {name} has no option {unknown[0]!r}", todo=f"It has {', '.join(sorted(known))}")
    encoder: Encoder = kind(width=width, depth=depth, heads=heads, inner=inner, **options)
    return encoder
