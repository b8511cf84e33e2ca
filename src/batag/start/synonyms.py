"""How a shop calls its brands: names in one value of its column are one brand, shown as the shop's language writes it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from batag.start.names import is_listed, is_ordinary, listed_names, own_names
from batag.terms.key import both_keys, match_keys
from batag.terms.lexicon import BRAND, read_lexicon

_LETTERS = re.compile(r"[\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_OWN_SCRIPT = ("zh-Hant", "zh-Hans", "ja")
_MOST = 50_000
"""So many values, the most frequent ones, are looked at."""


def brand_synonyms(brands: Mapping[str, int], *, language: str | None) -> dict[str, str]:
    """The canonical forms of the brands in a column (value to rows), by match key. Names of goods and features, which a synonym
    would rename too, are left out."""
    values = [value for value, _ in Counter(brands).most_common(_MOST)]
    named = {value: [name for name in own_names(value) if not _is_other(name)] for value in values}
    texts = list(dict.fromkeys(name for names in named.values() for name in names))
    keys = dict(zip(texts, match_keys(texts), strict=True))
    partners: dict[str, set[frozenset[str]]] = {}
    for names in named.values():
        group = frozenset(keys[name] for name in names)
        for key in group if len(group) > 1 else ():
            partners.setdefault(key, set()).add(group)
    canonical: dict[str, str] = {}
    shown: dict[tuple[str, ...], str] = {}  # by the names of an entry of the lexicon
    # 3M / Scotch and 3M / Nexcare are several brands, and so are two names of one script.
    pairs = [names for names in named.values() if _two_scripts(names) and all(len(partners[keys[name]]) == 1 for name in names)]
    for names in pairs:
        for name in names:
            canonical[keys[name]] = shown.setdefault(listed_names(name) or (name,), _shown(names, language))
    for name in texts:
        canonical.setdefault(keys[name], shown.setdefault(listed_names(name) or (name,), name))
    return {key: text for key, text in canonical.items() if key}


def _is_other(name: str) -> bool:
    """Whether the lexicon has goods or features of this name."""
    if is_listed(name) and not is_ordinary(name):
        return False
    (key,), (close,) = both_keys([name])
    return any(found.entry.kind != BRAND for found in read_lexicon().find(key, close=close))


def _two_scripts(names: list[str]) -> bool:
    return len(names) == 2 and len({bool(_LETTERS.search(name)) for name in names}) == 2


def _shown(names: list[str], language: str | None) -> str:
    """The name in the letters of the shop's language."""
    wanted = language in _OWN_SCRIPT
    return next(name for name in names if bool(_LETTERS.search(name)) is wanted)
