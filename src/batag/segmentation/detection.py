"""Which of our languages a text is written in, by its characters."""

from __future__ import annotations

import re

from batag.segmentation.variants import japanese_only, simplified_only, traditional_only

_KANA = re.compile("[\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f\uff21-\uff3a\uff41-\uff5a]")


def detect_language(text: str, *, default: str = "en") -> str:
    """The language of a text; one without letters has the default. Chinese of either script counts as Traditional."""
    kinds = text.translate(_KINDS)
    hiragana, katakana, traditional, simplified, japanese, other, latin = map(kinds.count, "hktsjcl")
    kana = hiragana + katakana
    characters = kana + traditional + simplified + japanese + other
    if not characters:
        return "en" if latin else default
    # Product pages in Chinese and Japanese are full of Latin names; the other way round is rare.
    if 6 * characters < latin:
        return "en"
    # Chinese pages borrow a kana or two (の) or a name in katakana; Japanese ones are seldom without hiragana.
    if kana >= 0.3 * characters or (hiragana > 1 and hiragana >= 0.07 * characters):
        return "ja"
    if japanese > traditional + simplified and (kana or not traditional + simplified):
        return "ja"
    return "zh-Hans" if simplified > traditional else "zh-Hant"


class _Kinds(dict[int, str]):
    """What a character speaks for, by its code: Hiragana, Katakana, Han (Traditional, Simplified or Japanese alone, or of
    several: c) or Latin; looked at once."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if _HAN.match(letter):
            own = {"t": traditional_only(), "s": simplified_only(), "j": japanese_only()}
            self[code] = next((kind for kind, forms in own.items() if letter in forms), "c")
        elif _KANA.match(letter):
            self[code] = "h" if letter < "\u30a0" else "k"
        else:
            self[code] = "l" if _LATIN.match(letter) else "."
        return self[code]


_KINDS = _Kinds()
