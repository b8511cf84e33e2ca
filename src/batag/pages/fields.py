"""The text fields of a page, in one place: a new standard field is a new name in `STANDARD_FIELDS`."""

from __future__ import annotations

STANDARD_FIELDS = ("title", "description")
"""Fields that every file may have under their own names, in the order in which they are read. A page may have others: under
`fields`, or mapped with `--columns`."""
MAIN_FIELD = STANDARD_FIELDS[0]
"""The field of a text that names none. In a page's words every other field is announced by `<name>`."""
KNOWN_KEYS = frozenset({"id", "language", "shop", "fields", "tags", "labels", "reviewed", "tokens", *STANDARD_FIELDS})
"""What a record may hold that batag reads; all else is kept in `Page.extra`."""
