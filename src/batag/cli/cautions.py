"""Warnings for the user of `batag train`: about the pages before training, about the scores after it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from batag.cli.terminal import counted
from batag.labels.provenance import MADE_UP, in_words
from batag.pages.page import PERSON
from batag.settings import settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from batag.training.prepared import FinishedRun

_IDLE = 0.05
_LOST, _ALIKE = 0.05, 0.85


def not_reviewed(measured_by: str) -> list[str]:
    """The warning that the scores are not measured on pages that a person has reviewed."""
    if measured_by == PERSON:
        return []
    if measured_by == MADE_UP:
        return ["the scores below are measured on made-up pages, so they say little about the pages of a shop"]
    return [
        f"NO PERSON HAS REVIEWED ANY OF THESE PAGES: scores are measured against tags of the source {measured_by}, so they say "
        "how well these are imitated, not how good the tags are; have some pages corrected (docs/labelling.md)"
    ]


def by_file(languages: Mapping[str, int]) -> list[str]:
    """The note that pages without a clear language were read in the language of most pages of their file."""
    counts = {language: counted(pages, "page") for language, pages in languages.items() if pages}
    return [
        f"{pages} without a clear language, read as {language} like most of the file (--language sets it for all)"
        for language, pages in counts.items()
    ]


def sources(statistics: dict[str, Any]) -> list[str]:
    """One line for train and one for dev about the sources of their labels."""
    parts = [part for part in ("train", "dev") if statistics[part]["pages"]]
    return [f"{part}: labels by {in_words(statistics[part]['sources'])}" for part in parts]


def notes(statistics: dict[str, Any]) -> list[str]:
    """What the user should know about the pages before training begins."""
    lines = []
    train, dev = statistics["train"], statistics["dev"]
    if statistics["held_out"]:
        held_out = f"no --dev: held out {counted(dev['pages'], 'page')} to choose the best epoch on"
        lines.append(f"{held_out} (no near-duplicates of training pages)")
    for name, part in (("train", train), ("dev", dev)):
        if part["not_labelled"]:
            lines.append(f"{name}: left out {counted(part['not_labelled'], 'page')} without labels")
        lines += [f"{name}: {line}" for line in by_file(part["languages_by_file"])]
        if part["tags_misaligned"]:
            lines.append(
                f"{name}: misaligned tags (not at token borders): {part['tags_misaligned']:,} of {part['tags']:,}, "
                f"{part['tags_lost']:,} of them lost; batag inspect lists them"
            )
    if statistics["old_classes"] and not train["replayed"]:
        lines.append("no old pages are mixed in, so the model may forget what the base bundle had learnt (use --replay FILE)")
    if lost := [name for name in statistics["old_classes"] if not train["class_tags"].get(name)]:
        lines.append(f"train: classes of the base bundle without a tag on these pages: {', '.join(lost)}")
    if train["tags_of_stop_words"]:
        lines.append(
            f"train: tags of stop words and small numbers only: {train['tags_of_stop_words']:,} of {train['tags']:,}; the "
            "bundle stores these texts, so that they can be tags"
        )
    if train["replayed"]:
        lines.append(f"train: mixed in {counted(train['replayed'], 'old page')} (training.replay)")
    if dev["replayed"]:
        old = counted(dev["replayed"], "old page")
        lines.append(
            f"dev: the best epoch is chosen on {counted(dev['pages'], 'new page')}; {old} scored separately"
            if dev["pages"]
            else f"dev: no new page; the best epoch is chosen on {old}, which say little about new pages"
        )
    if train["left_out"]:
        left_out = counted(train["left_out"], "old or machine-labelled page")
        lines.append(f"train: left out {left_out} (near-duplicates of dev pages)")
    if dev["in_train"]:
        lines.append(
            f"dev: pages that are also in train, word for word: {dev['in_train']:,} of {dev['pages']:,}; scores say how well "
            "these are memorised, not how well new pages are tagged; name other pages with --dev, or leave it out"
        )
    if dev["not_reviewed"]:
        lines.append(f"dev: left out {counted(dev['not_reviewed'], 'page')} that no person has reviewed")
    if not train["reviewed"]:
        lines.append("train: no person has reviewed any of the training pages")
    if dev["unknown_classes"]:
        lines.append(f"dev: classes that do not occur in train are ignored: {', '.join(dev['unknown_classes'])}")
    return lines


def rare_classes(statistics: dict[str, Any]) -> list[str]:
    """Warn about classes with too few tags to be learnt or measured, and estimate how many more labelled pages they need. More
    pages make such a class measurable; they do not promise a good score."""
    lines = []
    train, dev = statistics["train"], statistics["dev"]
    for name, learnt in train["class_tags"].items():
        measured = dev["class_tags"].get(name, 0)
        # At the rate of its own pages, or, where these show none, of the training pages.
        rate = max(learnt, 1) / max(train["pages"], 1)
        to_learn = (settings.rare_class_tags - learnt) / rate
        to_measure = (settings.rare_dev_tags - measured) / (measured / dev["pages"] if measured else rate)
        if max(to_learn, to_measure) <= 0:
            continue
        rare = " and ".join(part for part, more in (("train", to_learn), ("dev", to_measure)) if more > 0)
        tags = f"{counted(learnt, 'tag')} in train, {counted(measured, 'tag')} in dev"
        what = f"{name} is rare in {rare}: {tags}; do not trust its scores yet"
        if statistics["held_out"]:
            # Of pages that are labelled more, a tenth is held out.
            wanted = f"{_about(max(to_learn, 10 * to_measure))} more pages"
        else:
            parts = (("in train", to_learn), ("in dev", to_measure))
            wanted = " and ".join(f"{_about(more)} more pages {where}" for where, more in parts if more > 0)
        least = f"{settings.rare_class_tags} tags in train and {settings.rare_dev_tags} in dev"
        lines.append(f"{what} (to reach {least}, label about {wanted})")
    if lines:
        lines.append("more pages make a class measurable, not necessarily good: batag curve shows what they bring")
    return lines


def _about(pages: float) -> str:
    return f"{math.ceil(pages / 10) * 10:,}"


def idle_encoder(mixing_weight: float | None) -> list[str]:
    """Warn if the mixing weight of the window CRF is so high that the encoder hardly matters."""
    if mixing_weight is None or 1 - mixing_weight >= _IDLE:
        return []
    return [
        f"the mixing weight of the window CRF is {mixing_weight:.2f} (0: the encoder decides alone; 1: the window CRF, a "
        "simpler model of a word and its neighbours), so the encoder that was trained in the epochs above "
        "(scored with equal weights) hardly matters; label more pages, or train for more epochs (--set training.epochs=N)"
    ]


def far_from_teacher(agreement: float, dev: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Warn about a student that is far worse than its teacher: by its agreement (tag F1 with the teacher's tags as gold),
    or by the reports of both on dev."""
    if dev:
        teacher, student = (dev[name]["tags"]["micro"] for name in ("teacher", "student"))
        lost = max(teacher[key] - student[key] for key in ("f1", "f2"))
        far = f"up to {100 * lost:.1f} points of tag F1 and F2 below its teacher on dev" if lost > _LOST else ""
    else:
        far = f"only {100 * agreement:.1f} tag F1 with the teacher's tags as gold" if agreement < _ALIKE else ""
    more = "teach it longer (--set training.epochs=N), on more pages, or make it larger (--set encoder.width=64)"
    return [f"the student is much worse than its teacher: {far}; {more}"] if far else []


