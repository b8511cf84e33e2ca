"""What a shop's database has of a page beside its texts: number, brand, category and price, as shops write them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from random import Random
from typing import Any, TypeVar

from batag.sample.pool import SPLITS
from batag.sample.shops.coining import Forms
from batag.sample.shops.sheet import cased
from batag.sample.shops.stock import Goods, Stock

T = TypeVar("T")
FORGOTTEN, UNKNOWN, EMPTY = 0.05, 0.02, 0.55
"""Pages with a brand whose column is empty, or says that there is none; the pages without a brand whose column is empty."""
WHOLE, SHORT = 0.6, 0.85
"""The goods whose category ends in their name, and (above that) in its short form; the others have no category of their own."""
RATES = {"zh-Hant": 32.0, "zh-Hans": 7.2, "ja": 150.0, "en": 1.0}


@cache
def read_table() -> dict[str, Any]:
    """The table of names of columns and categories, and of prices."""
    return tomllib.loads(files("batag.sample.shops").joinpath("ledger.toml").read_text(encoding="utf-8"))


class Ledger:
    """Keeps the columns of a shop of one language. It has random numbers of its own, so that the texts do not depend on it."""

    def __init__(self, stock: Stock, split: str) -> None:
        self.language, self.split = stock.language, split
        self.table = read_table()
        every = (*stock.forms.values(), *stock.coined[0], *stock.coined[1])
        self.forms: dict[str, Forms] = {}
        for forms in every:
            for form in forms:
                self.forms.setdefault(form.lower(), forms)

    def columns(self, place: int, *, title: str, shop: str, group: str, goods: Goods, brand: Forms) -> dict[str, str]:
        """The columns of a page, the `place`-th of its split, that writes the brand in these forms."""
        random = _random(f"{self.language}/{place}/{title}")
        return {
            "sku": f"{shop[:2].upper()}{1 + SPLITS.index(self.split)}{place:06d}",
            "brand": self._brand(brand, random),
            "category": self._category(group, goods),
            "price": self._price(group, random),
        }

    def _brand(self, brand: Forms, random: Callable[[], float]) -> str:
        chance = random()
        nothing = _one(self.table["no_brand"][self.language], random)
        if not brand:
            return "" if chance < EMPTY else nothing
        if chance < FORGOTTEN + UNKNOWN:
            return "" if chance < FORGOTTEN else nothing
        forms = self.forms.get(brand[0].lower(), brand)
        latin = next((form for form in forms if form.isascii()), "")
        native = next((form for form in forms if not form.isascii()), "")
        if self.language == "en" or not (latin and native):
            return forms[0]
        # By the brand alone: a shop writes each brand in one way.
        pattern: str = _one(self.table["brand"][self.language[:2]], _random(f"{self.language}/{forms}"))
        return "".join({"L": latin, "N": native}.get(letter, letter) for letter in pattern)

    def _category(self, group: str, goods: Goods) -> str:
        above: str = self.table["group"][group][self.language]
        chance = _random(goods.id)()
        leaf = goods.names[0] if chance < WHOLE else goods.shorts[0] if chance < SHORT else ""
        return f"{above} > {cased(leaf, 'title')}" if leaf else above

    def _price(self, group: str, random: Callable[[], float]) -> str:
        low, high = self.table["group"][group]["price"]
        chance = random()
        # Only sums and products: unlike powers they are the same on every machine.
        amount = (low + (high - low) * chance * chance * chance) * RATES[self.language]
        if self.language == "en":
            return f"{int(amount)}.{_one(('99', '99', '95', '00', '49'), random)}"
        if self.language == "zh-Hans":
            return f"{amount:.0f}" if random() < 0.5 else f"{int(amount)}.{_one(('9', '90', '00', '8'), random)}"
        return str(int(amount) // 10 * 10 + (9 if self.language == "zh-Hant" and random() < 0.6 else 0))


def _random(key: str) -> Callable[[], float]:
    return Random(int.from_bytes(sha256(f"ledger/{key}".encode()).digest()[:8], "big")).random


def _one(members: Sequence[T], random: Callable[[], float]) -> T:
    return members[int(random() * len(members))]
