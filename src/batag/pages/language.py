"""The names of our languages, and how a language joins its words."""

from __future__ import annotations

import re

from batag.errors import UsageError

LANGUAGES = ("zh-Hant", "zh-Hans", "ja", "en")
_IN_WORDS = "zh-Hant (Traditional Chinese), zh-Hans (Simplified Chinese), ja (Japanese) and en (English)"

_ALIASES = {
    "zh-Hant": "zh-hant zh-tw zh-hk zh-mo zh-hant-tw zh-hant-hk zht",
    "zh-Hans": "zh-hans zh zh-cn zh-sg zh-hans-cn zhs",
    "ja": "ja ja-jp jp jpn",
    "en": "en en-us en-gb en-au en-ca eng",
}
_NAMES = {alias: language for language, aliases in _ALIASES.items() for alias in aliases.split()}
CJK = re.compile(
    "[\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff]"
)


def known_language(name: str) -> str | None:
    """Our name for a language however it is spelt (zh-TW, zh_CN, jp), or None for one that is not ours."""
    return _NAMES.get(name.strip().lower().replace("_", "-"))


def check_language(name: str) -> str:
    """Our name for a language that somebody typed; one that is not ours is an error that lists ours."""
    if (known := known_language(name)) is None:
        raise UsageError(f"{name!r} is not a language of ours", todo=f"There are {_IN_WORDS}")
    return known


def joins_without_spaces(language: str | None, text: str) -> bool:
    """Whether words are written without spaces between: Chinese and Japanese, by name or by their characters."""
    return CJK.search(text) is not None if language is None else language != "en"
