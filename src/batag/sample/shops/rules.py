"""Read the tables of the shops: groups of goods, parts and the devices they fit, and the rules of each language."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from batag.sample.lexicon import _rules as alternatives
from batag.sample.shops.grammar import Grammar
from batag.sample.shops.shelf import Shelf
from batag.terms.lexicon import Entry
from batag.terms.scripts import shown_in

LIMITED = ("function", "material", "size", "flavour")


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Parts and the devices that they fit: ids of goods, makers and names."""

    goods: tuple[str, ...]
    kinds: tuple[str, ...]
    devices: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A group of goods: its shop, the groups of its brands, and what kinds of features it has."""

    shop: str
    brands: tuple[str, ...]
    kinds: Shelf[str]
    limits: Mapping[str, frozenset[str]]

    def features(self, entries: Sequence[Entry]) -> dict[str, list[str]]:
        """The ids of the group's features by kind."""
        chosen: dict[str, list[str]] = {}
        for entry in entries:
            kind = "made" if entry.id.startswith("made-in") else entry.groups[0]
            if kind != "unit" and (kind not in self.limits or entry.id in self.limits[kind]):
                chosen.setdefault(kind, []).append(entry.id)
        return chosen


@dataclass(frozen=True, kw_only=True)
class Groups:
    """All groups of goods, the groups of each shop, parts that fit devices, and brands with the brands under them."""

    rows: Mapping[str, Row]
    shops: Mapping[str, tuple[str, ...]]
    fits: tuple[Fit, ...]
    parents: Mapping[str, tuple[str, ...]]


@cache
def read_groups() -> Groups:
    """The tables that all languages share."""
    data = tomllib.loads(_text("groups.toml"))
    rows, shops = {}, {}
    for shop, groups in data["shop"].items():
        shops[shop] = tuple(groups)
        for group, row in groups.items():
            kinds = [kind.partition(":") for kind in row["kinds"].split()]
            rows[group] = Row(
                shop=shop,
                brands=tuple(row["brands"].split()),
                kinds=Shelf([kind for kind, _, _ in kinds], [float(weight or 1) for _, _, weight in kinds]),
                limits={kind: frozenset(row[f"{kind}s"].split()) for kind in LIMITED if f"{kind}s" in row},
            )
    fits = tuple(
        Fit(
            goods=tuple(fit["goods"].split()),
            kinds=tuple(fit["kinds"].split()),
            devices=tuple(map(_devices, fit["devices"].strip().split("\n"))),
        )
        for fit in data["fit"]
    )
    parents = {parent: tuple(subs.split(" | ")) for parent, subs in data["parents"].items()}
    return Groups(rows=rows, shops=shops, fits=fits, parents=parents)


def _devices(line: str) -> tuple[str, tuple[str, ...]]:
    maker, _, names = line.partition(": ")
    return maker, tuple(names.split(" | "))


@cache
def read_rules(language: str) -> dict[str, Any]:
    """The rules of a language; Simplified Chinese has those of Traditional Chinese where it has none of its own."""
    data = tomllib.loads(_text(f"{language.lower().replace('-', '_')}.toml"))
    if language == "zh-Hans":
        other = tomllib.loads(shown_in(_text("zh_hant.toml"), language))
        data["group"] = {name: rules | data.get("group", {}).get(name, {}) for name, rules in other["group"].items()}
        data["rules"] = other["rules"] | data["rules"]
    return data


@cache
def grammar(language: str, group: str, branded: bool) -> Grammar:
    """The compiled rules of a group of goods."""
    data = read_rules(language)
    return Grammar(alternatives({**data["rules"], **data["group"].get(group, {})}), branded=branded)


def _text(name: str) -> str:
    return files("batag.sample.shops").joinpath(name).read_text(encoding="utf-8")
