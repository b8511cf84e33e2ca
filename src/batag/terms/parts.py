"""The parts of a category's name that a tag may be: `Shoes & Boots` lists two kinds, `Diving & Snorkeling Masks` too."""

import re
from collections.abc import Iterator

from batag.terms.plural import singular

_BETWEEN = re.compile(r"\s*(?:[/／、，,;&＆・]|\b(?:and|or)\b|[與和及与跟或])\s*", re.IGNORECASE)
_ONE_LETTER = re.compile("(?:^|[^\u30a1-\u30fa\u30fc])[\u30a1-\u30fa][\u30a1-\u30fa\u30fc]$|\u30fc$")
_MORE = re.compile(
    "(?: accessories| parts| supplies| kits| sets| equipment|配件|用品|零件|套組|套装|套件|アクセサリー|パーツ|セット)$", re.I
)
"""The end of a last part that belongs to the parts before it too: `Mice & Trackball Accessories` are no mice."""
_BRACKETS = re.compile(r"\s*[(（\[][^)）\]]*[)）\]]")
_PARTICLES = re.compile("(?<=[\u3041-\u30ff\u3400-\u9fff])[用の的](?=[\u3041-\u30ff\u3400-\u9fff])")


def list_of(name: str) -> list[str]:
    """What a name lists, without brackets: `Shoes & Boots` lists two kinds."""
    plain = _BRACKETS.sub("", name).strip() or name
    return [part for part in _BETWEEN.split(plain) if part]


def parts_of(name: str) -> dict[str, bool]:
    """The name itself, then the name without brackets, what it lists, and what it lists with the words they share. The value
    says whether it is a name by itself: the pens of `Pen & Pencil Cases` are not."""
    plain = _BRACKETS.sub("", name).strip() or name
    parts = list_of(name)
    found = [name, plain, without_particles(plain)]
    if len(plain) == 1 and not plain.isascii():
        found.append(f"{plain}子")
    if 1 < len(parts) <= 5:
        found += _with_shared_end(parts)
        found += _with_shared_beginning(parts)
    names = dict.fromkeys(found, True)
    return names | {part: _is_whole(part, parts) for part in parts if part not in names and len(parts) <= 5}


def _is_whole(part: str, parts: list[str]) -> bool:
    """Whether a part is a name by itself. It is not if the last one is longer (unless it is a plural, as `Hats & Winter Caps`),
    or, for the last one, if the first is (the racks of `Bicycle Cages & Racks`)."""
    first, last = parts[0], parts[-1]
    if part != last and _MORE.search(last):
        return False
    if part.isascii():
        if part == last:
            return len(first.split()) <= len(last.split())
        return len(last.split()) <= len(part.split()) or singular(part.lower()) != part.lower()
    return len(first) <= len(last) + 1 if part == last else len(last) <= len(part) + 1


def without_particles(name: str) -> str:
    """A name without 用 and の between its words: キャンプ用チェア is キャンプチェア."""
    return _PARTICLES.sub("", name) if "用" in name or "の" in name or "的" in name else name


def _with_shared_end(parts: list[str]) -> Iterator[str]:
    """`Diving & Snorkeling Masks`: also diving masks; 潛水與浮潛面鏡: also 潛水面鏡."""
    last = parts[-1]
    for part in parts[:-1]:
        if last.isascii():
            words = last.split()
            yield from (f"{part} {' '.join(words[start:])}" for start in range(1, len(words)))
        else:
            yield from (part + last[start:] for start in range(1, len(last)) if not part.isascii())


def _with_shared_beginning(parts: list[str]) -> Iterator[str]:
    """`Bicycle Cages & Racks`: also bicycle racks."""
    first = parts[0]
    for part in parts[1:]:
        if first.isascii():
            words = first.split()
            yield from (f"{' '.join(words[:end])} {part}" for end in range(1, len(words)))
        else:
            yield from (first[:end] + part for end in range(2, len(first)) if not part.isascii())


def ends_of(key: str, *, whole: bool) -> Iterator[str]:
    """The ends of a key, longest first: of words, or of characters where there are no spaces (one alone only if it is
    a Han character)."""
    if whole:
        yield key
    if key.isascii():
        words = key.split(" ")
        for start in range(1, len(words)):
            yield " ".join(words[start:])
        return
    for start in range(1, len(key)):
        if start == len(key) - 1 and not "\u3400" <= key[start] <= "\u9fff":
            return
        if _ONE_LETTER.search(key[max(0, start - 2) : start + 1]):
            continue  # プラグ does not end in a rug
        if not (key[start - 1].isascii() and key[start].isascii() and key[start].isalnum()):
            yield key[start:].lstrip(" ")
