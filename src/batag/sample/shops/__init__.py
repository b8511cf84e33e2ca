"""Pages as shops write them, drawn from the lexicon: ten kinds of shops in four languages, with brands, goods and features."""

from batag.sample.shops.catalogue import LANGUAGES, shop_pages

__all__ = ["LANGUAGES", "shop_pages"]
