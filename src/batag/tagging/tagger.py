"""Tag pages: segmentation, engine, decoding of labels to spans, and tags on the original text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from batag.bundles.bundle import Bundle, read_bundle
from batag.bundles.description import Description
from batag.bundles.shop import export_reading, shop_of
from batag.encoders.sequence import Window, join_windows, page_words, windows
from batag.engines import build_engine
from batag.engines.choice import choose_engine
from batag.engines.engine import Engine
from batag.errors import BatagError, InputError, UsageError
from batag.evaluation.calibration import Calibration
from batag.evaluation.decoding import Decoding, Prediction, Richness
from batag.evaluation.operating_point import Dial
from batag.features.batches import Floats
from batag.pages.fields import KNOWN_KEYS, STANDARD_FIELDS, columns_in
from batag.pages.page import Page, Tag
from batag.pages.problems import Problems
from batag.pages.record import RecordReader, check_many, not_a_page, too_many_characters
from batag.pages.stopwords import stop_words_by_language
from batag.terms.terms import Terms

_BATCH = 256
_NO_TEXTS = KNOWN_KEYS - {*STANDARD_FIELDS}
AnyPage = Page | Mapping[str, Any]
_Item = TypeVar("_Item")
Known = dict[tuple[str, ...], Floats]
"""Cached probabilities by the words of a window."""


class Tags(list[Tag]):
    """The tags of one page in order of position, every occurrence; `error` says why a page could not be tagged."""

    def __init__(self, tags: Iterable[Tag] = (), *, error: str | None = None) -> None:
        super().__init__(tags)
        self.error = error


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
        terms: Terms | None = None,
    ) -> None:
        self.bundle = bundle
        self.terms = terms or Terms()
        self.scheme = bundle.scheme
        self.segmentation = bundle.segmentation
        points = [point.model_dump() for point in bundle.description.dial]
        more = (stop_words,) if isinstance(stop_words, (str, Path)) else tuple(stop_words)
        self.decoding = Decoding(
            self.scheme,
            dial=Dial.from_dicts(points, self.scheme.classes) if points else None,
            calibration=Calibration.from_dict(bundle.description.calibration.model_dump()),
            stop_words=stop_words_by_language(more=more, allowed=bundle.description.tagged_stop_words),
        )
        if isinstance(engine, str):
            engine = choose_engine(bundle.description, wanted=engine, device=device)
            self.engine = build_engine(engine, bundle, device=device, threads=threads)
        else:
            self.engine = engine
        self._options = {"engine": engine, "device": device, "stop_words": more, "threads": threads, "terms": self.terms}

    @classmethod
    def load(
        cls,
        folder: Path | str,
        *,
        engine: str | Engine = "auto",
        device: str = "auto",
        stop_words: str | Path | Iterable[str | Path] = (),
        threads: int | None = None,
        terms: Terms | None = None,
    ) -> Tagger:
        """Load the tagger of a bundle's (or a finished run's) folder, with the named engine or (`auto`) the one that starts
        fastest.

        It uses `threads` CPU threads (default: one, or as in the settings); torch's own number of threads is not changed.
        """
        return cls(read_bundle(folder), engine=engine, device=device, stop_words=stop_words, threads=threads, terms=terms)

    def __repr__(self) -> str:
        name, labels = self.bundle.description.name, ", ".join(self.labels)
        return f"<Tagger {name}: {labels}; engine {self.engine.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, also in another process, is loaded again from the same folder."""
        return _load_again, (self.bundle.folder.resolve(), self.bundle.description, self._options)

    @cached_property
    def usual_columns(self) -> dict[str, str]:
        """The columns of the training files by field, or of a shop's export. Files and dicts are read by them, besides the
        standard fields."""
        shop = shop_of(self.bundle.folder)
        return self.bundle.description.usual_columns | (export_reading(shop)[0] if shop is not None else {})

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes of its tags."""
        return self.scheme.classes

    @property
    def dial(self) -> Dial | None:
        """Its operating points."""
        return self.decoding.dial

    @property
    def calibration(self) -> Calibration:
        """From raw scores to probabilities."""
        return self.decoding.calibration

    def tag(self, page: AnyPage, richness: Richness = None) -> list[Tag]:
        """The tags of one page in order of position, every occurrence; a page that cannot be tagged is an error."""
        tags = next(self.tag_many([page], richness=richness))
        if tags.error is not None:
            raise InputError(tags.error, todo="See docs/python.md for what a page is")
        return tags

    def tag_many(self, pages: Iterable[AnyPage], richness: Richness = None, *, batch: int | None = None) -> Iterator[Tags]:
        """Yield the tags of each page in order; a page that cannot be tagged has no tags and the reason in `error`.

        The first page is tagged before the second one is read; then batches grow up to 256 pages, or have `batch` pages if that
        is given.
        """
        if batch is not None and (type(batch) is not int or batch < 1):
            raise UsageError(f"batch {batch!r} is not a whole number above 0", todo="Leave it out, or give 1 to 256")
        check_many(pages)
        self.decoding.least(richness)  # a richness that does not exist is an error before the first page is read
        return self._tag_many(pages, richness, batch)

    def _tag_many(self, pages: Iterable[AnyPage], richness: Richness, size: int | None) -> Iterator[Tags]:
        for some in _growing(pages, first=size or 1, most=size or _BATCH):
            read = [self._read(page) for page in some]
            tagged = iter(self.tags_of_all(self.predict_all([page for page in read if isinstance(page, Page)]), richness))
            for given, page in zip(some, read, strict=True):
                yield Tags(self._by_key(next(tagged), given)) if isinstance(page, Page) else Tags(error=page)

    def predict(self, pages: Iterable[Page]) -> Iterator[Prediction]:
        """Yield each page in tokens with label probabilities, for `tags_of` and `labels_of`."""
        for some in _growing(pages, first=_BATCH, most=_BATCH):
            yield from self.predict_all(some)

    def labels_of(self, prediction: Prediction, richness: Richness = None) -> list[NDArray[np.int64]]:
        """The predicted label of each token, one array per field."""
        return self.decoding.labels_of(prediction, richness)

    def tags_of(self, prediction: Prediction, richness: Richness = None) -> list[Tag]:
        """The tags of a predicted page."""
        return self.tags_of_all([prediction], richness)[0]

    def tags_of_all(self, predictions: Sequence[Prediction], richness: Richness = None) -> list[list[Tag]]:
        """The tags of many predicted pages at once, with the same result as one by one."""
        found = self.decoding.tags_of_all(predictions, richness)
        return self.terms.name_tags((each.language, tags) for each, tags in zip(predictions, found, strict=True))

    def predict_all(self, pages: Sequence[Page], *, known: Known | None = None) -> list[Prediction]:
        """Predict many pages at once, batched by length. Windows in the cache `known` are not computed again, and new ones are
        added to it."""
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
            whole = (
                answers[seen]
                if isinstance(seen, tuple)
                else join_windows([(view, answers[key]) for view, key in seen], labels=len(self.scheme.labels))
            )
            parts = (
                [whole]
                if starts == [0]
                else [whole[start : start + len(field.tokens)] for field, start in zip(each.fields, starts, strict=True)]
            )
            predictions.append(Prediction(each.page, each.fields, parts, each.language, again, each.by_file))
        return predictions

    def _by_key(self, tags: list[Tag], page: AnyPage) -> list[Tag]:
        """The tags of a dict with the names of its own keys as fields: `page[tag.field][tag.start : tag.end]` is the tag."""
        columns = self._columns_of(page) if not isinstance(page, Page) else {}
        if all(field == column for field, column in columns.items()):
            return tags
        return [replace(tag, field=columns.get(tag.field, tag.field)) for tag in tags]

    def _columns_of(self, page: Mapping[str, Any]) -> dict[str, str]:
        """The keys of a dict that fields are read from; a field that is there by its own name is read from that."""
        usual = {field: column for field, column in self.usual_columns.items() if field == column or field not in page}
        return columns_in(page, columns={}, usual=usual)

    def _read(self, page: AnyPage) -> Page | str:
        """The page, or the reason why it cannot be read."""
        if isinstance(page, Page):
            if limit := too_many_characters(page.characters):
                return f"page {page.id}: more than {limit}"
            return page
        if not isinstance(page, Mapping):
            return not_a_page(page)
        problems, usual = Problems(), self.usual_columns
        texts = [*STANDARD_FIELDS, *(column for field, column in usual.items() if field not in _NO_TEXTS)]
        try:
            reader = RecordReader(problems=problems, stem="page", hint=f"give it {' or '.join(texts)}")
            read = reader.page(page, where="page", number=1, columns=self._columns_of(page))
        except BatagError as error:
            return str(error)
        if read is None and problems.counts.keys() == {"empty-page"} and {*texts, "fields", "tokens"} & page.keys():
            return Page("page", {})
        return read if read is not None else "; ".join(problem.reason for problem in problems.listed) or "not a page"


def _growing(pages: Iterable[_Item], *, first: int, most: int) -> Iterator[list[_Item]]:
    """Yield the pages in batches, each twice as large as the one before, up to `most`."""
    iterator, size = iter(pages), first
    while some := list(islice(iterator, size)):
        yield some
        size = min(2 * size, most)


def _load_again(folder: Path, description: Description, options: dict[str, Any]) -> Tagger:
    tagger = Tagger.load(folder, **options)
    if tagger.bundle.description != description:
        raise InputError("has changed since the tagger was loaded", where=str(folder), todo="Load it again: batag.load")
    return tagger


def distinct(tags: Iterable[Tag]) -> list[Tag]:
    """One tag per text and label, the one with the highest score, in order of first position."""
    best: dict[tuple[str, str], Tag] = {}
    for tag in tags:
        key = tag.label, tag.text
        if key not in best or (tag.score or 0) > (best[key].score or 0):
            best[key] = tag
    return list(best.values())
