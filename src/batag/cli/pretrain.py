"""`batag pretrain`: what a catalogue without labels teaches, as something to start training from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from batag.cli import options

if TYPE_CHECKING:
    from batag.training.pretraining import PretrainingEpoch


def pretrain(
    pages: Annotated[list[Path] | None, typer.Argument(metavar="PAGES", help="Files of pages; labels do not count.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write; must be new.")] = Path("pretrained"),
    recipe: Annotated[Path | None, typer.Option("--recipe", help="What to train, in TOML; it names what it changes.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="TABLE.KEY=VALUE", help="Change the recipe, as in training.epochs=20.")
    ] = None,
    resume: Annotated[Path | None, typer.Option("--resume", metavar="FOLDER", help="Go on with what was left.")] = None,
    device: options.Device = "auto",
    format: options.Format = None,
    columns: options.Columns = None,
    language: options.Language = None,
    encoding: options.Encoding = None,
    strict: options.Strict = False,
    problems: options.ProblemFile = None,
    as_json: options.Json = False,
) -> None:
    """Learn words from pages without labels: some are hidden and guessed from the others. Few labelled pages then do more."""
    from functools import partial

    from batag.cli.terminal import collected_problems, console, print_json, progress
    from batag.cli.train import follow
    from batag.errors import UsageError
    from batag.pages.targets import check_targets
    from batag.training.data import DataFiles
    from batag.training.pretraining import Pretraining
    from batag.training.recipe import read_recipe

    check_targets([problems], [*(pages or []), recipe, resume])
    if resume is not None and (pages or recipe):
        raise UsageError("--resume goes on with its own pages and recipe", todo="Leave everything but --set out")
    if resume is not None:
        run = Pretraining.open(resume, settings=set_)
    elif pages:
        files = DataFiles(tuple(pages), (), options.of_input(format, columns, language, encoding))
        run = Pretraining.create(out, read_recipe(recipe, settings=set_ or []), files)
    else:
        raise UsageError("no pages to learn words from", todo="Name files of pages")
    with collected_problems(strict=strict, path=problems) as found:
        reading = partial(progress, doing="reading and segmenting pages", announced=True)
        run.prepare(device=device, problems=found, watch=reading)
    if run.cut_off:
        said = f"the {run.cut_off:,} rarest words have no vector of their own; their spelling says what they are"
        console(error=True).print(said, style="yellow", markup=False)
    heading = f"{run.recipe.encoder.name} guesses {len(run.vocabulary.words):,} words on {len(run.texts):,} pages"
    follow(run, heading=heading, again="pretrain", said=_said)
    if as_json:
        print_json({"folder": str(run.folder), "dev": run.scores})
        return
    console().print(f"next: batag train LABELLED_PAGES --set input.pretrained={run.folder}", markup=False)


def _said(done: PretrainingEpoch) -> str:
    return f"held out: loss {done.dev_loss:.3f}, {100 * done.guessed:.1f} % of hidden words guessed"
