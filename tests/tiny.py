"""Tiny taggers: one trained once a session for all tests that need one, bundles made without training, an engine to order."""

from __future__ import annotations

import atexit
import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import torch

from batag.bundles.bundle import read_bundle, write_bundle
from batag.encoders.classifier import build_classifier
from batag.encoders.prediction import Floats
from batag.encoders.vocabulary import Vocabulary
from batag.labels.scheme import Scheme
from batag.pages.page import Page
from batag.pages.sample import sample_pages
from batag.segmentation.dictionary import Dictionary
from batag.tagging.tagger import Tagger
from batag.training.run import train_run

LANGUAGES = ("zh-Hant", "ja", "en")
QUICK = (
    *("encoder.width=32", "encoder.depth=1", "encoder.heads=2", "encoder.inner=64", "encoder.dropout=0.0"),
    *("input.buckets=500", "input.shapes=100", "input.word_dropout=0.1", "input.dropout=0.0"),
    *("schedule.warmup=40", "schedule.scale=1.0", "training.average=0.0", "training.epochs=7"),
    *("training.window=64", "training.overlap=16"),
)
"""Settings with which 150 pages are learnt in a few seconds."""


def catalogue(pages: int, *, split: str = "train", seed: int = 0) -> list[Page]:
    """So many pages of the sample in each of its three languages."""
    return [page for language in LANGUAGES for page in sample_pages(language, pages=pages, split=split, seed=seed)]


@cache
def _workshop() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="batag-tiny-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def tiny_run(scheme: str = "flat") -> Path:
    """A finished run on 150 sample pages, the same folder for all who ask; nobody writes into it."""
    out = _workshop() / scheme
    settings = [*QUICK, f"pages.scheme={scheme}"]
    return train_run(catalogue(50), dev=catalogue(10, split="dev"), out=out, recipe=None, settings=settings, device="cpu")


@cache
def tiny_tagger(scheme: str = "flat") -> Tagger:
    """The tagger of that run."""
    return Tagger.load(tiny_run(scheme), device="cpu")


class Said:
    """An engine that gives each word the label it is told to (none: 0), with a probability that only the word decides."""

    name = "said"

    def __init__(self, scheme: Scheme, label: Callable[[str], str | None]) -> None:
        self.labels, self.label = scheme.labels, label
        self.asked: list[list[str]] = []

    def probabilities(self, sequences: Sequence[Sequence[str]]) -> list[Floats]:
        self.asked += map(list, sequences)
        return [np.array([self.row(word) for word in words], dtype=np.float32) for words in sequences]

    def row(self, word: str) -> list[float]:
        """The probabilities of one word."""
        chosen = self.labels.index(self.label(word) or "none")
        sure = 0.6 + crc32(word.encode(errors="replace")) % 400 / 1000
        rest = (1 - sure) / (len(self.labels) - 1)
        return [sure if number == chosen else rest for number in range(len(self.labels))]


def told(label: Callable[[str], str | None], **made: Any) -> Tagger:
    """A tagger whose engine gives words the labels it is told to; the bundle is as `make_bundle` makes it."""
    with tempfile.TemporaryDirectory() as folder:
        bundle = read_bundle(make_bundle(Path(folder) / "bundle", **made))
    return Tagger(bundle, engine=Said(bundle.scheme, label))


def make_bundle(
    folder: Path,
    *,
    scheme: str = "flat",
    classes: Sequence[str] = ("goods", "brand", "feature"),
    words: Iterable[str] = ("shoes", "running", "跑鞋", "ガーゼ", "acme"),
    dictionary: Iterable[str] | None = None,
    window: int = 64,
    overlap: int = 16,
    segmentation: str = "auto",
    **changes: Any,
) -> Path:
    """A bundle with fresh weights of one seed, width 8; `changes` go into its description."""
    vocabulary = Vocabulary(words)
    labels = Scheme(scheme, tuple(classes)).labels
    input = {"kind": "rich", "buckets": 50, "shapes": 10}
    encoder = {"name": "bat", "width": 8, "depth": 1, "heads": 2, "inner": 16}
    torch.manual_seed(0)
    weights = build_classifier(vocabulary, labels=len(labels), input=input, encoder=encoder).state_dict()
    description = {
        "batag": "0.1.0",
        "created": "2025-01-01T00:00:00+00:00",
        "name": "made",
        "scheme": {"name": scheme, "classes": list(classes)},
        "labels": list(labels),
        "segmentation": {"name": segmentation, "rules": ["controls", "html", "width", "spaces"]},
        "input": input,
        "encoder": encoder,
        "window": window,
        "overlap": overlap,
    }
    write_bundle(
        folder,
        weights=weights,
        vocabulary=vocabulary,
        dictionary=None if dictionary is None else Dictionary(dictionary),
        description=description | changes,
    )
    return folder


def describe(bundle: Path) -> dict[str, Any]:
    """The `bundle.json` of a bundle."""
    found: dict[str, Any] = json.loads((bundle / "bundle.json").read_bytes())
    return found


def redescribe(bundle: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Change the `bundle.json` of a bundle as an attacker would."""
    said = describe(bundle)
    change(said)
    (bundle / "bundle.json").write_text(json.dumps(said), encoding="utf-8")
    return bundle


def exchange(bundle: Path, name: str, data: bytes) -> Path:
    """Put another file into a bundle, with its new size and SHA-256 in `bundle.json`: nothing but its content is wrong."""
    (bundle / name).write_bytes(data)
    new: Mapping[str, Any] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    return redescribe(bundle, lambda said: said["files"].update({name: new}))