def without_onnx(reason: str) -> str:
    """The warning that a bundle has no ONNX engine."""
    return f"the bundle has no ONNX engine and needs torch to tag: {reason}"


def doubts(run: FinishedRun) -> list[str]:
    """Warnings about scores and operating points that dev was too small for."""
    lines = idle_encoder(run.mixing_weight)
    if (pages := len(run.data.judge.pages)) < settings.few_dev_pages:
        lines.append(
            f"the choice of the best epoch and these scores are mostly chance: dev has only {counted(pages, 'page')} ("
            f"fewer than {settings.few_dev_pages})"
        )
    if run.data.tuned_by_both and run.data.new_dev:
        lines.append(
            "the operating points and the calibration were chosen on old and new dev pages together, because a class has fewer "
            f"than {settings.rare_dev_tags} tags on the new ones"
        )
    if not run.dial.calibrated:
        lines.append(
            "scores could not be calibrated (dev has too few tags or pages, or all tags are correct or all are wrong): "
            "the score of a tag is the model's own probability, which may be far off"
        )
    if still := run.dial.dial.still(run.data.scheme.classes):
        lines.append(
            f"clean and rich tags are the same for {', '.join(still)}: dev has fewer than {settings.rare_dev_tags} tags of "
            "the class, or no other choice was better"
        )
    return lines
