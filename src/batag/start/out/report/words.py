"""The report's sentences in its languages; all of them stand in the file, and the reader's choice shows one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from batag.errors import unknown_name
from batag.start.out.report.text import plain

LANGUAGES = {"en": "English", "zh-Hant": "繁體中文", "ja": "日本語"}
_OPENS = {"zh-Hans": "zh-Hant"}
_FOLDER = Path(__file__).with_name("words")


@cache
def read_words(language: str) -> Mapping[str, str]:
    """The sentences of a language by key."""
    found: dict[str, str] = json.loads((_FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return found


def opening_language(wanted: str | None, shop: str | None) -> str:
    """The language that the report opens in: the wanted one, or the shop's."""
    if wanted is not None:
        if wanted not in LANGUAGES:
            raise unknown_name(wanted, LANGUAGES, "a language of the report")
        return wanted
    language = _OPENS.get(shop or "", shop)
    return language if language in LANGUAGES else "en"


def say(key: str, *, label: str | None = None, **values: object) -> str:
    """A sentence in all languages as HTML; values are shown as text, and a label by its name in each language."""
    shown = {name: number(value) if isinstance(value, int) else plain(str(value)) for name, value in values.items()}
    spans = []
    for each in LANGUAGES:
        own = shown if label is None else shown | {"label": _label(label, each)}
        spans.append(f'<span class="w {each}" lang="{each}">{_filled(key, each, own)}</span>')
    return "".join(spans)


def say_label(label: str) -> str:
    """The name of a label: translated if it is one of batag's own, else as it is."""
    return say(f"label.{label}") if f"label.{label}" in read_words("en") else plain(label, 60)


def _label(label: str, language: str) -> str:
    return plain(read_words(language).get(f"label.{label}", label), 60)


def number(value: float) -> str:
    """A number with commas between thousands."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def percent(part: float, whole: float) -> str:
    """A part in percent: `<1%` and `>99%` are not rounded to nothing or all."""
    if not whole:
        return "–"
    share = 100 * part / whole
    if 0 < share < 1:
        return "&lt;1%"
    return "&gt;99%" if 99 < share < 100 else f"{share:.0f}%"


def _filled(key: str, language: str, values: Mapping[str, str]) -> str:
    text = plain(read_words(language)[key])
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text
