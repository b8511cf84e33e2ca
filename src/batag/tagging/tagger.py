"""Pages to tags: segmentation, engine, labels to spans, spans to tags cut from the original page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batag.bundles.bundle import Bundle, check_classes, read_bundle
from batag.bundles.description import Description
from batag.encoders.batches import Floats
from batag.encoders.sequence import Window, page_words, windows
from batag.engines import WITHOUT_TORCH
from batag.engines.choice import choose_engine, chosen_engine
from batag.engines.engine import Engine
from batag.errors import BatagError, InputError, UsageError
from batag.evaluation.calibration import Calibration
from batag.evaluation.operating_point import NAMES, Dial, label_offsets, log_probabilities, parse_richness
from batag.evaluation.tokens import class_numbers
from batag.labels.alignment import cut_pieces
from batag.labels.scheme import Numbers
from batag.pages.language import LANGUAGES
from batag.pages.page import MODEL, Page, Tag
from batag.pages.problems import Problems
from batag.pages.record import RecordReader
from batag.pages.stopwords import StopWords
from batag.pages.stopwords import stop_words as words_of
from batag.segmentation.segmentation import TokenizedField
from batag.settings import settings

_BATCH = 256
_REMEMBERED = 100
AnyPage = Page | Mapping[str, Any]
Richness = str | float | None
Known = dict[tuple[str, ...], Floats]
"""What an engine said of the words of a window."""


class Tags(list[Tag]):
    """The tags of one page, every occurrence by position; `error` says why a page could not be tagged."""

    def __init__(self, tags: Iterable[Tag] = (), *, error: str | None = None) -> None:
        super().__init__(tags)
        self.error = error


@dataclass(slots=True)
class Prediction:
    """A page in tokens with the probabilities of each token's labels [L,C], one array a field; `again` says that its words were
    asked for before, `by_file` that its language is that of most pages of its file."""

    page: Page
    fields: list[TokenizedField]
    probabilities: list[Floats]
    language: str
    again: bool = False
    by_file: bool = False


class Tagger:
    """Tags pages with one bundle."""

    def __init__(
        self,
        bundle: Bundle,
        *,
        engine: str | Engine = "auto",
        device: str = "auto",
        stop_words: str | Path | Iterable[str | Path] = (),
        threads: int | None = None,
    ) -> None:
        self.bundle = bundle
        self.scheme = bundle.scheme
        check_classes(bundle.description, bundle.folder)
        self.segmentation = bundle.segmentation
        points = [point.model_dump() for point in bundle.description.operating_points.points]
        self.dial = Dial.of_facts(points, self.scheme.classes) if points else None
        self.calibration = Calibration.of_facts(bundle.description.calibration.model_dump())
        self.engine = (
            chosen_engine(bundle, wanted=engine, device=device, threads=threads) if isinstance(engine, str) else engine
        )
        self._offsets: dict[float | None, Floats] = {}
        columns = class_numbers(self.scheme)
        self._of_class = np.eye(len(self.scheme.classes) + 1)[columns]
        self._class_of = {name: number for number, name in enumerate(self.scheme.classes, 1)}
        more = (stop_words,) if isinstance(stop_words, (str, Path)) else tuple(stop_words)
        self._options = {"engine": engine, "device": device, "stop_words": more, "threads": threads}
        self._stop_words = {each: StopWords(words_of(each, more=more)) for each in LANGUAGES}

    @classmethod
    def load(cls, folder: Path | str, **options: Any) -> Tagger:
        """The tagger of a bundle's (or a finished run's) folder, with the fastest engine that it has here, or the one named.

        It uses one thread (or those of the settings), or as many `threads` as are asked for; torch's own number stays.
        """
        engine = options.get("engine", "auto")
        name = choose_engine(folder, wanted=engine, device=options.get("device", "auto")) if isinstance(engine, str) else ""
        return cls(read_bundle(folder, layers=name not in WITHOUT_TORCH), **options)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, here or in another process, is loaded again from the same folder."""
        return _load_again, (self.bundle.folder.resolve(), self.bundle.description, self._options)

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes of its tags."""
        return self.scheme.classes

    def offsets(self, richness: Richness) -> Floats | None:
        """What is added to the logit of each label at a richness; balanced if none is said, None without operating points."""
        value = parse_richness(richness)
        if value in self._offsets:
            return self._offsets[value]
        if self.dial is None:
            if value is None:
                return None
            todo = "Leave richness out, or train again: the bundle gives the most probable tags"
            raise UsageError(f"this bundle has no operating points for richness {richness}", todo=todo)
        at = self.dial.offsets(NAMES["balanced"] if value is None else value)
        if len(self._offsets) >= _REMEMBERED:
            self._offsets.clear()
        self._offsets[value] = label_offsets(self.scheme, at).astype(np.float32)
        return self._offsets[value]

    def tag(self, page: AnyPage, richness: Richness = None) -> list[Tag]:
        """The tags of one page, every occurrence by position; a page that cannot be tagged is an error."""
        tags = next(self.tag_many([page], richness=richness))
        if tags.error is not None:
            raise InputError(tags.error, todo="docs/tagging.md says what a page is")
        return tags

    def tag_many(self, pages: Iterable[AnyPage], richness: Richness = None) -> Iterator[Tags]:
        """The tags of each page, in order; a page that cannot be tagged has none and says why in `error`."""
        self.offsets(richness)  # a richness that cannot be is said before the first page is asked for
        iterator = iter(pages)
        while batch := list(islice(iterator, _BATCH)):
            read = [self._read(page) for page in batch]
            tagged = iter(self.tags_of_all(self.predict_all([page for page in read if isinstance(page, Page)]), richness))
            for page in read:
                yield Tags(next(tagged)) if isinstance(page, Page) else Tags(error=page)

    def predict(self, pages: Iterable[Page]) -> Iterator[Prediction]:
        """Each page in tokens with probabilities; `tags_of` and `labels_of` say what follows."""
        iterator = iter(pages)
        while batch := list(islice(iterator, _BATCH)):
            yield from self.predict_all(batch)

    def labels_of(self, prediction: Prediction, richness: Richness = None) -> list[NDArray[np.int64]]:
        """The label of each token, one array a field."""
        offsets = self.offsets(richness)
        return [_labels(values, offsets) for values in prediction.probabilities]

    def tags_of(self, prediction: Prediction, richness: Richness = None) -> list[Tag]:
        """Neighbouring tokens of one class (or B- and I-) as tags. The score is the mean probability of the class over the
        tokens of the tag, calibrated: it does not move with richness."""
        return self.tags_of_all([prediction], richness)[0]

    def tags_of_all(self, predictions: Sequence[Prediction], richness: Richness = None) -> list[list[Tag]]:
        """The tags of many pages at once, the same as of each."""
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
            for field in prediction.fields:
                if not field.tokens:
                    continue
                low, high = next(bounds)
                if low < high:
                    text = prediction.page[field.name]
                    own = [(start - done, end - done, kind) for start, end, kind in spans[low:high]]
                    stop = self._stop_words[prediction.language]
                    for start, end, (more, number, score), normal, tokens in cut_pieces(text, field, own, stop_words=stop):
                        if len(tokens) <= more:  # a piece of what was scored as a whole
                            piece = everything[done + tokens.start : done + tokens.stop]
                            (score,) = self._scores(piece, np.array([0]), np.array([len(piece)]), np.array([number]))
                        tags.append(Tag(field.name, start, end, names[number - 1], text[start:end], score, normal, MODEL))
                done += len(field.tokens)
        return found

    def raw_score(self, prediction: Prediction, tag: Tag) -> float:
        """The score of a tag before calibration."""
        for field, values in zip(prediction.fields, prediction.probabilities, strict=True):
            if field.name == tag.field:
                inside = [n for n, (start, end) in enumerate(field.origins) if start < tag.end and tag.start < end]
                return float((values[inside] @ self._of_class)[:, self._class_of[tag.label]].mean())
        raise KeyError(tag.field)

    def _scores(self, values: Floats, starts: Numbers, ends: Numbers, classes: Numbers) -> list[float]:
        """The calibrated mean probability of a class between two places, for each pair of places."""
        if not len(starts):
            return []
        of_class = np.concatenate((values @ self._of_class, np.zeros((1, self._of_class.shape[1]))))
        sums = np.add.reduceat(of_class, np.stack((starts, ends), axis=1).ravel())[::2][np.arange(len(classes)), classes]
        calibrated: list[float] = self.calibration(sums / (ends - starts)).round(6).tolist()
        return calibrated

    def predict_all(self, pages: Sequence[Page], *, known: Known | None = None) -> list[Prediction]:
        """Many pages at once: like lengths go through the engine together; what is `known` is not asked for again, and what is
        asked for is known then."""
        size, overlap = self.bundle.description.window, self.bundle.description.overlap
        cut = self.segmentation.tokenize(pages)
        answers: Known = {} if known is None else known
        # The same words again (variants of one product) are asked for once.
        asked: dict[tuple[str, ...], None] = {}
        views: list[tuple[list[int], tuple[str, ...] | list[tuple[Window, tuple[str, ...]]], bool]] = []
        for each in cut:
            words, starts = page_words(each.fields)
            before = len(asked)
            if 0 < len(words) <= size:
                key = tuple(words)
                if key not in answers:
                    asked[key] = None
                views.append((starts, key, len(asked) == before))
                continue
            own = [(view, tuple(words[view.start : view.stop])) for view in windows(len(words), size=size, overlap=overlap)]
            asked.update((key, None) for _, key in own if key not in answers)
            views.append((starts, own, len(asked) == before))
        new = list(asked)
        answers.update(zip(new, self.engine.probabilities(new), strict=True))
        predictions = []
        for each, (starts, seen, again) in zip(cut, views, strict=True):
            whole = answers[seen] if isinstance(seen, tuple) else self._together(seen, answers)
            parts = (
                [whole]
                if starts == [0]
                else [whole[start : start + len(field.tokens)] for field, start in zip(each.fields, starts, strict=True)]
            )
            predictions.append(Prediction(each.page, each.fields, parts, each.language, again, each.by_file))
        return predictions

    def _together(self, seen: Sequence[tuple[Window, tuple[str, ...]]], answers: Known) -> Floats:
        """A page that was read in windows, as one."""
        length = seen[-1][0].last if seen else 0
        whole = np.zeros((length, len(self.scheme.labels)), dtype=np.float32)
        for view, words in seen:
            whole[view.first : view.last] = answers[words][view.first - view.start : view.last - view.start]
        return whole

    def _read(self, page: AnyPage) -> Page | str:
        """The page, or why it is none."""
        if isinstance(page, Page):
            if page.characters > settings.max_page_characters:
                limit = f"{settings.max_page_characters:,} characters (BATAG_MAX_PAGE_CHARACTERS moves the limit)"
                return f"page {page.id}: more than {limit}"
            return page
        if not isinstance(page, Mapping):
            return f"{type(page).__name__} is not a page: give a Page, or a dict with title and/or description"
        problems = Problems()
        try:
            read = RecordReader(problems=problems, stem="page").page(page, where="page", number=1)
        except BatagError as error:
            return str(error)
        return read if read is not None else "; ".join(problem.reason for problem in problems.listed) or "not a page"


def _load_again(folder: Path, description: Description, options: dict[str, Any]) -> Tagger:
    tagger = Tagger.load(folder, **options)
    if tagger.bundle.description != description:
        raise InputError("has changed since the tagger was loaded", where=str(folder), todo="Load it again: batag.load")
    return tagger


def _labels(values: Floats, offsets: Floats | None) -> NDArray[np.int64]:
    found: NDArray[np.int64] = (values if offsets is None else log_probabilities(values) + offsets).argmax(-1)
    return found


def distinct(tags: Iterable[Tag]) -> list[Tag]:
    """One tag a text and label, the one with the best score, in order of first position."""
    best: dict[tuple[str, str], Tag] = {}
    for tag in tags:
        key = tag.label, tag.text
        if key not in best or (tag.score or 0) > (best[key].score or 0):
            best[key] = tag
    return list(best.values())
