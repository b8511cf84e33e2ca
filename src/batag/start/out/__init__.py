"""The files that people open: the table with tags, the report, and the pages to label first."""

from batag.start.out.export import Export
from batag.start.out.facts import BrandCheck, ColumnUse, Command, Facts, Missing
from batag.start.out.rows import TaggedRow, tagged_rows
from batag.start.out.survey import Survey
from batag.start.out.writing import Written, write_out

__all__ = [
    "BrandCheck",
    "ColumnUse",
    "Command",
    "Export",
    "Facts",
    "Missing",
    "Survey",
    "TaggedRow",
    "Written",
    "tagged_rows",
    "write_out",
]
