"""A page (title, description, ... in order) and its tags; offsets are code points of the original text, end exclusive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Offsets = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Tag:
    """A labelled piece of one field: `text == page[field][start:end]`; `normal` is its cleaned form."""

    field: str
    start: int
    end: int
    label: str
    text: str = ""
    score: float | None = None
    normal: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A product page. `labelled` tells a page that people saw and left without tags from one that nobody labelled."""

    id: str
    fields: Mapping[str, str]
    language: str | None = None
    shop: str | None = None
    tags: tuple[Tag, ...] = ()
    labelled: bool = False
    tokens: Mapping[str, tuple[Offsets, ...]] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.tags and not self.labelled:
            object.__setattr__(self, "labelled", True)
        for text in self.fields.values():
            if not text.isascii() and has_surrogates(text):
                object.__setattr__(self, "fields", {name: without_surrogates(each) for name, each in self.fields.items()})
                tags = [replace(tag, text=without_surrogates(tag.text)) for tag in self.tags]
                object.__setattr__(self, "tags", tuple(tags))
                break

    def __getitem__(self, name: str) -> str:
        return self.fields[name]

    @property
    def characters(self) -> int:
        """Length of all fields together."""
        return sum(map(len, self.fields.values()))

    def cut(self, field: str, start: int, end: int, label: str) -> Tag:
        """The tag that covers `page[field][start:end]`."""
        return Tag(field, start, end, label, self.fields[field][start:end])


def has_surrogates(text: str) -> bool:
    """Whether a lone surrogate (half of a UTF-16 pair) stands in the text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def without_surrogates(text: str) -> str:
    """The text with each lone surrogate as U+FFFD, so that it can be written; no offset moves."""
    if text.isascii() or not has_surrogates(text):
        return text
    return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)
