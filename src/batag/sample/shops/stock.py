"""What the shops of one language sell in one split: brands, goods and features of the lexicon, by group of goods."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from batag.sample.pool import split_of
from batag.sample.shops.coining import Forms, coined
from batag.sample.shops.rules import Groups, read_groups, read_rules
from batag.sample.shops.shelf import Shelf
from batag.terms.lexicon import ANY, BRAND, FEATURE, GOODS, PROMO, Entry, read_lexicon
from batag.terms.scripts import one_script, shown_in

HELD = 0.12
"""The share of brands and of goods that only dev has, and as many that only test has."""
COMMON = 9
"""A last word of more English names than this stands for them too: case, filter."""
VAGUE = frozenset(
    ("set", "kit", "supplies", "device", "accessories", "equipment", "tube", "net", "fish", "sheet", "pack", "tool", "board")
)
_MIXED = re.compile("[A-Za-z]{3}.*[㐀-鿿ァ-ヴ]{2}|[㐀-鿿ァ-ヴ]{2}.*[A-Za-z]{3}")
_KATAKANA = re.compile("[ァ-ヴー]{2}")
_KANA, _HAN = re.compile("[ぁ-んァ-ヴ]"), re.compile("[㐀-鿿]")


@dataclass(frozen=True, kw_only=True)
class Goods:
    """A kind of goods: its names in the language, and the short form of each."""

    id: str
    group: str
    names: tuple[str, ...]
    shorts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Stock:
    """Brands by group and goods by group, those of train first and the split's own second; features by group and kind."""

    language: str
    groups: Groups
    brands: tuple[dict[str, Shelf[Forms]], dict[str, Shelf[Forms]]]
    coined: tuple[tuple[Forms, ...], tuple[Forms, ...]]
    common: tuple[tuple[Forms, ...], tuple[Forms, ...]]
    names: tuple[str, ...]
    goods: tuple[dict[str, tuple[Goods, ...]], dict[str, tuple[Goods, ...]]]
    by_id: dict[str, Goods]
    known: frozenset[str]
    forms: dict[str, Forms]
    held: frozenset[str]
    features: dict[str, dict[str, tuple[str, ...]]]
    promo: tuple[str, ...]


def home(id: str, salt: str) -> str:
    """The split that a brand or a kind of goods belongs to."""
    return split_of(id, held=HELD, salt=f"shops/{salt}")


@cache
def read_stock(language: str, split: str) -> Stock:
    """The stock of a language in a split."""
    groups = read_groups()
    entries: dict[str, list[Entry]] = defaultdict(list)
    for entry in read_lexicon().entries:
        entries[entry.kind].append(entry)
    forms = _forms(language, entries[BRAND])
    goods, known = _goods(language, entries[GOODS])
    own = "train" if split == "train" else split
    names = tuple(name for each in forms.values() for name in each)
    made = [coined(language, each, names) for each in ("train", own)]
    return Stock(
        language=language,
        groups=groups,
        brands=(_brands(language, entries[BRAND], forms, "train"), _brands(language, entries[BRAND], forms, own)),
        coined=(made[0][0], made[1][0]),
        common=(_common(entries[BRAND], forms, "train"), _common(entries[BRAND], forms, own)),
        names=made[1][1],
        goods=(_by_group(goods, "train"), _by_group(goods, own)),
        by_id={each.id: each for each in goods if home(each.id, "goods") in ("train", own)},
        known=known,
        forms={id: each for id, each in forms.items() if home(id, "brand") in ("train", own)},
        held=_held(forms, own),
        features=_features(language, entries[FEATURE], groups),
        promo=tuple(name for entry in entries[PROMO] for name in entry.names.get(language, ())),
    )


def _forms(language: str, brands: Sequence[Entry]) -> dict[str, Forms]:
    """The forms of each brand that shops of a language write, the usual one first."""
    names = [name for entry in brands for name in entry.names[ANY]]
    traditional = dict(zip(names, one_script("\n".join(names)).split("\n"), strict=True))
    chosen: dict[str, Forms] = {}
    for entry in brands:
        own = entry.names[ANY]
        latin = [name for name in own if not _KANA.search(name) and not _HAN.search(name)]
        kana = [name for name in own if _KANA.search(name)]
        han = [name for name in own if _HAN.search(name) and not _KANA.search(name)]
        if language == "zh-Hant":
            native = [name for name in han if traditional[name] == name]
        elif language == "zh-Hans":
            native = [name for name in han if shown_in(name, language) == name] or [
                shown_in(name, language) for name in han[:1]
            ]
        elif language == "ja":
            asian = entry.where.startswith("brands-asia")
            native = kana or [name for name in han[:1] if asian]
        else:
            native = []
        native = [name for name in native if not _MIXED.search(name)]
        forms = tuple(dict.fromkeys(latin[:2] + native[:3]))
        if forms:
            chosen[entry.id] = forms
    return chosen


def _held(forms: dict[str, Forms], own: str) -> frozenset[str]:
    """The forms of brands that only other splits may show."""
    shown, kept = set[str](), set[str]()
    for id, each in forms.items():
        (shown if home(id, "brand") in ("train", own) else kept).update(form.lower() for form in each)
    return frozenset(kept - shown)


