"""`batag sample`: the embedded catalogue."""

from __future__ import annotations

from typing import Annotated

import typer

from batag.cli import options


def sample(
    language: Annotated[str, typer.Option(help="zh-Hant, ja or en.")] = "zh-Hant",
    pages: Annotated[int, typer.Option(min=1, help="How many pages.")] = 2000,
    split: Annotated[
        str, typer.Option(help="train, dev or test; dev and test hold brands and goods that train never shows.")
    ] = "train",
    seed: Annotated[int, typer.Option(help="The same seed writes the same bytes.")] = 0,
    out: Annotated[str, typer.Option("--out", "-o", help="File to write (.jsonl, .csv, .parquet, ... .gz); - prints.")] = "-",
    to: Annotated[str | None, typer.Option("--to", help="Format to write, if the file's name does not tell.")] = None,
    as_json: options.Json = False,
) -> None:
    """Write labelled pages of a made-up catalogue: five shops, three languages."""
    from batag.cli.saving import save
    from batag.cli.terminal import console, print_json, progress
    from batag.pages.formats import format_to_write
    from batag.pages.problems import Problems
    from batag.sample import sample_pages
    from batag.segmentation.segmentation import Segmentation

    format = format_to_write(out, to)
    made = progress(sample_pages(language, pages=pages, split=split, seed=seed), doing="writing", total=pages)
    count = save(made, out, source="sample", format=format, segmentation=Segmentation(), problems=Problems())
    if as_json and out != "-":
        print_json({"out": out, "format": format, "pages": count, "language": language, "split": split, "seed": seed})
    elif out != "-":
        console(error=True).print(f"{count:,} {language} pages in {out}; look at them with: batag inspect {out}", markup=False)
