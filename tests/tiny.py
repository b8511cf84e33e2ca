"""Tiny taggers: one trained once a test run for all tests that need one, bundles made without training, an engine to order."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
import torch
from filelock import FileLock
from numpy.typing import NDArray
from tests.conftest import WORKSHOP

import batag
from batag.bundles.bundle import read_bundle, write_bundle
from batag.bundles.digest import with_digest
from batag.cli import main
from batag.engines.export import export
from batag.evaluation.decoding import Prediction
from batag.evaluation.spans import find_spans
from batag.features.batches import Floats
from batag.features.featurizer import Featurizer
from batag.features.vocabulary import Vocabulary
from batag.heads.classifier import build_classifier
from batag.labels.scheme import Scheme
from batag.pages.cleaning import DEFAULT_RULES
from batag.pages.page import Page, Tag
from batag.sample import sample_pages
from batag.segmentation.dictionary import Dictionary
from batag.tagging.tagger import Tagger
from batag.training import window_crf
from batag.training.examples import label_words, make_examples
from batag.training.setting import parse_setting

_ROUNDS = window_crf.ROUNDS
LANGUAGES = ("zh-Hant", "ja", "en")
QUICK = (
    *("encoder.width=32", "encoder.depth=1", "encoder.heads=2", "encoder.inner=64", "encoder.dropout=0.0"),
    *("input.ngram_buckets=500", "input.shape_buckets=100", "input.word_dropout=0.1", "input.dropout=0.0", "input.vectors="),
    *(
        "schedule.warmup=40",
        "schedule.scale=1.0",
        "training.average=0.0",
        "training.epochs=7",
        "training.adversarial_epsilon=0.0",
    ),
    *("training.export=false", "training.window=64", "training.overlap=16", "head.window_crf_buckets=2000"),
)
"""Settings with which 150 pages are learnt in a few seconds."""


def catalogue(pages: int, *, split: str = "train", seed: int = 0) -> list[Page]:
    """So many pages of the sample in each of its three languages."""
    return [
        page for language in LANGUAGES for page in sample_pages(language, pages=pages, split=split, seed=seed, style="paper")
    ]


def _made_once(name: str, make: Callable[[Path], object]) -> Path:
    """A folder that the first worker who asks for it makes, while the others wait."""
    workshop = Path(os.environ[WORKSHOP])
    with FileLock(workshop / f"{name}.lock"):
        if not (workshop / f"{name}.made").exists():
            shutil.rmtree(workshop / name, ignore_errors=True)
            make(workshop / name)
            (workshop / f"{name}.made").touch()
    return workshop / name


def tiny_run(scheme: str = "flat") -> Path:
    """A finished run on 150 sample pages, the same folder for all who ask; nobody writes into it."""
    return _made_once(scheme, lambda folder: _train(scheme, folder))


def tiny_tagger(scheme: str = "flat") -> Tagger:
    """The tagger of that run."""
    return _loaded(scheme)


def tiny_exported(scheme: str = "flat") -> Path:
    """The bundle of that run with every engine there is; nobody writes into it."""
    return _made_once(f"{scheme}-exported", lambda folder: _export_all(scheme, folder))


def _export_all(scheme: str, folder: Path) -> None:
    shutil.copytree(tiny_run(scheme) / "bundle", folder)
    bundle = read_bundle(folder)
    description = bundle.description
    words = label_words(catalogue(10, split="dev"), bundle.segmentation)
    examples = make_examples(words, bundle.scheme, window=description.window, overlap=description.overlap)
    pages = [(each.words, each.labels) for each in examples]
    for engine in ("onnx", "torch-int8"):
        assert not export(bundle, engine=engine, pages=pages, force=engine == "torch-int8").refused


def _train(scheme: str, folder: Path) -> None:
    settings = as_dict(*QUICK, f"pages.scheme={scheme}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(window_crf, "ROUNDS", _ROUNDS)  # whoever asks for it first
        batag.train(catalogue(50), dev=catalogue(10, split="dev"), out=folder, settings=settings, device="cpu")


def as_dict(*settings: str) -> dict[str, Any]:
    """Settings of the command line as Python takes them; of two for the same key the last counts."""
    found: dict[str, Any] = {}
    for text in settings:
        ((table, change),) = parse_setting(text).items()
        found |= {f"{table}.{key}": value for key, value in change.items()}
    return found


@cache
def _loaded(scheme: str) -> Tagger:
    return Tagger.load(tiny_run(scheme), device="cpu")


def tiny_backbone(folder: Path) -> Path:
    """A BERT of two tiny layers with random weights, as a Hugging Face folder."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    pieces = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        *"abcdefghijklmnopqrstuvwxyz",
        *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz"),
    ]
    own = Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]"))
    own.normalizer, own.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    own.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    named = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=own, **named).save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(vocab_size=len(pieces), max_position_embeddings=64, **sizes)
    BertModel(config).save_pretrained(folder)
    return folder


class ScriptedEngine:
    """An engine that gives each word the label that a function chooses, with a probability that only the word decides."""

    name = "scripted"

    def __init__(self, scheme: Scheme, label: Callable[[str], str | None]) -> None:
        self.labels, self.label = scheme.labels, label
        self.asked: list[list[str]] = []

    def probabilities(self, sequences: Sequence[Sequence[str]]) -> list[Floats]:
        self.asked += map(list, sequences)
        return [np.array([self.row(word) for word in words], dtype=np.float32) for words in sequences]

    def row(self, word: str) -> list[float]:
        """The probabilities of one word."""
        chosen = self.labels.index(self.label(word) or "none")
        # So sure that a tag of hundreds of tokens is more probable than not.
        sure = 1 - (1 + crc32(word.encode(errors="replace")) % 1000) / 1_000_000
        rest = (1 - sure) / (len(self.labels) - 1)
        return [sure if number == chosen else rest for number in range(len(self.labels))]