def _brands(language: str, entries: Sequence[Entry], forms: dict[str, Forms], split: str) -> dict[str, Shelf[Forms]]:
    members: dict[str, list[Forms]] = defaultdict(list)
    weights: dict[str, list[float]] = defaultdict(list)
    for entry in entries:
        if entry.id in forms and home(entry.id, "brand") == split:
            native = any(_KANA.search(form) if language == "ja" else _HAN.search(form) for form in forms[entry.id])
            asian = entry.where.startswith("brands-asia")
            for group in entry.groups:
                members[group].append(forms[entry.id])
                weights[group].append(_weight(language, asian=asian, native=native))
    return {group: Shelf(members[group], weights[group]) for group in members}


def _common(entries: Sequence[Entry], forms: dict[str, Forms], split: str) -> tuple[Forms, ...]:
    """Brands that are ordinary words too."""
    marked = (
        (forms[entry.id], {name for _, name in entry.marked})
        for entry in entries
        if entry.id in forms and home(entry.id, "brand") == split
    )
    return tuple(own for own, names in marked if not names.isdisjoint(own))


def _weight(language: str, *, asian: bool, native: bool) -> float:
    """How often shops of a language sell a brand, roughly."""
    if language == "en":
        return 1 if asian else 3
    return 4 if native and asian else 3 if native else 1


def _goods(language: str, entries: Sequence[Entry]) -> tuple[list[Goods], frozenset[str]]:
    spaced = language == "en"
    named = [(entry, entry.names[language]) for entry in entries if language in entry.names]
    known = frozenset(name.lower() for _, names in named for name in names)
    heads = frozenset(read_rules(language)["style"]["heads"].split("|")) - {""}
    if spaced:
        last = Counter(name.rpartition(" ")[2].lower() for _, names in named for name in names)
        heads = frozenset(word for word, count in last.items() if count > COMMON and len(word) > 2 and word not in VAGUE)
    fronts = Counter(name[:at] for _, names in named for name in names for at in range(2, len(name) - 1) if name[at:] in known)
    ordered = tuple(sorted(heads, key=lambda head: (-len(head), head)))
    goods = []
    for entry, names in named:
        shorts = tuple(_short(name, known, spaced=spaced, fronts=fronts, heads=ordered) for name in names)
        goods.append(Goods(id=entry.id, group=entry.groups[0], names=names, shorts=shorts))
    return goods, known


def _short(name: str, known: frozenset[str], *, spaced: bool, fronts: Counter[str], heads: tuple[str, ...]) -> str:
    """The longest end of a name that is itself the name of goods or a word that ends many, or the name; kana are parted only
    where others are too."""
    if spaced:
        ends = (name[found.end() :] for found in re.finditer(" ", name))
    else:
        ends = (name[at:] for at in range(2, len(name) - 1) if not _KATAKANA.match(name, at - 1) or fronts[name[:at]] > 2)
    found = next((end for end in ends if end.lower() in known), name)
    if found == name:
        return next((name[-len(head) :] for head in heads if len(head) < len(name) and _ends(name, head, spaced=spaced)), name)
    return found


def _ends(name: str, head: str, *, spaced: bool) -> bool:
    return name.lower().endswith(f" {head}" if spaced else head)


def _by_group(goods: Sequence[Goods], split: str) -> dict[str, tuple[Goods, ...]]:
    chosen: dict[str, list[Goods]] = defaultdict(list)
    for each in goods:
        if home(each.id, "goods") == split:
            chosen[each.group].append(each)
    return {group: tuple(members) for group, members in chosen.items()}


def _features(language: str, entries: Sequence[Entry], groups: Groups) -> dict[str, dict[str, tuple[str, ...]]]:
    """Names of features by group of goods and kind; the kind f has all, as often as its kind is written for the group."""
    by_id = {entry.id: entry for entry in entries}
    made: dict[str, dict[str, tuple[str, ...]]] = {}
    for group, row in groups.rows.items():
        kinds = {
            kind: tuple(name for id in ids for name in _written(by_id[id], language))
            for kind, ids in row.features(entries).items()
        }
        made[group] = kinds
    return made


def _written(entry: Entry, language: str) -> tuple[str, ...]:
    """The names of a feature that can stand beside goods: the usual one twice as often."""
    names = entry.names.get(language, ())
    return tuple(name for name in (*names[:1], *names) if language == "en" or len(name) > 1)


def chooser(stock: Stock, group: str, random: Callable[[], float]) -> Callable[[str], str]:
    """The function that names a feature of a kind for goods of a group."""
    features, kinds = stock.features[group], stock.groups.rows[group].kinds
    own = {*kinds.members, "made"}
    last = ""

    def choose(kind: str) -> str:
        nonlocal last
        if kind not in own:
            kind = kinds.draw(random())
            if kind == last and kind != "function":
                kind = kinds.draw(random())
        last = kind
        names = features[kind]
        return names[int(random() * len(names))]

    return choose
