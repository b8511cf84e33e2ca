"""Write the description of a page: sentences, points, a list of facts, as text or as HTML."""

from collections.abc import Mapping
from typing import Any

from batag.pages.page import Tag
from batag.sample.shops.grammar import Grammar
from batag.sample.shops.sheet import Sheet

LAYOUTS = (
    ("", "", ""),
    ("<p>", "</p>", ""),
    ("<ul>\n<li>", "</li>\n</ul>", "</li>\n<li>"),
    ("", "", "<br>"),
    ("<div>", "</div>", "<br />\n"),
)
PROSE, OWN = 0.5, 0.85
"""Lines above these shares of the rest are free prose, and prose of the group of goods."""


def write_description(sheet: Sheet, rules: Grammar, styles: Mapping[str, Any]) -> tuple[str, list[Tag]]:
    """The text and tags of a description."""
    random = sheet.random
    case, sheet.case = sheet.case, ""
    markup = random() < 0.2
    kind = random()
    lines = 1 + int(random() * random() * 9)
    if kind < 0.45:
        rule, gap = "sentence", ("\n", styles["gap"], styles["gap"])[int(random() * 3)]
    elif kind < 0.75:
        rule, gap = "point", "\n"
    else:
        rule, gap = "fact", ("\n", "\n", styles["comma"])[int(random() * 3)]
        lines += 2
    start, end, between = LAYOUTS[1 + int(random() * 4)] if markup else LAYOUTS[0]
    gap = between or gap
    bullet = sheet.one(tuple(styles["bullets"])) if rule == "point" and "li" not in between else ""
    sheet.put(start)
    for number in range(lines):
        if number:
            sheet.put(gap)
        if bullet:
            sheet.put(bullet)
        _line(sheet, rules, rule)
    if rule != "sentence" and random() < 0.4:
        sheet.put(gap)
        _line(sheet, rules, "sentence")
    elif rule == "sentence" and random() < 0.3:
        sheet.put("\n" if gap != between else gap)
        for number in range(2 + int(random() * 3)):
            if number:
                sheet.put(gap if between else "\n")
            _line(sheet, rules, "fact")
    sheet.put(end)
    made = sheet.close("description", escape=markup)
    sheet.case = case
    return made


def _line(sheet: Sheet, rules: Grammar, rule: str) -> None:
    """A line of a kind; now and then, sentences that any kind of page may have."""
    chance = sheet.random()
    if sheet.devices and chance < 0.3:
        rule = "fit_sentence"
    elif rule == "sentence" and chance > PROSE:
        rule = "own" if chance > OWN else "prose"
    elif rule == "point" and chance > PROSE:
        rule = "bullet"
    rules[rule](sheet)
