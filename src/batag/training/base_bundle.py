"""The base bundle, from which training is continued: its recipe, whether it fits, and its weights."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from batag.bundles.bundle import Bundle, find_bundle, read_description
from batag.errors import UsageError
from batag.features.featurizer import Featurizer
from batag.features.vocabulary import PADDING, UNKNOWN, Vocabulary
from batag.heads.classifier import TokenClassifier
from batag.heads.torch_heads import MIXING_WEIGHT
from batag.labels.scheme import NONE, Scheme
from batag.pages.cleaning import DEFAULT_RULES, parse_rules
from batag.segmentation.segmentation import SPACE
from batag.training.recipe import Recipe

_HASHED = ("kind", "min_ngram", "max_ngram", "ngram_buckets", "shape_buckets", "part_of_speech_buckets", "spaces", "repeats")
_WORDS, _NEW = "input.words.weight", ("input.pretrained.", "chain.", "window_crf.")
_TRANSITIONS = ("chain.transitions", "window_crf.chain.transitions")
_OF_LABELS = (
    "head.weight",
    "head.bias",
    *(f"{chain}.{end}" for chain in ("chain", "window_crf.chain") for end in ("starts", "ends")),
)
_IN_COLUMNS = ("window_crf.weights", "window_crf.edge")


def recipe_of(bundle: Path) -> dict[str, Any]:
    """The recipe of a bundle, with the bundle's own dictionary and pretrained features."""
    description = read_description(find_bundle(bundle))
    rules = description.segmentation.rules or [f"-{rule}" for rule in DEFAULT_RULES]
    own = {
        "pages": {
            "segmentation": description.segmentation.name,
            "rules": ",".join(rules),
            "dictionary": "",
            "scheme": description.scheme.name,
        },
        "input": description.input.model_dump() | {"vectors": "", "backbone": "", "terms": description.terms_setting},
        "encoder": description.encoder.model_dump(),
        "head": description.head.model_dump(exclude=None if description.head.window_crf else {"window_crf_buckets"}),
        "training": {"window": description.window, "overlap": description.overlap},
    }
    return {table: description.recipe.get(table, {}) | own.get(table, {}) for table in description.recipe.keys() | own.keys()}


def check_base(base: Bundle, recipe: Recipe) -> None:
    """Raise an error if the weights of the base bundle do not fit the recipe: segmentation, input and encoder must be the
    same. The scheme may be another."""
    description = base.description
    compared = _HASHED if description.input.kind == "rich" else ("kind",)
    was = {
        "pages.segmentation": description.segmentation.name,
        "pages.rules": tuple(description.segmentation.rules),
        **{f"input.{key}": value for key, value in description.input if key in compared},
        **{f"encoder.{key}": value for key, value in description.encoder if key != "dropout"},
        "head.chain": description.head.chain,
    }
    if description.head.window_crf:
        was |= {"head.window_crf": description.head.window_crf, "head.window_crf_buckets": description.head.window_crf_buckets}
    wanted = {"pages": recipe.pages, "input": recipe.input, "encoder": recipe.encoder, "head": recipe.head}
    for key, value in was.items():
        table, name = key.split(".")
        here = parse_rules(recipe.pages.rules) if key == "pages.rules" else getattr(wanted[table], name)
        if here != value:
            todo = "Leave it as it was, or train without a base bundle"
            raise UsageError(f"{key} = {here!r} does not fit the base bundle {base.folder}, which has {value!r}", todo=todo)
    if description.features and recipe.input.pretrained:
        todo = "Leave input.vectors and input.backbone out: the base bundle brings its own"
        raise UsageError(f"the base bundle {base.folder} has pretrained features already", todo=todo)


def grown_vocabulary(pages: Sequence[Sequence[str]], recipe: Recipe, base: Bundle | None) -> Vocabulary:
    """The vocabulary of the training pages; words of the base bundle keep their numbers."""
    fold = Featurizer.fold if recipe.input.kind == "rich" else str
    marks = SPACE if recipe.input.spaces else ""
    words = (fold(word.removeprefix(marks) or word) for words in pages for word in words)
    found = Vocabulary.of(words, min_count=recipe.input.min_word_count)
    return found if base is None else Vocabulary(dict.fromkeys((*base.vocabulary.words, *found.words)))


@torch.no_grad()
def load_base(model: TokenClassifier, base: Bundle, *, vocabulary: Vocabulary, scheme: Scheme) -> None:
    """Copy the weights of a bundle into a fresh model, by word and by label; what the bundle does not know keeps its fresh
    weights.

    A new word starts with the vector of the unknown word, a label of another scheme as the label of its class.
    """
    own = model.state_dict()
    names = base.description.labels
    known = [
        (number, names.index(label))
        for number, alike in enumerate(_alike(scheme))
        if (label := next((each for each in alike if each in names), None)) is not None
    ]
    here, there = (torch.tensor(column, dtype=torch.long) for column in (zip(*known, strict=True) if known else ((), ())))
    for name, value in base.weights.items():
        if name == _WORDS:
            numbers = [base.vocabulary.number(word) for word in vocabulary.words]
            own[name].copy_(value[torch.tensor([PADDING, UNKNOWN, *numbers])])
        elif name in _TRANSITIONS:
            own[name][here[:, None], here] = value[there[:, None], there]
        elif name in _OF_LABELS:
            own[name][here] = value[there]
        elif name in _IN_COLUMNS:
            own[name][:, here] = value[:, there]
        elif name != MIXING_WEIGHT:  # chosen again on dev
            own[name].copy_(value)
    assert all(name in base.weights or name.startswith(_NEW) for name in own)
    if scheme.name != base.scheme.name:
        model.forbid(scheme.allowed_before)


def _alike(scheme: Scheme) -> list[tuple[str, ...]]:
    """For each label its own name, and then its names in other schemes."""
    if scheme.name == "flat":
        return [(NONE,), *((name, f"B-{name}") for name in scheme.classes)]
    return [(NONE,), *((f"{part}-{name}", name) for name in scheme.classes for part in "BI")]
