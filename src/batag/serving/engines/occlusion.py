"""Why a tag is one: each token near it is replaced in turn by a word that nobody knows, and the tag's score counted again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from batag.encoders.sequence import page_words
from batag.evaluation.decoding import Prediction
from batag.evaluation.operating_point import NAMES
from batag.evaluation.spans import find_spans
from batag.features.batches import Floats
from batag.labels.scheme import Scheme
from batag.pages.page import Page, Tag
from batag.serving.problem import Problem
from batag.settings import settings
from batag.tagging.tagger import Tagger

UNKNOWN = "\u25a1"
"""The word in place of a token: a white square, which is no word in any language."""


def explain(tagger: Tagger, page: Page, place: tuple[str, int, int, str]) -> dict[str, Any]:
    """The tag at this place and the score of exactly this tag without each of the nearest tokens."""
    (prediction,) = tagger.predict_all([page])
    richest = None if tagger.dial is None else NAMES["rich"]
    tag = next(
        (tag for tag in tagger.tags_of(prediction, richest) if (tag.field, tag.start, tag.end, tag.label) == place), None
    )
    if tag is None:
        todo = "Send field, start, end and label of a tag that /v1/tag gave for this page"
        raise Problem("wrong-value", "the page has no such tag at any richness", where="tag", todo=todo)
    number = [field.name for field in prediction.fields].index(tag.field)
    own = tagger.labels.index(tag.label) + 1
    span = _span(prediction, number, tag, tagger.scheme, own)
    words, starts = page_words(prediction.fields)
    tokens = _tokens_of(prediction, starts)
    field = starts[number]
    first, last = field + span[0], field + span[1]
    # A page that is longer than a window is looked at in one window around the tag.
    low, high = _window(len(words), first, last, size=tagger.bundle.description.window)
    near = sorted((row for row in tokens if low <= row < high), key=lambda row: (max(first - row, row - last, 0), row))
    near = sorted(near[: settings.serve_explain_tokens])
    views = [words[low:high], *([*words[low:row], UNKNOWN, *words[row + 1 : high]] for row in near)]
    begin, end = max(field, low), min(field + len(prediction.fields[number].tokens), high)
    raw = [
        span_probability(each[begin - low : end - low], tagger.scheme, first - begin, last - begin, own)
        for each in tagger.engine.probabilities(views)
    ]
    scores = tagger.calibration(np.array(raw)).round(6).tolist()
    listed = [
        {
            "field": name,
            "start": start,
            "end": end,
            "text": page[name][start:end],
            "inside": first <= row <= last,
            "score": score,
            "change": round(scores[0] - score, 6),
        }
        for row, score in zip(near, scores[1:], strict=True)
        for name, start, end in (tokens[row],)
    ]
    return {"score": scores[0], "tokens_of_page": len(tokens), "tag": tag.to_dict(), "tokens": listed}


def _span(prediction: Prediction, number: int, tag: Tag, scheme: Scheme, own: int) -> tuple[int, int]:
    """The tokens of a field that a tag was made of: markup inside may have parted them into several tags."""
    origins = prediction.fields[number].origins
    inside = {row for row, (start, end) in enumerate(origins) if start < tag.end and tag.start < end}
    spans = find_spans(prediction.probabilities[number], [0], scheme)
    made_of = [
        (int(first), int(last))
        for first, last, kind in zip(spans.first, spans.last, spans.classes, strict=True)
        if kind == own and inside & {*range(first, last + 1)}
    ]
    return made_of[0]


def _tokens_of(prediction: Prediction, starts: Sequence[int]) -> dict[int, tuple[str, int, int]]:
    """The place of each token in the page, by its row among the page's words."""
    return {
        start + row: (field.name, *origin)
        for field, start in zip(prediction.fields, starts, strict=True)
        for row, origin in enumerate(field.origins)
    }


def _window(words: int, first: int, last: int, *, size: int) -> tuple[int, int]:
    """As many words around the tag as one window has."""
    if words <= size:
        return 0, words
    low = min(max((first + last - size) // 2, 0), words - size)
    return low, low + size


def span_probability(values: Floats, scheme: Scheme, first: int, last: int, own: int) -> float:
    """The probability that exactly these tokens of a text are a tag of the class `own` (from 1)."""
    labels = len(scheme.labels)
    kinds = [own] if scheme.name == "flat" else [2 * own - 1, 2 * own]
    inside = kinds[-1]

    def onward(place: int, before: int) -> float:
        """The probability that a token continues the tag, if the one before has this label."""
        if not 0 < place < len(values):
            return 0.0
        return float(values[place, labels + before - 1] if values.shape[1] > labels else values[place, inside])

    now = {label: float(values[first, label]) for label in kinds}
    if first:
        now[inside] = max(0.0, now[inside] - sum(float(values[first - 1, before]) * onward(first, before) for before in kinds))
    for place in range(first + 1, last + 1):
        now = {inside: sum(probability * onward(place, label) for label, probability in now.items())}
    return sum(probability * (1 - onward(last + 1, label)) for label, probability in now.items())
