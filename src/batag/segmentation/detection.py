"""Detect the language of a text by its characters."""

import re

from batag.pages.languages import CJK, LANGUAGES
from batag.segmentation.variants import japanese_only, not_japanese, simplified_also_japanese, simplified_only, traditional_only

_KANA = re.compile("[\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a]")
_WORD = re.compile(r"\b[^\W\d_]{3,}\b")
_ENGLISH_WORDS = 3
_LATIN_PER_LETTER = 6
"""A text with more Latin letters than this for each letter of another language is English: pages in all languages are full of
Latin names, but English ones have few foreign letters."""


def possible_languages(text: str) -> tuple[str, ...]:
    """All languages that a text may be in, likeliest first; only one if it is clear. A model number may be in any, characters
    that Chinese and Japanese share in several; Chinese that may be either script counts as Traditional."""
    for row in LANGUAGES.values():
        own = len(re.findall(row.letters, text)) if row.letters else 0
        if own and own >= len(CJK.findall(text)) and _LATIN_PER_LETTER * own >= len(_LATIN.findall(text)):
            return (row.name,)
    kinds = text.translate(_KINDS)
    hiragana, katakana, latin = map(kinds.count, "hkl")
    kana = hiragana + katakana
    traditional, shared_traditional, simplified, shared_simplified, japanese, other = map(kinds.count, "tTsSjc")
    characters = kana + traditional + shared_traditional + simplified + shared_simplified + japanese + other
    if not characters:
        # A few names or a model number occur on pages of all languages.
        english = latin and len(_WORD.findall(text)) >= _ENGLISH_WORDS
        return ("en",) if english else ("en", *(each for each in LANGUAGES if each != "en"))
    # How much speaks against each. Kana on a Chinese page are rare; a Japanese form alone is no sign, it may be a variant.
    foreign = kana + (japanese if kana else 0)
    against = {
        "zh-Hant": simplified + shared_simplified / 2 + foreign,
        "zh-Hans": traditional + shared_traditional + foreign,
        "ja": traditional + simplified,
    }
    least = min(against.values())
    guess = _likeliest(
        hiragana, katakana, traditional + shared_traditional, simplified + shared_simplified, japanese, other, latin
    )
    return (guess, *(each for each in against if against[each] == least and each != guess))


def _likeliest(hiragana: int, katakana: int, traditional: int, simplified: int, japanese: int, other: int, latin: int) -> str:
    """The language of a text with Han characters or kana, by the counts of each kind of character."""
    kana = hiragana + katakana
    characters = kana + traditional + simplified + japanese + other
    # Product pages in Chinese and Japanese are full of Latin names; the other way round is rare.
    if _LATIN_PER_LETTER * characters < latin:
        return "en"
    # Chinese pages borrow a kana or two (の) or a name in katakana; Japanese ones are seldom without hiragana.
    if kana >= 0.3 * characters or (hiragana > 1 and hiragana >= 0.07 * characters):
        return "ja"
    if japanese > traditional + simplified and (kana or not traditional + simplified):
        return "ja"
    return "zh-Hans" if simplified > traditional else "zh-Hant"


class _Kinds(dict[int, str]):
    """A cache of the kind of each character: Hiragana, Katakana, Latin, or Han: only Traditional or Simplified (t, s), these
    and Japanese (T, S), only Japanese (j) or common (c)."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if _HAN.match(letter):
            self[code] = _kind_of_han(letter)
        elif _KANA.match(letter):
            self[code] = "h" if letter < "\u30a0" else "k"
        else:
            self[code] = "l" if _LATIN.match(letter) else "."
        return self[code]


def _kind_of_han(letter: str) -> str:
    if letter in traditional_only():
        return "t" if letter in not_japanese() else "T"
    if letter in simplified_only():
        return "S" if letter in simplified_also_japanese() else "s"
    return "j" if letter in japanese_only() else "c"


_KINDS = _Kinds()
