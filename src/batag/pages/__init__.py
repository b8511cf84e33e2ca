"""Input pages: reading and writing formats, cleaning, stop words, languages and splitting."""
