"""Column files: one token and its label per line, a blank line between pages (CoNLL with 2 to 4 columns, `word<TAB>label`).

Lines are split at their last separators, so that a token may be any character, also white space such as U+3000. Comments (`# id
= ...`) keep what columns cannot hold; files without them can be read too.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, BinaryIO

from batag.pages.fields import MAIN_FIELD
from batag.pages.formats.column_layout import BEGINS, COMMENT, NONE, PREFIXED, Layout, layout_of
from batag.pages.given import join_tokens, place_tokens
from batag.pages.languages import known_language
from batag.pages.page import Offsets, Page
from batag.pages.record import RecordReader, dump, plain, too_many_characters
from batag.pages.source import Source

_WRITABLE = re.compile(r"(?:(?!-DOCSTART-)[^\t\r\n])+")
_ENDS = frozenset("SUEL")


@dataclass
class Block:
    """The lines of one page: tokens, labels, values of batag's comments, and the name, text and first token of each field."""

    line: int
    layout: Layout
    tokens: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    comments: dict[str, Any] = field(default_factory=dict)
    fields: list[tuple[str, str | None, int]] = field(default_factory=list)
    characters: int = 0
    bad: bool = False

    def __bool__(self) -> bool:
        return bool(self.tokens or self.fields or self.bad)


def read(source: Source) -> Iterator[tuple[str, int, Block]]:
    """Yield the blocks of a column file."""
    layout = layout_of(source.head.decode(errors="replace"))
    for number, block in enumerate(_blocks(source, layout), 1):
        if not block.bad:
            yield source.where(block.line), number, block


def _blocks(source: Source, layout: Layout) -> Iterator[Block]:
    block = Block(1, layout)
    for number, raw in source.lines():
        line = raw.rstrip("\r\n")
        comment = COMMENT.fullmatch(line)
        if not line.strip(" \t") or (comment and comment[1] == "id" and block):
            if block:
                yield block
            block = Block(number + 1 if comment is None else number, layout)
        if comment:
            _comment(block, comment[1], comment[2])
        elif line.strip(" \t") and not line.startswith("-DOCSTART-") and not block.bad:
            _token(block, line, source, number)
    if block:
        yield block


def _token(block: Block, line: str, source: Source, number: int) -> None:
    layout = block.layout
    cells = layout.cut(line)
    block.characters += len(cells[0])
    more_columns = layout.mark == " " and " " in cells[0].strip(" ")
    if len(cells) != layout.columns or not cells[0] or not cells[-1].strip() or more_columns:
        reason = f"no token and label in {line[:40]!r} ({layout.columns} columns expected)"
        source.problems.add("bad-line", source.where(number), reason)
        block.bad = True
    elif (limit := too_many_characters(block.characters)) is not None:
        reason = f"the page has more than {limit}; is there a blank line between pages?"
        source.problems.add("too-long", source.where(block.line), reason)
        block.bad = True
        block.tokens.clear()
        block.labels.clear()
    else:
        block.tokens.append(cells[0])
        block.labels.append(cells[-1].strip())


def _comment(block: Block, key: str, value: str) -> None:
    """Store the value of a batag comment; a comment with unexpected content is ignored."""
    content: Any = value
    if value[:1] in ('"', "[", "{"):
        with suppress(ValueError, RecursionError):
            content = plain(json.loads(value))
    if key == "field" and isinstance(content, str):
        block.fields.append((content, None, len(block.tokens)))
    elif key == "text" and isinstance(content, str) and block.fields:
        name, _, start = block.fields[-1]
        block.fields[-1] = (name, content, start)
    elif isinstance(content, {"extra": dict, "tags": list}.get(key, str)):
        block.comments[key] = content


def page(reader: RecordReader, block: Block, *, where: str, number: int) -> Page | None:
    """The page of a block: its tokens joined, or located in the text of a comment."""
    comments, layout = block.comments, block.layout
    record: dict[str, Any] = {key: comments[key] for key in ("id", "language", "shop") if key in comments}
    note = reader.problems.at(where, record.get("id") or f"{reader.stem}-{number}")
    language = reader.language or known_language(record.get("language", ""))
    fields: dict[str, str] = {}
    tokens: dict[str, list[Offsets]] = {}
    found: dict[str, list[Any]] = {}
    parts = block.fields or [(next(iter(reader.columns), MAIN_FIELD), None, 0)]
    for (name, text, start), end in zip(parts, [part[2] for part in parts[1:]] + [len(block.tokens)], strict=True):
        words, labels = block.tokens[start:end], block.labels[start:end]
        placed = place_tokens(text, words) if text is not None else None
        if text is None or placed is None:
            if text is not None:
                note("split-token", f"the tokens of {name!r} do not match its text")
            text, placed = join_tokens(words, language=language, spaces=layout.spaces if language is None else None)
        fields[name], tokens[name], found[name] = text, list(placed), []
        for first, last, label, broken in spans_of(labels, prefixed=layout.prefixed) if "tags" not in comments else ():
            found[name].append((name, placed[first][0], placed[last][1], label))
            if broken and layout.begins:
                note("broken-sequence", f"{labels[first]} at token {first + 1} does not follow B-{label}")
    tags = comments["tags"] if "tags" in comments else chain.from_iterable(found.values())
    record |= {"fields": fields, "tokens": tokens} | (
        {"tags": list(map(_tag, tags))} if comments.get("labelled") != "no" else {}
    )
    extra = {key: value for key, value in comments.get("extra", {}).items() if key not in record}
    return reader.page(record | extra, where=where, number=number, columns={})


def _tag(item: Any) -> Any:
    """A tag from a field, two offsets and a label; anything else is left to the record reader, which reports it."""
    if not isinstance(item, list | tuple) or len(item) != 4:
        return item
    return dict(zip(("field", "start", "end", "label"), item, strict=True))


def spans_of(labels: Sequence[str], *, prefixed: bool | None) -> Iterator[tuple[int, int, str, bool]]:
    """Yield first token, last token, class and whether its B- is missing, for BIO, IOBES or bare classes.

    `prefixed` None decides for each label by itself.
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


def write(pages: Iterable[Page], stream: BinaryIO, *, flat: bool = False) -> None:
    """Write two columns and comments; pages must have tokens. `flat` writes bare classes instead of BIO labels."""
    for page in pages:
        stream.write(("\n".join(_lines(page, flat=flat)) + "\n\n").encode())


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
        # Tags that columns cannot represent: over removed markup, touching in the flat scheme, of a class named O.
        yield f"# tags = {_json([[tag.field, tag.start, tag.end, tag.label] for tag in page.tags])}"
    for name, text in page.fields.items():
        yield f"# field = {_json(name)}"
        yield f"# text = {_json(text)}"
        yield from (f"{text[start:end]}\t{label}" for start, end, label in columns[name])


def _labelled(page: Page, name: str, *, flat: bool) -> Iterator[tuple[int, int, str]]:
    """The tokens of a field that fit on a line, each with its label."""
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
    """The tags that a reader would find in these columns."""
    for name, rows in columns.items():
        odd = any(tag.label in NONE or PREFIXED.match(tag.label) for tag in page.tags)
        for first, last, label, _ in [] if odd else spans_of([label for _, _, label in rows], prefixed=not flat):
            yield name, rows[first][0], rows[last][1], label


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
