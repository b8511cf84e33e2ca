"""Compile templates into functions that write a draft piece by piece.

`{rule}` writes one alternative of a rule, `{rule?60}` with a probability of 60 %, `{rule?promo}` with that of the knob `promo`,
`{10..50}` and `{10..50/5}` a number (with a step); the names in `SLOTS` write the content of the page.
"""

import re
from collections.abc import Callable
from functools import partial

from batag.sample.draft import Draft
from batag.sample.knobs import Knobs
from batag.sample.lexicon import Rules

Writer = Callable[[Draft], None]
Item = str | Writer
SLOT = re.compile(r"\{([^{}]+)\}")
RANGE = re.compile(r"(\d+)\.\.(\d+)(?:/(\d+))?")


def _brand(draft: Draft) -> None:
    forms = draft.brand
    draft.tag(forms[int(draft.random() * len(forms))], "brand")


def _brand_in_full(draft: Draft) -> None:
    draft.tag(draft.brand[0], "brand")


SLOTS: dict[str, Writer] = {
    "brand": _brand,  # any form of the page's brand
    "BRAND": _brand_in_full,  # its full form
    "goods": lambda draft: draft.tag(draft.goods, "goods"),
    "head": lambda draft: draft.tag(draft.head, "goods"),
    # Goods that the page mentions but does not sell (an accessory, something to wear it with) are no tags.
    "other": lambda draft: draft.pieces.append(draft.other()),
    "series": lambda draft: draft.pieces.append(draft.series),  # the page's own series; looks like a brand, is none
    "name": lambda draft: draft.pieces.append(draft.name()),  # any other such name: a fabric, a café, a technology
    "s": lambda draft: draft.pieces.append(draft.space),  # a space or nothing
    "_": Draft.end_sentence,  # between sentences
    "*": lambda draft: draft.pieces.append(draft.bullet),  # before a list item
}


class Templates:
    """The compiled rules of a kind; without a brand, alternatives that need one are left out."""

    def __init__(self, rules: Rules, *, knobs: Knobs, branded: bool) -> None:
        self.rules, self.knobs, self.branded = rules, knobs, branded
        self._writers: dict[str, Writer | None] = {}

    def page_writer(self, name: str) -> Writer:
        """The function that writes a whole field."""
        writer = self.writer(name)
        assert writer is not None, f"nothing is left of {name}"
        return writer

    def writer(self, name: str) -> Writer | None:
        """The function that writes a rule, or None if nothing is left of it."""
        if name in self._writers:
            return self._writers[name]
        if name.lower() == "brand" and not self.branded:
            return None
        writer = SLOTS.get(name) or _range(name) or self._rule(name)
        self._writers[name] = writer
        return writer

    def _rule(self, name: str) -> Writer | None:
        assert name in self.rules, f"no rule {name}"
        alternatives = [items for text in self.rules[name] if (items := self._items(text)) is not None]
        if not alternatives:
            return None
        if all(len(items) == 1 and isinstance(items[0], str) for items in alternatives):
            return partial(_write_word, name, tuple(str(items[0]) for items in alternatives))
        return partial(_write_one, name, tuple(alternatives))

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
                items.append(partial(_write_maybe, writer, self._chance(chance)) if chance else writer)
        return tuple(items) or ("",)

    def _chance(self, text: str) -> float:
        return int(text) / 100 * self.knobs.fullness if text.isdigit() else float(getattr(self.knobs, text))


def _write_word(rule: str, words: tuple[str, ...], draft: Draft) -> None:
    draft.pieces.append(words[draft.pick(rule, len(words))])


def _write_one(rule: str, alternatives: tuple[tuple[Item, ...], ...], draft: Draft) -> None:
    for item in alternatives[draft.pick(rule, len(alternatives))]:
        if isinstance(item, str):
            draft.pieces.append(item)
        else:
            item(draft)


def _write_maybe(writer: Writer, chance: float, draft: Draft) -> None:
    if draft.random() < chance:
        writer(draft)


def _write_number(low: int, count: int, step: int, draft: Draft) -> None:
    draft.pieces.append(str(low + step * int(draft.random() * count)))


def _range(name: str) -> Writer | None:
    found = RANGE.fullmatch(name)
    if not found:
        return None
    low, high, step = int(found[1]), int(found[2]), int(found[3] or 1)
    return partial(_write_number, low, (high - low) // step + 1, step)
