"""`python -m batag.terms.lexicon` writes the keys of the names, after a change of the tables or of the rules."""

from batag.terms.lexicon.lexicon import write_keys

write_keys()
