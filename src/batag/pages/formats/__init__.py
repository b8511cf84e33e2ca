"""The file formats of pages, one module per format.

A module has `read(source)`, which yields each record as (where, number, value) and notes unreadable ones in `source.problems`.
It may have `parse(value, note)` for parsing that can be left to a worker, and `page(reader, value, where=..., number=...)`,
which makes the page (else the value is a record of batag's own form). `write(pages, stream)` writes pages, `write_rows` tagged
rows of a table with the user's own columns, and `join(parts, stream)` concatenates files. `read_pages` and catalogue jobs both
use these.
"""

from batag.pages.formats.format import FORMATS, NEEDS_TOKENS, check_format, format_of_name
from batag.pages.formats.reading import PageReader, read_pages
from batag.pages.formats.writing import format_to_write, write_pages, write_stream

__all__ = [
    "FORMATS",
    "NEEDS_TOKENS",
    "PageReader",
    "check_format",
    "format_of_name",
    "format_to_write",
    "read_pages",
    "write_pages",
    "write_stream",
]
