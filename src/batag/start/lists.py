"""The terms of a shop, and in how many pages each stands; what a person has saved wins over what is proposed here."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from batag.errors import InputError
from batag.pages.file import open_output
from batag.pages.mentions import Mentions, lower
from batag.pages.page import Page
from batag.start.names import NamesByValue, is_listed, is_ordinary, names_no_goods, own_names
from batag.start.survey import BRAND_OF, Survey
from batag.start.values import category_names
from batag.terms.limits import read_limited

BRAND, GOODS = "brand", "goods"
COLUMN, LEXICON, CATEGORY, TAXONOMY, LIST = "column", "lexicon", "category", "taxonomy", "list"
PROPOSED = ".proposed"
_PURE = 0.5
"""A name that stands on more pages of other brands than of its own is an ordinary word there, or part of one."""
_FEWEST_TITLES = 2


@dataclass(frozen=True, kw_only=True)
class Term:
    """A term: its label, where it comes from, on how many pages of the sample it stands, and on how many of them as the row's
    own brand. One that is not `sure` counts on other rows only in the capitals of its brand."""

    text: str
    label: str
    source: str
    pages: int = 0
    own: int = 0
    sure: bool = True


@dataclass(frozen=True, kw_only=True)
class Lists:
    """The terms in use. `by_people` are labels whose list a person has saved; `waiting` counts proposed terms they lack."""

    terms: tuple[Term, ...]
    by_people: tuple[str, ...] = ()
    waiting: Mapping[str, int] | None = None

    def of(self, label: str) -> list[Term]:
        return [term for term in self.terms if term.label == label]

    @property
    def not_found(self) -> list[Term]:
        """The terms that stand on no page of the sample, except further names from the lexicon."""
        return [term for term in self.terms if not term.pages and term.source not in (LEXICON, TAXONOMY)]

    def allowed(self, label: str) -> frozenset[str] | None:
        """The texts of a person's list in lower case, or None."""
        return frozenset(term.text.casefold() for term in self.of(label)) if label in self.by_people else None

    def to_dict(self) -> dict[str, Any]:
        """The lists as a JSON object."""
        terms = [asdict(term) for term in self.terms]
        return {"terms": terms, "by_people": list(self.by_people), "waiting": dict(self.waiting or {})}

    @classmethod
    def of_dict(cls, record: Mapping[str, Any]) -> Lists:
        """The lists of a JSON object."""
        terms = tuple(Term(**each) for each in record["terms"])
        return cls(terms=terms, by_people=tuple(record["by_people"]), waiting=record["waiting"])


def make_lists(
    survey: Survey,
    sample: Sequence[Page],
    *,
    given: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    saved: Mapping[str, Sequence[str]] | None = None,
    categories: Iterable[str] = (),
    watch: Any = iter,
) -> Lists:
    """The terms of the columns, of lists given (file to label to terms), of saved lists (label to terms) and of categories of a
    taxonomy, with counts."""
    found: dict[tuple[str, str], Term] = {}

    def add(text: str, label: str, source: str) -> None:
        found.setdefault((label, text.casefold()), Term(text=text, label=label, source=source))

    for file, labels in (given or {}).items():
        for label, texts in labels.items():
            for text in texts:
                add(text, label, f"{LIST} {file}")
    names = NamesByValue()
    for value, _ in survey.brands.most_common():
        for name in own_names(value):
            add(name, BRAND, COLUMN)
    for value in survey.brands:
        for name in names(value):
            add(name, BRAND, LEXICON)
    for value, _ in survey.categories.most_common():
        for name in category_names(value):
            if not names_no_goods(name):
                add(name, GOODS, CATEGORY)
    for name in categories:
        add(name, GOODS, TAXONOMY)
    proposed = _counted(found.values(), sample, names=names, watch=watch)
    if not saved:
        return Lists(terms=tuple(proposed))
    kept = [term for term in proposed if term.label not in saved]
    known = {(term.label, term.text.casefold()): term for term in proposed}
    asked = [(label, text) for label, texts in saved.items() for text in texts]
    extra = [Term(text=text, label=label, source=f"{label}.txt") for label, text in asked]
    new = [term for term in extra if (term.label, term.text.casefold()) not in known]
    recounted = {(t.label, t.text.casefold()): t for t in _counted(new, sample, names=names, watch=iter)}
    own = [replace((known | recounted)[t.label, t.text.casefold()], sure=True, source=t.source) for t in extra]
    there = {(term.label, term.text.casefold()) for term in own}
    waiting = Counter(t.label for t in proposed if t.label in saved and (t.label, t.text.casefold()) not in there)
    return Lists(terms=(*kept, *own), by_people=tuple(saved), waiting=dict(waiting))


