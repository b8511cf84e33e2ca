"""Tag pages with a bundle."""
