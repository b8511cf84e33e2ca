"""Find duplicates: pages that are equal after cleaning, or so similar (variants of one product) that a model would just
memorise them.

Two texts are near-duplicates if about 70 % of their character 3-grams are the same (Jaccard similarity, all digits alike). They
are found by MinHash with banding, without comparing all pairs.
"""

import re
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from batag.pages.cleaning import Cleaner
from batag.pages.page import Page

NEAR = 0.7
_ROWS, _BANDS = 4, 32
_MOST_COMPARED = 500
_CHUNK = 4096
_NOISE = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"\d+")
_clean = Cleaner()


def fingerprint(page: Page) -> str:
    """The text of a page for comparison: its cleaned fields in lower case without spaces and punctuation."""
    texts = (_NOISE.sub("", _clean(text).text.lower()) or text.strip() for text in page.fields.values())
    return "\n".join(filter(None, texts))


def text_hash(text: str) -> int:
    """A 64-bit hash of a text, the same on every machine."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


@cache
def _permutations() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    draws = np.random.Generator(np.random.PCG64(2026)).integers(1, 2**63, size=(2, _ROWS * _BANDS), dtype=np.uint64)
    return draws[0] | np.uint64(1), draws[1]


def signature(text: str) -> NDArray[np.uint32]:
    """The MinHash signature of a text; the fraction of equal values estimates the similarity of two texts."""
    codes = np.frombuffer(_DIGITS.sub("0", text).encode("utf-32-le"), np.uint32).astype(np.uint64)
    grams = codes if len(codes) < 3 else codes[:-2] * np.uint64(0x1F3D5B79) + codes[1:-1] * np.uint64(0x10001) + codes[2:]
    grams = np.unique(grams)
    if not len(grams):
        return np.zeros(_ROWS * _BANDS, np.uint32)
    factors, shifts = _permutations()
    least = np.full(len(factors), np.uint64(2**32 - 1))
    for start in range(0, len(grams), _CHUNK):
        mixed: NDArray[np.uint64] = (grams[start : start + _CHUNK, None] * factors + shifts) >> np.uint64(32)
        least = np.minimum(least, mixed.min(axis=0))
    return least.astype(np.uint32)


class Groups:
    """Groups texts: after all were added, `of()` returns the group of duplicates that each belongs to."""

    def __init__(self) -> None:
        self._signatures: list[NDArray[np.uint32]] = []
        self._distinct: dict[int, int] = {}
        self._index: list[int] = []

    def add(self, text: str) -> None:
        """Add the next text."""
        key = text_hash(text)
        if key not in self._distinct:
            minhash = signature(text)
            # Variants that differ in digits only have one signature: they need no comparing.
            same = text_hash(minhash.tobytes().hex())
            if same not in self._distinct:
                self._distinct[same] = len(self._signatures)
                self._signatures.append(minhash)
            self._distinct[key] = self._distinct[same]
        self._index.append(self._distinct[key])

    def of(self) -> list[int]:
        """The group number of each text in order; duplicates and near-duplicates have the same number."""
        if not self._signatures:
            return []
        parents = list(range(len(self._signatures)))

        def root(node: int) -> int:
            while parents[node] != node:
                parents[node] = parents[parents[node]]
                node = parents[node]
            return node

        signatures = np.stack(self._signatures)
        for band in range(_BANDS):
            rows = signatures[:, band * _ROWS : (band + 1) * _ROWS].astype(np.uint64)
            keys = (rows * np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 1], np.uint64)).sum(axis=1)
            order = np.argsort(keys, kind="stable")
            borders = np.flatnonzero(np.diff(keys[order])) + 1
            starts, ends = np.append(0, borders), np.append(borders, len(order))
            for start, end in zip(starts[ends - starts > 1], ends[ends - starts > 1], strict=True):
                bucket = order[start:end]
                roots = np.array([root(int(each)) for each in bucket])
                if (roots == roots[0]).all():
                    continue
                for place, here in enumerate(bucket[:-1]):
                    window = slice(place + 1, place + 1 + _MOST_COMPARED)
                    others = bucket[window][roots[window] != roots[place]]
                    alike = (signatures[others] == signatures[here]).mean(axis=1) >= NEAR
                    for other in others[alike]:
                        parents[root(int(other))] = root(int(here))
        return [root(node) for node in self._index]


def twins_of(pages: Sequence[Page], others: Sequence[Page]) -> list[bool]:
    """For each of the others, whether it is a duplicate or near-duplicate of one of the pages."""
    groups = Groups()
    for page in (*pages, *others):
        groups.add(fingerprint(page))
    found = groups.of()
    taken = set(found[: len(pages)])
    return [group in taken for group in found[len(pages) :]]
