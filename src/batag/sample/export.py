"""Write sample pages as the export of a shop: a CSV table with the columns that shops of the language have, without labels."""

import codecs
import csv
import io
from collections.abc import Iterable
from pathlib import Path

from batag.errors import InputError, UsageError
from batag.pages.file import open_output
from batag.pages.formats import format_of_name
from batag.pages.page import Page
from batag.sample.shops.ledger import read_table


def check_export(path: Path | str) -> None:
    """Raise an error if the file of an export exists, or is not named as a CSV file."""
    if str(path) != "-" and format_of_name(path) != "csv":
        raise UsageError(f"an export is a CSV file, and {path} is not named as one", todo="Name it shop.csv")
    if Path(path).exists():
        raise InputError("exists already", where=str(path), todo="Name a new file; an export overwrites none")


def write_export(pages: Iterable[Page], path: Path | str, *, language: str) -> int:
    """Write pages of the style `shops` to a new CSV file in UTF-8 with a byte order mark, and return their number."""
    check_export(path)
    count = 0
    with open_output(path) as stream:
        stream.write(codecs.BOM_UTF8)
        stream.write(_line(read_table()["columns"][language].split()))
        for page in pages:
            extra, fields = page.extra, page.fields
            row = [extra["sku"], fields["title"], fields.get("description", "")]
            stream.write(_line([*row, extra["brand"], extra["category"], extra["price"]]))
            count += 1
    return count


def _line(cells: list[str]) -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\r\n").writerow(cells)
    return buffer.getvalue().encode()
