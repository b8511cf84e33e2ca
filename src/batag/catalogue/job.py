"""A catalogue tagged: parts cut, tagged, put in place and recorded; left at any moment, the same command goes on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

from batag.bundles.bundle import find_bundle
from batag.catalogue.cluster import check_address, on_cluster
from batag.catalogue.columns import with_columns_alike
from batag.catalogue.inputs import Inputs
from batag.catalogue.majority import with_usual_language
from batag.catalogue.manifest import LOCK, bundle_hash, has_parts, open_manifest, remove_job
from batag.catalogue.one_file import OneFile
from batag.catalogue.part import Part
from batag.catalogue.place import FOLDER, LocalPlace, is_remote, local, place_of
from batag.catalogue.tagged import Options, PartFacts
from batag.catalogue.totals import Totals
from batag.catalogue.workers import Work, Workers, disk_error, part_error
from batag.errors import BatagError, InputError
from batag.pages.file import locked
from batag.pages.formats.sheet import check_rows
from batag.pages.problems import Problems
from batag.pages.targets import check_targets
from batag.settings import settings

_UNFINISHED = re.compile(r"\..+\.\d+\.tmp")
Watch = Callable[[Totals], None]
_LIMITS = (
    "max_page_characters",
    "max_record_bytes",
    "segment_chunk_characters",
    "sniff_bytes",
    "part_pages",
    "part_bytes",
)
"""Those that what is written depends on."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is to be done; `out` is a folder for parts, or one file."""

    bundle: Path
    engine: str
    inputs: Inputs
    out: str
    options: Options
    one_file: bool = False
    workers: int = 0
    cluster: str | None = None
    restart: bool = False
    strict: bool = False
    stop_words: tuple[str, ...] = ()
    device: str = "cpu"

    def run(
        self,
        *,
        problems: Problems,
        watch: Watch = lambda totals: None,
        told: Callable[[PartFacts], None] = lambda facts: None,
    ) -> Totals:
        """Tag all that is not tagged yet; an interruption keeps the finished parts. `told` hears of every part."""
        totals = Totals()
        if self.cluster is not None:
            check_address(self.cluster)
        whole = OneFile(self.out) if self.one_file else None
        folder = str(whole.folder) if whole is not None else local(self.out)
        if whole is not None:
            check_targets([whole.path], [*self.inputs.paths, find_bundle(self.bundle)])
        identities = self.inputs.identities()  # a file that is not there is said before anything is made
        if whole is not None:
            self.inputs.check_alike(self.options.format)
            whole.check_free(restart=self.restart)
        made = not is_remote(folder) and not Path(folder).exists()
        try:
            with ExitStack() as open_things:
                if not is_remote(folder):
                    open_things.enter_context(_alone(Path(folder)))
                place = place_of(folder)
                manifest = open_manifest(
                    place,
                    self._facts_of(identities),
                    resumable=self.inputs.resumable,
                    options=self.options,
                    restart=self.restart,
                    replaces=whole is not None and self.restart and whole.path.exists(),
                )
                if whole is not None:
                    whole.check_ours(manifest)
                    if (said := whole.before(manifest)) is not None:
                        whole.remove()
                        return Totals.of_facts(said)
                work = Work(self.bundle, self.engine, manifest, bundle_hash(self.bundle), self.stop_words, self.device)
                finished = manifest.finished()
                sizes = [each["bytes"] or 0 for each in identities]
                shares: dict[int, float] = {}

                def left() -> Iterator[Part]:
                    for part in self._parts(problems):
                        if (facts := finished.pop(part.number, None)) is None or not manifest.is_whole(facts):
                            shares[part.number] = sum(sizes[: part.file]) + part.share * sizes[part.file]
                            yield part
                        else:
                            manifest.check(part, facts)
                            totals.add(facts, before=True)
                            told(facts)
                            watch(totals)

                def more(pages: int) -> None:
                    totals.going += pages
                    watch(totals)

                for facts in self._facts(work, left(), more, open_things):
                    totals.going = max(0, totals.going - facts.rows)
                    totals.add(facts)
                    totals.share = max(totals.share, shares.pop(facts.number, 0.0) / max(sum(sizes), 1))
                    told(facts)
                    watch(totals)
                where = ", ".join(self.inputs.paths)
                if finished:
                    todo = "Say --restart to tag everything again"
                    raise InputError("has fewer rows than when the job began", where=where, todo=todo)
                if totals.pages == totals.errors and not totals.tokens:
                    self._clear(folder, made=made)
                    raise problems.no_page(where, errors=totals.errors)
                if self.strict and totals.errors:
                    self._clear(folder, made=made)
                    what = f"{totals.errors:,} of {totals.pages:,} pages could not be tagged"
                    raise InputError(what, where=where, todo="Mend them, or tag without --strict")
                if whole is not None:
                    whole.put_in_place(manifest, parts=totals.parts, facts=totals.facts())
                else:
                    manifest.done(totals.facts())
        except OSError as error:
            raise disk_error(error, self.out) from error
        except BatagError:
            if made and not totals.parts and Path(folder).exists():  # refused before there was anything
                self._clear(folder, made=made)
            raise
        return totals

    def _parts(self, problems: Problems) -> Iterator[Part]:
        rows = 1
        try:
            parts = self.inputs.parts(problems)
            if self.one_file and self.options.format != "jsonl":
                parts = with_columns_alike(parts)
            for part in with_usual_language(parts):
                rows += part.rows
                if self.one_file and self.options.format == "xlsx":
                    check_rows(rows)  # before anybody waits for it
                yield part
        except OSError as error:
            what = f"cannot be read ({error.strerror or error})"
            raise InputError(what, where=error.filename or ", ".join(self.inputs.paths), todo="Check the file") from error

    def _clear(self, folder: str, *, made: bool) -> None:
        """Leave nothing behind of a job that came to nothing; a folder with parts stays as it is."""
        if self.one_file:
            OneFile(self.out).remove()
        elif not is_remote(folder) and not has_parts(place := LocalPlace(Path(folder))):
            remove_job(place, folder=made)

    def _facts(
        self, work: Work, parts: Iterator[Part], more: Callable[[int], None], open_things: ExitStack
    ) -> Iterable[PartFacts]:
        if self.cluster is not None:
            return on_cluster(work, parts, more, address=self.cluster, workers=self.workers, open_things=open_things)
        # With a single part a process of its own would only cost its start; processes would have to share a GPU.
        first = list(islice(parts, 2))
        parts = _again(first, parts)
        if len(first) < 2 or self.workers == 1 or self.device != "cpu":
            return _here(work, parts, more) if first else ()
        workers = Workers(work, self.workers)
        open_things.callback(workers.stop)
        return workers.finished(parts, more)

    def _facts_of(self, identities: list[dict[str, Any]]) -> dict[str, Any]:
        """What must be the same for a job to go on."""
        reading = {name: getattr(self.inputs, name) for name in ("format", "columns", "language", "encoding")}
        return {
            "inputs": identities,
            "reading": reading,
            "bundle": bundle_hash(self.bundle),
            "engine": self.engine,
            "device": self.device,
            "options": asdict(self.options),
            "stop words": hashlib.sha256("\n".join(self.stop_words).encode(errors="replace")).hexdigest(),
            "limits": {name: value for name, value in asdict(settings).items() if name in _LIMITS},
            "batag": version("batag"),
        }


def _here(work: Work, parts: Iterator[Part], more: Callable[[int], None]) -> Iterator[PartFacts]:
    """In this process."""
    tag = work.load()
    for part in parts:
        try:
            yield tag(part, more)
        except (BatagError, OSError, MemoryError):
            raise
        except Exception as error:
            raise part_error(error, part) from error


def _again(first: list[Part], rest: Iterator[Part]) -> Iterator[Part]:
    while first:
        yield first.pop(0)
    yield from rest


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One job at a time in a folder; whatever ends the process lets go of it."""
    inside = folder / FOLDER
    try:
        inside.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        where = folder if folder.is_file() else inside
        raise InputError("is a file", where=str(where), todo="Name a folder, or a file with --to FORMAT") from error
    with locked(folder, LOCK, busy="another job is writing here", todo="Wait for it, or name another folder"):
        _sweep(folder)
        try:
            yield
        finally:
            _sweep(folder)


def _sweep(folder: Path) -> None:
    """Remove what a process that died was writing; nobody else writes there."""
    for left in folder.joinpath(FOLDER).iterdir() if folder.joinpath(FOLDER).is_dir() else ():
        if _UNFINISHED.fullmatch(left.name):
            left.unlink(missing_ok=True)
