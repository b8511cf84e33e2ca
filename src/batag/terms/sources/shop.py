"""A shop's own categories: CSV or TSV with a path (`Shoes > Boots`) or a column per level, and `id` if there are ids."""

import csv
import re
from collections.abc import Sequence

from batag.errors import InputError
from batag.terms.sources.listing import Listing

_PATH = frozenset(
    ["path", "category", "categories", "分類", "分类", "類別", "类别", "カテゴリ", "カテゴリー", "fullpath", "full_path"]
)
_ID = frozenset(["id", "category_id", "categoryid", "code", "編號", "编号", "代碼", "代码", "コード"])
_BETWEEN = re.compile(r"\s*(?:>|›|»|＞)\s*|\s+/\s+")


def is_mine(lines: Sequence[str]) -> bool:
    """Every other table of text may be one."""
    return bool(lines)


def read(lines: Sequence[str], where: str) -> Listing:
    """The categories of a table; those above that are not listed are added. Without ids the path is the id."""
    found = Listing(where, "shop")
    delimiter = "\t" if "\t" in lines[0] else ";" if ";" in lines[0] and "," not in lines[0] else ","
    rows = list(csv.reader(lines, delimiter=delimiter))
    header = [each.strip().lower() for each in rows[0]]
    named = bool({*header} & (_PATH | _ID)) or any(
        re.fullmatch(r"(?:level|l|大|中|小)?\W*\d?(?:分類|分类|カテゴリ)?", each) for each in header
    )
    id_at = next((place for place, each in enumerate(header) if named and each in _ID), None)
    path_at = next((place for place, each in enumerate(header) if named and each in _PATH), None)
    above: dict[tuple[str, ...], str] = {}
    for number, row in enumerate(rows[named:], 1 + named):
        cells = [each.strip() for each in row]
        if not any(cells):
            continue
        if len(cells) != len(header):
            what = f"has {len(cells)} columns instead of {len(header)}"
            raise InputError(what, where=f"{where}:{number}", todo="The line may be cut: write it again")
        levels = [cells[path_at]] if path_at is not None else [each for place, each in enumerate(cells) if place != id_at]
        while levels and not levels[-1]:
            levels.pop()
        path = tuple(part.strip() for level in levels for part in _BETWEEN.split(level))
        if not path:
            raise InputError("no category in this line", where=f"{where}:{number}", todo="Write a path such as Shoes > Boots")
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


def parents(listing: Listing) -> dict[str, str]:
    """The parent of each id, by the path."""
    return listing.parents()
