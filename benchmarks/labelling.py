"""What less labelling costs: scores over labelled pages beside a CRF, what lists of terms buy
at 100 pages, and what is forgotten when a bundle learns new classes.

Run `python benchmarks/labelling.py FOLDER_OF_CORPORA [curve|weak|forgetting ...] --out benchmarks/results` (needs the extra
`bench`). Epochs and operating points are chosen on dev, scores are those of test; finished trainings are kept in --runs.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import matplotlib
import torch

sys.path.insert(0, str(Path(__file__).parent))

from accuracy import BETAS, CORPORA, asked, read_pages_of, score_answers
from peers import crf
from place import new_folder

from batag.evaluation.charts import picture
from batag.pages.formats import write_pages
from batag.pages.page import Page

SIZES = (50, 100, 250, 500, 1000, 2000)
matplotlib.use("agg")


class Lab:
    """Trains, scores and keeps what was found."""

    def __init__(self, data: Path, runs: Path) -> None:
        self.data, self.runs = data, runs
        runs.mkdir(parents=True, exist_ok=True)

    def files(self, corpus: str) -> dict[str, Path]:
        return {split: self.data / CORPORA[corpus].files.format(split) for split in ("train", "dev", "test")}

    def batag(self, *arguments: object) -> str:
        """A command of batag; what it prints."""
        command = [sys.executable, "-m", "batag", *map(str, arguments)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def pages(self, name: str, pages: Sequence[Page]) -> Path:
        path = self.runs / f"{name}.jsonl"
        if not path.exists():
            write_pages(pages, path)
        return path

    def train(self, name: str, pages: Sequence[Path], *, dev: Path, more: Sequence[object] = ()) -> Path:
        folder = self.runs / name
        if not (folder / "bundle").exists():
            begun = ["--resume", folder] if (folder / "recipe.toml").exists() else [*pages, "--dev", dev, "-o", folder, *more]
            self.batag("train", *begun)
        return folder

    def scores(self, run: Path, test: Path) -> dict[str, float]:
        """F1 of tags at the balanced and F2 at the rich point, over the classes that these pages have."""
        kept = run / f"scores-{test.parent.name}-{test.stem}.json"
        if not kept.exists():
            found = {}
            for point, key in (("balanced", "f1"), ("rich", "f2")):
                found[f"tag_{key}"] = json.loads(self.batag("evaluate", run, test, "--richness", point, "--json"))["tags"][
                    "micro"
                ][key]
            kept.write_text(json.dumps(found), encoding="utf-8")
        scores: dict[str, float] = json.loads(kept.read_text(encoding="utf-8"))
        return scores


def curve(lab: Lab, out: Path | None, seeds: int) -> str:
    """Scores over labelled pages."""
    name = "taobao-words"
    files, pages = lab.files(name), CORPORA[name].pages(lab.data)
    sizes = [*SIZES, len(pages["train"])]
    found: dict[str, dict[int, list[dict[str, float]]]] = {"batag": {}, "CRF": {}}
    for seed in range(seeds):
        shuffled = list(pages["train"])
        random.Random(seed).shuffle(shuffled)
        for size in sizes:
            some = lab.pages(f"curve-{seed}-{size}", shuffled[:size])
            run = lab.train(f"curve-{seed}-{size}-plain", [some], dev=files["dev"], more=["--set", f"training.seed={seed}"])
            found["batag"].setdefault(size, []).append(lab.scores(run, files["test"]))
            print("batag", size, found["batag"][size][-1], flush=True)
            scheme, parts = read_pages_of(pages | {"train": shuffled[:size]}, CORPORA[name].scheme)
            predict = crf.fit(parts["train"].examples, parts["dev"].examples, scheme, seed=seed)
            tags = score_answers(asked(predict, parts), scheme, parts)["tags"]
            values = {f"tag_f{beta:g}": tags[point]["micro"][f"f{beta:g}"] for point, beta in BETAS.items()}
            found["CRF"].setdefault(size, []).append(values)
    lines = [f"Labelled pages of {name}, {_seeds(seeds)}: F1 (balanced) / F2 (rich) of tags on test.\n"]
    lines += [f"| system | {' | '.join(f'{size:,}' for size in sizes)} |", f"|{'---|' * (len(sizes) + 1)}"]
    for system, by_size in found.items():
        cells = [" / ".join(_mean(by_size[size], key) for key in ("tag_f1", "tag_f2")) for size in sizes]
        lines.append(f"| {system} | {' | '.join(cells)} |")
    if out:
        with picture(out / "labelling-curve.png", width=6.4, height=4.4) as figure:
            axes = figure.subplots()
            for system, by_size in found.items():
                axes.plot(sizes, [100 * _average(by_size[size], "tag_f2") for size in sizes], marker="o", label=system)
            axes.set_xscale("log")
            axes.set_xlabel("labelled pages")
            axes.set_ylabel("F2 of tags at the rich point, test (%)")
            axes.legend()
    return "\n".join(lines)


def weak(lab: Lab, out: Path | None, seeds: int) -> str:
    """100 pages by people, alone and with all others marked by lists of terms: those tagged there at least twice."""
    name = "taobao-words"
    files, pages = lab.files(name), CORPORA[name].pages(lab.data)["train"]
    rows: dict[str, list[dict[str, float]]] = {"100 pages": [], "100 pages and lists": []}
    for seed in range(seeds):
        shuffled = list(pages)
        random.Random(seed).shuffle(shuffled)
        human, others = lab.pages(f"weak-{seed}-human", shuffled[:100]), shuffled[100:]
        bare = lab.pages(f"weak-{seed}-bare", [replace(page, tags=(), labelled=False) for page in others])
        options: list[object] = []
        for label in sorted({tag.label for page in others for tag in page.tags}):
            terms = [tag.text for page in others for tag in page.tags if tag.label == label]
            path = lab.runs / f"weak-{seed}-{label}.txt"
            path.write_text("\n".join(sorted({term for term in terms if terms.count(term) > 1})) + "\n", encoding="utf-8")
            options += ["--terms", f"{path}={label}"]
        marked = lab.runs / f"weak-{seed}-marked.jsonl"
        if not marked.exists():
            lab.batag("weak", bare, *options, "-o", marked)
        for system, given in (("100 pages", [human]), ("100 pages and lists", [human, marked])):
            seeded = ["--set", f"training.seed={seed}"]
            run = lab.train(f"weak-{seed}-{len(given)}", given, dev=files["dev"], more=seeded)
            rows[system].append(lab.scores(run, files["test"]))
            print(system, rows[system][-1], flush=True)
    lines = [
        f"{name}, {_seeds(seeds)}, on test.\n",
        "| learnt from | tag F1 | tag F2 (rich) |",
        "|---|---|---|",
    ]
    return "\n".join(lines + [f"| {row} | {_mean(own, 'tag_f1')} | {_mean(own, 'tag_f2')} |" for row, own in rows.items()])


def forgetting(lab: Lab, out: Path | None, seeds: int) -> str:
    """A bundle of taobao-words learns wikipedia-words' classes: what is left of the old ones, with and without old pages."""
    old, new = lab.files("taobao-words"), lab.files("wikipedia-words")
    rows: dict[str, list[tuple[dict[str, float], dict[str, float] | None]]] = {}
    for seed in range(seeds):
        seeded = ["--set", f"training.seed={seed}"]
        first = lab.train(f"forgetting-{seed}-old", [old["train"]], dev=old["dev"], more=seeded)
        rows.setdefault("before", []).append((lab.scores(first, old["test"]), None))
        for system, replay in (("with old pages (the default)", 1), ("without", 0)):
            more = ["--from", first, *seeded, "--set", f"training.replay={replay}"]
            run = lab.train(f"forgetting-{seed}-{replay}", [new["train"]], dev=new["dev"], more=more)
            rows.setdefault(f"after, {system}", []).append((lab.scores(run, old["test"]), lab.scores(run, new["test"])))
            print(system, rows[f"after, {system}"][-1], flush=True)
    lines = [
        f"taobao-words, then wikipedia-words, {_seeds(seeds)}: F1 / F2 (rich) of tags, test.\n",
        "| | old corpus | new corpus |",
        "|---|---|---|",
    ]
    for row, own in rows.items():
        sides = [[pair[side] for pair in own if pair[side] is not None] for side in (0, 1)]
        cells = [" / ".join(_mean(side, key) for key in ("tag_f1", "tag_f2")) if side else "" for side in sides]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _seeds(seeds: int) -> str:
    return f"{seeds} seed{'s' * (seeds > 1)}"


def _average(rows: Sequence[Any], key: str) -> float:
    return statistics.mean(row[key] for row in rows)


def _mean(rows: Sequence[Any], key: str) -> str:
    return f"{100 * _average(rows, key):.1f}"


PARTS: dict[str, Callable[[Lab, Path | None, int], str]] = {"curve": curve, "weak": weak, "forgetting": forgetting}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; none: all")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--runs", type=new_folder, default="labelling-runs")
    parser.add_argument("--out", type=new_folder, help="a folder for Markdown files and the picture")
    options = parser.parse_args()
    lab = Lab(options.data, options.runs)
    for name in options.parts or PARTS:
        text = PARTS[name](lab, options.out, options.seeds)
        print(text)
        if options.out:
            where = f"{platform.machine()}, torch {torch.__version__}, {date.today()}"
            (options.out / f"labelling-{name}.md").write_text(f"{text}\n\n{where}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
