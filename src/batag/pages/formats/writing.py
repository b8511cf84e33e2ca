"""Write pages to files, which appear only when they are complete."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

from batag.errors import UsageError
from batag.pages.file import open_output
from batag.pages.formats.format import FORMATS, PACKED_INSIDE, check_format, format_module, format_of_name
from batag.pages.page import Page


def write_pages(pages: Iterable[Page], path: Path | str, *, format: str | None = None, **options: Any) -> None:
    """Write pages to a file that appears only when it is complete; the format follows from its name unless given."""
    name = format_to_write(path, format)
    with open_output(path) as stream:
        write_stream(pages, stream, format=name, **options)


def format_to_write(path: Path | str, wanted: str | None) -> str:
    """The format to write: the wanted one, or the one of the file name; JSON Lines for standard output."""
    name = check_format(wanted) if wanted else "jsonl" if str(path) == "-" else format_of_name(path)
    if name is None or not FORMATS[name].writes:
        writable = ", ".join(each for each, format in FORMATS.items() if format.writes)
        what = f"the format to write is not clear from the name {path}"
        raise UsageError(what, todo=f"Use --to with one of {writable}", python=f"Give format=, one of {writable}")
    if name == "xlsx" and Path(path).suffix.lower() == ".xlsm":
        raise UsageError(f"{path} would be a workbook with macros", todo="Name it .xlsx")
    if name in PACKED_INSIDE and Path(path).suffix in (".gz", ".zst"):
        raise UsageError(f"{path} would be compressed twice", todo=f"The format is compressed already: name it .{name}")
    return name


def write_stream(pages: Iterable[Page], stream: BinaryIO, *, format: str, **options: Any) -> None:
    """Write pages to an open stream."""
    format_module(format).write(pages, stream, **dict(FORMATS[format].writing), **options)


def join_parts(parts: Iterable[bytes], stream: BinaryIO, *, format: str) -> None:
    """Concatenate files of a format, with its own `join` if it has one."""
    if (join := getattr(format_module(format), "join", None)) is not None:
        join(parts, stream)
        return
    for data in parts:
        stream.write(data)
