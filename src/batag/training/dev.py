"""The pages to measure by: as people labelled them, and as examples in the same order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from batag.encoders.sequence import join_windows, page_words, windows
from batag.evaluation.decoding import Prediction
from batag.evaluation.tokens import class_numbers
from batag.features.batches import Floats
from batag.labels.scheme import Scheme
from batag.pages.page import Page
from batag.segmentation.segmentation import Segmentation, language_of
from batag.training.examples import Example


@dataclass
class Dev:
    """Labelled pages, and their examples: of each page one, or one a window."""

    pages: list[Page] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether a token of it can be scored."""
        return any(label >= 0 for example in self.examples for label in example.labels)

    def fewest_tokens(self, scheme: Scheme) -> int:
        """How many tokens the rarest class has."""
        tokens = Counter(label for example in self.examples for label in example.labels if label >= 0)
        of_class = np.zeros(len(scheme.classes) + 1, dtype=np.int64)
        for label, number in enumerate(class_numbers(scheme).tolist()):
            of_class[number] += tokens[label]
        return int(of_class[1:].min(initial=np.iinfo(np.int64).max))

    def predictions(
        self, found: Iterable[Floats], segmentation: Segmentation, *, window: int, overlap: int, labels: int
    ) -> Iterator[Prediction]:
        """Each page with the probabilities that were found for its examples, as a tagger predicts it."""
        answers = iter(found)
        for page, fields in segmentation.many(self.pages):
            words, starts = page_words(fields)
            seen = [(view, next(answers)) for view in windows(len(words), size=window, overlap=overlap)]
            whole = join_windows(seen, labels=labels)
            parts = [whole[start : start + len(each.tokens)] for each, start in zip(fields, starts, strict=True)]
            yield Prediction(page, fields, parts, language_of(page))
