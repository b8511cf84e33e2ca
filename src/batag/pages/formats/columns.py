"""Column files: a token and its label a line, a blank line between pages (CoNLL with 2 to 4 columns, `word<TAB>label`).

Lines are cut at their last separators, so that a token may be any character, white space such as U+3000 included.
Comments of our own (`# id = ...`) keep what columns cannot say; files without them are read just the same.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from batag.pages.check import check_tag, settle
from batag.pages.formats.column_layout import BEGINS, COMMENT, NONE, PREFIXED, Layout, layout_of
from batag.pages.given import join_tokens, place_tokens
from batag.pages.languages import known_language
from batag.pages.page import Offsets, Page, Tag
from batag.pages.record import dump, plain
from batag.pages.source import Source
from batag.settings import settings

_WRITABLE = re.compile(r"(?:(?!-DOCSTART-)[^\t\r\n])+")
_ENDS = frozenset("SUEL")


@dataclass
class _Block:
    """The lines of one page so far."""

    line: int
    tokens: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    said: dict[str, Any] = field(default_factory=dict)
    fields: list[tuple[str, str | None, int]] = field(default_factory=list)
    characters: int = 0
    bad: bool = False

    def __bool__(self) -> bool:
        return bool(self.tokens or self.fields or self.bad)


def read(source: Source) -> Iterator[Page]:
    """Pages of a column file."""
    layout = layout_of(source.head.decode(errors="replace"))
    for number, block in enumerate(_blocks(source, layout), 1):
        if not block.bad:
            page = _page(block, layout, source, number)
            if page is not None:
                yield page


def _blocks(source: Source, layout: Layout) -> Iterator[_Block]:
    block = _Block(1)
    for number, raw in source.lines():
        line = raw.rstrip("\r\n")
        comment = COMMENT.fullmatch(line)
        if not line.strip(" \t") or (comment and comment[1] == "id" and block):
            if block:
                yield block
            block = _Block(number + 1 if comment is None else number)
        if comment:
            _comment(block, comment[1], comment[2])
        elif line.strip(" \t") and not line.startswith("-DOCSTART-") and not block.bad:
            _token(block, line, layout, source, number)
    if block:
        yield block


def _token(block: _Block, line: str, layout: Layout, source: Source, number: int) -> None:
    cells = layout.cut(line)
    block.characters += len(cells[0])
    more_columns = layout.mark == " " and " " in cells[0].strip(" ")
    if len(cells) != layout.columns or not cells[0] or not cells[-1].strip() or more_columns:
        reason = f"no token and label in {line[:40]!r} ({layout.columns} columns expected)"
        source.problems.add("bad-line", source.where(number), reason)
        block.bad = True
    elif block.characters > settings.max_page_characters:
        limit = f"{settings.max_page_characters:,} characters (BATAG_MAX_PAGE_CHARACTERS moves the limit)"
        reason = f"the page has more than {limit}; is there a blank line between pages?"
        source.problems.add("too-long", source.where(block.line), reason)
        block.bad = True
        block.tokens.clear()
        block.labels.clear()
    else:
        block.tokens.append(cells[0])
        block.labels.append(cells[-1].strip())


def _comment(block: _Block, key: str, value: str) -> None:
    """What a comment of ours says; one with odd content is only a comment."""
    said: Any = value
    if value[:1] in ('"', "[", "{"):
        with suppress(ValueError, RecursionError):
            said = plain(json.loads(value))
    if key == "field" and isinstance(said, str):
        block.fields.append((said, None, len(block.tokens)))
    elif key == "text" and isinstance(said, str) and block.fields:
        name, _, start = block.fields[-1]
        block.fields[-1] = (name, said, start)
    elif isinstance(said, {"extra": dict, "tags": list}.get(key, str)):
        block.said[key] = said


def _page(block: _Block, layout: Layout, source: Source, number: int) -> Page | None:
    where = source.where(block.line)
    page_id = block.said.get("id") or f"{source.stem}-{number}"
    language = source.language or known_language(block.said.get("language", ""))
    fields: dict[str, str] = {}
    tokens: dict[str, tuple[Offsets, ...]] = {}
    found: dict[str, list[Tag]] = {}
    parts = block.fields or [(next(iter(source.columns), "title"), None, 0)]
    for (name, text, start), end in zip(parts, [part[2] for part in parts[1:]] + [len(block.tokens)], strict=True):
        words, labels = block.tokens[start:end], block.labels[start:end]
        placed = place_tokens(text, words) if text is not None else None
        if text is None or placed is None:
            if text is not None:
                source.problems.add("split-token", where, f"the tokens of {name!r} do not follow its text", page=page_id)
            text, placed = join_tokens(words, language=language, spaces=layout.spaces if language is None else None)
        fields[name], tokens[name] = text, placed
        found[name] = []
        spans = spans_of(labels, prefixed=layout.prefixed) if "tags" not in block.said else ()
        for first, last, label, broken in spans:
            low, high = placed[first][0], placed[last][1]
            found[name].append(Tag(name, low, high, label, text[low:high]))
            if broken and layout.begins:
                reason = f"{labels[first]} at token {first + 1} does not follow B-{label}"
                source.problems.add("broken-sequence", where, reason, page=page_id)
    tags = [tag for each in found.values() for tag in each]
    if "tags" in block.said:
        tags = list(_exact_tags(block.said["tags"], fields, source, where=where, page_id=page_id))
    if len(fields) > settings.max_page_fields or sum(map(len, fields.values())) > settings.max_page_characters:
        reason = f"the page has more than {settings.max_page_characters:,} characters or {settings.max_page_fields} fields"
        source.problems.add("too-long", where, reason, page=page_id)
        return None
    if not any(fields.values()):
        source.problems.add("empty-page", where, "no text in any field", page=page_id)
        return None
    return Page(
        id=page_id,
        fields=fields,
        language=language,
        shop=block.said.get("shop"),
        tags=settle(tags, fields, where=where, page_id=page_id, problems=source.problems),
        labelled=block.said.get("labelled") != "no",
        tokens=tokens,
        extra=block.said.get("extra", {}),
        where=where,
    )


def _exact_tags(given: list[Any], fields: dict[str, str], source: Source, *, where: str, page_id: str) -> Iterator[Tag]:
    """Tags as the comment has them, checked like any others."""
    for item in given:
        if not (isinstance(item, list) and list(map(type, item)) == [str, int, int, str] and item[0] in fields):
            source.problems.add("bad-tag", where, f"{str(item)[:80]} is not a field, two offsets and a label", page=page_id)
            continue
        tag = check_tag(Tag(*item), fields[item[0]], where=where, page_id=page_id, problems=source.problems)
        if tag is not None:
            yield tag


def spans_of(labels: Sequence[str], *, prefixed: bool | None) -> Iterator[tuple[int, int, str, bool]]:
    """First token, last token, class, and whether its B- is missing: BIO, IOBES or neighbours of one class.

    `prefixed` None lets each label tell by itself.
    """
    first, current, broken, closed = 0, "", False, True
    for place, label in enumerate([*labels, "O"]):
        prefix, kind = ("I", label)
        if prefixed is not False and PREFIXED.match(label):
            prefix, kind = label[0], label[2:]
        if label in NONE:
            prefix, kind = "O", ""
        if current and (kind != current or prefix in BEGINS or closed):
            yield first, place - 1, current, broken
            current = ""
        if kind and not current:
            first, current, broken = place, kind, bool(prefixed) and prefix not in BEGINS
        closed = prefix in _ENDS


def write(pages: Iterable[Page], stream: BinaryIO, *, scheme: str = "BIO") -> None:
    """Two columns and comments; pages must bring tokens. `flat` writes bare classes."""
    for page in pages:
        stream.write(("\n".join(_lines(page, flat=scheme == "flat")) + "\n\n").encode())


def _lines(page: Page, *, flat: bool) -> Iterator[str]:
    yield f"# id = {_json(page.id)}"
    for key, value in (("language", page.language), ("shop", page.shop)):
        if value is not None:
            yield f"# {key} = {_json(value)}"
    if page.extra:
        yield f"# extra = {dump(dict(page.extra)).decode()}"
    if not page.labelled:
        yield "# labelled = no"
    columns = {name: list(_labelled(page, name, flat=flat)) for name in page.fields}
    if list(_as_read(page, columns, flat=flat)) != [(tag.field, tag.start, tag.end, tag.label) for tag in page.tags]:
        # Tags that columns cannot say: over removed markup, touching in the flat scheme, of a class named O.
        yield f"# tags = {_json([[tag.field, tag.start, tag.end, tag.label] for tag in page.tags])}"
    for name, text in page.fields.items():
        yield f"# field = {_json(name)}"
        yield f"# text = {_json(text)}"
        yield from (f"{text[start:end]}\t{label}" for start, end, label in columns[name])


def _labelled(page: Page, name: str, *, flat: bool) -> Iterator[tuple[int, int, str]]:
    """The tokens of a field that a line can hold, each with its label."""
    tags = [tag for tag in page.tags if tag.field == name]
    starts = [tag.start for tag in tags]
    for token in (page.tokens or {}).get(name, ()):
        for match in _WRITABLE.finditer(page[name], *token):
            start, end = match.span()
            near = bisect_right(starts, start) - 1
            tag = tags[near] if near >= 0 else None
            if tag is None or end > tag.end:
                yield start, end, "none" if flat else "O"
            else:
                yield start, end, tag.label if flat else f"{'B' if start == tag.start else 'I'}-{tag.label}"


def _as_read(page: Page, columns: dict[str, list[tuple[int, int, str]]], *, flat: bool) -> Iterator[tuple[str, int, int, str]]:
    """The tags that a reader would see in these columns."""
    for name, rows in columns.items():
        odd = any(tag.label in NONE or PREFIXED.match(tag.label) for tag in page.tags)
        for first, last, label, _ in [] if odd else spans_of([label for _, _, label in rows], prefixed=not flat):
            yield name, rows[first][0], rows[last][1], label


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
