"""The pages to label first as a workbook: a person corrects the cells of tags and says which rows are right now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from batag.pages.corrections import readable, shown
from batag.pages.fields import KNOWN_KEYS, MAIN_FIELD
from batag.pages.file import open_output
from batag.pages.formats.row import Row, tags_json
from batag.pages.formats.sheet import MOST_CHARACTERS, Cell, cut
from batag.pages.layout import KEY
from batag.pages.page import Page
from batag.start.cells import in_cell, tag_in_cell
from batag.start.out.book import OWN, PROBLEM, TAGS, Book, column_widths, font_of, letters, lines_of, look

REVIEW_BOOK = "to_review.xlsx"
_ANSWERS = {"zh-Hant": ("是", "否"), "zh-Hans": ("是", "否"), "ja": ("はい", "いいえ")}
_HIDDEN = ("language", "tags", KEY)
_LINE, _MOST_LINES = 15, 20
"""The height of a line in points, and the lines of the highest row: Excel allows no more than 409 points."""
_OWN = frozenset({*KNOWN_KEYS, *_HIDDEN, "unsure"})


class ReviewSheet(Book):
    """A workbook whose column `reviewed` offers its two answers, and takes any other."""

    reviewed = 0
    answers: tuple[str, str] = ("yes", "no")
    widths: Sequence[int] = ()

    def shape_of(self, cells: Sequence[Cell]) -> str:
        """As high as its text, which no program works out when it opens the workbook."""
        lines = max((lines_of(cell, width) for cell, width in zip(cells, self.widths, strict=False)), default=1)
        return f' ht="{_LINE * min(lines, _MOST_LINES) + 3}" customHeight="1"'

    def checks(self) -> str:
        column, rows = letters(self.reviewed), max(self._rows, 2)
        return (
            '<dataValidations count="1"><dataValidation type="list" allowBlank="1" showInputMessage="1" '
            f'sqref="{column}2:{column}{rows}"><formula1>"{",".join(self.answers)}"</formula1></dataValidation></dataValidations>'
        )


def write_review_book(
    pages: Iterable[Page], path: Path, *, labels: Sequence[str], columns: Mapping[str, str], language: str | None = None
) -> None:
    """Write the pages with the shop's own names of `columns` and a readable column for each label. What programs need (where
    the tags stand, which column is which field) is in hidden columns."""
    made = [page for page in map(_as_it_comes_back, pages) if _fits(page)]
    fields = list(dict.fromkeys([MAIN_FIELD, *(name for page in made for name in page.fields)]))
    names = {field: columns.get(field, field) for field in ("id", *fields)}
    own = {field: name if _is_free(name, field, names, labels) else field for field, name in names.items()}
    header = [*own.values(), *map(readable, labels), "reviewed", "unsure", *_HIDDEN]
    answers = _ANSWERS.get(language or "", ("yes", "no"))
    rows = [_cells(page, own, labels, reviewed=answers[1]) for page in made]
    kinds = [OWN] * len(own) + [TAGS] * len(labels) + [PROBLEM, OWN] + [OWN] * len(_HIDDEN)
    hidden = range(len(header) - len(_HIDDEN), len(header))
    widths = column_widths(header, rows)
    shape = look(widths, kinds, font=font_of(language), hidden=hidden, wraps=True)
    with open_output(path) as stream, ReviewSheet(stream, look=shape) as sheet:
        sheet.columns, sheet.reviewed = len(header), header.index("reviewed")
        sheet.answers, sheet.widths = answers, widths[: -len(_HIDDEN)]
        for cells in (header, *rows):
            sheet.row(cells)


def _is_free(name: str, field: str, names: Mapping[str, str], labels: Sequence[str]) -> bool:
    """Whether a column can have the shop's name: no other column has it, and it means nothing else here."""
    taken = {*_OWN, *map(readable, labels)} - {field}
    return name.strip() == name and name.casefold() not in taken and [*names.values()].count(name) == 1


def _as_it_comes_back(page: Page) -> Page:
    """The page with texts that no program changes when it saves the workbook, so that its tags stay where they are."""
    tags = tuple(tag_in_cell(tag, page[tag.field]) for tag in page.tags)
    return replace(page, fields={name: in_cell(text) for name, text in page.fields.items()}, tags=tags)


def _fits(page: Page) -> bool:
    """Whether a cell of Excel holds the texts of a page, and its tags for programs."""
    return all(cut(text) == text for text in (*page.fields.values(), tags_json(page.tags))) and len(page.id) < MOST_CHARACTERS


def _cells(page: Page, own: Mapping[str, str], labels: Sequence[str], *, reviewed: str) -> list[str]:
    texts = [page.id, *(page.fields.get(name, "") for name in own if name != "id")]
    tags = [shown(tag.text for tag in page.tags if tag.label == label) for label in labels]
    unsure = "; ".join(map(str, page.extra.get("unsure", ())))
    layout = Row((), (), columns={field: name for field, name in own.items() if field != name}).layout_text()
    return [*texts, *tags, reviewed, unsure, page.language or "", tags_json(page.tags), layout]
