"""The base bundle with a shop's lists: the same weights, and the shop's names as features and as whole words."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from batag.bundles.bundle import read_bundle
from batag.bundles.description import DESCRIPTION, DICTIONARY, TERMS
from batag.bundles.digest import with_digest
from batag.features.term_lists import TermLists
from batag.features.term_matcher import MARK
from batag.pages.file import open_output
from batag.pages.mentions import Mentions, lower
from batag.pages.page import Page
from batag.segmentation.dictionary import Dictionary
from batag.segmentation.segmentation import Segmentation
from batag.start.lists import BRAND, LEXICON, Lists

_CUT = 0.2
_MOST_PAGES = 2_000


def cut_names(names: Iterable[str], sample: Sequence[Page], segmentation: Segmentation) -> list[str]:
    """The names that the segmentation cuts at wrong places, or joins with their neighbours, on a part of the pages: they become
    words of the dictionary."""
    listed = {lower(name): name for name in names if not name.isascii()}
    if not listed:
        return []
    mentions = Mentions(listed)
    seen: dict[str, int] = {}
    wrong: dict[str, int] = {}
    for page, fields in segmentation.many(sample[:_MOST_PAGES]):
        for field in fields:
            found = mentions.find(lower(page[field.name]))
            if not found:
                continue
            origins = field.origins
            starts, ends = {start for start, _ in origins}, {end for _, end in origins}
            for name, places in found.items():
                seen[name] = seen.get(name, 0) + len(places)
                wrong[name] = wrong.get(name, 0) + sum(start not in starts or end not in ends for start, end in places)
    return [listed[name] for name, times in seen.items() if wrong[name] > _CUT * times]


def equip(base: Path, folder: Path, lists: Lists, sample: Sequence[Page]) -> Path:
    """Copy the base bundle into a folder, with a shop's lists; its weights stay, and so does what it has learnt."""
    bundle = read_bundle(base)
    labels = {*bundle.description.scheme.classes}
    own = [term for term in lists.terms if term.source != LEXICON and term.pages and term.label in labels]
    words = cut_names((term.text for term in own if term.label == BRAND and term.sure), sample, bundle.segmentation)
    before = bundle.dictionary.terms if bundle.dictionary is not None else ()
    making = folder.with_name(f".{folder.name}.tmp")
    for left in (making, folder):
        shutil.rmtree(left, ignore_errors=True)
    shutil.copytree(bundle.folder, making)
    described: dict[str, Any] = json.loads((making / DESCRIPTION).read_bytes())
    contents: dict[str, bytes] = {}
    if words:
        contents[DICTIONARY] = "".join(f"{word}\n" for word in Dictionary((*before, *words)).terms).encode()
    if own and bundle.terms is not None:
        named = tuple((f"{term.text}{'' if term.sure else MARK}", term.label) for term in own)
        lists_of_both = bundle.terms.join(TermLists(own=named))
        contents[TERMS] = lists_of_both.text().encode()
        described["terms"]["own"] = len(lists_of_both.own)
    for name, data in contents.items():
        described["files"][name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    for name, data in (contents | {DESCRIPTION: with_digest(described)}).items():
        with open_output(making / name) as stream:
            stream.write(data)
    making.rename(folder)
    return folder
