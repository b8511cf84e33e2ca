"""The report: one HTML file that works offline, in three languages, without a script; its size does not grow with the
catalogue."""

from __future__ import annotations

from pathlib import Path

from batag.pages.file import open_output
from batag.start.out.report.data import ReportData
from batag.start.out.report.document import document

__all__ = ["ReportData", "write_report"]


def write_report(path: Path, data: ReportData, *, language: str | None = None) -> None:
    """Write the report; it opens in `language` (en, zh-Hant or ja), by default that of the shop's pages."""
    with open_output(path) as stream:
        stream.write(document(data, language=language).encode(errors="replace"))
