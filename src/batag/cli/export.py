"""`batag export`: add an engine to a bundle after checking it."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from batag.cli import options
from batag.cli.terminal import console, print_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from batag.bundles.bundle import Bundle
    from batag.engines.export import Exported
    from batag.engines.parity import LabelledWords
    from batag.pages.page import Page


_SCORES = {"token macro F1": "macro_f1", "token macro F2": "macro_f2", "tag F1": "tag_f1", "tag F2": "tag_f2"}


def export(
    bundle: options.Bundle,
    engine: Annotated[
        str,
        typer.Option(
            "--engine", help="onnx (needs no torch to tag) or torch-int8 (linear layers of the encoder quantized to int8)."
        ),
    ] = "onnx",
    pages: Annotated[
        list[Path] | None,
        typer.Option(
            "--pages",
            help="Labelled pages (dev) to compare on; torch-int8 needs them (default: pages of the sample catalogue).",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Add the engine even if it fails the comparison with float32 torch.")
    ] = False,
    reading: options.Reading = options.READING,
    as_json: options.Json = False,
) -> None:
    """Add an engine to a bundle, after comparing its probabilities, labels, scores and throughput with float32 torch."""
    from batag.bundles.bundle import read_bundle
    from batag.cli.cautions import not_reviewed
    from batag.engines.export import check_export
    from batag.engines.export import export as make
    from batag.labels.provenance import Measuring
    from batag.pages.file import check_targets

    check_targets([reading.problems], [*(pages or []), bundle])
    read = read_bundle(bundle)
    check_export(read, engine=engine)
    with reading.collected() as found:
        given = Measuring(reading.pages_of(pages or [], found, usual_columns=read.description.usual_columns))
        labelled = _labelled_words(read, given if pages else None)
    for line in not_reviewed(given.by):
        console(error=True).print(line, style="bold red")
    made = make(read, engine=engine, pages=labelled, force=force)
    if as_json:
        result = {"engine": made.engine, "tokens_per_second": made.tokens_per_second, "refused": made.refused or None}
        print_json(result | {"measured_by": given.by} | made.parity.to_dict())
    else:
        _show(made)
    if made.refused:
        console(error=True).print(f"not added to {bundle}: {made.refused} (--force adds it all the same)")
        raise typer.Exit(1)


def _labelled_words(bundle: Bundle, given: Iterable[Page] | None) -> list[LabelledWords]:
    """The given pages, or those of the sample catalogue, segmented and labelled as the bundle does it."""
    from batag.sample import LANGUAGES, sample_pages
    from batag.training.examples import label_words, make_examples

    sample = chain.from_iterable(sample_pages(each, pages=40, split="dev", style="paper") for each in LANGUAGES)
    found = label_words(sample if given is None else given, bundle.segmentation)
    description = bundle.description
    examples = make_examples(found, bundle.scheme, window=description.window, overlap=description.overlap)
    # The labels of the sample mean nothing to a bundle with other classes.
    known = given is not None or set(found.class_tags) & set(bundle.scheme.classes)
    return [(each.words, each.labels if known else [-1] * len(each.labels)) for each in examples]


def _show(made: Exported) -> None:
    from rich.table import Table

    parity = made.parity
    table = Table(title=f"{made.engine} beside float32 torch, {parity.tokens:,} tokens")
    for name in ("", "float32 torch", made.engine):
        table.add_column(name, justify="left" if not name else "right")
    for name, key in _SCORES.items() if parity.labelled else ():
        table.add_row(name, f"{100 * parity.before[key]:.2f}", f"{100 * parity.after[key]:.2f}")
    table.add_row("largest difference of probabilities", "", f"{parity.largest:.2g}")
    table.add_row("tokens with another label", "", f"{parity.other_labels:,}")
    table.add_row("tokens per second, one thread", "", f"{made.tokens_per_second:,.0f}")
    console().print(table)
