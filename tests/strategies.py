"""Hypothesis strategies for pages, and the reading helpers that the tests of pages share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from batag.pages.formats import read_pages
from batag.pages.page import SOURCES, Page, Tag
from batag.pages.problems import Problems

STREAM_FORMATS = {
    "jsonl": ".jsonl",
    "csv": ".csv",
    "tsv": ".tsv",
    "conll": ".conll",
    "words": ".words",
    "doccano": ".doccano",
    "label-studio": ".label-studio",
}
WRITABLE = STREAM_FORMATS | {"parquet": ".parquet", "xlsx": ".xlsx"}

NASTY = [
    "\0", "\r\n", "\r", "\n", "\t", "\u2028", "\u2029", "\u0085", "\u3000", "\u00a0", "\ufeff", "\u200b", "\u200d", "\x1c",
    "=", "+", "-", "@", "'", '"', ",", ";", "|", "#", "\\", "[", "{", "<b>", "</b>", "&amp;", "http://a.b/c",
    "😀", "👨‍👩‍👧", "𠮷", "❤️", "\ud800", "\udfff", "跑鞋", "全新", "ガーゼ", "ｶﾞｰｾﾞ", "ＡＢＣ", "ACME", "50ml", "a", " ",
    "  ", "-DOCSTART-", "# id = x", "O", "B-goods", "İ", "ß", "ﬁ", "㍿", "e\u0301", "がぎ", "か\u3099",
]  # fmt: skip
STARTS = ["", "=1+1", "'=1", "''", "+", "-", "@SUM(A1)", "\t", "\r", "'", "[", "{", '"', "# text = "]
LABELS = ["goods", "brand", "feature", "型號", "model name", "B-side", "O", "none", "goods", "brand"]
EXTRA_KEYS = ["price", "url", "商品", "text", "label", "data", "entities", "annotations", "value", "curid"]

characters = st.characters(min_codepoint=0, max_codepoint=0x10FFFF)


def texts(*, max_pieces: int = 12) -> st.SearchStrategy[str]:
    """Arbitrary Unicode, lone surrogates included, rich in what breaks files."""
    piece = st.one_of(st.sampled_from(NASTY), st.text(characters, max_size=4))
    body = st.lists(piece, max_size=max_pieces).map("".join)
    return st.builds(str.__add__, st.sampled_from(STARTS), body)


def plain_texts() -> st.SearchStrategy[str]:
    """Text without lone surrogates, for ids and shops; never blank."""
    piece = st.one_of(
        st.sampled_from([piece for piece in NASTY if not any("\ud800" <= c <= "\udfff" for c in piece)]),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
    )
    return st.lists(piece, min_size=1, max_size=4).map("".join).filter(str.strip)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | plain_texts(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain_texts(), inner, max_size=2),
    max_leaves=4,
)


@st.composite
def tags_of(draw: st.DrawFn, fields: dict[str, str]) -> tuple[Tag, ...]:
    """Tags without overlaps: touching ones, of one class, at the ends of the text."""
    tags = []
    sources = draw(st.sampled_from([("person",), SOURCES]))
    for name, text in fields.items():
        ends = {0, len(text)} | set(draw(st.lists(st.integers(0, len(text)), max_size=5)))
        borders = sorted(ends)
        for start, end in pairwise(borders):
            if draw(st.booleans()):
                tags.append(
                    Tag(name, start, end, draw(st.sampled_from(LABELS)), text[start:end], source=draw(st.sampled_from(sources)))
                )
    return tuple(tags)


@st.composite
def pages(draw: st.DrawFn, *, extra: bool = True) -> Page:
    """An arbitrary page: any fields in any order, labelled or not, in a language or none."""
    names = draw(
        st.one_of(
            st.sampled_from([("title",), ("description",), ("title", "description"), ("description", "title")]),
            st.lists(st.sampled_from(["title", "body", "規格", "a b", "description"]), min_size=1, max_size=3, unique=True),
        )
    )
    fields = {name: draw(texts()) for name in names}
    if not any(map(str.strip, fields.values())):
        fields[draw(st.sampled_from(list(fields)))] = draw(st.sampled_from(["跑鞋", "=x", "a\r\nb", "\0"]))
    fields = dict(Page("", fields).fields)
    labelled = draw(st.booleans())
    return Page(
        id=draw(plain_texts()),
        fields=fields,
        language=draw(st.sampled_from([None, "zh-Hant", "zh-Hans", "ja", "en"])),
        shop=draw(st.none() | plain_texts()),
        tags=draw(tags_of(fields)) if labelled else (),
        labelled=labelled,
        reviewed=draw(st.sampled_from([None, False])),
        extra=draw(st.dictionaries(st.sampled_from(EXTRA_KEYS), json_values, max_size=2)) if extra else {},
    )


def essence(page: Page) -> dict[str, Any]:
    """What every format must keep."""
    return {
        "id": page.id,
        "fields": list(page.fields.items()),
        "language": page.language,
        "shop": page.shop,
        "tags": [(tag.field, tag.start, tag.end, tag.label, tag.text) for tag in page.tags],
        "labelled": page.labelled,
    }


def sources(page: Page) -> tuple[list[str], bool | None]:
    """Who set each tag, and whether a person has seen the page: what formats with room for it must keep too."""
    return [tag.source for tag in page.tags], page.reviewed


def by_machine(page: Page, source: str = "terms") -> Page:
    """The page as a machine might have tagged it."""
    return replace(page, tags=tuple(replace(tag, source=source) for tag in page.tags), reviewed=False)


def read_all(path: Path | str, *, problems: Problems | None = None, **options: Any) -> list[Page]:
    """Every page of a file; the file is closed whatever happens."""
    reader = read_pages(path, problems=problems, **options)
    try:
        return list(reader)
    finally:
        if not reader.source.raw.closed:
            reader.source.raw.close()


def read_with_problems(path: Path | str, **options: Any) -> tuple[list[Page], Problems]:
    problems = Problems()
    return read_all(path, problems=problems, **options), problems


def written(path: Path, content: str | bytes | Iterable[str]) -> Path:
    """The path, with that content in it."""
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    path.write_bytes(content if isinstance(content, bytes) else "".join(content).encode())
    return path
