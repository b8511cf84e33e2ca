"""Make up brands that look like those of the lexicon, so that a tagger learns how unknown brands look."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import TypeVar

from batag.sample.lexicon import read_latin
from batag.sample.pool import SPLITS, split_of
from batag.terms.scripts import shown_in

Forms = tuple[str, ...]
T = TypeVar("T")
BRANDS = {"train": 4000, "dev": 600, "test": 600}
HELD = 0.12
TAILS = " Lab| Studio| Home| & Co.| Works| Select| Japan| Design| Living| Sport| Baby| Tech| Kitchen| Beauty| Gear| Pet| Audio"
TAILS += "| Tools"
HAN_TAILS = "堂|坊|屋|家|牌|記|工坊|生活|良品|工房|選物|製菓|本舖|食品|生技|寢具|茶業|製藥|時尚|科技"
KANJI_TAILS = "堂|屋|工房|製作所|本舗|食品|製菓|商店|製薬|化学|産業|園|舎|工業|電機|金属"
FRONTS = "Dr.|Mr.|The |My |La |Le |Pro|i|e|Neo|U-|Mc|O'|St. "
_LATIN, _KANA, _HAN = re.compile("[A-Za-z]{4,11}"), re.compile("[ァ-ヴー]{3,8}"), re.compile("[一-鿿]{2,4}")


class Chain:
    """Texts in the likeness of others: each letter follows as it does there after the letters before it."""

    def __init__(self, texts: Sequence[str], *, order: int, random: Callable[[], float]) -> None:
        self.order, self.random = order, random
        self.texts = frozenset(texts)
        self.next: dict[str, list[str]] = defaultdict(list)
        for text in texts:
            padded = "^" * order + text + "$"
            for place in range(len(text) + 1):
                self.next[padded[place : place + order]].append(padded[place + order])

    def __call__(self, low: int, high: int) -> str:
        """A new text of a length."""
        while True:
            made, state = "", "^" * self.order
            while len(made) <= high:
                letters = self.next[state]
                letter = letters[int(self.random() * len(letters))]
                if letter == "$":
                    break
                made, state = made + letter, (state + letter)[-self.order :]
            if low <= len(made) <= high and made not in self.texts:
                return made


class Coiner:
    """Makes up names in the scripts of a language from the names of its real brands."""

    def __init__(self, language: str, names: Sequence[str], random: Callable[[], float]) -> None:
        self.language, self.random = language, random
        self.known = frozenset(name.lower() for name in names)
        self.latin = Chain([name.lower() for name in names if _LATIN.fullmatch(name)], order=3, random=random)
        self.kana = (
            Chain([name for name in names if _KANA.fullmatch(name)], order=2, random=random) if language == "ja" else None
        )
        han = [name for name in names if _HAN.fullmatch(name)]
        self.han = Chain(han, order=1, random=random) if language != "en" else None
        self.syllables = read_latin()

    def __call__(self) -> tuple[Forms, str]:
        """The forms of a name, and the text that decides its split."""
        chance = self.random()
        if self.language == "en" or chance < 0.5:
            latin, key = self._latin()
            return (latin,), key
        if chance < 0.72:
            latin, han, kana = self._sounds()
            other = kana if self.language == "ja" else shown_in(han, self.language)
            return (self._dressed(latin), other), latin
        native = self._native()
        return (native,), native

    def _native(self) -> str:
        chance = self.random()
        if self.kana and chance < 0.6:
            return self.kana(3, 7)
        assert self.han is not None
        made = self.han(2, 3 if chance < 0.85 else 4)
        if self.random() < 0.3 and len(made) < 4:
            made += self._one((KANJI_TAILS if self.language == "ja" else shown_in(HAN_TAILS, self.language)).split("|"))
        return made

    def _latin(self) -> tuple[str, str]:
        chance = self.random()
        if chance < 0.09:
            letters = "".join("ABCDEFGHIKLMNOPRSTUVXZ"[int(self.random() * 22)] for _ in range(2 + int(self.random() * 3)))
            return (letters if self.random() < 0.85 else f"{letters}{1 + int(self.random() * 9)}"), letters
        word = self.latin(4, 9)
        if chance < 0.16:
            second = self.latin(3, 6)
            return (f"{word.title()}{second.title()}" if chance < 0.125 else f"{word.title()} {second.title()}"), word
        if chance < 0.2:
            front = self._one(FRONTS.split("|"))
            return front + word.title(), word
        made = self._dressed(word)
        if self.random() < 0.1:
            tail = self._one(TAILS.split("|"))
            made += tail.upper() if made.isupper() else tail
        return made, word

    def _sounds(self) -> tuple[str, str, str]:
        """A made-up word in Latin letters, in Han and in kana."""
        while True:
            parts = [self._one(self.syllables.syllables) for _ in range(3 if self.random() < 0.4 else 2)]
            if self.random() < 0.35:
                parts.append(self._one(self.syllables.codas))
            latin, han, kana = ("".join(part[script] for part in parts) for script in range(3))
            if 4 <= len(latin) <= 9 and 2 <= len(han) <= 4:
                return latin, han, kana

    def _dressed(self, word: str) -> str:
        chance = self.random()
        return word.upper() if chance < 0.4 else word if chance < 0.5 else word.title()

    def _one(self, words: Sequence[T]) -> T:
        return words[int(self.random() * len(words))]


@cache
def coined(language: str, split: str, names: tuple[str, ...]) -> tuple[tuple[Forms, ...], tuple[str, ...]]:
    """Made-up brands of a split, and names made up in the same way that are not brands; every name has one split."""
    coin = Coiner(language, names, Random(int.from_bytes(f"{language}/{split}/shops".encode(), "big")).random)
    before = (forms for other in SPLITS[: SPLITS.index(split)] for forms in coined(language, other, names)[0])
    taken = coin.known | {form.lower() for forms in before for form in forms}
    brands: dict[Forms, None] = {}
    others: dict[str, None] = {}
    while len(brands) < BRANDS[split]:
        forms, key = coin()
        if split_of(key, held=HELD, salt="brand") != split or any(form.lower() in taken for form in forms):
            continue
        if split_of(key, held=0.2, salt="owner") == "dev":
            others[forms[0]] = None
        else:
            brands[forms] = None
    return tuple(brands), tuple(others)
