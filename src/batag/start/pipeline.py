"""The stages of `batag start`: each writes what it found before the next begins, so that the same command goes on anywhere."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from batag.bundles.bundle import find_bundle, read_description
from batag.bundles.description import DESCRIPTION, MODEL
from batag.bundles.names import file_of, terms_for
from batag.catalogue.totals import Totals
from batag.pages.file import digest
from batag.pages.formats import read_pages, write_pages
from batag.pages.page import Page
from batag.pages.problems import Problems
from batag.start.evidence import Evidence, texts_of
from batag.start.folder import read_json, write_json
from batag.start.learning import training, unlisted
from batag.start.learning.comparison import Comparison, compare
from batag.start.learning.equipped import equip
from batag.start.learning.labelling import by_source, label_pages, repeated
from batag.start.lists import Lists, make_lists, propose, saved_lists
from batag.start.survey import BRAND_OF, Survey, load, read_rows, save, survey_pages
from batag.start.tagging import tag_export
from batag.start.task import Task
from batag.tagging.tagger import Tagger

MOST_SAMPLED = 20_000
FEWEST_TO_LEARN, FEWEST_OF_PEOPLE = 50, 10
"""With fewer pages that have a label of the shop's own, or of people, learning does not pay."""
HELD, MOST_HELD, HELD_OF_PEOPLE = 10, 200, 5
"""Every tenth labelled page, and not many more than 200 of them, is held back, and every fifth of people's: on these it is
seen whether learning helped."""
OWN_BORDERS = 50
"""When people have labelled so many pages, the learnt bundle draws their borders, and the lexicon's are not put over them."""
PEOPLE, HELD_PEOPLE = "people.jsonl", "held_people.jsonl"


def _weights(bundle: Path) -> str:
    """The digest of a bundle's weights."""
    return read_description(bundle).files[MODEL].sha256


