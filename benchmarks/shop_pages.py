"""A bundle on 120 hand-written shop pages (zh-Hant, ja, en; brand and goods), which no choice was made by: a last report.

Run `python benchmarks/shop_pages.py BUNDLE [--richness POINT] [--languages ja,en] [--json] [--wrong FILE]`, with `--dev` on
other pages, by which choices are made, or with `--start MINUTES` in the place of BUNDLE on what `batag start` makes of the same
pages as a CSV without labels. A tag is right by its exact borders, or ("same end") if a true tag of its label ends where it
ends. The rule for borders is in docs/labelling.md.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from place import new_file

import batag
from batag.evaluation.tags import TagScores

FOLDER = Path(__file__).parent / "shop_pages"
LANGUAGES = ("zh-Hant", "ja", "en")
LABELS = ("brand", "goods")
Place = tuple[str, str, int, int]
PLACES: dict[str, Callable[[Place], object]] = {"exact": lambda place: place, "same_end": lambda place: (*place[:2], place[3])}
"""What two tags have in common if one counts as the other; a place is page id, field, start and end."""


def tags_of(page: batag.Page, tags: Iterable[batag.Tag]) -> dict[tuple[Place, str], str]:
    """The brands and goods among tags: place and label to text."""
    return {((page.id, tag.field, tag.start, tag.end), tag.label): tag.text for tag in tags if tag.label in LABELS}


def scores_of(pages: Sequence[batag.Page], predicted: Sequence[Iterable[batag.Tag]]) -> dict[str, Any]:
    """Scores of each label and of all (micro), by exact borders and by the end of the tag."""
    scores: dict[str, Any] = {"pages": len(pages)}
    for name, common in PLACES.items():
        counted = TagScores()
        for page, tags in zip(pages, predicted, strict=True):
            true, found = tags_of(page, page.tags), tags_of(page, tags)
            counted.add(*([(common(place), label) for place, label in some] for some in (true, found)))
        report = counted.report()
        nothing = TagScores().report()["micro"]
        scores[name] = {label: report["classes"].get(label, nothing) for label in LABELS} | {"micro": report["micro"]}
    return scores


def wrong_of(page: batag.Page, tags: Sequence[batag.Tag]) -> dict[str, Any] | None:
    """What was missed and what should not be there on a page, or None if all is right."""
    true, found = tags_of(page, page.tags), tags_of(page, tags)
    sides = {"missed": (true, found), "not_true": (found, true)}
    lists = {
        side: [
            {"field": place[1], "start": place[2], "label": label, "text": have[place, label]}
            for place, label in have
            if (place, label) not in other
        ]
        for side, (have, other) in sides.items()
    }
    return {"id": page.id, **page.fields, **lists} if any(lists.values()) else None


def exported(pages: Sequence[batag.Page], path: Path) -> Path:
    """Pages as a shop exports them: a CSV of texts, brand and category, without labels."""
    names = ("title", "description", "brand", "category")
    with path.open("x", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("sku", *names))
        writer.writerows([page.id, *(page.fields.get(name) or page.extra.get(name, "") for name in names)] for page in pages)
    return path


def started(export: Path, folder: Path, *, minutes: float) -> dict[str, Sequence[batag.Tag]]:
    """The tags of each page after `batag start` on an export, by the page's id."""
    command = [sys.executable, "-m", "batag", "start", str(export), "-o", str(folder), "--minutes", f"{minutes}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    parts = sorted((folder / "tagged").glob("*.parquet"))
    return {page.id: page.tags for part in parts for page in batag.read_pages(part, strict=True)}


def beyond_column(pages: Sequence[batag.Page], predicted: Sequence[Sequence[batag.Tag]]) -> tuple[int, int]:
    """Of the brand mentions whose text is not in the page's brand column: how many are found, and how many there are."""
    found = true = 0
    for page, tags in zip(pages, predicted, strict=True):
        column = str(page.extra.get("brand") or "").casefold()
        have = tags_of(page, tags)
        wanted = [key for key, text in tags_of(page, page.tags).items() if key[1] == "brand" and text.casefold() not in column]
        true += len(wanted)
        found += sum(key in have for key in wanted)
    return found, true


def table(scores: dict[str, Any]) -> str:
    """The scores as Markdown."""
    lines = [
        "| language | label | true | tagged | precision | recall | F1 | F1 same end |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for language, own in scores.items():
        for label, row in own["exact"].items():
            cells = [f"{100 * row[key]:.1f}" for key in ("precision", "recall", "f1")] + [
                f"{100 * own['same_end'][label]['f1']:.1f}"
            ]
            lines.append(f"| {language} | {label} | {row['true']} | {row['predicted']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundle", nargs="?", default="starter")
    parser.add_argument("--start", type=float, metavar="MINUTES", help="score batag start with this time to learn in")
    parser.add_argument("--dev", action="store_true", help="the pages for choices instead of those of the last report")
    parser.add_argument("--richness", help="clean, balanced, rich or a number from 0 to 1; default: balanced")
    parser.add_argument("--languages", default=",".join(LANGUAGES), help="default: %(default)s")
    parser.add_argument("--json", action="store_true", help="print all scores as JSON")
    parser.add_argument("--wrong", type=new_file, help="a JSONL file for what was missed or wrongly tagged on each page")
    options = parser.parse_args()
    try:
        scores, wrong = {}, []
        predicted: list[Sequence[batag.Tag]]
        tagger = batag.load(options.bundle)
        for language in options.languages.split(","):
            folder = FOLDER / "dev" if options.dev else FOLDER
            pages = list(batag.read_pages(folder / f"{language}.jsonl", strict=True))
            if options.start:
                with tempfile.TemporaryDirectory() as room:
                    export = exported(pages, Path(room) / "shop.csv") if options.dev else FOLDER / f"{language}.csv"
                    tagged = started(export, Path(room) / "shop", minutes=options.start)
                predicted = [tagged[page.id] for page in pages]
            else:
                predicted = [tagger.tag(page, richness=options.richness) for page in pages]
            scores[language] = scores_of(pages, predicted)
            found, true = beyond_column(pages, predicted)
            print(
                f"{language}: {found} of {true} brand mentions that the brand column does not give are found", file=sys.stderr
            )
            wrong += [found for page, tags in zip(pages, predicted, strict=True) if (found := wrong_of(page, tags))]
    except batag.BatagError as error:
        sys.exit(str(error))
    if options.wrong:
        options.wrong.write_text("".join(json.dumps(page, ensure_ascii=False) + "\n" for page in wrong), encoding="utf-8")
    print(json.dumps(scores, indent=1) if options.json else table(scores))


if __name__ == "__main__":
    main()
