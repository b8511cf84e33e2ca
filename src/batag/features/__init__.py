"""The features of a word: its number, n-grams, shape, part of speech and pretrained features."""
