"""Column files: a token and its label a line, a blank line between pages (CoNLL with 2 to 4 columns, `word<TAB>label`).

Lines are cut at their last separators, so that a token may be any character, white space such as U+3000 included.
Comments of our own (`# id = ...`) keep what columns cannot say; files without them are read just the same.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from batag.pages.given import join_tokens, place_tokens
from batag.pages.language import CJK, known_language
from batag.pages.page import Offsets, Page, Tag
from batag.pages.record import settle
from batag.pages.source import Source

NONE = frozenset({"O", "none", "None", "NONE", "_"})
_COMMENT = re.compile(r"# (id|language|shop|labelled|field|text|tags|extra) = (.*)")
_PREFIXED = re.compile(r"[BIESLUM]-.")
_BEGINS, _SINGLE = frozenset("BSU"), frozenset("SU")


@dataclass
class _Block:
    """The lines of one page so far."""

    line: int
    tokens: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    said: dict[str, Any] = field(default_factory=dict)
    fields: list[tuple[str, str | None, int]] = field(default_factory=list)
    bad: bool = False


@dataclass(frozen=True)
class _Layout:
    """What the head of the file tells of all of it."""

    columns: int
    prefixed: bool
    begins: bool
    spaces: bool | None
    language: str | None


def read(source: Source) -> Iterator[Page]:
    """Pages of a column file."""
    layout = _layout(source)
    for number, block in enumerate(_blocks(source, layout), 1):
        if not block.bad:
            page = _page(block, layout, source, number)
            if page is not None:
                yield page


def looks_like_columns(head: str) -> bool:
    """Whether nine of ten lines are a token and a label, in the same number of columns."""
    if "-DOCSTART-" in head or any(_COMMENT.fullmatch(line) for line in head.split("\n", 20)[:20]):
        return True
    lines = [line for line in head.replace("\r", "").split("\n")[:-1] if line.strip(" \t")]
    counts = Counter(_width(line) for line in lines)
    width, often = counts.most_common(1)[0] if counts else (0, 0)
    labels = {_cut(line, width)[-1] for line in lines if _width(line) == width}
    return 2 <= width <= 4 and often >= 0.9 * len(lines) and len(labels) <= max(4, len(lines) // 4)


def _width(line: str) -> int:
    return line.count("\t") + 1 if "\t" in line else len(re.split(" +", line)) if line.strip(" ") else 0


def _cut(line: str, width: int) -> list[str]:
    return line.rsplit("\t" if "\t" in line else " ", max(width - 1, 1))


def _layout(source: Source) -> _Layout:
    head = source.head.decode(errors="replace").replace("\r", "")
    lines = [line for line in head.split("\n")[:-1] or [head] if line.strip(" \t") and not _skipped(line)]
    lines = [line for line in lines if not _COMMENT.fullmatch(line)]
    width = Counter(map(_width, lines)).most_common(1)[0][0] if lines else 2
    rows = [cells for line in lines if len(cells := _cut(line, width)) > 1]
    labels = [cells[-1] for cells in rows if cells[-1] not in NONE]
    prefixed = bool(labels) and sum(1 for label in labels if _PREFIXED.match(label)) > 0.9 * len(labels)
    tokens = [cells[0] for cells in rows]
    characters = bool(tokens) and sum(1 for token in tokens if len(token) == 1) > 0.97 * len(tokens)
    chinese = sum(1 for token in tokens if CJK.search(token)) > 0.3 * len(tokens)
    return _Layout(
        columns=width,
        prefixed=prefixed,
        begins=any(label[0] in "BSU" for label in labels) and not _starts_inside(rows),
        spaces=False if characters or chinese else None,
        language=source.language,
    )


def _starts_inside(rows: list[list[str]]) -> bool:
    """Whether tags start with I- (the older scheme, where B- only parts neighbours)."""
    before, inside, begin = "O", 0, 0
    for cells in rows:
        if before in NONE and cells[-1] not in NONE:
            inside += cells[-1][0] == "I"
            begin += cells[-1][0] in "BSU"
        before = cells[-1]
    return inside > begin


def _skipped(line: str) -> bool:
    return line.startswith("-DOCSTART-")


def _blocks(source: Source, layout: _Layout) -> Iterator[_Block]:
    block = _Block(1)
    for number, raw in source.lines():
        line = raw.rstrip("\r\n")
        if not line.strip(" \t"):
            if block.tokens or block.fields:
                yield block
            block = _Block(number + 1)
        elif comment := _COMMENT.fullmatch(line):
            _comment(block, comment[1], comment[2])
        elif not _skipped(line):
            cells = _cut(line, layout.columns)
            if len(cells) != max(layout.columns, 2) or not cells[0] or not cells[-1].strip():
                reason = f"no token and label in {line[:40]!r} ({layout.columns} columns expected)"
                source.problems.add("bad-line", source.where(number), reason)
                block.bad = True
            block.tokens.append(cells[0])
            block.labels.append(cells[-1].strip())
    if block.tokens or block.fields:
        yield block


def _comment(block: _Block, key: str, value: str) -> None:
    try:
        said = json.loads(value) if value[:1] in '"[{' else value
    except json.JSONDecodeError:
        said = value
    if key == "field":
        block.fields.append((said, None, len(block.tokens)))
    elif key == "text" and block.fields:
        name, _, start = block.fields[-1]
        block.fields[-1] = (name, said, start)
    else:
        block.said[key] = said


def _page(block: _Block, layout: _Layout, source: Source, number: int) -> Page | None:
    where = source.where(block.line)
    page_id = str(block.said.get("id", f"{source.stem}-{number}"))
    language = layout.language or known_language(str(block.said.get("language", "")))
    fields: dict[str, str] = {}
    tokens: dict[str, tuple[Offsets, ...]] = {}
    tags: list[Tag] = []
    parts = block.fields or [(next(iter(source.columns), "title"), None, 0)]
    for (name, text, start), end in zip(parts, [part[2] for part in parts[1:]] + [len(block.tokens)], strict=True):
        words, labels = block.tokens[start:end], block.labels[start:end]
        placed = place_tokens(text, words) if text is not None else None
        if text is None or placed is None:
            if text is not None:
                source.problems.add("split-token", where, f"the tokens of {name!r} do not follow its text", page=page_id)
            text, placed = join_tokens(words, language=language, spaces=layout.spaces if language is None else None)
        fields[name], tokens[name] = text, placed
        for first, last, label in _spans(labels, layout, source, where, page_id):
            low, high = placed[first][0], placed[last][1]
            tags.append(Tag(name, low, high, label, text[low:high]))
    if isinstance(exact := block.said.get("tags"), list):
        tags = [Tag(name, low, high, label, fields[name][low:high]) for name, low, high, label in exact if name in fields]
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
        source=where,
    )


def _spans(labels: list[str], layout: _Layout, source: Source, where: str, page_id: str) -> Iterator[tuple[int, int, str]]:
    """First token, last token and label of each tag: BIO, IOBES or neighbours of one class."""
    first, current, closed = 0, "", True
    for place, label in enumerate([*labels, "O"]):
        prefix, kind = (label[0], label[2:]) if layout.prefixed and _PREFIXED.match(label) else ("I", label)
        if label in NONE:
            prefix, kind = "O", ""
        if current and (kind != current or prefix in _BEGINS or closed):
            yield first, place - 1, current
            current = ""
        if kind and not current:
            if layout.prefixed and layout.begins and prefix not in _BEGINS:
                source.problems.add(
                    "broken-sequence", where, f"{label} at token {place + 1} does not follow B-{kind}", page=page_id
                )
            first, current = place, kind
        closed = prefix in _SINGLE or prefix in "EL"


def write(pages: Iterable[Page], stream: BinaryIO, *, scheme: str = "BIO") -> None:
    """Two columns and comments; pages must bring tokens whose borders are the tags' borders. `flat` writes bare classes."""
    for page in pages:
        stream.write(("\n".join(_lines(page, scheme)) + "\n\n").encode())