def scripted_tagger(label: Callable[[str], str | None], **made: Any) -> Tagger:
    """A tagger whose engine gives words the labels that a function chooses; the bundle is as `make_bundle` makes it."""
    with tempfile.TemporaryDirectory() as folder:
        bundle = read_bundle(make_bundle(Path(folder) / "bundle", **made))
    return Tagger(bundle, engine=ScriptedEngine(bundle.scheme, label))


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
    made = Scheme(scheme, tuple(classes))
    input = {
        "kind": "rich",
        "word_dropout": 0.0,
        "dropout": 0.0,
        "min_ngram": 1,
        "max_ngram": 4,
        "ngram_buckets": 50,
        "shape_buckets": 10,
        "part_of_speech_buckets": 0,
    }
    encoder = {"name": "bat", "width": 8, "depth": 1, "heads": 2, "inner": 16} | changes.pop("encoder", {})
    encoder = {"position": "sinusoid", "dropout": 0.0, "options": {}} | encoder
    head = {"chain": False, "window_crf": 0, "window_crf_buckets": 1} | changes.pop("head", {})
    torch.manual_seed(0)
    featurizer = Featurizer.build(vocabulary, input=input, head=head)
    options: dict[str, Any] = {"input": input, "encoder": encoder, "head": head, "continuation": made.continuation}
    weights = build_classifier(featurizer, labels=len(made.labels), **options).state_dict()
    description = {
        "batag": "0.1.0",
        "created": "2025-01-01T00:00:00+00:00",
        "name": "made",
        "scheme": {"name": scheme, "classes": list(classes)},
        "fields": ["title", "description"],
        "columns": {},
        "languages": list(LANGUAGES),
        "segmentation": {"name": segmentation, "rules": list(DEFAULT_RULES)},
        "dictionaries": {},
        "input": input,
        "encoder": encoder,
        "head": head,
        "window": window,
        "overlap": overlap,
        "dial": [],
        "calibration": {"method": "none", "raw": [0.0, 1.0], "probability": [0.0, 1.0], "errors": {}},
        "tagged_stop_words": [],
        **{key: {} for key in ("metrics", "trained_on", "recipe")},
    }
    write_bundle(
        folder,
        weights=weights,
        vocabulary=vocabulary,
        dictionary=None if dictionary is None else Dictionary(dictionary),
        description=description | changes,
    )
    return folder


def check_score(tag: Tag, prediction: Prediction, tagger: Tagger) -> None:
    """The score is the calibrated probability of the span that the tag was made of: that a tag begins with its first token,
    goes on to the last, and ends there."""
    number = [field.name for field in prediction.fields].index(tag.field)
    origins, values = prediction.fields[number].origins, prediction.probabilities[number].astype(np.float64)
    scheme = tagger.scheme
    inside = {row for row, (start, end) in enumerate(origins) if start < tag.end and tag.start < end}
    spans = find_spans(values, [0], scheme)
    made_of = [
        (int(first), int(last))
        for first, last, own in zip(spans.first, spans.last, spans.classes, strict=True)
        if scheme.classes[own - 1] == tag.label and inside & set(range(first, last + 1))
    ]
    assert tag.score is not None
    assert 0 <= tag.score <= 1
    scores = [float(tagger.calibration(probability_of(values, scheme, *span, tag.label))) for span in made_of]
    assert any(score == pytest.approx(tag.score, abs=1e-5) for score in scores)
    # Where tokens share a character, or people's tags touch, it is not told here which of them made the tag.
    if all(one[1] <= other[0] for one, other in pairwise(origins)):
        assert len(made_of) == 1


def probability_of(values: NDArray[np.float64], scheme: Scheme, first: int, last: int, name: str) -> float:
    """The probability of a span, label by label, from the rows of one text."""
    labels = len(scheme.labels)
    own = [number for number, label in enumerate(scheme.labels) if label.removeprefix("B-").removeprefix("I-") == name]
    inside = own[-1]

    def onward(place: int, before: int) -> float:
        """The probability that a token continues the tag, if the one before has this label."""
        if not 0 < place < len(values):
            return 0.0
        return float(values[place, labels + before - 1] if values.shape[1] > labels else values[place, inside])

    # The probability of each label of the last token so far, with the span begun at the first.
    now = {label: float(values[first, label]) for label in own}
    now[inside] -= sum(float(values[first - 1, before]) * onward(first, before) for before in own) if first else 0.0
    for place in range(first + 1, last + 1):
        now = {inside: sum(probability * onward(place, label) for label, probability in now.items())}
    return sum(probability * (1 - onward(last + 1, label)) for label, probability in now.items())


def typed(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    """The command line in this process: what it prints and the code it ends with, without the seconds of a new one."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["batag", *map(str, arguments)])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as ended:
            main()
    code = ended.value.code
    printed = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(list(arguments), code if isinstance(code, int) else 0, *printed)


def describe(bundle: Path) -> dict[str, Any]:
    """The `bundle.json` of a bundle."""
    found: dict[str, Any] = json.loads((bundle / "bundle.json").read_bytes())
    return found


def redescribe(bundle: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Change the `bundle.json` of a bundle as an attacker would, who can count checksums too."""
    description = describe(bundle)
    change(description)
    (bundle / "bundle.json").write_bytes(with_digest(description))
    return bundle


def exchange(bundle: Path, name: str, data: bytes) -> Path:
    """Put another file into a bundle, with its new size and SHA-256 in `bundle.json`: nothing but its content is wrong."""
    (bundle / name).write_bytes(data)
    new: Mapping[str, Any] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    return redescribe(bundle, lambda description: description["files"].update({name: new}))
