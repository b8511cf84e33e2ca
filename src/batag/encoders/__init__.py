"""The encoders, found by name and imported when first used."""

from __future__ import annotations

from importlib import import_module
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from batag.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from batag.encoders.encoder import Encoder

ENCODERS = ("bat", "transformer", "admin", "switch", "muse", "performer", "informer", "evolved")
DEVICES = ("auto", "cpu", "cuda", "mps")


def build_encoder(name: str, width: int = 128, depth: int = 4, heads: int = 4, inner: int = 512, **options: Any) -> Encoder:
    """Build the encoder of that name: `(vectors [B,L,D], mask [B,L], True = real token) -> [B,L,D]`, zero at padding."""
    if name not in ENCODERS:
        raise unknown_name(name, ENCODERS, "an encoder")
    kind = getattr(import_module(f"batag.encoders.{name}"), name.capitalize())
    kinds = _options(kind)
    if unknown := sorted(options.keys() - kinds.keys()):
        raise UsageError(f"the encoder {name} has no option {unknown[0]!r}", todo=f"It has {', '.join(sorted(kinds))}")
    options = {option: _typed(name, option, value, kinds[option]) for option, value in options.items()}
    encoder: Encoder = kind(width=width, depth=depth, heads=heads, inner=inner, **options)
    return encoder


def _options(kind: type[Encoder]) -> dict[str, type]:
    """The options of an encoder, those that all have among them, and the type of each."""
    found = [each for base in (kind.__mro__[1], kind) for each in signature(base, eval_str=True).parameters.values()]
    return {each.name: each.annotation for each in found if each.kind is Parameter.KEYWORD_ONLY}


_KINDS: dict[type, tuple[type | tuple[type, ...], str]] = {
    str: (str, "a text"),
    int: (int, "a whole number"),
    float: ((int, float), "a number"),
    bool: (bool, "true or false"),
}


def _typed(name: str, option: str, value: Any, kind: type) -> Any:
    """The value of an option in the type that the encoder expects; a number may be given for a text (kernels = 3)."""
    if kind is str and type(value) is int:
        return str(value)
    types, meant = _KINDS[kind]
    if not isinstance(value, types) or (isinstance(value, bool) and kind is not bool):
        todo = "docs/training.md lists the options"
        raise UsageError(f"{option} = {value!r} of the encoder {name} is not {meant}", todo=todo)
    return value
