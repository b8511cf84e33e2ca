"""Compile the rules of a language into functions that write a sheet piece by piece.

`{rule}` writes one alternative of a rule, `{rule?60}` with a probability of 60 %, `{@rule}` the same as before on this page,
`{10..50}` and `{10..50/5}` a number (with a step), `{=Intel}` that brand (unless another split holds it);
the names in `SLOTS` and `FEATURES` write what the page sells.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial

from batag.sample.shops.sheet import TIGHT, Sheet, plural

Writer = Callable[[Sheet], None]
Item = str | Writer
Rules = Mapping[str, tuple[str, ...]]
SLOT = re.compile(r"\{([^{}]+)\}")
RANGE = re.compile(r"(\d+)\.\.(\d+)(?:/(\d+))?")
ELSEWHERE = re.compile(r"\{(other|gift|rival)\b")
NEEDS_BRAND = frozenset({"brand", "b1", "b2", "both", "BR", "BRAND"})
BESIDE = frozenset({"bit0", "thing0", "stuff0"})
"""Rules of words that may be goods elsewhere."""
REPEATED = BESIDE | {"other", "name", "word", "line", "series", "pname", "part"}
"""What is no tag and a page may say again, so that not everything that is said twice is a tag."""
AGAIN = 0.35
FEATURES = (
    "f", "colour", "material", "pattern", "size", "fit", "gender",
    "age", "season", "scent", "flavour", "function", "style", "made",
)  # fmt: skip


def _any_goods(sheet: Sheet) -> None:
    chance = sheet.random()
    sheet.put(sheet.short if chance < 0.5 else sheet.goods if chance < 0.8 else sheet.one(sheet.synonyms), "goods")


def _big_goods(sheet: Sheet) -> None:
    text = sheet.short if sheet.random() < 0.6 else sheet.goods
    sheet.put(text[:1].upper() + text[1:], "goods")


def _many_goods(sheet: Sheet) -> None:
    text = sheet.short if sheet.random() < 0.7 else sheet.one(sheet.synonyms)
    sheet.put(plural(text) if text.isascii() else text, "goods")


def _head(sheet: Sheet) -> None:
    """The last word of the goods, as people call them when the kind is clear."""
    text = sheet.short.rpartition(" ")[2]
    sheet.put(text if text.isalpha() and text.isascii() and len(text) > 2 else sheet.short, "goods")


def _capitals(sheet: Sheet) -> None:
    sheet.put((sheet.short if sheet.random() < 0.6 else sheet.goods).upper(), "goods")


def _some_brand(sheet: Sheet) -> None:
    sheet.put(sheet.brand[0] if sheet.random() < 0.6 else sheet.one(sheet.brand), "brand")


def _both(sheet: Sheet) -> None:
    for place, form in enumerate(sheet.brand):
        if place:
            sheet.put(" ")
        sheet.put(form, "brand")


def _second_goods(sheet: Sheet) -> None:
    written = {piece.lower() for piece in sheet.pieces}
    others = tuple(name for name in (*sheet.synonyms, sheet.short) if name.lower() not in written)
    if others:
        sheet.put(sheet.one(others), "goods")


SLOTS: dict[str, Writer] = {
    "brand": _some_brand,  # any form of the page's brand
    "b1": lambda sheet: sheet.put(sheet.brand[0], "brand"),
    "b2": lambda sheet: sheet.put(sheet.brand[-1], "brand"),  # its form in another script, if it has one
    "both": _both,
    "sub": lambda sheet: sheet.put(sheet.one(sheet.sub), "brand") if sheet.sub else None,
    "goods": lambda sheet: sheet.put(sheet.goods, "goods"),
    "syn": _second_goods,  # another name of the goods, or nothing
    "short": lambda sheet: sheet.put(sheet.short, "goods"),
    "any": _any_goods,
    "Any": _big_goods,
    "ANY": _capitals,
    "many": _many_goods,  # more than one of them
    "head": _head,
    "BRAND": lambda sheet: sheet.put(sheet.one(sheet.brand).upper(), "brand"),
    # Goods and names that are no tags: gifts, accessories, series.
    "other": lambda sheet: sheet.put(sheet.other()),
    "name": lambda sheet: sheet.put(sheet.name()),
    "rival": lambda sheet: sheet.put(sheet.rival(), "brand"),  # another maker that the page mentions
    "maker": lambda sheet: sheet.put(sheet.one(sheet.makers), "brand"),  # the maker of the device that a part fits
    "device": lambda sheet: sheet.put(sheet.one(sheet.devices)),
    "devicekind": lambda sheet: sheet.put(sheet.one(sheet.kinds)) if sheet.kinds else None,
    "second": lambda sheet: sheet.put(sheet.second, "goods"),  # what else the page sells, in a set
    "s": lambda sheet: sheet.put(TIGHT),
    "-": lambda sheet: sheet.put(sheet.sign),
    "promoword": lambda sheet: sheet.put(sheet.promo()),
    "bar": lambda sheet: sheet.put("|"),
    **{kind: partial(lambda kind, sheet: sheet.put(sheet.feature(kind), "feature"), kind) for kind in FEATURES},
}


class Grammar:
    """The compiled rules of one group of goods; without a brand, alternatives that need one are left out."""

    def __init__(self, rules: Rules, *, branded: bool) -> None:
        self.rules, self.branded = rules, branded
        self._writers: dict[str, Writer | None] = {}

    def __getitem__(self, name: str) -> Writer:
        writer = self.writer(name)
        assert writer is not None, f"nothing is left of {name}"
        return writer

    def writer(self, name: str) -> Writer | None:
        """The function that writes a rule, or None if nothing is left of it."""
        if name not in self._writers:
            self._writers[name] = self._make(name)
        return self._writers[name]

    def _make(self, name: str) -> Writer | None:
        if name in NEEDS_BRAND and not self.branded:
            return None
        if name[0] == "@":
            write = self.writer(name[1:])
            return write and partial(_write_again, name[1:], write)
        if name in REPEATED:
            once = partial(_write_beside, self.rules[name]) if name in BESIDE else SLOTS.get(name) or self._rule(name)
            return once and partial(_write_maybe_again, f"?{name}", once)
        if name[0] == "=":
            return partial(_write_known, name[1:])
        if name == "free":
            return partial(_write_free, self.rules[name])
        if name == "BR":
            one, two = self["brand1"], self["brand2"]
            return lambda sheet: two(sheet) if len(sheet.brand) > 1 else one(sheet)
        return SLOTS.get(name) or _range(name) or self._rule(name)

    def _rule(self, name: str) -> Writer | None:
        assert name in self.rules, f"no rule {name}"
        alternatives = []
        for text in self.rules[name]:
            if (items := self._items(text)) is not None:
                # Other goods are rarely mentioned.
                alternatives += [items] * (1 if ELSEWHERE.search(text) else 2)
        return partial(_write_one, name, tuple(alternatives)) if alternatives else None

    def _items(self, text: str) -> tuple[Item, ...] | None:
        """The literals and writers of one alternative, or None if a required part is missing."""
        items: list[Item] = []
        for place, part in enumerate(SLOT.split(text)):
            if place % 2 == 0:
                if part:
                    items.append(part)
                continue
            name, _, chance = part.partition("?")
            writer = self.writer(name)
            if writer is None and not chance:
                return None
            if writer is not None:
                items.append(partial(_write_maybe, writer, int(chance) / 100) if chance else writer)
        return tuple(items)


def _write_one(rule: str, alternatives: tuple[tuple[Item, ...], ...], sheet: Sheet) -> None:
    for item in alternatives[sheet.pick(rule, len(alternatives))]:
        if isinstance(item, str):
            sheet.pieces.append(item)
        else:
            item(sheet)


def _write_beside(words: tuple[str, ...], sheet: Sheet) -> None:
    """A part or a thing beside the goods, which is no name of theirs."""
    names = " ".join((sheet.goods, sheet.short, *sheet.synonyms)).lower()
    for _ in range(5):
        word = sheet.one(words)
        if word.lower() not in names:
            sheet.pieces.append(word)
            return
    sheet.pieces.append(sheet.name())


def _write_free(words: tuple[str, ...], sheet: Sheet) -> None:
    """A free attribute that stands right before the goods."""
    sheet.put(words[sheet.pick("free", len(words))], "feature")


def _write_known(name: str, sheet: Sheet) -> None:
    """A brand that the rule names: of a component or a material."""
    if name.lower() not in sheet.held:
        sheet.put(name, "brand")


def _write_maybe(writer: Writer, chance: float, sheet: Sheet) -> None:
    if sheet.random() < chance:
        writer(sheet)


def _write_maybe_again(key: str, writer: Writer, sheet: Sheet) -> None:
    """Now and then, what the page has said before."""
    if sheet.random() >= AGAIN:
        sheet.memory.pop(key, None)
    sheet.remember(key, writer)


def _write_again(rule: str, writer: Writer, sheet: Sheet) -> None:
    sheet.remember(rule, writer)


def _write_number(low: int, count: int, step: int, sheet: Sheet) -> None:
    sheet.pieces.append(str(low + step * int(sheet.random() * count)))


def _range(name: str) -> Writer | None:
    found = RANGE.fullmatch(name)
    if not found:
        return None
    low, high, step = int(found[1]), int(found[2]), int(found[3] or 1)
    return partial(_write_number, low, (high - low) // step + 1, step)
