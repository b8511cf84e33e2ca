"""What a word may be in a phrase, by its part of speech (Chinese, Japanese) or by lists and endings (English)."""

import re
from enum import IntEnum
from functools import cache, lru_cache

from batag.keywords import english
from batag.pages.languages import LANGUAGES
from batag.pages.stopwords import stop_words
from batag.segmentation.speech import has_han_or_kana, part_of_speech

_LETTER = re.compile(r"[^\W\d_]")
_HIRAGANA = re.compile("[\u3041-\u309f]{1,2}")
_LONGEST = 64


class Kind(IntEnum):
    """Where a word may stand in a phrase."""

    BREAK = 0
    """Nowhere: a function word, a verb."""
    NUMBER = 1
    """Inside only."""
    FRONT = 2
    """Anywhere but at the end: an adjective, a prefix."""
    REAR = 3
    """Inside or at the end, but neither first nor alone: a suffix."""
    PART = 4
    """Anywhere in a phrase of two words or more, but not alone: a Chinese verb that may be a noun, a shop's stop word."""
    NOUN = 5
    """Anywhere, also alone."""


@lru_cache(1 << 17)
def kind_of(word: str, *, language: str) -> Kind:
    """The kind of a word, folded, on a page of that language."""
    if _LETTER.search(word) is None:
        return Kind.NUMBER
    if len(word) > _LONGEST:
        return Kind.BREAK
    segmenter = LANGUAGES[language].segmenter
    if not has_han_or_kana(word):
        return _latin(word, language)
    if segmenter == "chinese":
        return _chinese(word, stop=word in stop_words(language))
    if segmenter == "japanese":
        return _japanese(word, stop=word in stop_words(language))
    return Kind.BREAK if word in stop_words(language) else Kind.NOUN


def _latin(word: str, language: str) -> Kind:
    if language == "en" and word in english.NOUNS:
        return Kind.PART
    if word in _latin_stop_words(language):
        return Kind.BREAK
    if len(word) == 1:
        return Kind.NUMBER
    if language == "en":
        if english.breaks(word):
            return Kind.REAR if english.is_gerund(word) else Kind.BREAK
        return Kind.FRONT if english.cannot_end(word) else Kind.NOUN
    return Kind.NOUN


@cache
def _latin_stop_words(language: str) -> frozenset[str]:
    return stop_words(language) | stop_words("en")


def _chinese(word: str, *, stop: bool) -> Kind:
    tag = part_of_speech(word, segmenter="chinese")
    if tag.startswith(("n", "vn", "an", "j", "l", "i", "s", "eng", "x", "g")):
        return Kind.PART if stop or len(word) == 1 else Kind.NOUN
    if stop or tag.startswith(("t", "m", "q", "d", "p", "c", "u", "r", "y", "e", "o", "z", "f")):
        return Kind.BREAK
    if tag.startswith("v"):
        return Kind.PART if len(word) > 1 else Kind.BREAK
    return Kind.REAR if tag.startswith("k") else Kind.FRONT


def _japanese(word: str, *, stop: bool) -> Kind:
    tag = part_of_speech(word, segmenter="japanese")
    if tag.startswith("名詞/数詞"):
        return Kind.NUMBER
    if tag.startswith("接尾辞/名詞的"):
        return Kind.REAR
    if tag.startswith(("接頭辞", "形状詞")) and not stop:
        return Kind.FRONT
    if not tag.startswith("名詞") or tag.startswith("名詞/助動詞語幹") or _HIRAGANA.fullmatch(word):
        return Kind.BREAK
    return Kind.PART if stop or len(word) == 1 or tag.endswith("副詞可能") else Kind.NOUN
