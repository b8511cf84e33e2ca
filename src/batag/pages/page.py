"""A page (title, description, ... in order) and its tags; offsets are code points of the original text, end exclusive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Offsets = tuple[int, int]
PERSON, COLUMN, TERMS, MODEL, LLM = SOURCES = ("person", "column", "terms", "model", "llm")
"""Who set a tag: a person, the row's own column (its brand), a list of terms, a bundle, a language model."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A labelled piece of one field: `text == page[field][start:end]`; `normal` is its cleaned form, `source` who set it."""

    field: str
    start: int
    end: int
    label: str
    text: str = ""
    score: float | None = None
    normal: str | None = None
    source: str = PERSON

    def to_dict(self) -> dict[str, Any]:
        """The tag as a JSON object, as in a file of tagged pages: `score` and `normal` only where there is one."""
        record = {"field": self.field, "start": self.start, "end": self.end, "label": self.label, "text": self.text}
        known = {"score": self.score, "normal": self.normal}
        return record | {key: value for key, value in known.items() if value is not None} | {"source": self.source}


@dataclass(frozen=True, slots=True)
class Page:
    """A product page. `labelled` tells a page that was left without tags from one that nobody labelled; `reviewed` says whether
    a person has seen all of it (None: not labelled). Where that is not said, it follows from the tags: all must be people's.
    A page with a machine's tag never is reviewed: what a person has seen and kept is the person's. `usual_language` is that of
    most pages of its file, for a text that does not tell its own."""

    id: str
    fields: Mapping[str, str]
    language: str | None = None
    shop: str | None = None
    tags: tuple[Tag, ...] = ()
    labelled: bool = False
    tokens: Mapping[str, tuple[Offsets, ...]] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    where: str = field(default="", compare=False)
    reviewed: bool | None = None
    usual_language: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if (self.tags or self.reviewed) and not self.labelled:
            object.__setattr__(self, "labelled", True)
        if not self.labelled:
            object.__setattr__(self, "reviewed", None)
        elif self.reviewed is not False:
            object.__setattr__(self, "reviewed", all(tag.source == PERSON for tag in self.tags))
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

    def seen(self) -> Page:
        """The page after a person has seen it: the tags that are still there are the person's."""
        tags = tuple(replace(tag, source=PERSON) for tag in self.tags)
        return replace(self, tags=tags, labelled=True, reviewed=True)

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
