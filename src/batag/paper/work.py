"""Train many cells: those that are not finished, several in parallel, each with one process and one thread."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing.synchronize import Event
from typing import Any

from batag.errors import BatagError, InputError
from batag.paper.cell import Cell, run_cell
from batag.paper.store import Store


def finish(cells: Sequence[Cell], store: Store, *, jobs: int) -> Iterator[tuple[Cell, dict[str, Any] | BatagError]]:
    """Train the unfinished cells, and yield each cell with its result or its error when it is done.

    Workers end when the generator is closed or its process dies; their trainings can be resumed.
    """
    missing = {cell.key: cell for cell in cells if store.find(cell) is None}
    for cell in cells:
        if cell.key not in missing:
            store.forget_run(cell)  # left behind by a process that died just after it had finished the cell
    # Else glibc gives large arrays back to the system after every step, and takes them anew page by page (Linux).
    for name in ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"):
        os.environ.setdefault(name, str(2**32))
    # Spawned: a forked child would share the parent's threads and locks.
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_end_with_parent, initargs=(stop, os.getpid()))
    try:
        waiting: dict[Future[dict[str, Any] | None], Cell] = {pool.submit(_finish_one, c, store): c for c in missing.values()}
        while waiting:
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                cell = waiting.pop(future)
                found = _outcome(future)
                if found is None:  # another process is at it: at the end, wait for what it finds
                    waiting[pool.submit(_finish_one, cell, store, wait=True)] = cell
                else:
                    yield cell, found
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _outcome(future: Future[dict[str, Any] | None]) -> dict[str, Any] | BatagError | None:
    try:
        return future.result()
    except BatagError as error:
        return error
    except BrokenProcessPool as error:
        todo = "It may have been out of memory: use fewer --jobs, then run the same command again"
        raise InputError("a worker was killed", todo=todo) from error
    except Exception as error:  # one cell never stops the others
        return InputError(
            f"{type(error).__name__}: {error}", todo="Train this cell alone to see more (--only-rows, --only-columns)"
        )


def _finish_one(cell: Cell, store: Store, wait: bool = False) -> dict[str, Any] | None:
    """The result of a cell, trained here unless another process has done it; None while another process is training it."""
    with store.at_work(cell, wait=wait) as alone:
        if not alone:
            return None
        result = store.find(cell)
        if result is None:
            check_key(cell)
            result = run_cell(cell, store.run_folder(cell))
            check_key(cell)
            store.put(cell, result)
        store.forget_run(cell)
    return result


def check_key(cell: Cell) -> None:
    """Raise an error if the files have changed since the key was computed; a table takes hours, and people go on working."""
    if Cell(cell.recipe, replace(cell.corpus)).key != cell.key:
        raise InputError("the pages have changed since the table was started", todo="Run the same command again")


def _end_with_parent(stop: Event, parent: int) -> None:
    """In a worker: exit as soon as `stop` is set or the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent too, which sets `stop`

    def watch() -> None:
        while not stop.wait(0.5) and os.getppid() == parent:
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
