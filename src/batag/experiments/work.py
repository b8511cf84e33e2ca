"""Many cells: those that are not finished are trained, several side by side, one process and one thread each."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing.synchronize import Event
from typing import Any

from batag.errors import BatagError
from batag.experiments.cell import Cell, forget_run, run_cell
from batag.experiments.store import Store


def finish(cells: Sequence[Cell], store: Store, *, jobs: int) -> Iterator[tuple[Cell, dict[str, Any] | BatagError]]:
    """Train what is missing; yields each cell with its result, or with the error that kept it from one, when it is done.

    Workers end when the generator is closed or its process dies, however far they are: a training can be gone on with.
    """
    missing = list({cell.key: cell for cell in cells if store.find(cell) is None}.values())
    # Else glibc gives large arrays back to the system after every step, and takes them anew page by page (Linux).
    for name in ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"):
        os.environ.setdefault(name, str(2**32))
    # Spawned: a forked child would share the parent's threads and locks.
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_end_with_parent, initargs=(stop, os.getpid()))
    try:
        waiting: dict[Future[dict[str, Any]], Cell] = {pool.submit(_finish_one, cell, store): cell for cell in missing}
        while waiting:
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                cell = waiting.pop(future)
                try:
                    yield cell, future.result()
                except BatagError as error:
                    yield cell, error
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _finish_one(cell: Cell, store: Store) -> dict[str, Any]:
    folder = store.run_folder(cell)
    result = run_cell(cell, folder)
    store.put(cell, result)
    forget_run(folder)
    return result


def _end_with_parent(stop: Event, parent: int) -> None:
    """In a worker: end at once when told to, or when nobody is left to tell."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent too, which tells

    def watch() -> None:
        while not stop.wait(0.5) and os.getppid() == parent:
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
