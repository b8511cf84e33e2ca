"""Tokens to vectors to logits; encoders are found by name and imported when first used."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import TYPE_CHECKING, Any

from batag.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from batag.encoders.encoder import Encoder

ENCODERS = ("bat", "transformer", "admin", "switch", "muse", "performer", "informer", "evolved")


def build_encoder(name: str, width: int = 128, depth: int = 4, heads: int = 4, inner: int = 512, **options: Any) -> Encoder:
    """The encoder of that name; `(vectors [B,L,D], mask [B,L], True = real token) -> [B,L,D]`, zero at padding."""
    if name not in ENCODERS:
        raise unknown_name(name, ENCODERS, "an encoder")
    kind = getattr(import_module(f"batag.encoders.{name}"), name.capitalize())
    kinds = inspect.signature(kind).parameters
    if unknown := sorted(options.keys() - kinds.keys()):
        raise UsageError(f"the encoder {name} has no option {unknown[0]!r}", todo=f"It has {', '.join(sorted(kinds))}")
    options = {option: _typed(name, option, value, kinds[option].annotation) for option, value in options.items()}
    encoder: Encoder = kind(width=width, depth=depth, heads=heads, inner=inner, **options)
    return encoder


_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "str": (str, "a text"),
    "int": (int, "a whole number"),
    "float": ((int, float), "a number"),
    "bool": (bool, "true or false"),
}


def _typed(name: str, option: str, value: Any, kind: str) -> Any:
    """An option's value as the encoder takes it; a whole number may stand for a text (kernels = 3)."""
    if kind == "str" and type(value) is int:
        return str(value)
    types, meant = _KINDS[kind]
    if not isinstance(value, types) or (isinstance(value, bool) and kind != "bool"):
        todo = "docs/training.md lists the options"
        raise UsageError(f"{option} = {value!r} of the encoder {name} is not {meant}", todo=todo)
    return value
