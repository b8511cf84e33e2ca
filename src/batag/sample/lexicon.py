"""The words and page templates of a language, read from its TOML file."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

Rules = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class Group:
    """Modifiers and heads that can be combined freely."""

    modifiers: tuple[str, ...]
    heads: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of product of one shop: its goods and the rules of its pages."""

    goods: tuple[Group, ...]
    rules: Rules


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """The parts of made-up brands, and the kinds of products of every shop."""

    brand: Rules
    kinds: Mapping[str, tuple[Kind, ...]]


Syllable = tuple[str, str, str]  # Latin letters, Han, kana


@dataclass(frozen=True, kw_only=True)
class Latin:
    """Syllables of made-up Latin names, their endings, and existing names to avoid."""

    syllables: tuple[Syllable, ...]
    codas: tuple[Syllable, ...]
    never: frozenset[str]


@cache
def read_latin() -> Latin:
    """The syllables of made-up Latin names, for all languages."""
    data = _read("latin.toml")
    return Latin(
        syllables=_syllables(data["syllables"]), codas=_syllables(data["codas"]), never=frozenset(data["never"].split())
    )


def _syllables(text: str) -> tuple[Syllable, ...]:
    rows = (row.split("/") for row in text.split())
    return tuple((latin, han, kana) for latin, han, kana in rows)


@cache
def read_lexicon(language: str) -> Lexicon:
    """The lexicon of one of `LANGUAGES`; rules of a kind override those of its shop, which override the shared ones."""
    data = _read(language.lower().replace("-", "_") + ".toml")
    shared = _rules(data["rules"])
    kinds = {}
    for shop, section in data["shop"].items():
        of_shop = {**shared, **_rules(section["rules"])}
        kinds[shop] = tuple(_kind(values, of_shop) for values in section["kind"].values())
    return Lexicon(brand=_rules(data["brand"]), kinds=kinds)


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("batag.sample").joinpath(name).read_text(encoding="utf-8"))


def _kind(values: Mapping[str, Any], of_shop: Rules) -> Kind:
    own = _rules({rule: value for rule, value in values.items() if rule != "goods"})
    return Kind(goods=tuple(map(_group, values["goods"].strip().split("\n"))), rules={**of_shop, **own})


def _group(line: str) -> Group:
    modifiers, heads = line.split(" > ")
    return Group(modifiers=tuple(modifiers.split("|")), heads=tuple(heads.split("|")))


def _rules(section: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {name: _alternatives(value) for name, value in section.items()}


def _alternatives(value: str | list[str]) -> tuple[str, ...]:
    """The alternatives of a rule: a list, a text with one per line, or a single line separated by bars."""
    if isinstance(value, list):
        return tuple(value)
    return tuple(value.strip("\n").split("\n")) if "\n" in value else tuple(value.split("|"))
