"""Write the pages of the shops from one stream of random numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from random import Random
from typing import TypeVar

from batag.pages.page import Page, Tag
from batag.sample.shops.coining import Forms
from batag.sample.shops.description import write_description
from batag.sample.shops.ledger import Ledger
from batag.sample.shops.rules import grammar, read_rules
from batag.sample.shops.sheet import Sheet, plural
from batag.sample.shops.stock import Goods, Stock, chooser, read_stock

T = TypeVar("T")
LANGUAGES = ("zh-Hant", "zh-Hans", "ja", "en")
OWN_BRANDS, OWN_GOODS = 0.55, 0.4
"""How often dev and test show brands and goods of their own."""
BRANDLESS, UNTITLED, MADE_UP, ELSEWHERE, PARTS, FITS, UNDER = 0.07, 0.03, 0.34, 0.03, 0.25, 0.8, 0.6
"""Pages without a brand, without it in the title, with one that is made up, of another group; parts of something, and
those whose page says what they fit; brands with another brand under them that is written too."""


LONG, SPEC, FITTING, COMMON, SECOND, AGAIN = 0.5, 0.2, 0.9, 0.15, 0.1, 0.8
"""Titles with all that shops write; those that name parts and things beside the goods too, and of catalogues; titles of
parts that say what they fit; brands that are ordinary words; brands with any other brand behind them; titles that are
written again if they are short or lack their brand."""


def shop_pages(language: str, *, pages: int, split: str, seed: int) -> Iterator[Page]:
    """Yield pages of a split of the shops of a language."""
    number = int.from_bytes(sha256(f"shops/{language}/{split}/{seed}".encode()).digest()[:8], "big")
    # Of Random only random() is used: it alone is promised to be the same in every Python.
    clerk = Clerk(read_stock(language, split), Random(number).random, split)
    for place in range(pages):
        yield clerk.page(place)


class Clerk:
    """Writes the pages of all shops of a language."""

    def __init__(self, stock: Stock, random: Callable[[], float], split: str) -> None:
        self.stock, self.random, self.split = stock, random, split
        self.ledger = Ledger(stock, split)
        self.styles = read_rules(stock.language)["style"]
        self.shops = tuple(stock.groups.shops)
        self.choosers = {group: chooser(stock, group, random) for group in stock.groups.rows}
        loose = tuple(sorted(self.styles["loose"].split("|"), key=len, reverse=True))
        self.sheet = Sheet(random, name=self._name, promo=self._promo, known=stock.known, loose=loose, held=stock.held)
        self.fits = {id: fit for fit in stock.groups.fits for id in fit.goods}
        self.parts = tuple(
            {group: tuple(each for each in members if each.id in self.fits) for group, members in shelves.items()}
            for shelves in stock.goods
        )
        self.parents = {stock.forms[id]: subs for id, subs in stock.groups.parents.items() if id in stock.forms}

    def page(self, place: int) -> Page:
        """The next page."""
        random, sheet = self.random, self.sheet
        shop = self._one(self.shops)
        group = self._one(self.stock.groups.shops[shop])
        goods = self._goods(group)
        self._sell(goods)
        branded = random() >= BRANDLESS
        sheet.brand, sheet.sub = self._brand(group) if branded else ((), ())
        self._fit(goods)
        sheet.second = self._one(self._goods(group).names)
        sheet.feature, sheet.other = self.choosers[group], lambda: self._other(goods)
        sheet.rival = lambda: self._one(self._forms(group, coined=0.2))
        self._style()
        titled = branded and random() >= UNTITLED
        title, tags = self._title(group, titled)
        while random() < AGAIN and self._poor(title, tags, titled):
            title, tags = self._title(group, titled)
        sheet.turn(page=False)
        fields = {"title": title}
        rules = grammar(self.stock.language, group, branded)
        if random() >= float(self.styles["untold"]):
            fields["description"], more = write_description(sheet, rules, self.styles)
            tags += more
        id = f"{self.stock.language}-{self.split}-{shop}-{place:06d}"
        extra = self.ledger.columns(place, title=title, shop=shop, group=group, goods=goods, brand=sheet.brand)
        return Page(id, fields, language=self.stock.language, shop=shop, tags=tuple(tags), labelled=True, extra=extra)

    def _title(self, group: str, titled: bool) -> tuple[str, list[Tag]]:
        self.sheet.turn()
        chance = self.random()
        rule = "long" if chance < LONG else "spec" if chance < LONG + SPEC else "title"
        if self.sheet.devices and self.random() < FITTING:
            rule = "fit_title"
        rules = grammar(self.stock.language, group, titled)
        (rules.writer(rule) or rules["title"])(self.sheet)
        return self.sheet.close("title")

    def _poor(self, title: str, tags: list[Tag], titled: bool) -> bool:
        """Whether a title is shorter than most, or lacks a brand that it should have."""
        return len(title) < self.styles["least"] or (titled and all(tag.label != "brand" for tag in tags))

    def _sell(self, goods: Goods) -> None:
        random, sheet = self.random, self.sheet
        names = goods.names
        place = 0 if random() < 0.5 else int(random() * len(names))
        name, short = names[place], goods.shorts[place]
        sheet.synonyms = names if len(names) == 1 else names[:place] + names[place + 1 :]
        if self.stock.language == "en" and random() < 0.2:
            name = plural(name)
        if self.stock.language == "en" and random() < 0.25:
            short = plural(short)
        sheet.goods, sheet.short = name, short

    def _goods(self, group: str) -> Goods:
        own = self.split != "train" and self.random() < OWN_GOODS
        parts = self.parts[own].get(group, ())
        return self._one(parts if parts and self.random() < PARTS else self.stock.goods[own][group])

    def _brand(self, group: str) -> tuple[Forms, Forms]:
        random = self.random
        forms = self._forms(group, coined=MADE_UP)
        sub: Forms = ()
        if forms in self.parents and random() < UNDER:
            sub = self.stock.forms.get(self._one(self.parents[forms]), ())
        elif random() < SECOND:
            sub = self._forms(group, coined=0.0)
        native = [form for form in forms if not form.isascii()]
        latin = [form for form in forms if form.isascii()]
        first, second = (latin, native) if random() < 0.5 else (native, latin)
        chosen = [self._first(each) for each in (first, second) if each]
        if len(chosen) > 1 and random() < 0.3:
            chosen.pop()
        chance = random()
        if chance < 0.06:
            chosen = [form.upper() for form in chosen]
        elif chance < 0.08:
            chosen = [form.lower() for form in chosen]
        return tuple(chosen), sub

    def _first(self, forms: list[str]) -> str:
        return forms[0] if self.random() < 0.75 else forms[int(self.random() * len(forms))]

    def _forms(self, group: str, *, coined: float) -> Forms:
        random, stock = self.random, self.stock
        own = self.split != "train" and random() < OWN_BRANDS
        if random() < coined:
            return self._one(stock.coined[own])
        if random() < COMMON and stock.common[own]:
            return self._one(stock.common[own])
        shelves = stock.brands[own]
        kinds = stock.groups.rows[group].brands
        kind = self._one(tuple(shelves)) if random() < ELSEWHERE else kinds[int(random() * random() * len(kinds))]
        return shelves[kind if kind in shelves else next(iter(shelves))].draw(random())

    def _fit(self, goods: Goods) -> None:
        """For a part, choose what it fits."""
        sheet, stock = self.sheet, self.stock
        sheet.makers = sheet.devices = sheet.kinds = ()
        fit = self.fits.get(goods.id)
        if fit is not None and self.random() < FITS:
            maker, sheet.devices = self._one([device for device in fit.devices if device[0] in stock.forms])
            sheet.makers = stock.forms[maker]
            sheet.kinds = tuple(name for id in fit.kinds if id in stock.by_id for name in stock.by_id[id].names)

    def _style(self) -> None:
        random, sheet = self.random, self.sheet
        sheet.tight = random() < float(self.styles["tight"])
        sheet.sign = self._one(tuple(self.styles["signs"]))
        sheet.case = self._one(tuple(self.styles["cases"]))

    def _other(self, goods: Goods) -> str:
        """Goods that the page does not sell."""
        while True:
            group = goods.group if self.random() < 0.96 else self._one(tuple(self.stock.groups.rows))
            other = self._one(self._goods(group).names)
            if other not in self.sheet.goods and self.sheet.short not in other:
                return other

    def _name(self) -> str:
        return self._one(self.stock.names)

    def _promo(self) -> str:
        return self._one(self.stock.promo)

    def _one(self, members: Sequence[T]) -> T:
        return members[int(self.random() * len(members))]
