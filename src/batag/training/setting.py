"""Parse settings of the command line: `--set encoder.depth=6`."""

import tomllib
from typing import Any

from batag.errors import UsageError
from batag.pages.page import has_surrogates


def parse_setting(text: str) -> dict[str, Any]:
    """Parse `encoder.depth=6` as a change of a recipe; a value that is not TOML is text."""
    key, equals, value = text.partition("=")
    parts = [part.strip() for part in key.split(".")]
    if not equals or len(parts) < 2 or not all(parts):
        raise UsageError(f"--set {text!r} is not TABLE.KEY=VALUE", todo="Write it like --set encoder.depth=6")
    if len(text.splitlines()) > 1 or has_surrogates(text):
        raise UsageError(f"--set {text!r} is not one line of text", todo="Write one --set a value")
    try:
        parsed = tomllib.loads(f"value = {value.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value.strip()
    change: Any = parsed
    for part in reversed(parts):
        change = {part: change}
    return dict(change)
