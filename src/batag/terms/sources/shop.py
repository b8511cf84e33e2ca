"""A shop's own categories: CSV or TSV with a path (`Shoes > Boots`) or a column per level, and `id` if there are ids."""

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import chain

from batag.errors import InputError
from batag.settings import settings
from batag.terms.sources.listing import Listing
from batag.terms.taxonomy import SHOP

_PATH = frozenset(
    ["path", "category", "categories", "分類", "分类", "類別", "类别", "カテゴリ", "カテゴリー", "fullpath", "full_path"]
)
_ID = frozenset(["id", "category_id", "categoryid", "code", "編號", "编号", "代碼", "代码", "コード"])
_PARENT = frozenset(["parent", "parent_id", "parentid", "上層", "上级", "父類別", "父类别", "親", "親id", "親カテゴリ"])
_AMOUNT = re.compile(r"[-+$¥€£]?\d[\d.,]*%?")
_NO_TABLE = ("{", "[", "<", "%PDF")
_PATHS = "Write the path of each category, such as Shoes > Boots, in a column path (and its id in a column id)"
_BETWEEN = re.compile(r"\s*(?:>|›|»|＞)\s*|\s+/\s+")


def is_mine(lines: Sequence[str]) -> bool:
    """Every other table of text may be one."""
    return bool(lines)


def read(lines: Sequence[str], where: str) -> Listing:
    """The categories of a table; those above that are not listed are added. Without ids the path is the id."""
    found = Listing(where, SHOP)
    rows = _rows(lines, where)
    if (line := next(rows, None)) is None:
        return found
    top, first = line
    header = [each.strip().lower() for each in first]
    named = bool({*header} & (_PATH | _ID)) or any(
        re.fullmatch(r"(?:level|l|大|中|小)?\W*\d?(?:分類|分类|カテゴリ)?", each) for each in header
    )
    id_at = next((place for place, each in enumerate(header) if named and each in _ID), None)
    path_at = next((place for place, each in enumerate(header) if named and each in _PATH), None)
    if path_at is None and {*header} & _PARENT:
        raise InputError("is a table of ids and parents, without paths", where=f"{where}:{top}", todo=_PATHS)
    above: dict[tuple[str, ...], str] = {}
    for number, row in rows if named else chain([line], rows):
        cells = [each.strip() for each in row]
        if len(cells) != len(header):
            what = f"has {len(cells)} column{'s' * (len(cells) > 1)} instead of {len(header)}"
            raise InputError(what, where=f"{where}:{number}", todo="The line may be cut: write it again")
        levels = [cells[path_at]] if path_at is not None else [each for place, each in enumerate(cells) if place != id_at]
        while levels and not levels[-1]:
            levels.pop()
        path = tuple(part.strip() for level in levels for part in _BETWEEN.split(level))
        if not path:
            raise InputError("no category in this line", where=f"{where}:{number}", todo="Write a path such as Shoes > Boots")
        if path_at is None and len(levels) > 1 and (amount := next(filter(_AMOUNT.fullmatch, levels), None)):
            raise InputError(f"no column is a path, and {amount!r} is no category", where=f"{where}:{number}", todo=_PATHS)
        found.check(path, number)
        for depth in range(1, len(path)):
            if path[:depth] not in above:
                above[path[:depth]] = " > ".join(path[:depth])
                found.add(above[path[:depth]], path[:depth], number)
        own = (cells[id_at] if id_at is not None else "") or " > ".join(path)
        if above.get(path) == " > ".join(path) and own != above[path]:
            # Listed after its children: it gets its own id.
            del found.paths[above[path]], found.lines[above[path]]
        elif path in above:
            raise InputError(f"{' > '.join(path)!r} is there twice", where=f"{where}:{number}", todo="Remove one")
        above[path] = own
        found.add(own, path, number)
    return found


def _rows(lines: Sequence[str], where: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are neither empty nor a comment, with their line."""
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    if first.lstrip().startswith(_NO_TABLE):
        raise InputError("is no table of categories", where=where, todo=_PATHS)
    delimiter = "\t" if "\t" in first else ";" if ";" in first and "," not in first else ","
    csv.field_size_limit(settings.max_record_bytes)  # the limit is the process's: whoever reads a table sets it
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    number = 1
    try:
        for row in reader:
            if any(map(str.strip, row)) and not row[0].startswith("#"):
                yield number, row
            number = reader.line_num + 1
    except csv.Error as error:
        what = "has a quote that is not closed" if "unexpected end" in str(error) else f"cannot be read as a table ({error})"
        raise InputError(what, where=f"{where}:{number}", todo="The line may be damaged: write it again") from error


def parents(listing: Listing) -> dict[str, str]:
    """The parent of each id, by the path."""
    return listing.parents()
