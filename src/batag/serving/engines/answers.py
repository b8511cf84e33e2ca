"""What an engine process answers: the pages of many requests are tagged at once, and each request gets its own JSON."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import orjson

from batag.bundles.description import DESCRIPTION
from batag.bundles.made_up import honest
from batag.bundles.names import terms_for
from batag.evaluation.decoding import Prediction
from batag.evaluation.operating_point import steps
from batag.keywords import build_extractor
from batag.keywords.extractor import Extractor
from batag.pages.page import Page, Tag
from batag.serving.engines.body import Asked, read_explain, read_keywords, read_tag, read_terms
from batag.serving.engines.occlusion import explain
from batag.serving.problem import Problem
from batag.settings import settings
from batag.tagging.tagger import Known, Tagger, distinct
from batag.tagging.top import top
from batag.terms.explanation import are_same
from batag.terms.explanation import explain as explain_term

Result = tuple[bytes, int, int] | Problem
"""The JSON of an answer with its number of pages and tokens, or why there is none."""
READY = ("NORDVIK waterproof hiking boots", "NORDVIK 防水登山鞋", "NORDVIK 防水の登山靴")
"""Texts that show whether an engine tags, in the scripts that are segmented differently."""


class Answers:
    """Answers requests with one bundle; `stats` counts what it did since it was last asked for them."""

    def __init__(self, bundle: str, *, engine: str = "auto", terms: dict[str, Any] | None = None) -> None:
        self._named_by = partial(terms_for, bundle, **(terms or {}))
        self.tagger = Tagger.load(bundle, engine=engine, device="cpu", threads=1, terms=self._named_by())
        self._terms_by_language = {self.tagger.terms.language: self.tagger.terms}
        self.bundle = bundle_name(self.tagger.bundle.folder)
        self.has_dial = self.tagger.dial is not None
        self.stats: Counter[str] = Counter()
        self._known: Known = {}
        self._known_tokens = 0
        self._extractors: dict[str, Extractor] = {}
        self._kinds: dict[str, Callable[[bytes], dict[str, Any]]] = {
            "keywords": self._keywords,
            "terms": self._terms,
            "explain": self._explain,
            "ready": self._ready,
        }
        self._ready(b"")
        gc.freeze()  # what is loaded stays: nobody need look at it again

    @cached_property
    def model(self) -> dict[str, Any]:
        """What `/v1/models` says of the bundle."""
        description = self.tagger.bundle.description
        return {
            "name": description.name,
            "bundle": self.bundle,
            "created": description.created,
            "batag": description.batag,
            "engine": self.tagger.engine.name,
            "labels": list(self.tagger.labels),
            "languages": description.languages,
            "fields": description.fields,
            "dial": self.has_dial,
            "metrics": honest(description).metrics,
        }

    def answer(self, asked: Sequence[tuple[str, bytes]]) -> list[Result]:
        """The answers to a batch of requests. A request that makes the engine fail does not fail the others."""
        results: list[Result | None] = [None] * len(asked)
        tagging: dict[int, Asked] = {}
        for number, (kind, body) in enumerate(asked):
            try:
                if kind == "tag":
                    tagging[number] = read_tag(body, classes=self.tagger.labels, has_dial=self.has_dial)
                else:
                    found = self._kinds[kind](body)
                    results[number] = orjson.dumps(found), len(found.get("pages", ())), 0
            except Problem as problem:
                results[number] = problem
            except Exception as error:
                results[number] = _failed(error)
        try:
            for number, result in self._tag(tagging):
                results[number] = result
        except Exception:
            for number, each in tagging.items():
                try:
                    ((_, results[number]),) = self._tag({number: each})
                except Exception as error:
                    results[number] = _failed(error)
        return [result for result in results if result is not None]

    def _tag(self, tagging: dict[int, Asked]) -> list[tuple[int, Result]]:
        pages = [page for asked in tagging.values() for page in asked.pages]
        if not pages:
            return []
        predictions = iter(self._predict(pages))
        own = {number: [next(predictions) for _ in asked.pages] for number, asked in tagging.items()}
        by_richness: dict[Any, list[int]] = {}
        for number, asked in tagging.items():
            if "steps" not in asked.options:
                by_richness.setdefault(asked.options.get("richness"), []).append(number)
        tags: dict[int, list[list[Tag]]] = {}
        for richness, numbers in by_richness.items():
            found = iter(self.tagger.tags_of_all([each for number in numbers for each in own[number]], richness))
            tags |= {number: [next(found) for _ in own[number]] for number in numbers}
        results: list[tuple[int, Result]] = []
        for number, asked in tagging.items():
            if number in tags:
                chosen = zip(own[number], tags[number], strict=True)
                named = self._named(((each.language, found) for each, found in chosen), asked.options)
                listed = [[tag.to_dict() for tag in choose(each, asked.options)] for each in named]
            else:
                listed = [self._with_steps(each, asked.options) for each in own[number]]
            self.stats.update(f"label:{tag['label']}" for each in listed for tag in each)
            tokens = sum(len(field.tokens) for each in own[number] for field in each.fields)
            body = {
                "bundle": self.bundle,
                "pages": [
                    {"id": name, "language": each.language, "error": None, "tags": found}
                    for name, each, found in zip(asked.ids, own[number], listed, strict=True)
                ],
            }
            results.append((number, (orjson.dumps(body), len(asked.pages), tokens)))
        return results

    def _named(self, found: Iterable[tuple[str, list[Tag]]], options: dict[str, Any]) -> list[list[Tag]]:
        """The tags of pages with their canonical forms in the language that is asked for."""
        language = options.get("canonical_language", self.tagger.terms.language)
        if language == self.tagger.terms.language:
            return [tags for _, tags in found]
        if language not in self._terms_by_language:
            self._terms_by_language[language] = self._named_by(language=language)
        return self._terms_by_language[language].name_tags(found)

    def _with_steps(self, prediction: Prediction, options: dict[str, Any]) -> list[dict[str, Any]]:
        chosen = _with_steps(self.tagger, prediction, options, has_dial=self.has_dial)
        (named,) = self._named([(prediction.language, [tag for tag, _ in chosen])], options)
        return [tag.to_dict() | {"richness": step} for tag, (_, step) in zip(named, chosen, strict=True)]

    def _predict(self, pages: Sequence[Page]) -> list[Prediction]:
        """Predict pages; those that were seen lately are remembered."""
        if self._known_tokens > settings.serve_cache_tokens:
            self._known.clear()
            self._known_tokens = 0
        predictions = self.tagger.predict_all(pages, known=self._known)
        for each in predictions:
            if each.again:
                self.stats["cache_hits"] += 1
            else:
                self._known_tokens += sum(len(field.tokens) for field in each.fields) + 1
        return predictions

    def _keywords(self, body: bytes) -> dict[str, Any]:
        asked = read_keywords(body)
        method = asked.options["method"]
        if method not in self._extractors:
            self._extractors[method] = build_extractor(method, segmentation=self.tagger.segmentation)
        extractor, rows = self._extractors[method], []
        from batag.keywords.document import documents

        for name, document in zip(asked.ids, documents(asked.pages, extractor.segmentation), strict=True):
            found = extractor.rank(document, top=asked.options["top"])
            listed = [
                {
                    "text": each.text,
                    "score": each.score,
                    "places": [{"field": field, "start": start, "end": end} for field, start, end in each.places],
                }
                for each in found
            ]
            rows.append({"id": name, "language": document.language, "error": None, "keywords": listed})
        return {"pages": rows}

    def _terms(self, body: bytes) -> dict[str, Any]:
        texts, label, language = read_terms(body)
        found = [explain_term(self.tagger.terms, text, label=label, language=language) for text in texts]
        return {"same": are_same(found) if len(found) > 1 else None, "terms": found}

    def _explain(self, body: bytes) -> dict[str, Any]:
        page, place = read_explain(body, classes=self.tagger.labels)
        return {"bundle": self.bundle} | explain(self.tagger, page, place)

    def _ready(self, body: bytes) -> dict[str, Any]:
        """A real forward pass."""
        self.tagger.tags_of_all(self.tagger.predict_all([Page("ready", {"title": text}) for text in READY]))
        return {"ready": True}


def bundle_name(folder: Path) -> str:
    """The first digits of the digest of a bundle: of its description, which has the digests of all its files."""
    import hashlib

    return hashlib.sha256((folder / DESCRIPTION).read_bytes()).hexdigest()[:12]


def choose(tags: Sequence[Tag], options: dict[str, Any]) -> Sequence[Tag]:
    """Keep the tags that a request asks for."""
    labels, least = options.get("labels"), options.get("min_score", 0)
    if labels is not None or least:
        tags = [tag for tag in tags if (labels is None or tag.label in labels) and (tag.score or 0.0) >= least]
    if options.get("distinct"):
        tags = distinct(tags)
    return top(tags, options["top"]) if "top" in options else tags


def _with_steps(tagger: Tagger, prediction: Prediction, options: dict[str, Any], *, has_dial: bool) -> list[tuple[Tag, float]]:
    """The tags of the richest step, each with the lowest step at which it appears. Steps between two with the same tags have
    them too, because a richer step keeps every tag of a cleaner one."""
    if not has_dial:
        return [(tag, 0.0) for tag in choose(tagger.tags_of(prediction), options)]
    places = steps()
    found: dict[int, list[Tag]] = {}

    def at(step: int) -> list[Tag]:
        if step not in found:
            found[step] = tagger.tags_of(prediction, places[step])
        return found[step]

    lowest = dict.fromkeys(at(len(places) - 1), len(places) - 1)

    def between(low: int, high: int) -> None:
        """Note the lowest step of tags that appear after `low`, at `high` at the latest."""
        if len(at(low)) == len(at(high)) or high - low < 2:
            return
        middle = (low + high) // 2
        for tag in at(middle):
            lowest[tag] = min(lowest[tag], middle)
        between(low, middle)
        between(middle, high)

    lowest |= dict.fromkeys(at(0), 0)
    between(0, len(places) - 1)
    return [(tag, places[lowest[tag]]) for tag in choose(at(len(places) - 1), options)]


def _failed(error: Exception) -> Problem:
    """The answer when the engine fails: the kind of error alone, because its text may hold the page's."""
    return Problem("engine", f"the engine failed ({type(error).__name__})", todo="Report this as a bug, with the request")