def _counted(terms: Iterable[Term], sample: Sequence[Page], *, names: NamesByValue, watch: Any) -> list[Term]:
    """The terms with their counts in the sample; goods that hardly stand in a title are left out: they name no goods there."""
    terms = list(terms)
    if not terms:
        return []
    by_form: dict[str, list[int]] = {}
    for number, term in enumerate(terms):
        by_form.setdefault(lower(term.text), []).append(number)
    mentions = Mentions(by_form)
    pages, own, titles, rivals = Counter[int](), Counter[int](), Counter[int](), Counter[int]()
    for page in watch(sample):
        value = page.extra.get(BRAND_OF, "")
        mine = {lower(name) for name in names(value)} if value else set()
        here: dict[int, bool] = {}
        for place, text in enumerate(page.fields.values()):
            for form in mentions.find(lower(text)):
                for number in by_form.get(form, ()):
                    here[number] = here.get(number, False) or place == 0
        for number, in_title in here.items():
            pages[number] += 1
            titles[number] += in_title
            if lower(terms[number].text) in mine:
                own[number] += 1
            elif mine:
                rivals[number] += 1
    counted = [replace(term, pages=pages[n], own=own[n], sure=_sure(term, own[n], rivals[n])) for n, term in enumerate(terms)]
    return [
        term
        for number, term in enumerate(counted)
        if term.source not in (CATEGORY, TAXONOMY) or titles[number] >= _FEWEST_TITLES
    ]


def _sure(term: Term, own: int, rivals: int) -> bool:
    """Whether a brand's name is believed on pages of other brands too."""
    if term.label != BRAND or term.source.startswith(LIST):
        return True
    if is_ordinary(term.text):
        return False
    if is_listed(term.text):
        return _outweighs(own, rivals)
    return own >= _PURE * (own + rivals)


def is_frequent(term: Term) -> bool:
    """Whether a name stands as the row's own brand often enough to be believed elsewhere."""
    return _outweighs(term.own, term.pages - term.own)


def _outweighs(own: int, others: int) -> bool:
    return own + 2 >= 0.1 * others


def propose(folder: Path, lists: Lists, *, rows: int) -> list[Path]:
    """Write the lists beside those of people, as `LABEL.txt.proposed`; nothing else in the folder is touched."""
    written = []
    for label in dict.fromkeys(term.label for term in lists.terms):
        path = folder / f"{label}.txt{PROPOSED}"
        lines = [
            f"# Terms for the label {label} that batag start found; {rows:,} pages were looked at.",
            f"# To change the list, save it as {label}.txt: your list is then used instead, and this file is only a proposal.",
            "# One term a line; what stands behind a tab is a note.",
        ]
        for term in sorted(lists.of(label), key=lambda term: (-term.pages, term.text)):
            note = "" if term.sure else "\tonly as the row's own brand"
            lines.append(f"{term.text}\t{term.pages} pages\t{term.source}{note}")
        with open_output(path) as stream:
            stream.write("".join(f"{line}\n" for line in lines).encode(errors="replace"))
        written.append(path)
    return written


def saved_lists(folder: Path) -> dict[str, list[str]]:
    """The lists that people saved, by label: `brand.txt`, `goods.txt`, ..."""
    found = {}
    for path in sorted(folder.glob("*.txt")):
        if path.stem == "synonyms" or path.name.startswith("."):
            continue
        try:
            text = read_limited(path, what="a list of terms").decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError("is not UTF-8", where=str(path), todo="Save the list as UTF-8 text") from error
        lines = (line.partition("\t")[0].strip() for line in text.splitlines())
        found[path.stem] = list(dict.fromkeys(line for line in lines if line and not line.startswith("#")))
    return found


def digest_of(folder: Path) -> str:
    """A digest of everything that people saved in a folder and the folders in it."""
    made = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if not path.name.startswith(".") and not path.name.endswith((PROPOSED, ".tmp")):
            made.update(f"{path.relative_to(folder)}\0".encode(errors="replace"))
            made.update(path.read_bytes())
    return made.hexdigest()
