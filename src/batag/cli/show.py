"""`batag show`: describe a bundle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from batag.cli import options
from batag.cli.tables import show_old, show_points, show_scores
from batag.cli.terminal import console, counted, print_json, visible
from batag.errors import InputError

if TYPE_CHECKING:
    from batag.bundles.bundle import Bundle
    from batag.bundles.description import Description

_LEXICON_CHANGED = "the lexicon (changed since the training, which does no harm: the names of today's count)"


def show(
    bundle: options.Bundle,
    as_json: options.Json = False,
) -> None:
    """Print a bundle's labels, training data, scores, size and engines, and verify the checksums of its files."""
    from batag.bundles.bundle import read_bundle
    from batag.bundles.description import DESCRIPTION
    from batag.bundles.made_up import honest
    from batag.cli.cautions import not_reviewed
    from batag.pages.page import PERSON

    read = read_bundle(bundle)
    description = honest(read.description)
    parameters = sum(value.size for value in read.arrays.values())
    size = sum(file.bytes for file in description.files.values())
    mixed = {"mixing_weight": _mixing_weight(read)} if description.head.window_crf else {}
    if as_json:
        print_json(description.model_dump() | {"parameters": parameters, "bytes": size, "engines": _engines(read)} | mixed)
        return
    out = console()
    try:
        for key, value in summary(read, parameters=parameters, size=size).items():
            out.print(f"{key:13} {visible(value)}")
        if dev := description.metrics.get("dev"):
            for line in not_reviewed(dev.get("measured_by", PERSON)):
                out.print(line, style="bold red")
            out.print(f"scores on {measured_on(description)} (epoch {dev['epoch']}):")
            show_scores(dev, out)
            show_points(dev.get("points", {}), out)
            show_old(dev, out)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"has an unexpected description of its training ({error!r})"
        raise InputError(what, where=str(read.folder / DESCRIPTION), todo="The bundle can be used all the same") from error


def measured_on(description: Description) -> str:
    """The pages that the scores were measured on, in words."""
    from batag.labels.provenance import MADE_UP

    trained, dev = description.trained_on, description.metrics["dev"]
    new = trained.get("dev_pages", 0)
    kind = "made-up dev page" if dev.get("measured_by") == MADE_UP else "dev page" if new else "old dev page"
    return counted(dev.get("pages", new), kind)


def _field(name: str, column: str) -> str:
    return name if column == name else f"{name} (column {column})"


def summary(read: Bundle, *, parameters: int, size: int) -> dict[str, str]:
    """The properties of a bundle, one line each."""
    from batag.bundles.made_up import honest
    from batag.labels.provenance import in_words

    description = honest(read.description)
    trained, encoder = description.trained_on, description.encoder
    spoken = "parts of speech" if description.input.kind == "rich" and description.input.part_of_speech_buckets else ""
    return {
        "bundle": f"{description.name} (format {description.format}, batag {description.batag}, {description.created})",
        "labels": ", ".join(description.scheme.classes) + f" ({description.scheme.name})",
        "encoder": f"{encoder.name}, {encoder.depth} layers, {encoder.heads} heads, width {encoder.width}/{encoder.inner}",
        "input": ", ".join(
            filter(None, (description.input.kind, f"{len(read.vocabulary.words):,} words", spoken, *_features(read)))
        ),
        "term lists": ", ".join(_lists(read)) or "none",
        "head": "; ".join(_head(read)) or "each token by itself",
        "objective": description.recipe.get("objective", {}).get("name", "not given"),
        "segmentation": description.segmentation.name
        + (f", {len(read.dictionary):,} words of its own" if read.dictionary else ""),
        "dictionaries": ", ".join(f"{name} {number}" for name, number in description.dictionaries.items()) or "not given",
        "windows": f"{description.window} tokens, {description.overlap} shared",
        "trained on": ", ".join(f"{trained.get(each, 0):,} {each}" for each in ("pages", "tokens", "tags")),
        "labelled by": in_words(trained.get("sources", {})) or "not given",
        "languages": ", ".join(f"{name} {number:,}" for name, number in trained.get("languages", {}).items()) or "not given",
        "fields": ", ".join(_field(name, description.columns.get(name, name)) for name in description.fields),
        "dial": ", ".join(f"{point.richness:g} best for F{point.beta:g}" for point in description.dial) or "none",
        "calibration": description.calibration.method,
        "size": f"{parameters:,} parameters, {size / 1e6:.1f} MB in {len(description.files)} files",
        "engines": ", ".join(_engines(read)),
    }


def _features(read: Bundle) -> list[str]:
    """The pretrained features by name and language."""
    names = ((each.kind.replace("_", " "), each.language) for each in read.description.features)
    return [f"{kind} ({language})" if language else kind for kind, language in names]


def _lists(read: Bundle) -> list[str]:
    """The term lists whose names are features."""
    from batag.terms.lexicon import lexicon_digest

    terms = read.description.terms
    own = [f"{terms.own:,} names of its own"] if terms.own else []
    if not terms.lexicon:
        return own
    return ["the lexicon" if terms.lexicon == lexicon_digest() else _LEXICON_CHANGED, *own]


def _engines(read: Bundle) -> list[str]:
    """The engines of the bundle: always torch, and those that were exported."""
    return list(dict.fromkeys(("torch", *read.description.engines)))


def _head(read: Bundle) -> list[str]:
    """How labels are predicted."""
    head = read.description.head
    found = ["chain CRF"] if head.chain else []
    if head.window_crf:
        found.append(f"window CRF of {head.window_crf} words to each side, mixing weight {_mixing_weight(read):.2f}")
    return found


def _mixing_weight(read: Bundle) -> float:
    return float(read.arrays["window_crf.mixing_weight"])
