"""A page with its tags coloured in its text, each label with a colour and a mark of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from batag.pages.page import Page, Tag
from batag.segmentation.detection import possible_languages
from batag.start.out.report.text import loose, plain
from batag.start.out.report.words import say

_FIELD, _PAGE = 420, 900
_TAG = 120
_MARKUP = re.compile(r"<[^<>]{1,300}>")
_COLOURS = 6


def label_class(label: str, labels: Sequence[str]) -> str:
    """The CSS class of a label: its colour and mark."""
    return f"l{labels.index(label) % _COLOURS}" if label in labels else f"l{_COLOURS - 1}"


def language_of(page: Page) -> str:
    """The language of a page for `lang`: as given, or as its letters show it."""
    found = possible_languages(" ".join(text[:400] for text in page.fields.values()))
    return page.language or (page.usual_language if page.usual_language in found else None) or found[0]


def shown_page(page: Page, labels: Sequence[str], *, unsure: Iterable[Tag] = ()) -> str:
    """The fields of a page as HTML with its tags marked; of a long field the beginning. Tags of `unsure` are marked so."""
    doubtful = {(tag.label, tag.canonical or tag.text) for tag in unsure}
    room, parts = _PAGE, []
    for place, (name, text) in enumerate(page.fields.items()):
        if not text.strip() or room <= 0:
            continue
        most = min(room, _FIELD)
        tags = sorted((tag for tag in page.tags if tag.field == name), key=lambda tag: tag.start)
        parts.append(
            f'<p class="{"title" if place == 0 else "more"}" dir="auto">{_marked(text, tags, labels, most, doubtful)}</p>'
        )
        room -= min(len(text), most)
    return f'<div class="text" lang="{plain(language_of(page), 20)}">{"".join(parts)}</div>'


def _marked(text: str, tags: Sequence[Tag], labels: Sequence[str], most: int, doubtful: set[tuple[str, str]]) -> str:
    # It ends neither inside a tag nor, if it can be helped, inside a word.
    end = len(text) if len(text) <= most * 1.2 else most
    end = max([end, *(min(tag.end, tag.start + _TAG) for tag in tags if tag.start < end < tag.end)])
    made, done = [], 0
    for tag in tags:
        if tag.start < done or tag.start >= end:
            continue
        made += [dimmed(text[done : tag.start]), mark(tag, labels, doubtful=(tag.label, tag.canonical or tag.text) in doubtful)]
        done = tag.end
    made.append(dimmed(text[done:end]))
    left = len(text) - max(end, done)
    return "".join(made) + (f' <span class="left">{say("pages.left", count=left)}</span>' if left > 0 else "")


def mark(tag: Tag, labels: Sequence[str], *, doubtful: bool = False) -> str:
    """One tag in its text."""
    score = "" if tag.score is None else f" {tag.score:.2f}"
    meant = f" → {tag.canonical}" if tag.canonical and tag.canonical != tag.text else ""
    title = plain(f"{tag.label}{score}{meant}", 200)
    kind = f"{label_class(tag.label, labels)}{' unsure' if doubtful else ''}"
    return f'<mark class="{kind}" title="{title}">{plain(tag.text, _TAG)}</mark>'


def dimmed(text: str) -> str:
    """Text between tags, with HTML shown as the text that it is, but pale."""
    made, done = [], 0
    for found in _MARKUP.finditer(text):
        made += [loose(text[done : found.start()]), f'<span class="markup">{plain(found[0])}</span>']
        done = found.end()
    return "".join([*made, loose(text[done:])])
