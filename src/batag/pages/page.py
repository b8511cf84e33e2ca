"""Pages (title, description, ...) and their tags; offsets are code points of the original text, end exclusive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Offsets = tuple[int, int]
PERSON, COLUMN, TERMS, MODEL, LLM = SOURCES = ("person", "column", "terms", "model", "llm")
"""The sources of a tag: a person, a column of the same row (its brand), a term list, a bundle, a large language model."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A labelled span of one field: `text == page[field][start:end]`; `normal` is the cleaned text, `source` who set it.
    `canonical` is the form that all spellings and synonyms share, `category` the id of its category in a taxonomy."""

    field: str
    start: int
    end: int
    label: str
    text: str = ""
    score: float | None = None
    normal: str | None = None
    source: str = PERSON
    canonical: str | None = None
    category: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The tag as a JSON object, as in files of tagged pages; what is not set is left out."""
        record = {"field": self.field, "start": self.start, "end": self.end, "label": self.label, "text": self.text}
        known = {"score": self.score, "normal": self.normal, "canonical": self.canonical, "category": self.category}
        return record | {key: value for key, value in known.items() if value is not None} | {"source": self.source}


@dataclass(frozen=True, slots=True)
class Page:
    """A product page.

    `labelled` distinguishes a page that is labelled with no tags from an unlabelled page. `reviewed` says whether a person has
    checked the whole page (None for an unlabelled page); by default it is true if all tags are a person's. A page with a
    machine's tag cannot be reviewed: tags that a person has checked and kept become the person's. `usual_language` is the
    language of most pages of its file, for a page whose language cannot be detected.
    """

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
        """The length of all fields together."""
        return sum(map(len, self.fields.values()))

    def reviewed_by_person(self) -> Page:
        """The page after a person's review: its tags become the person's."""
        tags = tuple(replace(tag, source=PERSON) for tag in self.tags)
        return replace(self, tags=tags, labelled=True, reviewed=True)

    def cut(self, field: str, start: int, end: int, label: str) -> Tag:
        """The tag of `page[field][start:end]`."""
        return Tag(field, start, end, label, self.fields[field][start:end])


def has_surrogates(text: str) -> bool:
    """Whether the text contains a lone surrogate (half of a UTF-16 pair)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def without_surrogates(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD, so that it can be encoded; offsets stay the same."""
    if text.isascii() or not has_surrogates(text):
        return text
    return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)
