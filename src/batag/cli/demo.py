"""`batag demo`: the whole journey on the sample catalogue, from labelled pages to tags."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from batag.cli import options
from batag.cli.tables import show_comparison
from batag.cli.terminal import console, print_json
from batag.errors import InputError

if TYPE_CHECKING:
    from batag.pages.page import Page
    from batag.tagging.tagger import Tagger

MARK = "demo.json"
"""The file that marks the folder of an earlier demo, which may be replaced."""
SETTINGS = ("training.epochs=8", "training.batch=16")


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for pages, runs, charts and tagged pages.")] = Path("demo"),
    pages: Annotated[int, typer.Option(min=30, help="Training pages per language.")] = 600,
    set_: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Train BAT and a Transformer on the sample catalogue, compare them and tag ten unseen pages: some minutes on two cores."""
    import subprocess

    from batag.cli.tag import highlighted
    from batag.cli.train import train_watched
    from batag.evaluation.charts import draw_scores
    from batag.pages.file import open_output
    from batag.pages.formats import read_pages, write_pages
    from batag.tagging.assessment import assess
    from batag.tagging.memory import WordMemory
    from batag.tagging.tagger import Tagger
    from batag.training.data import BUNDLE, RECIPE, DataFiles
    from batag.training.folder import CURVES
    from batag.training.recipe import read_recipe
    from batag.training.run import Run

    err = console(error=True)
    chosen = [*SETTINGS, *(set_ or [])]
    recipe = read_recipe(None, settings=chosen)
    if out.exists() and not out.is_dir():
        raise InputError("is a file", where=str(out), todo="Name a folder with --out")
    if out.exists() and any(out.iterdir()) and not (out / MARK).is_file():
        raise InputError("exists and is not the folder of a demo", where=str(out), todo="Name a new folder with --out")
    runs = {name: out / name for name in ("bat", "transformer")}
    for folder in runs.values():
        if (folder / RECIPE).is_file():
            shutil.rmtree(folder)  # of an earlier demo
    out.mkdir(parents=True, exist_ok=True)
    with open_output(out / MARK) as stream:
        stream.write(json.dumps({"pages": pages, "settings": chosen}, ensure_ascii=False).encode())
    files = {split: out / f"{split}.jsonl" for split in ("train", "dev", "test")}
    for split, path in files.items():
        write_pages(_three_languages(pages if split == "train" else max(pages // 4, 10), split=split), path)
    # One model for all three languages: shops that sell in several ship one file, and brands in Latin letters are shared.
    err.print(f"sample pages in three languages are in {out}; training BAT, and a Transformer in the background")
    command = [sys.executable, "-m", "batag", "train", str(files["train"]), "--dev", str(files["dev"])]
    command += ["--out", str(runs["transformer"]), "--set", "encoder.name=transformer", "--json"]
    command += [part for setting in chosen for part in ("--set", setting)]
    with _ended_by_sigterm(), subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as other:
        try:
            run = Run.create(runs["bat"], recipe, DataFiles((files["train"],), (files["dev"],)))
            trained = train_watched(run, device="cpu").data
            _, errors = other.communicate()
        except BaseException:
            other.kill()
            raise
    if other.returncode:
        raise InputError(f"the Transformer's training ended with {errors.decode(errors='replace').strip()[-500:]}")
    tagger = Tagger.load(runs["bat"], device="cpu")
    memory = WordMemory(((each.words, each.labels) for each in trained.train), labels=len(trained.scheme.labels))
    taggers = {
        "memory of words": Tagger(tagger.bundle, engine=memory),
        "Transformer": Tagger.load(runs["transformer"], device="cpu"),
        "BAT": tagger,
    }
    reports = {name: assess(each, read_pages(files["test"])).report() for name, each in taggers.items()}
    draw_scores(reports["BAT"], out / "scores.png", title="BAT on the sample catalogue's test pages")
    unseen = list(_three_languages(4, split="test", seed=1))[:10]
    tagged = [_tagged(page, tagger) for page in unseen]
    write_pages(tagged, out / "tagged.jsonl")
    if as_json:
        print_json({"out": str(out), "test": reports})
        return
    shown = console()
    show_comparison(reports, shown, heading="test pages", classes=("brand", "goods"))
    shown.print(f"ten pages that were not trained on (in {out / 'tagged.jsonl'}):")
    for page in tagged:
        for line in highlighted(page, tagger.labels):
            shown.print(line)
    bundle = runs["bat"] / BUNDLE
    shown.print(f"charts: {runs['bat'] / CURVES} (training), {out / 'scores.png'} (test). Next:")
    for command_line in (
        f'batag tag {bundle} "NORDVIK 防水登山鞋 2026 新款"',
        f"batag evaluate {bundle} {files['test']} --wrong wrong.jsonl",
        "batag inspect YOUR_PAGES.csv",
        "batag train YOUR_PAGES.csv --out my-run",
    ):
        shown.print(f"  {command_line}")


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM raise an exception here, so that the training in the background is ended too."""
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _three_languages(pages: int, *, split: str, seed: int = 0) -> list[Page]:
    from batag.sample import LANGUAGES, sample_pages

    return [page for language in LANGUAGES for page in sample_pages(language, pages=pages, split=split, seed=seed)]


def _tagged(page: Page, tagger: Tagger) -> Page:

    return replace(page, tags=tuple(tagger.tag(page)), labelled=True, reviewed=False, extra={"error": None})
