"""Warnings for the user of `batag train`: about the pages before training, about the scores after it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from batag.cli.terminal import counted
from batag.labels.provenance import in_words
from batag.pages.page import PERSON
from batag.settings import settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from batag.training.prepared import FinishedRun

_IDLE = 0.05


def unseen(measured_by: str) -> list[str]:
    """The warning that the scores are not measured on pages that a person has reviewed."""
    if measured_by == PERSON:
        return []
    return [
        f"NO PERSON HAS SEEN ANY OF THESE PAGES: scores are measured by the tags of {measured_by}, and say how well these are "
        "repeated, not how good the tags are; have some pages corrected (docs/labelling.md)"
    ]


def by_file(languages: Mapping[str, int]) -> list[str]:
    """The note that pages without a clear language were read in the language of most pages of their file."""
    told = {language: counted(pages, "page") for language, pages in languages.items() if pages}
    return [
        f"{pages} without a clear language, read as {language} like most of the file (--language sets it for all)"
        for language, pages in told.items()
    ]


def sources(statistics: dict[str, Any]) -> list[str]:
    """One line for train and one for dev about the sources of their labels."""
    return [f"{part}: by {in_words(statistics[part]['sources'])}" for part in ("train", "dev") if statistics[part]["pages"]]


def notes(statistics: dict[str, Any]) -> list[str]:
    """What the user should know about the pages before training begins."""
    lines = []
    train, dev = statistics["train"], statistics["dev"]
    if statistics["held_out"]:
        held = f"{counted(dev['pages'], 'page')} held out to choose the best epoch by"
        lines.append(f"no --dev: {held} (no twin of a training page)")
    for name, part in (("train", train), ("dev", dev)):
        if part["not_labelled"]:
            lines.append(f"{name}: {counted(part['not_labelled'], 'page')} without labels left out")
        lines += [f"{name}: {line}" for line in by_file(part["languages_by_file"])]
        if part["tags_misaligned"]:
            lines.append(
                f"{name}: tags that do not fit the tokens: {part['tags_misaligned']:,} of {part['tags']:,} "
                f"({part['tags_lost']:,} lost); batag inspect lists them"
            )
    if statistics["old_classes"] and not train["replayed"]:
        lines.append("no old page is mixed in: what the bundle knew may be forgotten (--replay FILE names old pages)")
    if lost := [name for name in statistics["old_classes"] if not train["class_tags"].get(name)]:
        lines.append(f"train: classes of the bundle without a tag to learn from: {', '.join(lost)}")
    if train["tags_of_stop_words"]:
        lines.append(
            f"train: tags that are only stop words and small numbers: {train['tags_of_stop_words']:,} of {train['tags']:,}; "
            "the bundle keeps their texts, and such texts may be tags"
        )
    if train["replayed"]:
        lines.append(f"train: {counted(train['replayed'], 'old page')} mixed in (training.replay)")
    if dev["replayed"]:
        lines.append(
            f"dev: {counted(dev['replayed'], 'old page')} scored apart; the best epoch is chosen by "
            f"{counted(dev['pages'], 'new page')}"
            if dev["pages"]
            else f"dev: no new page; the best epoch is chosen by {counted(dev['replayed'], 'old page')}: new ones may differ"
        )
    if train["left_out"]:
        lines.append(f"train: {counted(train['left_out'], 'page')} left out: old, or by machines, and twins of dev pages")
    if dev["in_train"]:
        lines.append(
            f"dev: pages that are in train too, word for word: {dev['in_train']:,} of {dev['pages']:,}; scores say how well "
            "these are remembered, not how good tags of new pages will be; name other pages with --dev, or leave it out"
        )
    if dev["not_reviewed"]:
        lines.append(f"dev: {counted(dev['not_reviewed'], 'page')} that no person has seen left out")
    if not train["reviewed"]:
        lines.append("train: no person has seen any of the pages that are learnt from")
    if dev["unknown_classes"]:
        lines.append(f"dev: classes that train does not have do not count: {', '.join(dev['unknown_classes'])}")
    return lines


def rare_classes(statistics: dict[str, Any]) -> list[str]:
    """Warn about classes with too few tags to be learnt or measured, and estimate how many more labelled pages they need. More
    pages make such a class measurable; they do not promise a good score."""
    lines = []
    train, dev = statistics["train"], statistics["dev"]
    for name, learnt in train["class_tags"].items():
        measured = dev["classes"].get(name, 0)
        # At the rate of its own pages, or, where these show none, of the training pages.
        rate = max(learnt, 1) / max(train["pages"], 1)
        to_learn = (settings.rare_class_tags - learnt) / rate
        to_measure = (settings.rare_dev_tokens - measured) / (measured / dev["pages"] if measured else rate)
        if max(to_learn, to_measure) <= 0:
            continue
        rare = " and ".join(part for part, more in (("train", to_learn), ("dev", to_measure)) if more > 0)
        tags = f"{counted(learnt, 'tag')} to learn from, {counted(measured, 'token')} to be measured by"
        what = f"{name} is rare in {rare}: {tags}; do not trust its scores yet"
        if statistics["held_out"]:
            # Of pages that are labelled more, a tenth is held out.
            wanted = f"{_about(max(to_learn, 10 * to_measure))} labelled pages more"
        else:
            parts = (("to learn from", to_learn), ("in dev", to_measure))
            wanted = " and ".join(f"{_about(more)} labelled pages more {where}" for where, more in parts if more > 0)
        least = f"{settings.rare_class_tags} tags and {settings.rare_dev_tokens} tokens"
        lines.append(f"{what} ({least} take about {wanted} at this rate)")
    if lines:
        lines.append("that makes a class measurable, not good: batag curve shows what more pages bring")
    return lines


def _about(pages: float) -> str:
    return f"{math.ceil(pages / 10) * 10:,}"


def idle_encoder(mixing_weight: float | None) -> list[str]:
    """Warn if the mixing weight of the window CRF is so high that the encoder hardly matters."""
    if mixing_weight is None or 1 - mixing_weight >= _IDLE:
        return []
    return [
        f"the mixing weight of the window CRF is {mixing_weight:.2f}: dev preferred it to the encoder, so that what was learnt "
        "in the epochs above (scored with both, half and half) hardly counts; label more pages, or train for more epochs "
        "(--set training.epochs=N)"
    ]


def without_onnx(reason: str) -> str:
    """The warning that a bundle has no ONNX engine."""
    return f"the bundle has no ONNX engine and needs torch to tag: {reason}"


def doubts(run: FinishedRun) -> list[str]:
    """Warnings about scores and operating points that dev was too small for."""
    lines = idle_encoder(run.mixing_weight)
    if (pages := len(run.data.judge.pages)) < settings.few_dev_pages:
        lines.append(
            f"which epoch is the best is mostly chance, and so are these scores: only {counted(pages, 'page')} to choose by "
            f"(fewer than {settings.few_dev_pages})"
        )
    if run.data.tuned_by_both and run.data.new_dev:
        lines.append(
            "clean, balanced and rich and the calibration of scores were chosen on old and new dev pages together: some class "
            f"has fewer than {settings.rare_dev_tokens} tokens on the new ones"
        )
    if not run.dial.calibrated:
        lines.append(
            "scores could not be calibrated (dev has too few tags or pages, or tags that are all right or all wrong): "
            "a tag's score is the encoder's own, not a probability to be trusted"
        )
    if still := run.dial.dial.still(run.data.scheme.classes):
        lines.append(
            f"clean and rich tags are the same for {', '.join(still)}: dev has fewer than {settings.rare_dev_tokens} of its "
            "tokens, or nothing to choose between"
        )
    return lines
