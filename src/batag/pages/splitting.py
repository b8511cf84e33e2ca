"""Split pages into train, dev and test without leaks: duplicates and near-duplicates stay together, and each shop and language
is split in the same proportion."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from batag.errors import UsageError
from batag.pages.duplicates import Groups, fingerprint
from batag.pages.page import Page

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Assignment:
    """The split of each page, in order."""

    splits: list[str]
    groups: int
    grouped: int

    @property
    def counts(self) -> dict[str, int]:
        counted = Counter(self.splits)
        return {name: counted[name] for name in SPLITS}


def parse_shares(text: str) -> tuple[float, float, float]:
    """Parse the relative sizes of train, dev and test from `8:1:1`, `80/10/10` or `0.8,0.1,0.1`."""
    try:
        shares = [float(part) for part in text.replace("/", ":").replace(",", ":").split(":")]
    except ValueError:
        shares = []
    if len(shares) != 3 or min(shares) < 0 or not 0 < sum(shares) < float("inf"):
        raise UsageError(f"{text!r} is not three sizes", todo="Write train:dev:test, for example 8:1:1")
    total = sum(shares)
    return shares[0] / total, shares[1] / total, shares[2] / total


def assign_splits(pages: Iterable[Page], *, shares: Sequence[float] = (0.8, 0.1, 0.1), seed: int = 0) -> Assignment:
    """Assign each page to a split; the same pages, shares and seed give the same result."""
    groups, strata = Groups(), []
    for page in pages:
        groups.add(fingerprint(page))
        strata.append((page.shop or "", page.language or ""))
    members: dict[int, list[int]] = defaultdict(list)
    for number, group in enumerate(groups.of()):
        members[group].append(number)
    queue = list(members.values())
    random.Random(seed).shuffle(queue)
    # The large ones first: what is left over can still be evened out by small ones.
    queue.sort(key=len, reverse=True)
    sizes = Counter(strata)
    overall: Counter[str] = Counter()
    inside: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    splits = [""] * len(strata)
    for pages_of_group in queue:
        stratum = Counter(strata[number] for number in pages_of_group).most_common(1)[0][0]

        def missing(place: int, stratum: tuple[str, str] = stratum) -> tuple[float, float]:
            name = SPLITS[place]
            return shares[place] * sizes[stratum] - inside[stratum][name], shares[place] * len(strata) - overall[name]

        open_ones = [place for place in range(3) if shares[place] > 0]
        # A shop of a few pages cannot have its share of each: there the whole decides, measured by what it lacks.
        if sizes[stratum] * min(shares[place] for place in open_ones) < 1:
            chosen = SPLITS[max(open_ones, key=lambda place: missing(place)[1] / shares[place])]
        else:
            chosen = SPLITS[max(open_ones, key=missing)]
        for number in pages_of_group:
            splits[number] = chosen
            inside[strata[number]][chosen] += 1
            overall[chosen] += 1
    return Assignment(splits, len(queue), sum(len(group) for group in queue if len(group) > 1))
