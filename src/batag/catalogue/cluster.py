"""Run a job on a Ray cluster: a pool of actors that each load the bundle once; lost actors are replaced."""

import logging
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from batag.bundles.bundle import find_bundle
from batag.catalogue.part import Part
from batag.catalogue.tagged import PartReport
from batag.catalogue.workers import Work, as_answer
from batag.errors import BatagError, InputError, UsageError

_STARTING = "a worker"
_TRIES = 4
_AHEAD = 2
_PATIENCE = 600


class _Tagging:
    """The actor that runs on the cluster. It receives the bundle's files, so that no shared folder is needed."""

    def __init__(self, work: Work, files: dict[str, bytes]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="batag-")
        for name, data in files.items():
            path = Path(self._folder.name, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self._where = work.manifest.place.name
        # The bundle is the one that was sent: it need not be compared again.
        self._tag = replace(work, bundle=Path(self._folder.name), bundle_hash="").load()

    def ready(self) -> bool:
        """Return when the actor was scheduled and has loaded the bundle."""
        return True

    def tag(self, part: Part) -> PartReport | BatagError:
        """Tag a part. A user's error is returned instead of raised, because Ray would wrap it."""
        try:
            return self._tag(part, lambda pages: None)
        except Exception as error:
            return as_answer(error, part, where=self._where)


def check_address(address: str) -> None:
    if address != "ray" and not address.startswith("ray://"):
        raise UsageError(f"{address!r} is not a cluster", todo="Use ray or ray://HOST:10001")


def on_cluster(
    work: Work,
    parts: Iterator[Part],
    more: Callable[[int], None],
    *,
    address: str,
    workers: int,
    open_things: ExitStack,
) -> Iterator[PartReport]:
    """Tag each part once, on `workers` actors (0 for one per CPU of the cluster); the address `ray` starts a cluster on this
    machine."""
    try:
        import ray
    except ImportError as error:
        raise UsageError("a cluster needs Ray", todo="pip install 'batag[ray]'") from error
    if not ray.is_initialized():
        chosen = {"address": address} if address != "ray" else {"num_cpus": workers or None, "include_dashboard": False}
        try:
            ray.init(**chosen, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, RuntimeError) as error:
            raise UsageError(f"no cluster answers at {address} ({str(error)[:120]})", todo="Check its address") from error
        open_things.callback(ray.shutdown)
    folder = find_bundle(work.bundle)
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    shared = ray.put(files)
    number = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    kind: Any = ray.remote(num_cpus=1, max_restarts=0)(_Tagging)
    return _Pool(ray, lambda: kind.remote(work, shared), number).finished(parts, more)


class _Pool:
    """The actors and the parts that they are working on. An actor that is not scheduled yet gets no part."""

    def __init__(self, ray: Any, start: Callable[[], Any], number: int) -> None:
        self._ray, self._start = ray, start
        self._actors: list[Any] = [None] * number
        self._starting: dict[Any, int] = {}
        self._going: dict[Any, tuple[int, Part]] = {}
        self._tries: Counter[str] = Counter()
        for place in range(number):
            self._begin(place)

    def _begin(self, place: int) -> None:
        self._actors[place] = self._start()
        self._starting[self._actors[place].ready.remote()] = place

    def finished(self, parts: Iterator[Part], more: Callable[[int], None]) -> Iterator[PartReport]:
        again: deque[Part] = deque()
        while True:
            self._give(parts, again)
            if not self._going:
                again.extend(islice(parts, 0 if again else 1))
                if not again:
                    return  # whoever may still be looking for a place
            reference = self._first()
            if (place := self._starting.pop(reference, None)) is not None:
                part = None
            else:
                place, part = self._going.pop(reference)
            try:
                answer = self._ray.get(reference)
            except self._ray.exceptions.RayError as error:
                again.extend(self._lost(place, part, error))
                continue
            if isinstance(answer, BatagError):
                raise answer
            self._tries.pop(_STARTING, None)  # a machine that is gone now and then over a night is no reason to stop
            if part is not None:
                more(answer.rows)
                yield answer

    def _first(self) -> Any:
        """Wait for the first answer: an actor that has become ready, or one that has finished a part."""
        waiting = [*self._going, *self._starting]
        ready, _ = self._ray.wait(waiting, num_returns=1, timeout=None if self._going else _PATIENCE)
        if not ready:
            todo = "Ask for fewer --workers, or check that the cluster has free CPUs; run the same command again to resume"
            raise InputError(f"no machine took a worker within {_PATIENCE} s", where="the cluster", todo=todo)
        return ready[0]

    def _give(self, parts: Iterator[Part], again: deque[Part]) -> None:
        """Give each ready actor up to two parts, so that none waits for its next one."""
        load = Counter(place for place, _ in self._going.values())
        away = set(self._starting.values())
        for _ in range(_AHEAD):
            for place, actor in enumerate(self._actors):
                if place in away or load[place] >= _AHEAD:
                    continue
                if (part := again.popleft() if again else next(parts, None)) is not None:
                    self._going[actor.tag.remote(part)] = place, part
                    load[place] += 1

    def _lost(self, place: int, part: Part | None, error: Exception) -> list[Part]:
        """Replace an actor that died, and return the parts that it was working on."""
        where = part.where if part is not None else _STARTING
        self._tries[where] += 1
        if self._tries[where] >= _TRIES:
            todo = "See Ray's logs; run the same command again to resume"
            raise InputError(f"was lost {_TRIES} times ({str(error).splitlines()[0][:120]})", where=where, todo=todo)
        others = [reference for reference, (at, _) in self._going.items() if at == place]
        left = [self._going.pop(reference)[1] for reference in others]
        self._begin(place)
        return left if part is None else [part, *left]
