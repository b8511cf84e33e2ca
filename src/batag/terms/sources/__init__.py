"""Taxonomies as others distribute them: Shopify's, Google's, a shop's own table; one file per language, joined by id."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from batag.errors import InputError
from batag.segmentation.detection import possible_languages
from batag.terms.limits import lines_of, read_limited
from batag.terms.sources import google, shop, shopify
from batag.terms.sources.listing import Listing
from batag.terms.taxonomy import Taxonomy, build_taxonomy, plain_id

_FORMATS: tuple[ModuleType, ...] = (shopify, google, shop)
_SEEN = 2_000


def import_taxonomy(paths: Sequence[Path | str], *, language: str | None = None) -> Taxonomy:
    """Read one file per language and join them by id."""
    read = [_read(Path(path), language) for path in paths]
    first = read[0]
    for other in read[1:]:
        _check_joint(first, other, read)
    format = next(each for each in _FORMATS if each.__name__.endswith(first.source))
    parents = format.parents(first)
    order = sorted(first.paths, key=lambda id: len(first.paths[id]))
    rows = ((id, parents[id], tuple(each.paths[id][-1] for each in read)) for id in order)
    return build_taxonomy(rows, source=first.source, version=first.version, languages=[each.language for each in read])


def _read(path: Path, language: str | None) -> Listing:
    data = read_limited(path, what="a taxonomy")
    try:
        lines = lines_of(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError("is not UTF-8", where=f"{path}:{line}", todo="Save it as UTF-8 text") from error
    if b"\0" in data or not any(map(str.strip, lines)):
        raise InputError(
            "is no list of categories", where=str(path), todo="Name a taxonomy as it was downloaded, or a CSV of paths"
        )
    listing: Listing = next(each for each in _FORMATS if each.is_mine(lines)).read(lines, str(path))
    if not listing.paths:
        raise InputError("has no category", where=str(path), todo="The file may be cut: download it again")
    _check_ids(listing)
    names = " ".join(each[-1] for each in list(listing.paths.values())[:_SEEN])
    listing.language = language or possible_languages(names)[0]
    return listing


def _check_ids(listing: Listing) -> None:
    """Refuse ids that would be none, or the same, in a file of ours."""
    seen: dict[str, str] = {}
    for id in listing.paths:
        where = f"{listing.where}:{listing.lines[id]}"
        if not (plain := plain_id(id)):
            raise InputError(f"the id {id!r} has no letter or digit", where=where, todo="Give the category another id")
        if (other := seen.setdefault(plain, id)) != id:
            what = f"the ids {other!r} (line {listing.lines[other]}) and {id!r} differ only in spaces or signs"
            raise InputError(what, where=where, todo="Give one of the categories another id")


def _check_joint(first: Listing, other: Listing, read: Sequence[Listing]) -> None:
    if (first.source, first.version) != (other.source, other.version):
        what = f"is {other.source} {other.version or 'without a version'}, but {first.where} is {first.source} {first.version}"
        raise InputError(what, where=other.where, todo="Take all languages from one version")
    if sum(each.language == other.language for each in read) > 1:
        todo = "Give one file per language, in folders or with names that say it, such as zh-TW/categories.txt"
        raise InputError(f"is in {other.language}, as another file", where=other.where, todo=todo)
    missing, added = first.paths.keys() - other.paths.keys(), other.paths.keys() - first.paths.keys()
    if missing and added:
        # The first in the file, because its line is said.
        id = min(added, key=other.lines.__getitem__)
        what = f"has ids such as {id!r}, which {first.where} lacks, and lacks ids such as {min(missing)!r}"
        todo = "Take all languages from one version: files are joined by id, so a category has the same id in all of them"
        raise InputError(what, where=f"{other.where}:{other.lines[id]}", todo=todo)
    if missing or added:
        has, lacks = (first, other) if missing else (other, first)
        many = f"{len(missing or added):,} ids such as" if len(missing or added) > 1 else "the id"
        what = f"lacks {many} {min(missing or added)!r}, which {has.where} has"
        raise InputError(what, where=lacks.where, todo="The file may be cut: download it again")
    for id, path in other.paths.items():
        if len(path) != len(first.paths[id]):
            levels = f"{len(path)} level{'s' * (len(path) > 1)}"
            what = f"the category {id!r} has {levels} here, but {len(first.paths[id])} in {first.where}"
            raise InputError(what, where=f"{other.where}:{other.lines[id]}", todo="Take all languages from one version")
