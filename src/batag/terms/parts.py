"""The parts of a category's name that a tag may be: `Shoes & Boots` lists two kinds, `Diving & Snorkeling Masks` too."""

import re
from collections.abc import Iterator

_BETWEEN = re.compile(r"\s*(?:[/／、，,;&＆・]|\b(?:and|or)\b|[與和及与跟或])\s*", re.IGNORECASE)
_BRACKETS = re.compile(r"\s*[(（\[][^)）\]]*[)）\]]")
_SHORTEST_TAIL = 2


def parts_of(name: str) -> list[str]:
    """The name itself, then the name without brackets, what it lists, and what it lists with the words they share."""
    plain = _BRACKETS.sub("", name).strip() or name
    parts = [part for part in _BETWEEN.split(plain) if part]
    found = [name, plain]
    if 1 < len(parts) <= 5:
        found += parts
        found += _with_shared_end(parts)
        found += _with_shared_beginning(parts)
    return list(dict.fromkeys(found))


def _with_shared_end(parts: list[str]) -> Iterator[str]:
    """`Diving & Snorkeling Masks`: also diving masks; 潛水與浮潛面鏡: also 潛水面鏡."""
    last = parts[-1]
    for part in parts[:-1]:
        if last.isascii():
            words = last.split()
            yield from (f"{part} {' '.join(words[start:])}" for start in range(1, len(words)))
        else:
            yield from (part + last[start:] for start in range(1, len(last) - _SHORTEST_TAIL + 1) if not part.isascii())


def _with_shared_beginning(parts: list[str]) -> Iterator[str]:
    """`Bicycle Cages & Racks`: also bicycle racks."""
    first = parts[0]
    for part in parts[1:]:
        if first.isascii():
            words = first.split()
            yield from (f"{' '.join(words[:end])} {part}" for end in range(1, len(words)))
        else:
            yield from (first[:end] + part for end in range(_SHORTEST_TAIL, len(first) - 1) if not part.isascii())
