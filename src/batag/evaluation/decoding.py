"""Turn rows of probabilities into tags; evaluation and tagging use the same code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from batag.errors import UsageError
from batag.evaluation.calibration import AS_IT_IS, Calibration
from batag.evaluation.operating_point import NAMES, Dial, parse_richness
from batag.evaluation.spans import LEAST, Spans, find_spans
from batag.features.batches import Floats
from batag.labels.alignment import cut_pieces
from batag.labels.scheme import Scheme
from batag.pages.page import MODEL, Page, Tag
from batag.pages.stopwords import StopWords
from batag.segmentation.segmentation import TokenizedField

_REMEMBERED = 100
Richness = str | float | None


@dataclass(slots=True)
class Prediction:
    """A tokenized page with the rows of probabilities of each field's tokens (see `heads`). `again` says that the same words
    were predicted before, `by_file` that the language is that of most pages of its file."""

    page: Page
    fields: list[TokenizedField]
    probabilities: list[Floats]
    language: str
    again: bool = False
    by_file: bool = False


@dataclass(frozen=True)
class Decoding:
    """How probabilities become tags: a dial (None for tags that are more probable than not), a calibration, and the stop words
    by language (None to keep all tags)."""

    scheme: Scheme
    dial: Dial | None = None
    calibration: Calibration = AS_IT_IS
    stop_words: Mapping[str, StopWords] = field(default_factory=dict)
    _least: dict[float | None, NDArray[np.float64]] = field(init=False, repr=False, compare=False, default_factory=dict)

    @cached_property
    def without_stop_words(self) -> Decoding:
        """The same decoding without stop words."""
        return replace(self, stop_words={})

    def least(self, richness: Richness) -> NDArray[np.float64]:
        """The probability from which on a span of each class is a tag, at a richness (default: balanced)."""
        value = parse_richness(richness)
        if value in self._least:
            return self._least[value]
        if self.dial is None:
            if value is not None:
                todo = "Leave richness out, or train again: without richness it gives the tags that are more probable than not"
                raise UsageError(f"this bundle has no operating points for richness {richness}", todo=todo)
            offsets = np.zeros(len(self.scheme.classes))
        else:
            offsets = self.dial.offsets(NAMES["balanced"] if value is None else value)
        if len(self._least) >= _REMEMBERED:
            self._least.clear()
        self._least[value] = np.maximum(1 / (1 + np.exp(offsets)), LEAST)
        return self._least[value]

    def labels_of(self, prediction: Prediction, richness: Richness = None) -> list[NDArray[np.int64]]:
        """The label of each token in the predicted tags, one array per field."""
        values = [each for each in prediction.probabilities if len(each)]
        if not values:
            return [np.zeros(0, dtype=np.int64) for _ in prediction.probabilities]
        begins = [0, *accumulate(map(len, values))]
        labels = self._spans(values, begins, richness).labels(self.scheme, begins[-1])
        ends = accumulate(map(len, prediction.probabilities))
        return [labels[end - len(each) : end] for each, end in zip(prediction.probabilities, ends, strict=True)]

    def _spans(self, values: Sequence[Floats], begins: Sequence[int], richness: Richness) -> Spans:
        found = find_spans(np.concatenate(values), begins[:-1], self.scheme)
        return found[found.probability >= self.least(richness)[found.classes - 1]]

    def tags_of(self, prediction: Prediction, richness: Richness = None) -> list[Tag]:
        """The tags of a page: spans that are probable enough for the richness. The score is the calibrated probability of the
        span, with exactly these borders and this class; it does not depend on richness."""
        return self.tags_of_all([prediction], richness)[0]

    def tags_of_all(self, predictions: Sequence[Prediction], richness: Richness = None) -> list[list[Tag]]:
        """The tags of many pages at once, with the same result as one by one."""
        values = [each for prediction in predictions for each in prediction.probabilities if len(each)]
        if not values:
            return [[] for _ in predictions]
        begins = [0, *accumulate(map(len, values))]
        spans = self._spans(values, begins, richness)
        # Which of the spans are those of each field.
        bounds = iter(pairwise(np.searchsorted(spans.first, begins).tolist()))
        scores = self.calibration(spans.probability).round(6).tolist()
        kinds = zip(spans.classes.tolist(), scores, strict=True)
        listed = list(zip(spans.first.tolist(), spans.last.tolist(), kinds, strict=True))
        found: list[list[Tag]] = []
        names = self.scheme.classes
        done = 0
        for prediction in predictions:
            tags: list[Tag] = []
            found.append(tags)
            for each in prediction.fields:
                if not each.tokens:
                    continue
                low, high = next(bounds)
                if low < high:
                    text = prediction.page[each.name]
                    own = [(start - done, end - done, kind) for start, end, kind in listed[low:high]]
                    stop = self.stop_words.get(prediction.language)
                    for start, end, (number, score), normal, _ in cut_pieces(text, each, own, stop_words=stop):
                        tags.append(Tag(each.name, start, end, names[number - 1], text[start:end], score, normal, MODEL))
                done += len(each.tokens)
        return found
