"""What is known of a word: number, n-grams, shape, part of speech, and what pretrained vectors say of it."""
