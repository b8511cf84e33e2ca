"""`batag start`: a shop's export to a bundle of its own, tagged pages and files for people, in one command."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from batag.cli import options
from batag.cli.shops.showing import (
    show_check,
    show_choice,
    show_columns,
    show_comparison,
    show_labels,
    show_lists,
    show_refused,
    show_survey,
    training_watch,
)
from batag.cli.terminal import bar, console, counted, print_json, progress
from batag.errors import UsageError

if TYPE_CHECKING:
    from batag.pages.problems import Problems
    from batag.start.pipeline import Start


def start(
    export: Annotated[str, typer.Argument(metavar="EXPORT", help="The shop's products: CSV, TSV, XLSX, JSONL or Parquet.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the shop; the same command goes on in it.")] = Path(
        "shop"
    ),
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            help="Columns of title, description, brand, category and id, such as title=品名,brand=廠牌; brand=- for none "
            "(default: guessed).",
        ),
    ] = None,
    terms: Annotated[
        list[str] | None,
        typer.Option("--terms", metavar="FILE=LABEL", help="List of terms, one per line, and their label; may be repeated."),
    ] = None,
    taxonomy: options.Taxonomy = None,
    minutes: Annotated[float, typer.Option("--minutes", min=0.1, help="Minutes that the command should take.")] = 10.0,
    from_: Annotated[Path, typer.Option("--from", metavar="BUNDLE", help="Bundle to begin from.")] = Path("starter"),
    learn: Annotated[bool, typer.Option("--learn/--no-learn", help="Whether to learn from the shop's pages.")] = True,
    set_: options.Set = None,
    format: options.Format = None,
    language: options.Language = None,
    encoding: options.Encoding = None,
    problems: options.ProblemFile = None,
    as_json: options.Json = False,
) -> None:
    """Make everything of a shop's export, without labels and without questions; the same command goes on where it stopped."""
    from batag.cli.terminal import collected_problems
    from batag.pages.file import check_targets
    from batag.pages.languages import check_language
    from batag.start.columns import guess_columns
    from batag.start.folder import Shop
    from batag.start.out.review_book import REVIEW_BOOK
    from batag.start.table import read_table

    err = console(error=True)
    check_targets([problems], [export, taxonomy])
    given, listed, settings = _columns(columns), _lists(terms or []), parsed_settings(set_ or [])
    table = read_table(export, format=format, encoding=encoding, columns=given.values())
    if table.guessed:
        err.print(f"{export} is not UTF-8; it is read as {table.encoding} (--encoding changes that)", style="yellow")
    found = guess_columns(table, given)
    show_columns(table, found, err)
    from batag.start.pipeline import Start
    from batag.start.task import Options

    asked = Options(
        base=from_,
        minutes=minutes,
        terms=listed,
        taxonomy=taxonomy,
        language=None if language is None else check_language(language),
        settings=settings,
        learn=learn,
    )
    shop = Shop(out)
    shop.open()
    try:
        with shop.alone(), collected_problems(strict=False, path=problems) as noted:
            shop.sweep()
            made = run_stages(Start(shop, table, found, asked), noted)
    except KeyboardInterrupt:
        err.print("stopped; run the same command again to go on", style="bold yellow")
        raise typer.Exit(130) from None
    if as_json:
        print_json(made)
        return
    shown = console()
    shown.print(f"{counted(made['tagged']['pages'], 'page')} of {shop.name} tagged with {made['bundle']}. Next:")
    for command in made["next"]:
        shown.print(f"  {command}")
    to_review = shop.path("out") / REVIEW_BOOK
    opened = [path for path in made["files"] if path.endswith((".xlsx", ".html")) and path != str(to_review)]
    shown.print(f"Open {' and '.join(opened)}")
    how = "correct its columns of tags, write yes (是, はい) under reviewed in the rows that are right now"
    again = f"save it as {_free_name(shop.path('people'))} and run the same command again"
    shown.print(f"To teach it, open {to_review}: {how}, {again}")


def _free_name(folder: Path) -> Path:
    """A name for the next corrections, so that they replace none of those before."""
    names = (folder / f"review-{number:04}.xlsx" for number in count(1))
    return next(path for path in names if not path.exists())


