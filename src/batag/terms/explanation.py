"""Say step by step what batag makes of a text: rules, canonical form, entry, category."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from batag.terms.key import steps
from batag.terms.lexicon import Entry
from batag.terms.meaning import Meaning
from batag.terms.terms import Terms


def explain(terms: Terms, text: str, *, label: str | None = None, language: str | None = None) -> dict[str, Any]:
    """What each rule does to a text and where it leads."""
    meaning = terms.meaning(text, label=label, language=language)
    return {
        "text": text,
        "steps": [{"rule": step.rule, "text": step.after} for step in steps(text)],
        "key": meaning.key,
        "canonical": meaning.canonical,
        "by": meaning.by,
        "entry": None if meaning.entry is None else _entry(meaning.entry),
        "others": [_entry(each) for each in meaning.others],
        "category": _category(terms, meaning),
    }


def are_same(explained: Sequence[dict[str, Any]]) -> bool:
    """Whether all texts lead to one canonical form."""
    return len({each["canonical"] if each["canonical"] is not None else each["key"] for each in explained}) == 1


def _entry(entry: Entry) -> dict[str, Any]:
    names = [name for own in entry.names.values() for name in own]
    return {"kind": entry.kind, "id": entry.id, "groups": list(entry.groups), "names": list(dict.fromkeys(names))}


def _category(terms: Terms, meaning: Meaning) -> dict[str, Any] | None:
    if (match := meaning.category) is None or terms.taxonomy is None:
        return None
    path = terms.taxonomy.path(match.id, terms.language)
    return {"id": match.id, "path": path, "confidence": match.confidence, "by": match.by, "name": match.name}