def _lines(page: Page, scheme: str) -> Iterator[str]:
    yield f"# id = {_json(page.id)}"
    for key, value in (("language", page.language), ("shop", page.shop)):
        if value is not None:
            yield f"# {key} = {_json(value)}"
    if page.extra:
        yield f"# extra = {_json(dict(page.extra))}"
    if not page.labelled:
        yield "# labelled = no"
    if scheme == "flat" and _touching(page):
        yield f"# tags = {_json([[tag.field, tag.start, tag.end, tag.label] for tag in page.tags])}"
    for name, text in page.fields.items():
        yield f"# field = {_json(name)}"
        yield f"# text = {_json(text)}"
        begins = {tag.start: tag for tag in page.tags if tag.field == name}
        inside: Tag | None = None
        for start, end in (page.tokens or {}).get(name, ()):
            inside = begins.get(start, inside)
            if inside is not None and start >= inside.end:
                inside = None
            if inside is None:
                label = "none" if scheme == "flat" else "O"
            else:
                label = inside.label if scheme == "flat" else f"{'B' if start == inside.start else 'I'}-{inside.label}"
            yield f"{text[start:end]}\t{label}"


def _touching(page: Page) -> bool:
    """Whether two tags of one class have no other token between them: bare classes would read as one tag."""
    for tag, after in zip(page.tags, page.tags[1:], strict=False):
        if tag.field == after.field and tag.label == after.label:
            between = [t for t in (page.tokens or {}).get(tag.field, ()) if tag.end <= t[0] < after.start]
            if not between:
                return True
    return False


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
