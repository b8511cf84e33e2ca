"""Which of our languages a text is written in, by its characters."""

from __future__ import annotations

import re

from batag.segmentation.variants import japanese_only, simplified_only, traditional_only

_KANA = re.compile("[\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f\uff21-\uff3a\uff41-\uff5a]")


def detect_language(text: str, *, default: str = "en") -> str:
    """The language of a text; one without letters has the default."""
    kana = sum(1 for _ in _KANA.finditer(text))
    han = _HAN.findall(text)
    latin = sum(1 for _ in _LATIN.finditer(text))
    if not (kana or han):
        return "en" if latin else default
    # A Han or kana character carries about as much text as three Latin letters.
    if 3 * (kana + len(han)) < latin:
        return "en"
    japanese = sum(map(japanese_only().__contains__, han))
    traditional = sum(map(traditional_only().__contains__, han))
    simplified = sum(map(simplified_only().__contains__, han))
    # Chinese pages borrow a kana or two (の); Japanese ones are seldom without.
    if kana >= 0.2 * (kana + len(han)) or ((kana or not traditional + simplified) and japanese > traditional + simplified):
        return "ja"
    return "zh-Hans" if simplified > traditional else "zh-Hant"
