"""Write the pages of the sample catalogue from one stream of random numbers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from random import Random

from batag.errors import UsageError
from batag.pages.page import Page
from batag.sample import shops
from batag.sample.brand import Forms, brand_pool, name_pool, rare_brand_pool
from batag.sample.draft import Draft
from batag.sample.goods import Goods, GoodsPools, goods_pools
from batag.sample.knobs import KNOBS, Knobs
from batag.sample.lexicon import Kind, read_lexicon
from batag.sample.noise import Noise
from batag.sample.pool import SPLITS, Pool
from batag.sample.template import Templates, Writer

STYLES = ("shops", "paper")
LANGUAGES = ("zh-Hant", "ja", "en")
"""The languages of the style `paper`."""
SHOPS = ("cosmetics", "furniture", "fashion", "shoes", "general")
JOINERS = {"zh-Hant": "", "ja": "", "en": " "}
BREAKS = ("<br>", "<br>", "<br/>", "<br />\n", "</p><p>")


def sample_pages(
    language: str = "zh-Hant", *, pages: int = 2000, split: str = "train", seed: int = 0, style: str = "shops"
) -> Iterator[Page]:
    """Yield the first `pages` pages of a split; the same seed gives the same pages. The style `shops` is drawn from the
    lexicon, with brands, goods and features; `paper` are the five shops with the ratios of the paper."""
    if style not in STYLES:
        raise UsageError(f"the sample catalogue has no style {style!r}", todo=f"Choose one of {', '.join(STYLES)}.")
    languages = LANGUAGES if style == "paper" else shops.LANGUAGES
    if language not in languages:
        raise UsageError(f"the sample catalogue has no language {language!r}", todo=f"Choose one of {', '.join(languages)}.")
    if split not in SPLITS:
        raise UsageError(f"the sample catalogue has no split {split!r}", todo=f"Choose one of {', '.join(SPLITS)}.")
    if style == "shops":
        return shops.shop_pages(language, pages=pages, split=split, seed=seed)
    return _pages(language, split, pages, seed)


def _pages(language: str, split: str, pages: int, seed: int) -> Iterator[Page]:
    number = int.from_bytes(sha256(f"{language}/{split}/{seed}".encode()).digest()[:8], "big")
    # Of Random only random() is used: it alone is promised to be the same in every Python.
    random = Random(number).random
    counters = {shop: _counter(language, shop, split) for shop in SHOPS}
    knobs = KNOBS[language]
    names = tuple(name_pool(language, name) for name in ("train", split))
    draft = Draft(random, name=lambda: names[random() < knobs.own_names].draw(random()))
    noise = Noise(language, knobs=knobs, random=random)
    for place in range(pages):
        shop = SHOPS[int(random() * len(SHOPS))]
        yield counters[shop].write(draft, noise, id=f"{language}-{split}-{shop}-{place:06d}", knobs=knobs)


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """The goods of one kind, and the templates of its pages with and without a brand."""

    kind: Kind
    goods: tuple[GoodsPools, GoodsPools]
    title: Writer
    plain_title: Writer
    description: Writer
    plain_description: Writer


@dataclass(frozen=True, kw_only=True)
class Counter:
    """One shop of one split: its popular brands, brands that no other split has (used with the probability `own`), and its
    shelves."""

    language: str
    shop: str
    brands: tuple[Pool[Forms], Pool[Forms]]
    own: float
    shelves: tuple[Shelf, ...]

    def write(self, draft: Draft, noise: Noise, *, id: str, knobs: Knobs) -> Page:
        """Write the next page of the shop."""
        random = draft.random
        shelf = self._shelf(random)
        draft.goods, draft.head = self._goods(shelf, random, knobs)
        draft.other = lambda: self._other(draft.head, random, knobs)
        draft.series = draft.name()
        branded = random() >= knobs.brandless
        titled = branded and random() >= knobs.untitled
        draft.brand = ("",)
        if branded:
            draft.brand = noise.brand(self.brands[random() < self.own].draw(random()))
        self._style(draft, noise, shelf.kind, knobs)
        (shelf.title if titled else shelf.plain_title)(draft)
        noise.disturb(draft)
        title, tags = draft.close("title")
        if knobs.lower:
            draft.goods, draft.head = noise.prose(draft.goods), noise.prose(draft.head)
        (shelf.description if branded else shelf.plain_description)(draft)
        noise.disturb(draft)
        description, more = draft.close("description")
        fields = {"title": title, "description": description}
        return Page(id, fields, language=self.language, shop=self.shop, tags=(*tags, *more), labelled=True)

    def _shelf(self, random: Callable[[], float]) -> Shelf:
        return self.shelves[int(random() * len(self.shelves))]

    def _goods(self, shelf: Shelf, random: Callable[[], float], knobs: Knobs) -> Goods:
        return shelf.goods[random() < knobs.own_goods].draw(random)

    def _other(self, head: str, random: Callable[[], float], knobs: Knobs) -> str:
        """Goods that the page does not sell; never the page's own with another modifier."""
        while True:
            goods, other = self._goods(self._shelf(random), random, knobs)
            if other not in head and head not in other:
                return goods if random() < 0.3 else other

    def _style(self, draft: Draft, noise: Noise, kind: Kind, knobs: Knobs) -> None:
        random = draft.random
        draft.space = "" if random() < knobs.joined and draft.brand[-1].isascii() else " "
        noise.markup = random() < knobs.html
        gaps = BREAKS if noise.markup else kind.rules["gap"]
        draft.gap = gaps[int(random() * len(gaps))]
        bullets = kind.rules["bullet"]
        draft.bullet = bullets[int(random() * len(bullets))]


@cache
def _counter(language: str, shop: str, split: str) -> Counter:
    knobs = KNOBS[language]
    own = rare_brand_pool(language, shop) if split == "train" else brand_pool(language, shop, split)
    brands = (brand_pool(language, shop, "train"), own)
    shelves = tuple(_shelf(kind, language, split) for kind in read_lexicon(language).kinds[shop])
    share = knobs.rare if split == "train" else knobs.own_brands
    return Counter(language=language, shop=shop, brands=brands, own=share, shelves=shelves)


def _shelf(kind: Kind, language: str, split: str) -> Shelf:
    knobs = KNOBS[language]
    pools = [goods_pools(kind, split=name, joiner=JOINERS[language], knobs=knobs) for name in ("train", split)]
    with_brand, without = (Templates(kind.rules, knobs=knobs, branded=branded) for branded in (True, False))
    return Shelf(
        kind=kind,
        goods=(pools[0], pools[1]),
        title=with_brand.page_writer("title"),
        plain_title=without.page_writer("plain_title"),
        description=with_brand.page_writer("description"),
        plain_description=without.page_writer("description"),
    )
