"""A catalogue job: cut the inputs into parts, tag them, and write and record each. An interrupted job resumes when it is run
again."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

from batag.bundles.bundle import find_bundle
from batag.catalogue.cluster import check_address, on_cluster
from batag.catalogue.inputs import Inputs
from batag.catalogue.manifest import LOCK, Manifest, bundle_hash, has_parts, open_manifest, remove_job
from batag.catalogue.one_file import OneFile
from batag.catalogue.part import Part
from batag.catalogue.place import FOLDER, LocalPlace, is_remote, local, place_of
from batag.catalogue.tagged import Marking, Options, PartReport
from batag.catalogue.totals import Totals
from batag.catalogue.workers import Work, Workers, disk_error, part_error
from batag.errors import BatagError, InputError
from batag.pages.file import check_targets, locked
from batag.pages.formats import FORMATS
from batag.pages.formats.sheet import check_sheet_rows
from batag.pages.problems import Problem, Problems
from batag.settings import settings
from batag.terms.terms import Terms

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
"""The settings that the output depends on."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job and its options; `out` is a folder for parts, or one file. On a GPU a single process does all the work."""

    bundle: Path
    engine: str
    inputs: Inputs
    out: str
    options: Options
    one_file: bool = False
    workers: int = 0
    cluster: str | None = None
    device: str = "cpu"
    restart: bool = False
    strict: bool = False
    stop_words: tuple[str, ...] = ()
    terms: Terms = field(default_factory=Terms)
    marking: Marking | None = None

    def run(self, *, problems: Problems, watch: Watch = lambda totals: None) -> Totals:
        """Tag all parts that are not tagged yet, and return the totals. Finished parts survive an interruption; the problems of
        all rows are reported."""
        totals = Totals()
        if self.cluster is not None:
            check_address(self.cluster)
        whole = OneFile(self.out) if self.one_file else None
        folder = str(whole.folder) if whole is not None else local(self.out)
        if whole is not None:
            check_targets([whole.path], [*self.inputs.paths, find_bundle(self.bundle)])
        identities = self.inputs.identities()  # a file that is not there is an error before anything is made
        if whole is not None:
            if self._one_table:
                self.inputs.check_alike()
            whole.check_free(restart=self.restart)
        made = not is_remote(folder) and not Path(folder).exists()
        try:
            with ExitStack() as open_things:
                if not is_remote(folder):
                    open_things.enter_context(_alone(Path(folder)))
                manifest = open_manifest(
                    place_of(folder),
                    self._conditions(identities),
                    resumable=self.inputs.resumable,
                    options=self.options,
                    restart=self.restart,
                    replaces=whole is not None and self.restart and whole.path.exists(),
                )
                if whole is not None:
                    whole.check_ours(manifest)
                    if (finished := whole.finished_totals(manifest)) is not None:
                        whole.remove()
                        return Totals.from_dict(finished)
                self._tag(manifest, [each["bytes"] or 0 for each in identities], totals, problems, watch, open_things)
                self._check_result(totals, problems, folder, made=made)
                if whole is not None:
                    whole.put_in_place(manifest, parts=totals.parts, report=totals.to_dict())
                else:
                    manifest.done(totals.to_dict())
        except OSError as error:
            raise disk_error(error, self.out) from error
        except BatagError:
            if made and not totals.parts and Path(folder).exists():  # refused before there was anything
                self._clear(folder, made=made)
            raise
        return totals

    def _tag(
        self,
        manifest: Manifest,
        sizes: list[int],
        totals: Totals,
        problems: Problems,
        watch: Watch,
        open_things: ExitStack,
    ) -> None:
        """Tag the parts that are not finished, and add all parts to the totals."""
        known = bundle_hash(self.bundle), self.stop_words, self.device, self.terms, self.marking
        work = Work(self.bundle, self.engine, manifest, *known)
        finished = manifest.finished()
        done_after: dict[int, float] = {}

        def count(report: PartReport, *, before: bool) -> None:
            totals.add(report, before=before)
            for problem in report.problems:
                problems.report(Problem(**problem))
            watch(totals)

        def unfinished() -> Iterator[Part]:
            for part in self._parts(problems):
                if (report := finished.pop(part.number, None)) is None or not manifest.is_whole(report):
                    done_after[part.number] = sum(sizes[: part.file]) + part.fraction * sizes[part.file]
                    yield part
                else:
                    manifest.check(part, report)
                    count(report, before=True)

        def progress(pages: int) -> None:
            totals.going += pages
            watch(totals)

        for report in self._reports(work, unfinished(), progress, open_things):
            totals.going = max(0, totals.going - report.rows)
            totals.fraction = max(totals.fraction, done_after.pop(report.number, 0.0) / max(sum(sizes), 1))
            count(report, before=False)
        totals.problems = problems.counts
        if finished:
            todo = "Use --restart to tag everything again"
            raise InputError("has fewer rows than when the job began", where=", ".join(self.inputs.paths), todo=todo)

    def _check_result(self, totals: Totals, problems: Problems, folder: str, *, made: bool) -> None:
        """Raise an error, and remove what was written, if there was no page or if a page failed that must not."""
        where = ", ".join(self.inputs.paths)
        if totals.pages == totals.errors and not totals.tokens:
            self._clear(folder, made=made)
            raise problems.no_page(where)
        if self.strict and totals.errors:
            self._clear(folder, made=made)
            what = f"{totals.errors:,} of {totals.pages:,} pages could not be tagged"
            raise InputError(what, where=where, todo="Correct them, or tag without --strict")

    @property
    def _one_table(self) -> bool:
        return self.one_file and FORMATS[self.options.format].kind == "table"

    def _parts(self, problems: Problems) -> Iterator[Part]:
        rows = 1
        try:
            for part in self.inputs.parts(alike=self._one_table, problems=None if self.strict else problems):
                rows += part.rows
                if self.one_file and self.options.format == "xlsx":
                    check_sheet_rows(rows)  # before anybody waits for it
                yield part
        except OSError as error:
            what = f"cannot be read ({error.strerror or error})"
            raise InputError(what, where=error.filename or ", ".join(self.inputs.paths), todo="Check the file") from error

    def _clear(self, folder: str, *, made: bool) -> None:
        """Remove the records of a job that produced nothing; a folder with finished parts is kept."""
        if self.one_file:
            OneFile(self.out).remove()
        elif not is_remote(folder) and not has_parts(place := LocalPlace(Path(folder))):
            remove_job(place, folder=made)

    def _reports(
        self, work: Work, parts: Iterator[Part], progress: Callable[[int], None], open_things: ExitStack
    ) -> Iterable[PartReport]:
        if self.cluster is not None:
            return on_cluster(work, parts, progress, address=self.cluster, workers=self.workers, open_things=open_things)
        # With a single part a process of its own would only cost its start; processes would have to share a GPU.
        first = list(islice(parts, 2))
        parts = _again(first, parts)
        if len(first) < 2 or self.workers == 1 or self.device != "cpu":
            return _here(work, parts, progress) if first else ()
        workers = Workers(work, self.workers)
        open_things.callback(workers.stop)
        return workers.finished(parts, progress)

    def _conditions(self, identities: list[dict[str, Any]]) -> dict[str, Any]:
        """Return everything that must stay the same for a job to be resumed."""
        reading = {name: getattr(self.inputs, name) for name in ("format", "columns", "language", "encoding")}
        return {
            "inputs": identities,
            "reading": reading,
            "bundle": bundle_hash(self.bundle),
            "engine": self.engine,
            "device": self.device,
            "options": asdict(self.options),
            "stop words": hashlib.sha256("\n".join(self.stop_words).encode(errors="replace")).hexdigest(),
            "terms": self.terms.digest(),
            **({} if self.marking is None else {"marking": self.marking.digest()}),
            "limits": {name: value for name, value in asdict(settings).items() if name in _LIMITS},
            "batag": version("batag"),
        }


def _here(work: Work, parts: Iterator[Part], progress: Callable[[int], None]) -> Iterator[PartReport]:
    """Tag parts in this process."""
    tag = work.load()
    for part in parts:
        try:
            yield tag(part, progress)
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
    """Hold the lock of a folder, so that only one job at a time uses it; it is released when the process ends."""
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
    """Remove the temporary files of a process that died."""
    for left in folder.joinpath(FOLDER).iterdir() if folder.joinpath(FOLDER).is_dir() else ():
        if _UNFINISHED.fullmatch(left.name):
            left.unlink(missing_ok=True)
