"""All rates of the sample catalogue, one set per language."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Knobs:
    """Probabilities from 0 to 1. A template's `{rule?knob}` writes the rule with the probability of that knob."""

    # Length and the ratio none : goods : brand
    fullness: float  # multiplies the chance of every `{rule?60}`
    brand_again: float  # a sentence that names the brand again
    goods_again: float  # a sentence that names the goods again
    brandless: float  # pages without any brand
    untitled: float  # branded pages whose title leaves the brand out
    bare_goods: float = 0.35  # goods without a modifier

    # What dev and test show that train never did
    own_brands: float = 0.45  # dev/test pages with a brand of their own pool
    own_goods: float = 0.5  # dev/test pages with goods of their own pool
    own_names: float = 0.5  # dev/test names (series, ...) of their own pool: being unknown must not tell a brand
    held_goods: float = 0.15  # heads kept for dev, and as many for test; the same for compounds

    # Popularity: rank r is drawn with a weight near 1 / (r + flatness)
    brands: int = 45  # popular brands a shop, which dev and test show as well
    rare_brands: int = 500  # further brands a shop that only train shows, mostly once: they make learners look at the context
    held_brands: int = 45  # brands a shop that only dev shows, and as many that only test shows
    rare: float = 0.86  # train pages with one of the rare brands
    flatness: int = 8

    # How brands look
    native: float  # written in the language's own script (Han, kana and kanji; two words in English)
    pair: float  # Latin and native together: LUMORA 露茉菈; many are dropped, since both must fall to the same split
    ordinary: float  # a common word that is also a plain word: 森林
    upper: float = 0.4  # Latin names in capitals
    small: float = 0.1  # Latin names all in small letters; the rest begin with a capital
    tailed: float = 0.1  # Latin brands with a tail such as Lab
    three: float = 0.4  # coinages of three syllables, not two
    coda: float = 0.35  # coinages with an ending

    # Noise, a chance a page unless it says otherwise
    promo: float = 0.3
    emoji: float = 0.15
    html: float = 0.22
    url: float = 0.03
    bold: float = 0.5  # HTML fields with one <b>
    aside: float = 0.25  # goods or names that are mentioned but are not what is sold
    width: float = 0.06
    typo: float = 0.08
    goods_typo: float = 0.02
    repeat: float = 0.08  # !!! ～～
    zero_width: float = 0.03
    joined: float = 0.3  # no space between a brand and its neighbour, where the language allows it
    capitals: float = 0.06  # a Latin brand in capitals
    lower: float = 0.0  # pages whose description writes the goods without capitals


KNOBS = {
    "zh-Hant": Knobs(
        fullness=1.12, brand_again=0.38, goods_again=0.62, brandless=0.08, untitled=0.05, native=0.11, pair=0.2, ordinary=0.02,
        joined=0.2
    ),
    "ja": Knobs(
        fullness=1.9, brand_again=0.95, goods_again=0.16, brandless=0.05, untitled=0.05, native=0.3, pair=0.48, ordinary=0.04,
        bare_goods=0.45, promo=0.4, aside=0.4, joined=0.0
    ),
    "en": Knobs(
        fullness=2.05, brand_again=0.72, goods_again=0.62, brandless=0.1, untitled=0.08, native=0.4, pair=0.0, ordinary=0.06,
        aside=0.35, width=0.02, joined=0.0, lower=0.7
    ),
}  # fmt: skip
