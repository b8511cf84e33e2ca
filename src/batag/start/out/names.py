"""How canonical forms are shown to people: a name that no list has is written as the pages write it most often."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from batag.pages.page import Tag
from batag.start.out.frequent import Frequent
from batag.terms.key import both_keys
from batag.terms.lexicon import read_lexicon

_MOST = 300_000
_MARK = "\t"


@dataclass(frozen=True)
class Names:
    """The spelling to show for canonical forms that are match keys (`melra no5`); all others are shown as they are."""

    spelling: Mapping[str, str] = field(default_factory=dict)

    def of(self, tag: Tag) -> str:
        """The name of a tag on one line."""
        form = tag.canonical or tag.text
        return " ".join(self.spelling.get(form, form).split())

    def form(self, canonical: str) -> str:
        """The name of a canonical form."""
        return self.spelling.get(canonical, canonical)


class Namer:
    """Counts how the forms are written."""

    def __init__(self, most: int = _MOST) -> None:
        self._seen = Frequent(most)

    def add(self, pairs: Iterable[tuple[str | None, str]]) -> None:
        """Count pairs of canonical form and text."""
        self._seen.add(f"{form}{_MARK}{text}" for form, text in pairs if form and form != text and _MARK not in form)

    def names(self) -> Names:
        """The most frequent spelling of each form that is its own match key, and that the lexicon does not name."""
        pairs = [tuple(each.split(_MARK, 1)) for each, _ in self._seen.most(len(self._seen.counts))]
        forms = dict(
            zip(unique := list(dict.fromkeys(form for form, _ in pairs)), zip(*both_keys(unique), strict=True), strict=True)
        )
        texts = dict(
            zip(written := list(dict.fromkeys(text for _, text in pairs)), zip(*both_keys(written), strict=True), strict=True)
        )
        found: dict[str, str] = {}
        for form, text in pairs:
            if form in found or forms[form][0] != texts[text][0] or form != form.casefold():
                continue
            if not read_lexicon().knows(*forms[form]):
                found[form] = text
        return Names(found)
