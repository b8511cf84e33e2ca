"""Options that several commands share, spelt and explained once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from batag.errors import UsageError, nearest
from batag.pages.languages import LANGUAGES

_FIELDS = ("title", "description", "id", "language", "shop", "tags", "labels", "reviewed", "tokens")

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Format of the input, if content and name do not tell it: jsonl, csv, tsv, parquet, xlsx, conll, words, "
        "label-studio, doccano or spans.",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option("--columns", help="Which column is which field (FIELD=COLUMN), as in title=name,description=body."),
]
Language = Annotated[str | None, typer.Option("--language", help=f"Language of all pages: {', '.join(LANGUAGES)}.")]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="Encoding of the input if it is not UTF-8, for example cp950.")
]
Bom = Annotated[bool, typer.Option("--bom", help="CSV, TSV: begin with a byte-order mark, so that Excel reads it as UTF-8.")]
ExcelSafe = Annotated[
    bool,
    typer.Option(
        "--excel-safe",
        help="CSV, TSV: an apostrophe before each cell that a spreadsheet would run as a formula; a column says which.",
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="A problem in the input is an error: at once, or, when tagging to files, at the end.")
]
ProblemFile = Annotated[Path | None, typer.Option("--problems", help="Write every problem of the input to this JSONL file.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of tables.")]
Richness = Annotated[
    str | None, typer.Option("--richness", help="clean, balanced (the default), rich, or a number from 0 (clean) to 1 (rich).")
]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda or mps.")]
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        help="auto (onnx, or for a large catalogue the fastest engine of the bundle), torch, torch-int8 or onnx.",
    ),
]
Segmentation = Annotated[
    str, typer.Option("--segmentation", help="auto (by language), english, chinese, japanese, characters or given.")
]
UserDictionary = Annotated[Path | None, typer.Option("--dictionary", help="Words that are always one token, one a line.")]
Rules = Annotated[
    str | None, typer.Option("--rules", help="Cleaning rules, with commas; +emoji adds to the default, -promo takes away.")
]


def of_table(format: str, *, bom: bool, excel_safe: bool) -> dict[str, bool]:
    """What was asked of a table that is written; nothing of the kind can be asked of other formats."""
    asked = {"bom": bom, "excel_safe": excel_safe}
    for name, wanted in asked.items():
        if wanted and format not in ("csv", "tsv"):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} is for CSV and TSV", todo="Write to a .csv or .tsv file, or leave it out")
    return {name: wanted for name, wanted in asked.items() if wanted}


def of_input(format: str | None, columns: str | None, language: str | None, encoding: str | None) -> dict[str, Any]:
    """What was said about the input, as `read_pages` takes it."""
    return {"format": format, "columns": parse_columns(columns), "language": language, "encoding": encoding}


def parse_columns(text: str | None) -> dict[str, str]:
    """`title=name,description=body` as a mapping."""
    columns: dict[str, str] = {}
    for part in text.split(",") if text else []:
        ours, equals, theirs = part.partition("=")
        if not (equals and ours.strip() and theirs.strip()):
            raise UsageError(f"--columns {part!r} is not FIELD=COLUMN", todo="Write it like title=name,description=body")
        name = ours.strip()
        if name not in _FIELDS and (near := nearest(name, _FIELDS, cutoff=0.8)):
            todo = f"Did you mean {near}={theirs.strip()}? A field of your own needs a name that is less alike"
            raise UsageError(f"--columns {part.strip()!r}: {name!r} looks like {near!r} misspelt", todo=todo)
        columns[name] = theirs.strip()
    return columns
