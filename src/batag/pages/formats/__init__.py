"""The files that pages come from and go to, one module a format.

`read(source)` of a module gives each record as (where, number, value) and notes in `source.problems` what cannot be read;
`parse(value, note)`, if there is one, does what may wait until a worker has the value, and `page(reader, value, where=...,
number=...)` makes a page of it (without it the value is a record of ours);
`write(pages, stream)` writes pages, `write_rows` tagged rows of a table with the user's own columns, and `join(parts, stream)`
makes one file of several. `read_pages` and catalogue jobs both read and write through these.
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
