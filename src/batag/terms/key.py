"""The match key of a tag: texts that name the same thing in another spelling have the same key.

All rules take many texts at once, one per line, so that a whole lexicon has its keys in a fraction of a second.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from batag.terms.amounts import one_amount
from batag.terms.kana import one_kana
from batag.terms.models import one_model
from batag.terms.plural import singular
from batag.terms.scripts import one_script
from batag.terms.signs import no_accents, no_apostrophes, one_case, one_sign, one_space, one_width

Rule = Callable[[str], str]
VERSION = 2
"""The version of the rules; keys in a file are those of one version."""
PLURAL = "plural"
RULES: dict[str, tuple[str, Rule]] = {
    "width": ("full and half width, ㎏ and ① as plain letters (NFKC); ™ and invisible characters go", one_width),
    "case": ("lower case", one_case),
    "accents": ("é as e, ø as o", no_accents),
    "apostrophes": ("Levi’s and Levi's as levis", no_apostrophes),
    "signs": ("other signs as spaces, `and` as &, U.S.A. as usa", one_sign),
    "spaces": ("one space between words, none beside Chinese and Japanese", one_space),
    "amounts": ('50 ML, 50毫升 and 0.05 L as 50ml; 27吋 and 27" as 27in', one_amount),
    "models": ("RG-599 and RG 599 as rg599, T-shirt as tshirt, other hyphens as spaces", one_model),
    "kana": ("りんご as リンゴ, プリンター as プリンタ, ヴァイオリン as バイオリン", one_kana),
    "script": ("Chinese in Traditional characters: 头发 as 頭髮, 面条 as 麵條", one_script),
    PLURAL: ("English words in the singular, unless that is another thing: shoes as shoe, but glasses, news", singular),
}
"""The rules in their order: name, meaning, function of lines."""
_PASSES = 5
_LONGEST = 500
_PLAIN = (
    (re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+"), ("script",)),
    (re.compile("[\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff]+"), ("kana", "script")),
    (re.compile(r"(?!.*\b(?:and|anti|non|multi|semi|[a-z])\b)[a-z]+(?: [a-z]+)*"), (PLURAL,)),
)
"""Texts that most rules leave alone, and the rules that do not: Han characters; these with katakana; English words."""
_ALL = tuple(RULES)
_EVERY_RULE = [rule for _, rule in RULES.values()]
_ENGLISH = re.compile("[a-z]{3}")


@dataclass(frozen=True, slots=True)
class Step:
    """What one rule did to a text."""

    rule: str
    before: str
    after: str


def match_key(text: str, *, plural: bool = True) -> str:
    """The key of one text. It is its own key. Without `plural` (for brands) English plurals stay."""
    return match_keys([text], plural=plural)[0]


def match_keys(texts: Iterable[str], *, plural: bool = True) -> list[str]:
    """The keys of many texts at once."""
    lines, others = _close_keys(texts)
    return _singular_keys(lines, others) if plural else lines


def both_keys(texts: Iterable[str]) -> tuple[list[str], list[str]]:
    """The keys of many texts at once, and those without the rule for plurals."""
    lines, others = _close_keys(texts)
    return _singular_keys(list(lines), others), lines


def _close_keys(texts: Iterable[str]) -> tuple[list[str], list[int]]:
    """The keys without the rule for plurals, and the numbers of those that are not plain."""
    lines = [_one_line(text) for text in texts]
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, line in enumerate(lines):
        groups.setdefault(next((names for kind, names in _PLAIN if kind.fullmatch(line)), _ALL), []).append(number)
    for names, numbers in groups.items():
        rules = [RULES[name][1] for name in names if name != PLURAL]
        _settle(lines, numbers, rules, passes=_PASSES if names is _ALL else 1)
    return lines, groups.get(_ALL, [])


def _singular_keys(lines: list[str], others: list[int]) -> list[str]:
    _settle(lines, [number for number, line in enumerate(lines) if _ENGLISH.search(line)], [singular], passes=1)
    # Without an s a word may be one that other rules know.
    _settle(lines, [number for number in others if _ENGLISH.search(lines[number])], _EVERY_RULE)
    return lines


def steps(text: str) -> list[Step]:
    """What each rule does to a text, in order; rules that change nothing are left out."""
    done: list[Step] = []
    line = _one_line(text)
    for _ in range(_PASSES):
        begun = line
        for name, (_, rule) in RULES.items():
            if (new := rule(line)) != line:
                done.append(Step(name, line, new))
            line = new
        if line == begun:
            break
    return done


def _settle(lines: list[str], numbers: list[int], rules: Sequence[Rule], *, passes: int = _PASSES) -> None:
    """Apply rules to some of the lines until nothing changes: a rule may make something that an earlier one knows."""
    for left in reversed(range(passes if rules else 0)):
        if not numbers:
            return
        before = [lines[number] for number in numbers]
        joined = "\n".join(before)
        for rule in rules:
            joined = rule(joined)
        after = joined.split("\n")
        for number, line in zip(numbers, after, strict=True):
            lines[number] = line
        if not left:
            return
        numbers = [number for number, old, new in zip(numbers, before, after, strict=True) if old != new]


def _one_line(text: str) -> str:
    return text[:_LONGEST].replace("\n", " ").replace("\r", " ")
