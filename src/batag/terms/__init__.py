"""What words mean to a shop: match keys, the lexicon, synonyms and the taxonomy."""
