"""What a tag means: its match key, its canonical form, the entry of the lexicon, and its category."""

from __future__ import annotations

from dataclasses import dataclass

from batag.terms.lexicon import BRAND, FEATURE, GOODS, Entry
from batag.terms.voting import Match

_LABELS = {
    BRAND: "brand brands maker manufacturer company 品牌 廠牌 厂牌 ブランド メーカー",
    GOODS: "goods good product products item items kind category 商品 產品 产品 品項 品项 品類 品类 製品 商品名",
    FEATURE: "feature features attribute attributes property spec colour color material 特徵 特征 特色 屬性 属性 特徴",
}
_KIND = {name: kind for kind, names in _LABELS.items() for name in names.split()}


def kind_of_label(label: str | None) -> str | None:
    """The kind of entry that a label stands for, or None: labels are named by their users."""
    return None if label is None else _KIND.get(label.strip().casefold())


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a text means. `by` says where the canonical form comes from: synonyms, lexicon, key, or stop (it is no tag and has
    none). `others` are entries that it may mean as well, if only the context can tell."""

    text: str
    key: str
    canonical: str | None
    by: str
    entry: Entry | None = None
    others: tuple[Entry, ...] = ()
    category: Match | None = None
