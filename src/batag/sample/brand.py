"""Make up brands, and similar names that are not brands (series, fabrics, technologies)."""

from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import TypeVar

from batag.sample.knobs import KNOBS, Knobs
from batag.sample.lexicon import Rules, read_latin, read_lexicon
from batag.sample.pool import Pool, share, split_of
from batag.sample.template import SLOT

T = TypeVar("T")
Forms = tuple[str, ...]  # the full form first
SHARED = ("tail", "initial", "small", "han", "kanji")  # parts that every split may use


@cache
def brand_pool(language: str, shop: str, split: str) -> Pool[Forms]:
    """The brands of a shop in one split, popular ones first; no brand is in two pools."""
    knobs = KNOBS[language]
    brands = _coined(language, split)[shop]
    if split == "train":
        return Pool(brands[: knobs.brands], flatness=knobs.flatness)
    return Pool(brands, flatness=10 * knobs.flatness)


@cache
def rare_brand_pool(language: str, shop: str) -> Pool[Forms]:
    """The brands of a shop that occur rarely in train, so that a learner meets new brands there too."""
    knobs = KNOBS[language]
    return Pool(_coined(language, "train")[shop][knobs.brands :], flatness=10 * knobs.flatness)


@cache
def name_pool(language: str, split: str) -> Pool[str]:
    """The names of one split that are not brands, made up in the same way."""
    names = [forms[-1] for forms in _coined(language, split)[""]]
    return Pool(names, flatness=10 * KNOBS[language].flatness)


@cache
def _coined(language: str, split: str) -> dict[str, list[Forms]]:
    """Brands by shop, and other names under ""; every spelling belongs to one split, decided by its text alone."""
    knobs = KNOBS[language]
    shops = tuple(read_lexicon(language).kinds)
    random = Random(int.from_bytes(f"{language}/{split}".encode(), "big")).random
    coin = Coiner(read_lexicon(language).brand, split=split, knobs=knobs, random=random)
    size = knobs.brands + knobs.rare_brands if split == "train" else knobs.held_brands
    pools: dict[str, list[Forms]] = {"": [], **{shop: [] for shop in shops}}
    seen = set()
    while any(len(pools[shop]) < size for shop in shops):
        branding = random() < 0.5
        forms, keys = coin(branding=branding)
        owner = _owner(keys[0], shops)
        if branding != bool(owner) or keys[0] in seen or not all(_in_split(key, split) for key in keys):
            continue
        if split == "train" or not any(_shown(form, language) for form in forms):
            seen.add(keys[0])
            pools[owner].append(forms)
    return {shop: forms[: size * (1 if shop else 4)] for shop, forms in pools.items()}


def _shown(form: str, language: str) -> bool:
    """Whether train has this spelling inside a longer one or, in languages without spaces, a part of it."""
    if form.isascii():
        return False
    forms, parts = _native_of_train(language)
    return form in parts or not forms.isdisjoint(_parts(form))


@cache
def _native_of_train(language: str) -> tuple[frozenset[str], frozenset[str]]:
    coined = _coined(language, "train").values()
    forms = frozenset(form for pool in coined for brand in pool for form in brand if not form.isascii())
    return forms, frozenset(part for form in forms for part in _parts(form))


def _parts(form: str) -> set[str]:
    return {form[start:end] for start in range(len(form)) for end in range(start + 2, len(form) + 1)}


def _owner(key: str, shops: tuple[str, ...]) -> str:
    """The shop of a brand, or "" for half of them, which are names that are not brands."""
    place = int(share(key, "owner") * 2 * len(shops))
    return shops[place] if place < len(shops) else ""


def _in_split(word: str, split: str) -> bool:
    return split_of(word, held=0.2, salt="brand") == split


class Coiner:
    """Makes up names; their words are split like the names, so that memorising train does not find them."""

    def __init__(self, parts: Rules, *, split: str, knobs: Knobs, random: Callable[[], float]) -> None:
        self.knobs, self.random = knobs, random
        self.tails, self.native, self.native_name = parts["latin_tail"], parts["native"], parts["native_name"]
        self.ordinary = parts["ordinary"]
        self.parts = {
            name: tuple(word for word in words if name in SHARED or _in_split(word, split)) for name, words in parts.items()
        }
        self.latin = read_latin()

    def __call__(self, *, branding: bool) -> tuple[Forms, Forms]:
        """A name's spellings and the keys that decide where it belongs; additions such as 堂 or LAB are for brands only."""
        chance = self.random()
        knobs = self.knobs
        if chance < knobs.ordinary:
            word = self._one(self.ordinary)
            return (word,), (word,)
        if chance < knobs.ordinary + knobs.native:
            native = self._native(self.native if branding else self.native_name)
            return (native,), (native,)
        latin, han, kana = self._sounds()
        stem, latin = latin, self._dressed(latin, tailed=branding and self.random() < knobs.tailed)
        if chance < knobs.ordinary + knobs.native + knobs.pair:
            other = kana if "kanji" in self.parts else han
            return (f"{latin} {other}", latin, other), (stem, other)
        return (latin,), (stem,)

    def _native(self, patterns: tuple[str, ...]) -> str:
        """Fill a pattern such as `{han}{han}{tail}`."""
        pattern = SLOT.split(self._one(patterns))
        sounds = dict(zip(("latin", "sound", "kana"), self._sounds(), strict=True))
        sounds["latin"] = sounds["latin"].title()
        return "".join(
            part if place % 2 == 0 else sounds[part] if part in sounds else self._one(self.parts[part])
            for place, part in enumerate(pattern)
        )

    def _sounds(self) -> tuple[str, str, str]:
        """A made-up word in Latin letters, in Han and in kana."""
        while True:
            count = 3 if self.random() < self.knobs.three else 2
            parts = [self._one(self.latin.syllables) for _ in range(count)]
            if self.random() < self.knobs.coda:
                parts.append(self._one(self.latin.codas))
            latin, han, kana = ("".join(part[script] for part in parts) for script in range(3))
            if 5 <= len(latin) <= 9 and len(han) <= 3 and latin not in self.latin.never:
                return latin, han, kana

    def _dressed(self, latin: str, *, tailed: bool) -> str:
        """The name in capitals, title case or lower case, now and then with a tail such as LAB."""
        chance = self.random()
        if chance < self.knobs.upper:
            latin = latin.upper()
        elif chance >= self.knobs.upper + self.knobs.small:
            latin = latin.title()
        if tailed:
            tail = self._one(self.tails)
            latin += tail.upper() if latin.isupper() else tail
        return latin

    def _one(self, words: Sequence[T]) -> T:
        return words[int(self.random() * len(words))]
