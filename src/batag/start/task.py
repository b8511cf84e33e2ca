"""One start of a shop: what was asked for, how its export is read, and the run that the same command goes on with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from batag.bundles.bundle import find_bundle, read_description
from batag.bundles.description import DESCRIPTION
from batag.pages.corrections import in_order
from batag.pages.file import digest
from batag.pages.languages import check_language
from batag.pages.page import Page
from batag.pages.problems import Problems
from batag.pages.record import dump, to_record
from batag.start.columns import Columns
from batag.start.folder import Shop, read_json, write_json
from batag.start.learning.budget import Budget
from batag.start.lists import BRAND, digest_of
from batag.start.people import People, Reading, read_people
from batag.start.survey import Rows, Survey
from batag.start.synonyms import brand_synonyms
from batag.start.table import Table
from batag.terms.synonyms import read_synonyms
from batag.terms.taxonomy import read_taxonomy


@dataclass(frozen=True, kw_only=True)
class Options:
    """What was asked for. `terms` are lists given: file to label to terms; `settings` change the recipe."""

    base: Path
    minutes: float = 10.0
    terms: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    taxonomy: Path | None = None
    language: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    learn: bool = True


@dataclass(frozen=True)
class Task:
    """One start of a shop: its folder, the export, its columns and the options."""

    shop: Shop
    table: Table
    columns: Columns
    options: Options

    @cached_property
    def rows(self) -> Rows:
        """How the export is read."""
        return Rows(
            path=self.table.path,
            format=self.table.format,
            columns=self.columns.texts,
            brand=self.columns.column(BRAND),
            category=self.columns.column("category"),
            language=self.options.language,
            encoding=self.table.encoding,
        )

    @cached_property
    def key(self) -> str:
        """A digest of everything that the result depends on: a run with the same one is gone on with."""
        base = digest(find_bundle(self.options.base) / DESCRIPTION)
        taxonomy = "" if self.options.taxonomy is None else digest(self.options.taxonomy)
        asked = (
            asdict(self.rows) | {"path": ""},
            self.options.minutes,
            self.options.terms,
            dict(self.options.settings),
            self.options.learn,
        )
        people = digest_of(self.shop.path("terms")), self._reviewed_digest()
        everything = (digest(Path(self.table.path)), base, taxonomy, asked, people, version("batag"))
        return hashlib.sha256(json.dumps(everything, default=str, sort_keys=True).encode(errors="replace")).hexdigest()

    def _reviewed_digest(self) -> str:
        """A digest of the pages that people reviewed: others are not used, so they make no other run."""
        made = hashlib.sha256()
        for page in self.reviewed(Problems()):
            made.update(dump(to_record(page)) + b"\n")
        return made.hexdigest()

    @cached_property
    def run(self) -> Path:
        """The folder of this run: that of the last one, if it is the same, or a new one."""
        last = self.shop.runs()[-1:]
        if last and read_json(last[0] / "start.json").get("key") == self.key:
            return last[0]
        folder = self.shop.new_run() if not last or read_json(last[0] / "start.json") else last[0]
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / "start.json", {"key": self.key, "export": self.table.path})
        return folder

    @property
    def number(self) -> int:
        return int(self.run.name)

    @property
    def is_done(self) -> bool:
        """Whether everything is written already."""
        return bool(read_json(self.run / "done.json"))

    @cached_property
    def budget(self) -> Budget:
        return Budget.of_run(self.run, self.options.minutes)

    def categories(self) -> list[str]:
        """The names of the categories of the taxonomy."""
        if self.options.taxonomy is None:
            return []
        taxonomy = read_taxonomy(self.options.taxonomy)
        return list(
            dict.fromkeys(name for names in taxonomy.names.values() for name in names.split("\t") if 1 < len(name) <= 30)
        )

    def check_synonyms(self) -> None:
        """A mistake in the synonyms of people is an error before anything is learnt, not after."""
        own = self.shop.path("terms") / "synonyms.txt"
        if own.is_file():
            read_synonyms(own)

    def names(self, survey: Survey) -> dict[str, Any]:
        """How the shop and the language of most pages name tags, for the file beside its bundle."""
        language = check_language(self.options.language or survey.language or "en")
        return {"language": language, "brands": brand_synonyms(survey.brands, language=language)}

    @cached_property
    def people(self) -> People:
        """What people labelled, read once."""
        reading = Reading(
            labels=in_order(read_description(find_bundle(self.options.base)).scheme.classes),
            columns=self.columns.texts,
            brand=self.columns.column(BRAND),
            language=self.options.language,
            encoding=self.table.encoding,
        )
        return read_people(self.shop.path("people"), reading)

    def reviewed(self, problems: Problems) -> Iterator[Page]:
        """The pages that people labelled."""
        for problem in self.people.problems:
            problems.report(problem)
        yield from self.people.pages

    def not_reviewed(self, problems: Problems) -> int:
        """How many pages in the folder of people no person has seen; what cannot be read there is listed."""
        for problem in self.people.problems:
            problems.report(problem)
        return self.people.unseen

    def record(self) -> None:
        """Write `shop.json`: the export and its columns."""
        columns = {each.field: each.name for each in self.columns.columns if each.field}
        reading = {"format": self.table.format, "encoding": self.table.encoding, "language": self.options.language}
        self.shop.write({"name": self.shop.name, "export": self.table.path, "columns": columns, "reading": reading})
