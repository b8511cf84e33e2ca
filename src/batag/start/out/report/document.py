"""The whole document: head, switch of languages, sections."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from pathlib import Path

from batag.start.out.report import background, sections
from batag.start.out.report.data import ReportData
from batag.start.out.report.text import plain
from batag.start.out.report.words import LANGUAGES, opening_language, read_words, say

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_SECTIONS = (
    *(sections.figures, sections.coverage, sections.lengths, sections.most_frequent, sections.new_brands),
    *(sections.tagged_pages, sections.dial, sections.to_review, sections.missing),
    *(background.problems, background.notes, background.made, background.next_steps),
)


@cache
def _style() -> str:
    return Path(__file__).with_name("style.css").read_text(encoding="utf-8")


def document(data: ReportData, *, language: str | None = None) -> str:
    """The report as HTML."""
    opens = opening_language(language, data.facts.language)
    shop = plain(data.facts.shop, 120)
    # The choice of a language is a radio button before everything else: it works without a script.
    choices = "".join(
        f'<input type="radio" name="language" id="in-{each}" class="choice"{" checked" if each == opens else ""} '
        f'aria-label="{name}">'
        for each, name in LANGUAGES.items()
    )
    switch = "".join(f'<label for="in-{each}" lang="{each}">{name}</label>' for each, name in LANGUAGES.items())
    bundle = f" · {say('header.bundle', bundle=data.facts.bundle)}" if data.facts.bundle else ""
    title = read_words(opens)["title"].replace("{shop}", shop)
    first, second, third, *rest = (make(data) for make in _SECTIONS)
    body = "".join([first, f'<div class="pair">{second}{third}</div>', *rest])
    return (
        f'<!doctype html>\n<html lang="{opens}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
        f'<meta name="robots" content="noindex"><meta name="referrer" content="no-referrer"><title>{title}</title>'
        f'<style>{_style()}</style></head>\n<body>{choices}<div class="sheet"><header class="top"><div>'
        f'<p class="kind">{say("header.kind")}</p><h1 dir="auto">{shop}</h1>'
        f'<p class="quiet">{plain(data.date, 40)}{bundle}</p></div>'
        f'<nav class="switch">{switch}</nav></header>\n<main>{body}</main>\n'
        f'<footer class="quiet">{say("footer", version=version("batag"))}</footer></div></body></html>\n'
    )
