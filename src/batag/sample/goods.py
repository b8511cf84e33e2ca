"""Compose goods from modifiers and heads; some heads and compounds occur only in dev or only in test."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from batag.sample.knobs import Knobs
from batag.sample.lexicon import Kind
from batag.sample.pool import Pool, share, split_of

Goods = tuple[str, str]  # as sold (防水登山鞋), and its head (登山鞋)


@dataclass(frozen=True, kw_only=True)
class GoodsPools:
    """The goods of one kind in one split: bare heads and compounds."""

    heads: Pool[str]
    compounds: Pool[Goods]
    bare: float

    def draw(self, random: Callable[[], float]) -> Goods:
        """Draw goods by popularity."""
        if random() < self.bare:
            head = self.heads.draw(random())
            return head, head
        return self.compounds.draw(random())


def goods_pools(kind: Kind, *, split: str, joiner: str, knobs: Knobs) -> GoodsPools:
    """The goods of a kind in one split: dev and test have their own heads, and their own compounds of train's heads."""
    homes = _homes(tuple(head for group in kind.goods for head in group.heads), knobs.held_goods)
    compounds = [
        (f"{modifier}{joiner}{head}", head) for group in kind.goods for head in group.heads for modifier in group.modifiers
    ]
    own = [goods for goods in compounds if _home(goods, homes, knobs) == split]
    heads = [head for head, home in homes.items() if home == split]
    own.sort(key=lambda goods: share(goods[0], "rank"))
    heads.sort(key=lambda head: share(head, "rank"))
    flatness = knobs.flatness if split == "train" else 10 * knobs.flatness
    return GoodsPools(heads=Pool(heads, flatness=flatness), compounds=Pool(own, flatness=flatness), bare=knobs.bare_goods)


@cache
def _homes(heads: tuple[str, ...], held: float) -> dict[str, str]:
    """The split of each head; every kind keeps some heads for dev and some for test."""
    ranked = sorted(heads, key=lambda head: share(head, "home"))
    count = max(1, round(held * len(ranked)))
    return {head: "dev" if rank < count else "test" if rank < 2 * count else "train" for rank, head in enumerate(ranked)}


def _home(goods: Goods, homes: dict[str, str], knobs: Knobs) -> str:
    """The split of goods: that of a held-out head or, for heads of train, some compounds are held out."""
    compound, head = goods
    return split_of(compound, held=knobs.held_goods, salt="compound") if homes[head] == "train" else homes[head]
