"""Worker processes that tag parts: spawned (never forked), with one thread each, and replaced when they die."""

import ctypes
import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from batag.catalogue.manifest import Manifest, bundle_hash
from batag.catalogue.part import Part
from batag.catalogue.tagged import Marking, PartReport, tag_part
from batag.errors import BatagError, InputError
from batag.terms.terms import Terms

_TRIES = 3
_PATIENCE = 1.0
_DIE_WITH_PARENT = 1


@dataclass(frozen=True)
class Work:
    """What every worker needs to know."""

    bundle: Path
    engine: str
    manifest: Manifest
    bundle_hash: str = ""
    stop_words: tuple[str, ...] = ()
    device: str = "cpu"
    terms: Terms | None = None
    marking: Marking | None = None

    def load(self) -> Callable[[Part, Callable[[int], None]], PartReport]:
        """Load the bundle, and return a function that tags a part and stores it."""
        from batag.tagging.tagger import Tagger

        if self.bundle_hash and bundle_hash(self.bundle) != self.bundle_hash:
            todo = "Use --restart to start again with the bundle as it is now"
            raise InputError("has changed since the job began", where=str(self.bundle), todo=todo)
        tagger = Tagger.load(
            self.bundle, engine=self.engine, device=self.device, stop_words=self.stop_words, threads=1, terms=self.terms
        )
        gc.freeze()  # what is loaded stays: nobody need look at it again

        def work(part: Part, progress: Callable[[int], None]) -> PartReport:
            data, report = tag_part(tagger, part, self.manifest.options, progress=progress, marking=self.marking)
            self.manifest.finish_part(data, report)
            return report

        return work


@dataclass
class _Worker:
    process: Any
    connection: Connection
    part: Part | None = None
    counted: int = 0


class Workers:
    """A pool of worker processes."""

    def __init__(self, work: Work, number: int) -> None:
        self._work = work
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []
        self._tries: dict[int, int] = {}
        self._workers = [self._start() for _ in range(number)]

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_run, args=(theirs, self._work, os.getpid()), daemon=True)
        # One thread a process, whatever library asks; children read it before they import anything.
        with _environment(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"), _without_interrupts():
            process.start()
        theirs.close()
        return _Worker(process, ours)

    def finished(self, parts: Iterator[Part], progress: Callable[[int], None]) -> Iterator[PartReport]:
        """Yield the report of each part. Free workers get the next part; the part of a worker that died is given to another."""
        waiting: list[Part] = []
        ended = False
        while True:
            for worker in self._workers:
                if worker.part is None and not (ended and not waiting):
                    part = waiting.pop() if waiting else next(parts, None)
                    if part is None:
                        ended = True
                    else:
                        worker.part = part
                        with suppress(OSError):  # its death is seen below
                            worker.connection.send(part)
            busy = [worker for worker in self._workers if worker.part is not None]
            if not busy:
                return
            ready = set(wait([each for worker in busy for each in (worker.connection, worker.process.sentinel)]))
            for worker in busy:
                if worker.connection in ready:
                    try:
                        answer = worker.connection.recv()
                    except (EOFError, OSError):
                        waiting.append(self._replace(worker, progress))
                        continue
                    if isinstance(answer, PartReport):
                        worker.part, worker.counted = None, 0
                        yield answer
                    elif isinstance(answer, int):
                        worker.counted += answer
                        progress(answer)
                    else:
                        raise answer
                elif worker.process.sentinel in ready:
                    waiting.append(self._replace(worker, progress))

    def _replace(self, worker: _Worker, progress: Callable[[int], None]) -> Part:
        """Replace a process that died; subtract its pages from the progress and return its part."""
        part = worker.part
        assert part is not None
        progress(-worker.counted)
        worker.process.join()
        code = worker.process.exitcode
        self._tries[part.number] = self._tries.get(part.number, 0) + 1
        if self._tries[part.number] >= _TRIES:
            how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
            todo = "If memory ran out, use fewer --workers, or start again with a lower BATAG_PART_PAGES and --restart"
            raise InputError(f"a worker died {_TRIES} times ({how})", where=part.where, todo=todo)
        worker.connection.close()
        fresh = self._start()
        worker.process, worker.connection, worker.part, worker.counted = fresh.process, fresh.connection, None, 0
        return part

    def stop(self) -> None:
        """End all processes within a second or two."""
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join(_PATIENCE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.connection.close()


def _run(connection: Connection, work: Work, parent: int) -> None:
    """The main function of a worker; it ends when its parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:
            return
    part: Part | None = None
    try:
        tag = work.load()
        while True:
            part = connection.recv()
            connection.send(tag(part, connection.send))
    except (EOFError, MemoryError):
        return
    except Exception as error:
        answer = as_answer(error, part, where=work.manifest.place.name)
    with suppress(OSError):  # if it was the connection that broke, nobody is there to hear of it
        connection.send(answer)


def as_answer(error: Exception, part: Part | None, *, where: str) -> BatagError:
    """Turn an exception in a worker into an error that the user can understand."""
    if isinstance(error, BatagError):
        return error
    return disk_error(error, where) if isinstance(error, OSError) else part_error(error, part)


def part_error(error: Exception, part: Part | None) -> InputError:
    """The error for an unexpected exception, naming the rows of the part."""
    where = "" if part is None else part.where
    what = f"cannot be tagged ({type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else 'no word'})"
    return InputError(what, where=where, todo="Correct or remove these rows, and report this as a bug")


def disk_error(error: OSError, where: str) -> InputError:
    """The error for a full disk or a similar problem."""
    todo = "Free disk space or fix the permissions, then run the same command again to resume"
    return InputError(f"cannot be written ({error.strerror or error})", where=error.filename or where, todo=todo)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C in children, so that only the parent reacts; a starting child would print a traceback."""
    resource_tracker.ensure_running()  # begun with the first child, it would let signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _environment(**changed: str) -> Iterator[None]:
    """Set environment variables for child processes only."""
    before = {name: value for name in changed if (value := os.environ.get(name)) is not None}
    os.environ.update(changed)
    try:
        yield
    finally:
        for name in changed.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)
