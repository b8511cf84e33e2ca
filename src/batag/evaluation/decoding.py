"""Turn token probabilities into labels and tags; evaluation and tagging use the same code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from batag.errors import UsageError
from batag.evaluation.calibration import AS_IT_IS, Calibration
from batag.evaluation.operating_point import NAMES, Dial, label_offsets, log_probabilities, parse_richness
from batag.evaluation.tokens import class_numbers
from batag.features.batches import Floats
from batag.labels.alignment import cut_pieces
from batag.labels.scheme import Numbers, Scheme
from batag.pages.page import MODEL, Page, Tag
from batag.pages.stopwords import StopWords
from batag.segmentation.segmentation import TokenizedField

_REMEMBERED = 100
Richness = str | float | None


@dataclass(slots=True)
class Prediction:
    """A tokenized page with label probabilities [L,C] per field. `again` says that the same words were predicted before,
    `by_file` that the language is that of most pages of its file."""

    page: Page
    fields: list[TokenizedField]
    probabilities: list[Floats]
    language: str
    again: bool = False
    by_file: bool = False


@dataclass(frozen=True)
class Decoding:
    """How probabilities become tags: a dial (None for the most probable labels), a calibration, and the stop words by language
    (None to keep all tags)."""

    scheme: Scheme
    dial: Dial | None = None
    calibration: Calibration = AS_IT_IS
    stop_words: Mapping[str, StopWords] = field(default_factory=dict)
    _offsets: dict[float | None, Floats] = field(init=False, repr=False, compare=False, default_factory=dict)

    @cached_property
    def without_stop_words(self) -> Decoding:
        """The same decoding without stop words."""
        return replace(self, stop_words={})

    @cached_property
    def _of_class(self) -> NDArray[np.float64]:
        """A matrix that is 1 where a label belongs to a class."""
        return np.eye(len(self.scheme.classes) + 1)[class_numbers(self.scheme)]

    def offsets(self, richness: Richness) -> Floats | None:
        """The logit offset of each label at a richness (default: balanced); None without operating points."""
        value = parse_richness(richness)
        if value in self._offsets:
            return self._offsets[value]
        if self.dial is None:
            if value is None:
                return None
            todo = "Leave richness out, or train again: without richness it gives the most probable tags"
            raise UsageError(f"this bundle has no operating points for richness {richness}", todo=todo)
        at = self.dial.offsets(NAMES["balanced"] if value is None else value)
        if len(self._offsets) >= _REMEMBERED:
            self._offsets.clear()
        self._offsets[value] = label_offsets(self.scheme, at).astype(np.float32)
        return self._offsets[value]

    def labels_of(self, prediction: Prediction, richness: Richness = None) -> list[NDArray[np.int64]]:
        """The predicted label of each token, one array per field."""
        offsets = self.offsets(richness)
        return [_labels(values, offsets) for values in prediction.probabilities]

    def tags_of(self, prediction: Prediction, richness: Richness = None) -> list[Tag]:
        """The tags of a page: adjacent tokens of one class (flat), or B- and I- labels (bio). The score is the calibrated mean
        probability of the class over the tag's tokens; it does not depend on richness."""
        return self.tags_of_all([prediction], richness)[0]

    def tags_of_all(self, predictions: Sequence[Prediction], richness: Richness = None) -> list[list[Tag]]:
        """The tags of many pages at once, with the same result as one by one."""
        values = [each for prediction in predictions for each in prediction.probabilities if len(each)]
        if not values:
            return [[] for _ in predictions]
        everything = np.concatenate(values)
        begins = [0, *accumulate(map(len, values))]
        first, last, classes = self.scheme.decode_many(_labels(everything, self.offsets(richness)), begins[:-1])
        # Which of the spans are those of each field.
        bounds = iter(pairwise(np.searchsorted(first, begins).tolist()))
        scores = self._scores(everything, first, last + 1, classes)
        kinds = zip((last - first).tolist(), classes.tolist(), scores, strict=True)
        spans = list(zip(first.tolist(), last.tolist(), kinds, strict=True))
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
                    own = [(start - done, end - done, kind) for start, end, kind in spans[low:high]]
                    stop = self.stop_words.get(prediction.language)
                    for start, end, (more, number, score), normal, tokens in cut_pieces(text, each, own, stop_words=stop):
                        if len(tokens) <= more:  # a piece of what was scored as a whole
                            piece = everything[done + tokens.start : done + tokens.stop]
                            (score,) = self._scores(piece, np.array([0]), np.array([len(piece)]), np.array([number]))
                        tags.append(Tag(each.name, start, end, names[number - 1], text[start:end], score, normal, MODEL))
                done += len(each.tokens)
        return found

    def _scores(self, values: Floats, starts: Numbers, ends: Numbers, classes: Numbers) -> list[float]:
        """The calibrated mean probability of a class over each span of tokens."""
        if not len(starts):
            return []
        of_class = np.concatenate((values @ self._of_class, np.zeros((1, self._of_class.shape[1]))))
        sums = np.add.reduceat(of_class, np.stack((starts, ends), axis=1).ravel())[::2][np.arange(len(classes)), classes]
        calibrated: list[float] = self.calibration(sums / (ends - starts)).round(6).tolist()
        return calibrated


def _labels(values: Floats, offsets: Floats | None) -> NDArray[np.int64]:
    found: NDArray[np.int64] = (values if offsets is None else log_probabilities(values) + offsets).argmax(-1)
    return found
