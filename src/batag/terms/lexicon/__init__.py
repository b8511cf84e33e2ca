"""The lexicon: brands, kinds of goods, features and words of advertising in all languages, in tables that people extend.

`brands-*.tsv`: names, groups. `goods-GROUP.tsv`: id and the names in each language. `features.tsv`: id, kind, names.
`promo.tsv`: words that are no tags. Names in a cell are separated by ` | `; a `*` behind a name marks an ordinary word.
"""

from batag.terms.lexicon.entry import ANY, BRAND, FEATURE, GOODS, KINDS, PROMO, Entry
from batag.terms.lexicon.lexicon import Found, Lexicon, lexicon_digest, read_lexicon

__all__ = ["ANY", "BRAND", "FEATURE", "GOODS", "KINDS", "PROMO", "Entry", "Found", "Lexicon", "lexicon_digest", "read_lexicon"]
