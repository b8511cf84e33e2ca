"""Options that several commands share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from batag.errors import UsageError, nearest
from batag.pages.fields import EXAMPLE, KNOWN_KEYS
from batag.pages.languages import LANGUAGES

if TYPE_CHECKING:
    from batag.pages.formats import PageReader
    from batag.pages.page import Page
    from batag.pages.problems import Problems


def note_starter(bundle: Path | None) -> Path | None:
    """Say it if a folder here has the name of the starter."""
    from batag.bundles.found import ALWAYS_STARTER, STARTER, hides_starter
    from batag.cli.terminal import console

    if bundle is not None and hides_starter(bundle):
        console(error=True).print(f"{STARTER} is the folder here; the bundle that comes with batag is {ALWAYS_STARTER}")
    return bundle


Bundle = Annotated[
    Path,
    typer.Argument(
        metavar="BUNDLE",
        help="Folder of a bundle, a finished run or a shop, or starter: the bundle that comes with batag.",
        callback=note_starter,
    ),
]
OutFile = Annotated[
    str, typer.Option("--out", "-o", help="File to write (.jsonl, .csv, .parquet, ..., also .gz); - for standard output.")
]
RecipeFile = Annotated[Path | None, typer.Option("--recipe", help="TOML file with the values to change in the default recipe.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="TABLE.KEY=VALUE", help="Change a value of the recipe, such as encoder.depth=6; may be repeated."
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Format of the input: jsonl, csv, tsv, parquet, xlsx, conll, words, label-studio, doccano or spans "
        "(default: detected from content and name).",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns", help="Columns of the input to read the fields from (FIELD=COLUMN), such as title=name,description=body."
    ),
]
Language = Annotated[
    str | None,
    typer.Option("--language", help=f"Language of all pages: {', '.join(LANGUAGES)} (default: detected for each page)."),
]
Encoding = Annotated[str | None, typer.Option("--encoding", help="Encoding of the input, such as cp950 (default: UTF-8).")]
Bom = Annotated[
    bool, typer.Option("--bom", help="CSV and TSV: write a byte-order mark, so that Excel reads the file as UTF-8.")
]
ExcelSafe = Annotated[
    bool,
    typer.Option(
        "--excel-safe",
        help="CSV and TSV: put an apostrophe before each cell that a spreadsheet would run as a formula; the column batag "
        "lists these cells.",
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="Treat a problem in the input as an error: at the first one or, when tagging to files, at the end."
    ),
]
ProblemFile = Annotated[Path | None, typer.Option("--problems", help="Write all problems of the input to this JSONL file.")]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        help="Format to write: jsonl, parquet, csv, tsv, xlsx, conll, words, doccano or label-studio (default: from the "
        "file name).",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Richness = Annotated[
    str | None,
    typer.Option(
        "--richness",
        help="How many tags: clean (fewer, more precise), balanced, rich (more tags), or a number from 0 (clean) to 1 (rich) "
        "(default: balanced).",
    ),
]
Synonyms = Annotated[
    Path | None, typer.Option("--synonyms", help="File of synonyms, with lines such as: Levi's = LEVIS, リーバイス.")
]
Taxonomy = Annotated[
    Path | None, typer.Option("--taxonomy", help="Categories for the tags: a file that `batag terms import` wrote.")
]
CanonicalLanguage = Annotated[
    str | None,
    typer.Option(
        "--canonical-language",
        help=f"Language of canonical forms from the lexicon: {', '.join(LANGUAGES)} (default: en, or that of the shop).",
    ),
]
Device = Annotated[str, typer.Option("--device", help="Device to run on: auto, cpu, cuda or mps.")]
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        help="auto, torch, torch-int8 or onnx; auto is onnx, or the fastest engine of the bundle for a large catalogue.",
    ),
]
Segmentation = Annotated[
    str,
    typer.Option(
        "--segmentation",
        help="Segmenter: auto (by language), english, chinese, japanese, characters, or given (tokens of the pages).",
    ),
]
UserDictionary = Annotated[
    Path | None, typer.Option("--dictionary", help="File of words that are always one token, one per line.")
]
Rules = Annotated[
    str | None,
    typer.Option(
        "--rules",
        help="Cleaning rules, comma-separated: html, urls, controls, width, promo, punctuation, emoji, spaces (default: all "
        "but emoji). A list replaces the default; +emoji and -promo change it.",
    ),
]


def of_table(format: str, *, bom: bool, excel_safe: bool) -> dict[str, bool]:
    """Return the options of CSV and TSV output; asking for them with another format is an error."""
    asked = {"bom": bom, "excel_safe": excel_safe}
    for name, wanted in asked.items():
        if wanted and format not in ("csv", "tsv"):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} is for CSV and TSV", todo="Write to a .csv or .tsv file, or leave it out")
    return {name: wanted for name, wanted in asked.items() if wanted}


@dataclass(frozen=True)
class Reading:
    """The options of every command that reads pages; a command takes them as one parameter, `reading`."""

    format: Format = None
    columns: Columns = None
    language: Language = None
    encoding: Encoding = None
    strict: Strict = False
    problems: ProblemFile = None

    @property
    def options(self) -> dict[str, Any]:
        """The options as keyword arguments of `read_pages`."""
        columns = parse_columns(self.columns)
        return {"format": self.format, "columns": columns, "language": self.language, "encoding": self.encoding}

    def pages(
        self, path: Path | str, problems: Problems | None = None, *, usual_columns: Mapping[str, str] | None = None
    ) -> PageReader:
        """Read the pages of a file; a page whose language cannot be detected gets that of most pages of the file."""
        from batag.segmentation.majority import read_with_language

        return read_with_language(path, **self.options, usual_columns=usual_columns, problems=problems)

    def pages_of(
        self,
        files: Sequence[Path],
        problems: Problems,
        *,
        usual_columns: Mapping[str, str] | None = None,
        doing: str = "reading",
    ) -> Iterator[Page]:
        """Yield the pages of several files, with a progress bar at a terminal."""
        from batag.cli.terminal import watched

        for path in files:
            with problems.reading_one_of(files):
                yield from watched(self.pages(path, problems, usual_columns=usual_columns), doing=doing)

    def collected(self) -> AbstractContextManager[Problems]:
        """Collect the problems of the input, and print and write them at the end."""
        from batag.cli.terminal import collected_problems

        return collected_problems(strict=self.strict, path=self.problems)


READING = Reading()


def with_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter `reading` of a command, if it has one, by one option per field of `Reading`."""
    signature = inspect.signature(command, eval_str=True)
    if "reading" not in signature.parameters:
        return command
    own = inspect.signature(Reading, eval_str=True).parameters

    @functools.wraps(command)
    def run(**given: Any) -> None:
        reading = Reading(**{name: given.pop(name) for name in own})
        command(**given, reading=reading)

    expanded = [
        option for name, each in signature.parameters.items() for option in (own.values() if name == "reading" else [each])
    ]
    run.__signature__ = signature.replace(parameters=expanded)  # type: ignore[attr-defined]
    return run


def parse_columns(text: str | None) -> dict[str, str]:
    """Parse `title=name,description=body` into a dict."""
    columns: dict[str, str] = {}
    for part in text.split(",") if text else []:
        ours, equals, theirs = part.partition("=")
        if not (equals and ours.strip() and theirs.strip()):
            raise UsageError(f"--columns {part!r} is not FIELD=COLUMN", todo=f"Write it like {EXAMPLE}")
        name = ours.strip()
        if name not in KNOWN_KEYS and (near := nearest(name, KNOWN_KEYS, cutoff=0.8)):
            todo = f"Did you mean {near}={theirs.strip()}? A field of your own needs a name that is less similar"
            raise UsageError(f"--columns {part.strip()!r}: {name!r} looks like {near!r} misspelt", todo=todo)
        columns[name] = theirs.strip()
    return columns
