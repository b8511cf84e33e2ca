"""Bars and columns as HTML and SVG, with every number as text beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from batag.start.out.report.text import plain
from batag.start.out.report.words import number, percent, say

_BINS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50, 100)
_HEIGHT, _WIDTH, _STEP = 140, 36, 44


def bars(rows: Iterable[tuple[str, int]], *, of: int, kind: str = "", share: bool = False) -> str:
    """Horizontal bars: the name (as HTML), the number and, with `share`, its part of `of`; without, the longest is full."""
    listed = list(rows)
    longest = of if share else max((count for _, count in listed), default=0)
    made = []
    for name, count in listed:
        width = 100 * count / longest if longest else 0
        text = f"<b>{percent(count, of)}</b> <i>{number(count)}</i>" if share else f"<b>{number(count)}</b>"
        made.append(
            f'<li><span class="name" dir="auto">{name}</span><span class="track"><span class="bar {kind}" '
            f'style="width:{width:.2f}%"></span></span><span class="value">{text}</span></li>'
        )
    return f'<ol class="bars{" shares" if share else ""}">{"".join(made)}</ol>'


def histogram(lengths: Counter[int]) -> str:
    """Columns of pages by number of tags."""
    bins = _binned(lengths)
    most = max((count for _, count in bins), default=0) or 1
    width = len(bins) * _STEP
    parts = []
    for place, (name, count) in enumerate(bins):
        height = max(_HEIGHT * count / most, 1.5 if count else 0)
        x, y = place * _STEP + (_STEP - _WIDTH) / 2, _HEIGHT - height
        middle = place * _STEP + _STEP / 2
        parts.append(
            f'<rect x="{x:.1f}" y="{y + 20:.1f}" width="{_WIDTH}" height="{height:.1f}" rx="3"/>'
            f'<text x="{middle:.1f}" y="{y + 14:.1f}" class="count">{number(count) if count else ""}</text>'
            f'<text x="{middle:.1f}" y="{_HEIGHT + 38}">{plain(name)}</text>'
        )
    spoken = ", ".join(f"{name}: {count}" for name, count in bins)
    return (
        f'<figure class="histogram"><svg viewBox="0 0 {width} {_HEIGHT + 46}" role="img" aria-label="{plain(spoken)}" '
        f'style="max-width:{width}px">{"".join(parts)}</svg><figcaption>{say("lengths.axis")}</figcaption></figure>'
    )


def _binned(lengths: Counter[int]) -> list[tuple[str, int]]:
    longest = max(lengths, default=0)
    last = next((place for place, start in enumerate(_BINS) if start >= longest), len(_BINS) - 1)
    found: list[tuple[str, int]] = []
    for place, start in enumerate(_BINS[: last + 1]):
        end = _BINS[place + 1] - 1 if place < last else longest
        count = sum(pages for length, pages in lengths.items() if start <= length <= max(end, start))
        found.append((f"{start}" if end <= start else f"{start}–{end}", count))
    return found


def chips(texts: Sequence[str], *, kind: str = "") -> str:
    """Short texts (as HTML) one beside the other."""
    return f'<ul class="chips">{"".join(f"<li class={chr(34)}{kind}{chr(34)}>{each}</li>" for each in texts)}</ul>'