def run_stages(task: Start, problems: Problems) -> dict[str, Any]:
    """Go through all stages, with progress on standard error; returns the facts of each."""
    from batag.cli.cataloguing import job_bar, summary
    from batag.start.files import next_commands, write_files

    err = console(error=True)
    task.record()
    go_on = ", going on where it stopped" if task.budget.used and not task.is_done else ""
    err.print(f"run {task.run.name} in {task.shop.folder}{go_on}")
    if task.is_done:
        same = "the export, the lists, the pages reviewed by people and the options are the same"
        err.print(f"nothing has changed since this run was done ({same}), so nothing is learnt again", style="bold")

    def rows(records: Any, fraction: Any) -> Any:
        return progress(records, doing="reading the export", fraction=fraction, unit="rows", announced=True)

    task.check_synonyms()
    show_refused(task.people.refused, err)
    if unseen := task.not_reviewed(problems):
        used = counted(len(task.people.pages), "page")
        err.print(
            f"labels/person has {used} that people reviewed, and {unseen:,} that nobody has reviewed yet: these are not used"
        )
        if not task.people.pages:
            each = 'write yes in the column reviewed (in JSONL: "reviewed": true) of each page that you have checked'
            whole = "if all pages of a file are checked, put in its place what this writes: batag convert FILE reviewed.jsonl"
            err.print(f"To use them, {each}; {whole} --reviewed", style="yellow")
    survey, sample = task.survey(problems=problems, watch=rows)
    show_survey(survey, err)
    counting = partial(progress, doing="counting terms", total=len(sample), announced=True)
    lists = task.lists(survey, sample, watch=counting)
    show_lists(lists, survey, task.shop, err)
    equipped = task.equipped(lists, sample)
    task.budget.save()
    check = learnt = compared = kept = None
    ships, why = False, "it was asked for (--no-learn)"
    labels: Mapping[str, Any] = {}
    if task.options.learn:
        labelling = partial(progress, doing="labelling pages", announced=True)
        labels = task.labels(lists, sample, equipped, watch=labelling)
        show_labels(labels, err)
        task.budget.save()
    reading = partial(progress, announced=True)
    if labels and task.pays(labels):
        with training_watch("a tenth of the brands hidden, to measure", err) as watch:
            check = task.check(survey, lists, sample, watch=watch, reading=reading)
        show_check(check, err)
        task.budget.save()
        with training_watch("learning", err) as watch:
            learnt = task.learn(survey, labels, equipped, watch=watch, reading=reading)
        compared = task.compare(labels, equipped)
        show_comparison(compared, err)
        ships, why = compared.helped, compared.why
    elif labels:
        why = f"learning does not pay: only {counted(labels['known'], 'page')} with a term or a brand of the shop"
        kept = task.kept(lists, sample)
    bundle = task.ship(kept or equipped, survey, learnt=ships)
    show_choice(bundle, learnt=ships, base="what this shop learnt before" if kept else task.options.base, why=why, err=err)
    task.budget.save()
    with job_bar(str(task.shop.path("tagged"))) as tagging:
        totals = task.tag(survey, lists, bundle, learnt=ships or kept is not None, problems=problems, watch=tagging)
    err.print(summary(totals, str(task.shop.path("tagged"))))
    with bar("writing the files for people", err, total=1.0) as show:

        def writing(step: str, rows: int, fraction: float | None) -> None:
            show(fraction, f"{step}, {counted(rows, 'row')}")

        written = write_files(task, survey, lists, bundle, labels=labels, check=check, progress=writing)
    for note in written.notes:
        err.print(note, style="yellow")
    task.budget.save()
    return {
        "shop": str(task.shop.folder),
        "bundle": str(bundle),
        "columns": {each.field: each.name for each in task.columns.columns if each.field},
        "pages": survey.pages,
        "terms": {"all": len(lists.terms), "not_found": [term.text for term in lists.not_found]},
        "labels": dict(labels),
        "people": {"not_reviewed": task.people.unseen, "refused": task.people.refused},
        "new_brands": None if check is None else vars(check),
        "learnt": None if learnt is None else vars(learnt),
        "comparison": None if compared is None else vars(compared) | {"shipped": ships},
        "tagged": totals.to_dict(),
        "survey": written.survey.to_dict(),
        "files": list(map(str, written.files)),
        "seconds": round(task.budget.seconds, 1),
        "next": [command.text for command in next_commands(task)],
    }


def _columns(text: str | None) -> dict[str, str]:
    """The columns given as FIELD=COLUMN with commas between; COLUMN may be `-`."""
    found: dict[str, str] = {}
    for part in text.split(",") if text else ():
        field, equals, column = (each.strip() for each in part.partition("="))
        if not (equals and field and column):
            raise UsageError(f"--columns {part!r} is not FIELD=COLUMN", todo="Write it like title=品名,brand=廠牌")
        found[field] = column
    return found


def _lists(given: list[str]) -> dict[str, dict[str, list[str]]]:
    """The lists given as FILE=LABEL."""
    from batag.cli.words.weak import lists_of
    from batag.pages.stopwords import read_words

    found: dict[str, dict[str, list[str]]] = {}
    for each in given:
        lists_of([each])  # for its checks
        file, _, label = each.rpartition("=")
        found.setdefault(Path(file).name, {})[label.strip()] = list(read_words(Path(file)))
    return found


def parsed_settings(given: list[str]) -> dict[str, Any]:
    """The changes of the recipe given as TABLE.KEY=VALUE."""
    from batag.training.setting import parse_setting

    parsed = (parse_setting(each) for each in given)
    return {f"{table}.{key}": value for each in parsed for table, change in each.items() for key, value in change.items()}
