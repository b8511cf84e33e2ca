"""batag tags product pages; this module is the whole public API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from batag.errors import BatagError, UsageError, missing_package
from batag.pages.page import Page, Tag

if TYPE_CHECKING:
    from batag.tagging.tagger import Tagger, Tags, distinct
    from batag.tagging.top import top
    from batag.training.run import Pages, Progress

__version__ = "0.2.0"
__all__ = [
    "BatagError",
    "Page",
    "Tag",
    "Tagger",
    "Tags",
    "__version__",
    "distinct",
    "evaluate",
    "load",
    "read_pages",
    "top",
    "train",
    "write_pages",
]


def load(
    folder: Path | str,
    *,
    engine: str = "auto",
    device: str = "auto",
    stop_words: str | Path | Iterable[str | Path] = (),
    threads: int | None = None,
    synonyms: Path | str | None = None,
    taxonomy: Path | str | None = None,
    canonical_language: str | None = None,
) -> Tagger:
    """Load the tagger of a bundle's (or a finished run's) folder.

    `engine` is `torch`, `torch-int8`, `onnx` or `auto` (the engine that starts fastest here). `stop_words` are further words
    (str) or files of words (Path) that cannot be tags by themselves. `threads` is the number of CPU threads. `synonyms` is a
    file of lines such as `Levi's = LEVIS, リーバイス`, `taxonomy` a file that `batag terms import` wrote; they give each tag
    its `canonical` form (with names of the lexicon in `canonical_language`, by default `en`) and `category`. The folder of a
    shop has its own language, names of brands and synonyms.
    """
    from batag.bundles.names import terms_for
    from batag.tagging.tagger import Tagger

    terms = terms_for(folder, synonyms=synonyms, taxonomy=taxonomy, language=canonical_language)
    return Tagger.load(folder, engine=engine, device=device, stop_words=stop_words, threads=threads, terms=terms)


def train(
    pages: Pages,
    *,
    dev: Pages | None = None,
    out: Path | str,
    recipe: Path | str | None = None,
    settings: Mapping[str, Any] = MappingProxyType({}),
    base: Path | str | None = None,
    columns: Mapping[str, str] | None = None,
    device: str = "auto",
    progress: Progress | None = None,
) -> Tagger:
    """Train on labelled pages (a file, several files, or pages) into the run folder `out`, and return the tagger of the best
    epoch.

    Without `dev` pages a tenth of the pages is held out. `settings` change the recipe, such as `{"training.epochs": 5}`; `base`
    is a bundle to continue training from; `columns` maps fields to columns of the files; `progress` is called after every step
    and epoch.
    """
    try:
        from batag.training.base_bundle import recipe_of
        from batag.training.data import DataFiles
        from batag.training.folder import check_new
        from batag.training.recipe import read_recipe
        from batag.training.run import Run, files_of, nested, new_pages
    except ModuleNotFoundError as error:
        raise missing_package(error) or error from error

    out = Path(out)
    check_new(out)
    base_recipe = None if base is None else recipe_of(Path(base))
    chosen = read_recipe(None if recipe is None else Path(recipe), changes=nested(settings), base=base_recipe)
    reading = {} if columns is None else {"columns": _mapping(columns)}
    with new_pages(out):
        files = DataFiles(files_of(pages, out, "train"), () if dev is None else files_of(dev, out, "dev"), reading)
        if base is not None:
            files = files.going_on_from(Path(base), replay=bool(chosen.training.replay))
        run = Run.create(out, chosen, files).prepare(device=device)
    for done in run.train():
        if progress is not None:
            progress(done)
    return load(out, device=device)


def evaluate(
    tagger: Tagger | Path | str,
    pages: Path | str | Iterable[Page] | Iterable[Path | str],
    *,
    richness: float | str | None = None,
    columns: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the scores of a tagger (or of a bundle's folder) on labelled pages, the same as `batag evaluate --json` prints."""
    from batag.tagging.assessment import evaluate_pages

    return evaluate_pages(tagger, pages, richness=richness, columns=columns)


def read_pages(
    path: Path | str,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    tagger: Tagger | Path | str | None = None,
    language: str | None = None,
    encoding: str | None = None,
    strict: bool = False,
    on_problem: Callable[[str], object] | None = None,
) -> Iterator[Page]:
    """Yield the pages of a file; format, encoding and language are detected unless they are given.

    `columns` maps fields to columns of the file, such as `{"title": "product name"}`; fields that it does not name are read
    from the columns that the `tagger` (or the bundle in that folder) was trained on. A bad row is skipped and `on_problem` is
    called with a message about it; with `strict` it is an error.
    """
    from batag.pages.problems import Problems
    from batag.segmentation.majority import read_with_language

    problems = Problems(strict=strict, on_problem=None if on_problem is None else lambda problem: on_problem(str(problem)))
    usual = None if tagger is None else _usual_columns(tagger)
    own = None if columns is None else _mapping(columns)
    how = {"format": format, "columns": own, "usual_columns": usual, "language": language, "encoding": encoding}
    return read_with_language(path, **how, problems=problems)


def write_pages(pages: Iterable[Page], path: Path | str, *, format: str | None = None) -> None:
    """Write pages with their tags to a file, which appears only when it is complete; the format follows from the file name
    unless given."""
    from batag.pages.formats import write_pages as write

    write(map(_page, pages), path, format=format)


def _page(given: Page) -> Page:
    if not isinstance(given, Page):
        raise UsageError(f"{type(given).__name__} is not a page", todo="Give pages of the class Page, as read_pages yields")
    return given


def _mapping(columns: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(columns, Mapping):
        todo = 'Give a dict of fields and columns, as in columns={"title": "product name"}'
        raise UsageError(f"columns cannot be of the type {type(columns).__name__}", todo=todo)
    return dict(columns)


def _usual_columns(tagger: Tagger | Path | str) -> dict[str, str]:
    """The columns that a tagger, or the bundle in a folder, was trained on."""
    if isinstance(tagger, (str, Path)):
        from batag.bundles.bundle import find_bundle, read_description

        return read_description(find_bundle(Path(tagger))).usual_columns
    return tagger.usual_columns


def __getattr__(name: str) -> Any:
    # Tagging is imported when somebody asks for it: reading and converting need none of it.
    if name in ("Tagger", "Tags", "distinct"):
        from batag.tagging import tagger

        return getattr(tagger, name)
    if name == "top":
        from batag.tagging.top import top

        return top
    raise AttributeError(f"module 'batag' has no attribute {name!r}")