@dataclass(frozen=True)
class Start(Task):
    """The stages of one start, in order; one that is done already is read from the run's folder."""

    def survey(self, *, problems: Problems, watch: Any = None) -> tuple[Survey, list[Page]]:
        """Read the whole export once."""
        if (found := load(self.run)) is not None:
            return found
        survey = Survey()
        sample = survey_pages(read_rows(self.rows, problems=problems, survey=survey, watch=watch), survey, most=MOST_SAMPLED)
        if not survey.pages:
            raise problems.no_page(self.table.path)
        save(self.run, survey, sample)
        return survey, sample

    def lists(self, survey: Survey, sample: Sequence[Page], *, watch: Any = iter) -> Lists:
        """The terms of the shop, written beside those of people."""
        if found := read_json(self.run / "terms.json"):
            return Lists.of_dict(found)
        saved = saved_lists(self.shop.path("terms"))
        categories = self.categories()
        proposed = make_lists(survey, sample, given=self.options.terms, categories=categories, watch=watch)
        lists = proposed
        if saved:
            lists = make_lists(survey, sample, given=self.options.terms, saved=saved, categories=categories)
        propose(self.shop.path("terms"), proposed, rows=survey.sampled)
        write_json(self.run / "terms.json", lists.to_dict())
        return lists

    def equipped(self, lists: Lists, sample: Sequence[Page]) -> Path:
        """The base bundle with the shop's lists."""
        folder = self.run / "equipped"
        if not (self.run / "equipped.json").is_file():
            equip(self.options.base, folder, lists, sample)
            write_json(self.run / "equipped.json", {"bundle": digest(folder / DESCRIPTION)})
        return folder

    def evidence(self, lists: Lists, *, column: str | None) -> Evidence:
        """What rows and lists say."""
        return Evidence.of(lists, column=column)

    def labels(self, lists: Lists, sample: Sequence[Page], bundle: Path, *, watch: Any = iter) -> dict[str, Any]:
        """Label a part of the sample; pages that people labelled are theirs."""
        if (found := read_json(self.run / "labels.json")) and self.shop.path("labels").is_file():
            return found
        people = list(self.reviewed(Problems()))
        theirs = set(map(texts_of, people))
        others = (page for page in sample if texts_of(page) not in theirs)
        chosen = list(islice(others, round(training.PAGES_A_MINUTE * self.options.minutes)))
        tagger = Tagger.load(bundle, engine="auto", device="cpu")
        made = list(label_pages(chosen, tagger, self.evidence(lists, column=BRAND_OF), watch=watch))
        self.shop.path("labels").parent.mkdir(parents=True, exist_ok=True)
        held = made[:: max(HELD, len(made) // MOST_HELD)]
        write_pages(held, self.run / "held.jsonl")
        kept = people[::HELD_OF_PEOPLE] if len(people) >= FEWEST_OF_PEOPLE else []
        write_pages(kept, self.run / HELD_PEOPLE)
        back = {id(page) for page in (*held, *kept)}
        own = [page for page in people if id(page) not in back]
        write_pages(repeated(own, others=len(made) - len(held)), self.run / PEOPLE)
        write_pages((page for page in made if id(page) not in back), self.shop.path("labels"))
        known = sum(any(tag.source != "model" for tag in page.tags) for page in made)
        found = {"pages": len(made), "known": known, "people": len(theirs), "sources": by_source(made)}
        write_json(self.run / "labels.json", found)
        return found

    def pays(self, labels: Mapping[str, Any]) -> bool:
        """Whether there is enough to learn from."""
        return bool(labels["known"] >= FEWEST_TO_LEARN or labels["people"] >= FEWEST_OF_PEOPLE)

    def compare(self, labels: Mapping[str, Any], equipped: Path) -> Comparison:
        """Whether the learnt bundle is better than the base bundle with the shop's lists, on pages that were held back."""
        if found := read_json(self.run / "comparison.json"):
            return Comparison(**found)
        held = list(read_pages(self.run / "held.jsonl", problems=Problems()))
        folder = self.run / "learn"
        people = list(read_pages(self.run / HELD_PEOPLE, problems=Problems())) if labels["people"] >= FEWEST_OF_PEOPLE else []
        made = compare(equipped, training.bundle_of(folder), held, training.made_up_dev(folder), people=people)
        write_json(self.run / "comparison.json", asdict(made))
        return made

    def check(
        self,
        survey: Survey,
        lists: Lists,
        sample: Sequence[Page],
        *,
        watch: training.Watch,
        reading: training.Reading = training.silently,
    ) -> unlisted.Check | None:
        """Hide a tenth of the brands, train shortly, and look for them; None if it cannot be measured."""
        if (found := read_json(self.run / "check.json")).get("done"):
            return unlisted.Check(**found["check"]) if found["check"] else None
        made = self._check(survey, lists, sample, watch=watch, reading=reading)
        write_json(self.run / "check.json", {"done": True, "check": None if made is None else asdict(made)})
        shutil.rmtree(self.run / "check", ignore_errors=True)
        return made

    def _check(
        self, survey: Survey, lists: Lists, sample: Sequence[Page], *, watch: training.Watch, reading: training.Reading
    ) -> unlisted.Check | None:
        hidden = unlisted.hide(survey, lists)
        if hidden is None:
            return None
        known = unlisted.without(lists, hidden)
        pages, there = unlisted.parts(sample, hidden)
        pages = pages[: round(training.PAGES_A_MINUTE * self.options.minutes * 0.3)]
        if len(pages) < FEWEST_TO_LEARN or not there:
            return None
        folder = self.run / "check"
        folder.mkdir(exist_ok=True)
        if not (folder / "labels.json").is_file():
            bundle = equip(self.options.base, folder / "equipped", known, sample)
            tagger = Tagger.load(bundle, device="cpu")
            write_pages(label_pages(pages, tagger, self.evidence(known, column=BRAND_OF)), folder / "labels.parquet")
            write_json(folder / "labels.json", {"pages": len(pages)})
        training.train(
            folder,
            base=folder / "equipped",
            labels=[folder / "labels.parquet"],
            languages=list(survey.languages),
            pages=len(pages),
            budget=self.budget,
            share=0.2,
            settings={**self.options.settings, "training.export": False},
            most_epochs=3,
            watch=watch,
            reading=reading,
        )
        return unlisted.check(Tagger.load(training.bundle_of(folder), device="cpu"), there, hidden, lists)

    def learn(
        self,
        survey: Survey,
        labels: Mapping[str, Any],
        base: Path,
        *,
        watch: training.Watch,
        reading: training.Reading = training.silently,
    ) -> training.Learnt:
        """Train from the base bundle with the shop's lists."""
        return training.train(
            self.run / "learn",
            base=base,
            labels=[self.shop.path("labels"), *([self.run / PEOPLE] if labels["people"] else [])],
            languages=list(survey.languages),
            pages=labels["pages"] + labels["people"],
            budget=self.budget,
            settings=self.options.settings,
            watch=watch,
            reading=reading,
        )

    def kept(self, lists: Lists, sample: Sequence[Page]) -> Path | None:
        """The shop's bundle in use with the lists of now, if it has learnt more than the base bundle: too few pages are no
        reason to lose that."""
        folder, current = self.run / "kept", self.shop.current()
        if not (self.run / "kept.json").is_file():
            if current is None or _weights(current) == _weights(find_bundle(self.options.base)):
                return None
            equip(current, folder, lists, sample)
            write_json(self.run / "kept.json", {"bundle": current.name})
        return folder

    def ship(self, equipped: Path, survey: Survey, *, learnt: bool) -> Path:
        """Put the bundle among those of the shop with the names of its brands beside it, and make it the one in use."""
        target = self.shop.add_bundle(training.bundle_of(self.run / "learn") if learnt else equipped, number=self.number)
        write_json(file_of(target), self.names(survey))
        self.shop.use(target)
        return target

    def tag(
        self, survey: Survey, lists: Lists, bundle: Path, *, learnt: bool = False, problems: Problems, watch: Any
    ) -> Totals:
        """Tag the whole export."""
        return tag_export(
            self.rows,
            bundle=bundle,
            out=self.shop.path("tagged"),
            lists=lists,
            people=list(self.reviewed(Problems())),
            terms=terms_for(bundle, taxonomy=self.options.taxonomy),
            pages=survey.pages,
            problems=problems,
            shaping=not learnt or int(read_json(self.run / "labels.json").get("people", 0)) < OWN_BORDERS,
            watch=watch,
        )
