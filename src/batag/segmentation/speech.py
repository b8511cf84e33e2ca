"""Part of speech and normal form of a word, from the segmenters' dictionaries."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

import rjieba
from sudachipy.errors import SudachiError

from batag.segmentation.chinese import simplify
from batag.segmentation.japanese import Japanese, tokenizer

_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = re.compile("[\u3040-\u30ff]")
_LONGEST = 64


def has_han_or_kana(text: str) -> bool:
    return bool(_HAN.search(text) or _KANA.search(text))


def parts_of_speech(word: str) -> tuple[str, ...]:
    """Names such as `zh:nz`, `ja:名詞/固有名詞/地名`. A word that a dictionary knows only in pieces has those of its first and
    last piece. Han words are looked up in both dictionaries, because their language is unknown; Latin words have none."""
    if not has_han_or_kana(word):
        return ()
    asked = word[:_LONGEST].encode(errors="replace").decode()
    return (*_named("zh", _chinese(asked) if _HAN.search(word) else []), *_named("ja", _japanese(asked)))


@lru_cache(65_536)
def normal_form(word: str) -> str:
    """The normal form of a word with several spellings in the Japanese dictionary (林檎 for りんご and リンゴ); else the word
    itself."""
    if not has_han_or_kana(word):
        return word
    try:
        found = tokenizer("normalized_form").tokenize(word[:_LONGEST].encode(errors="replace").decode())
    except SudachiError:
        return word
    return str(found[0].normalized_form()) if len(found) == 1 else word


def words_around(characters: Sequence[str]) -> list[tuple[str, str]]:
    """For tokens that are single characters: the dictionary word around each, and its position there (B, I, E or S)."""
    text = "".join(characters).encode(errors="replace").decode()
    found: list[tuple[str, str]] = []
    start = 0
    for end in _ends(text):
        word = text[start:end][:_LONGEST]
        places = "B" + "I" * (end - start - 2) + "E" if end - start > 1 else "S"
        found += ((word, place) for place in places)
        start = end
    return found


def _ends(text: str) -> list[int]:
    if _KANA.search(text):
        return Japanese().cut(text)
    return list(accumulate(len(word) for word in rjieba.cut(simplify(text))))


def _named(language: str, parts: list[str]) -> tuple[str, ...]:
    if len(parts) == 1:
        return (f"{language}:{parts[0]}",)
    return (f"{language}:pieces", f"{language}:first={parts[0]}", f"{language}:last={parts[-1]}") if parts else ()


def _chinese(word: str) -> list[str]:
    return [part for _, part in rjieba.tag(simplify(word))]


def _japanese(word: str) -> list[str]:
    try:
        found = tokenizer("pos").tokenize(word)
    except SudachiError:
        return []
    return ["new/" * morpheme.is_oov() + "/".join(morpheme.part_of_speech()[:3]) for morpheme in found]


@lru_cache(65_536)
def part_of_speech(word: str, *, segmenter: str) -> str:
    """The part of speech of the last piece of a word in the dictionary of a segmenter (`chinese`: vn, `japanese`:
    名詞/普通名詞/一般); empty if the segmenter has no dictionary."""
    asked = word[:_LONGEST].encode(errors="replace").decode()
    found = _chinese(asked) if segmenter == "chinese" else _japanese(asked) if segmenter == "japanese" else []
    return found[-1].removeprefix("new/") if found else ""
