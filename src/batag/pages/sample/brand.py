"""Coins brands, and names of the same shape that are no brands (series, fabrics, technologies)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from random import Random

from batag.pages.sample.knobs import KNOBS, Knobs
from batag.pages.sample.lexicon import Rules, read_latin, read_lexicon
from batag.pages.sample.pool import Pool, share, split_of
from batag.pages.sample.template import SLOT

Forms = tuple[str, ...]  # the full form first


@cache
def brand_pool(language: str, shop: str, split: str) -> Pool[Forms]:
    """The brands of a shop in one split; no brand is in two pools."""
    knobs = KNOBS[language]
    coined = _coined(language, shop, split, knobs)
    return Pool(list(islice(coined, knobs.brands if split == "train" else knobs.brands // 4)), flatness=knobs.flatness)


@cache
def name_pool(language: str, split: str) -> Pool[str]:
    """The names that are no brands in one split, coined the same way."""
    knobs = KNOBS[language]
    coined = (forms[-1] for forms in _coined(language, "", split, knobs))
    return Pool(list(islice(coined, knobs.names if split == "train" else knobs.names // 4)), flatness=knobs.flatness)


def _coined(language: str, shop: str, split: str, knobs: Knobs) -> Iterator[Forms]:
    """Brands of a shop, or names for shop "": each form belongs to one shop and one split, whoever coined it."""
    random = Random(f"{language}/{shop}/{split}").random
    coin = Coiner(read_lexicon(language).brand, split=split, branding=bool(shop), knobs=knobs, random=random)
    seen = set()
    while True:
        forms, keys = coin()
        if keys[0] not in seen and all(_home(key, language) == (shop, split) for key in keys):
            seen.add(keys[0])
            yield forms


@cache
def _owners(language: str) -> tuple[str, ...]:
    shops = tuple(read_lexicon(language).kinds)
    return ("",) * len(shops) + shops


def _home(key: str, language: str) -> tuple[str, str]:
    owners = _owners(language)
    return owners[int(share(key, "owner") * len(owners))], split_of(key, held=0.2, salt="brand")


class Coiner:
    """Makes up one name after the other; parts that readers would remember (characters, words) are split like the names."""

    def __init__(self, parts: Rules, *, split: str, branding: bool, knobs: Knobs, random: Callable[[], float]) -> None:
        self.knobs, self.random = knobs, random
        self.tails = parts["latin_tail"] if branding else ()
        self.native = parts["native" if branding else "native_name"]
        self.ordinary = parts["ordinary"]
        free = {"tail", "initial"}
        self.parts = {
            name: words if name in free else tuple(word for word in words if split_of(word, held=0.2, salt="part") == split)
            for name, words in parts.items()
        }
        self.syllables, self.codas = read_latin()

    def __call__(self) -> tuple[Forms, Forms]:
        """A name's forms and the keys that decide where it belongs."""
        chance = self.random()
        knobs = self.knobs
        if chance < knobs.ordinary:
            word = self._one(self.ordinary)
            return (word,), (word,)
        if chance < knobs.ordinary + knobs.native:
            native = self._native()
            return (native,), (native,)
        latin, han, kana = self._sounds()
        stem, latin = latin, self._dressed(latin)
        if chance < knobs.ordinary + knobs.native + knobs.pair:
            other = kana if "kana" in self.parts else han
            return (f"{latin} {other}", latin, other), (stem, other)
        return (latin,), (stem,)

    def _native(self) -> str:
        """A pattern such as `{han}{han}{tail}`, filled."""
        pattern = SLOT.split(self._one(self.native))
        sounds = dict(zip(("latin", "sound", "kana"), self._sounds(), strict=True))
        sounds["latin"] = sounds["latin"].title()
        return "".join(
            part if place % 2 == 0 else sounds[part] if part in sounds else self._one(self.parts[part])
            for place, part in enumerate(pattern)
        )

    def _sounds(self) -> tuple[str, str, str]:
        """One coinage as Latin letters, in Han and in kana."""
        while True:
            count = 2 if self.random() < 0.6 else 3
            parts = [self._one(self.syllables) for _ in range(count)]
            if self.random() < 0.35:
                parts.append(self._one(self.codas))
            latin, han, kana = ("".join(part[script] for part in parts) for script in range(3))
            if 4 <= len(latin) <= 9 and len(han) <= 4:
                return latin, han, kana

    def _dressed(self, latin: str) -> str:
        """Capitals, title or lower case, now and then with a tail such as LAB."""
        chance = self.random()
        latin = latin.upper() if chance < 0.4 else latin.title() if chance < 0.9 else latin
        if self.tails and self.random() < 0.1:
            tail = self._one(self.tails)
            latin += tail.upper() if latin.isupper() else tail
        return latin

    def _one(self, words: tuple) -> str:  # type: ignore[type-arg]
        return words[int(self.random() * len(words))]
