"""Labels of tokens: schemes, alignment of tags to tokens and back, counts, and what is in the data before training."""
