"""Pages to tags."""
