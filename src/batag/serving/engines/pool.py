"""The engine processes behind the queue: a free one takes what waits, one that dies is replaced, a reload exchanges all
of them."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batag.bundles.shop import current_bundle, is_shop
from batag.errors import BatagError, InputError
from batag.serving.engines.loader import Loader
from batag.serving.engines.process import EngineProcess
from batag.serving.engines.queue import Answer, Item, Queue
from batag.serving.log import Log
from batag.serving.metrics import Metrics
from batag.serving.problem import Problem
from batag.settings import settings

TRIES = 3
"""How many engines may die over one request before it is refused."""
_STUCK_SECONDS = 30
_LONGEST_PAUSE = 30.0
_START_SECONDS = 120


@dataclass(eq=False)
class Pool:
    """So many engine processes with one bundle, and their queue."""

    bundle: str
    number: int
    metrics: Metrics
    log: Log
    engine: str = "auto"
    terms: dict[str, Any] = field(default_factory=dict)
    batching: bool = True
    queue: Queue = field(default_factory=Queue)
    engines: list[EngineProcess] = field(default_factory=list)
    _loader: Loader | None = None
    _loading: asyncio.Lock = field(default_factory=asyncio.Lock)
    _retired: list[EngineProcess] = field(default_factory=list)
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    _stopping: bool = False
    _failures: int = 0
    _reloading: bool = False
    _pumping: bool = False

    @property
    def model(self) -> dict[str, Any] | None:
        """What is known of the bundle that answers now."""
        return next((each.loader.model for each in self.engines if each.is_ready), None)

    @property
    def ready(self) -> int:
        """How many engines take requests."""
        return sum(each.is_ready for each in self.engines)

    async def start(self) -> None:
        """Start all engines, and return when they are ready; a bundle that cannot be used is an error."""
        self._loader, self.engines = await self._new_engines()
        self._keep(self._watch())

    async def _new_engines(self) -> tuple[Loader, list[EngineProcess]]:
        loader = Loader({"bundle": bundle_of(self.bundle), "engine": self.engine, "terms": self.terms})
        try:
            async with asyncio.timeout(_START_SECONDS):
                await loader.start()
                new = [EngineProcess(self, loader) for _ in range(self.number)]
                await asyncio.gather(*(each.start() for each in new))
                await asyncio.gather(*(each.ready for each in new))
        except TimeoutError:
            self._end(loader)
            raise InputError(f"its engines were not ready within {_START_SECONDS} s", where=self.bundle) from None
        except BaseException:
            self._end(loader)
            raise
        return loader, new

    def _end(self, loader: Loader) -> None:
        loader.close()
        self._keep(loader.gone())

    async def reload(self) -> dict[str, Any]:
        """Exchange all engines for new ones with the bundle as it is now. Nobody waits: the old ones finish what they have."""
        if self._reloading:
            raise Problem("reloading", "another reload is running", todo="Wait for it", retry_after=1)
        self._reloading, began = True, time.monotonic()
        was = self.model
        try:
            loader, new = await self._new_engines()
        except BatagError as error:
            self.log.event("reload-refused", detail=error.what)
            raise Problem("bad-bundle", error.what, where=error.where, todo=f"{error.todo}. The old one serves on") from None
        finally:
            self._reloading = False
        if self._stopping:
            self._end(loader)
            raise Problem("stopping", "the service is stopping")
        old, self.engines = self.engines, new
        old_loader, self._loader = self._loader, loader
        for each in old:
            each.retire()
        self._retired += old
        self._keep(self._reap(old, old_loader))
        self.pump()
        found = {"bundle": loader.model["bundle"], "was": was["bundle"] if was else None}
        self.log.event("reloaded", **found)
        return found | {"seconds": round(time.monotonic() - began, 3)}

    async def _reap(self, engines: list[EngineProcess], loader: Loader | None) -> None:
        """Wait until retired engines are gone; one that never finishes ends with its loader."""
        limit = time.monotonic() + settings.serve_seconds + _STUCK_SECONDS
        while any(each.batches for each in engines) and time.monotonic() < limit:
            await asyncio.sleep(0.05)
        if loader is not None:
            loader.close()
            await loader.gone()
        for each in engines:
            each.close()
            self._retired.remove(each)

    def put(self, item: Item, *, first: bool = False) -> None:
        """Put a request into the queue, or refuse it."""
        if first:
            self.queue.put_first([item])
        else:
            self.queue.put(item)
        # What else has arrived by now comes into the same batch; nobody waits for more.
        if not self._pumping:
            self._pumping = True
            asyncio.get_running_loop().call_soon(self._pump_soon)

    def _pump_soon(self) -> None:
        self._pumping = False
        self.pump()

    def pump(self) -> None:
        """Give free engines what is waiting. An engine that is busy gets one batch ahead if a whole one is waiting; a smaller
        one may still grow."""
        budget = settings.serve_batch_tokens if self.batching else 1
        while self.queue:
            engine = min((each for each in self.engines if each.is_ready), key=_busy, default=None)
            if engine is None or _busy(engine) > 1 or (_busy(engine) and self.queue.tokens < budget):
                return
            if items := self.queue.take(budget):
                engine.give(items)

    def on_room(self, engine: EngineProcess) -> None:
        self.pump()

    def on_batch(self, tokens: int, items: int, seconds: float, stats: dict[str, int]) -> None:
        self.metrics.batch(tokens, items, seconds, stats)

    def on_gone(self, engine: EngineProcess) -> None:
        """An engine's link has closed: what it had goes to another."""
        lost = [item for items in engine.batches.values() for item in items]
        engine.batches.clear()
        engine.began.clear()
        if not engine.retiring:
            self.metrics.engine_deaths.inc()
            self.log.event("engine-died", requests=len(lost))
        again = []
        for item in lost:
            item.tries += 1
            if item.tries < TRIES:
                again.append(item)
            elif not item.answer.done():
                problem = Problem("engine", f"{TRIES} engines ended over this request", todo="Report this as a bug")
                item.answer.set_result(Answer(b"", problem))
        self.queue.put_first(again)
        if engine in self.engines and not self._stopping:
            self._keep(self._replace(engine))
        self.pump()

    async def _replace(self, engine: EngineProcess) -> None:
        """Start another engine in the place of one that died; with pauses if they die again and again."""
        while not self._stopping and engine in self.engines:
            if self._failures:
                await asyncio.sleep(min(2.0**self._failures / 4, _LONGEST_PAUSE))
            try:
                async with asyncio.timeout(_START_SECONDS):
                    fresh = EngineProcess(self, await self._living_loader(engine.loader))
                    await fresh.start()
                    await fresh.ready
            except (BatagError, TimeoutError, OSError) as error:
                self._failures += 1
                self.log.event("engine-not-started", detail=getattr(error, "what", type(error).__name__))
                continue
            if engine in self.engines and not self._stopping:
                self._failures = 0
                self.engines[self.engines.index(engine)] = fresh
                self.log.event("engine-replaced")
                self.pump()
            else:
                fresh.retire()
            return

    async def _living_loader(self, last: Loader) -> Loader:
        """The loader in use; if it has died with all its engines, a new one of the same bundle."""
        async with self._loading:
            if self._loader is None or not self._loader.is_alive:
                fresh = Loader(last.options)
                try:
                    await fresh.start()
                except BaseException:
                    self._end(fresh)
                    raise
                self._loader = fresh
            return self._loader

    async def _watch(self) -> None:
        """Kill an engine that has not answered long after the deadline of everything that it was given."""
        while True:
            await asyncio.sleep(1)
            limit = time.monotonic() - settings.serve_seconds - _STUCK_SECONDS
            for engine in [*self.engines, *self._retired]:
                if any(began < limit for began in engine.began.values()):
                    self.log.event("engine-stuck")
                    engine.kill()

    async def stop(self) -> None:
        """End all engines; what they still have is lost."""
        self._stopping = True
        for task in self._tasks:
            task.cancel()
        engines = [*self.engines, *self._retired]
        for each in engines:
            each.retiring = True
            each.close()
        loaders = {each.loader for each in engines} | ({self._loader} if self._loader is not None else set())
        for loader in loaders:
            loader.close()
        await asyncio.gather(*(each.gone() for each in loaders))

    def _keep(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def bundle_of(folder: str) -> str:
    """The folder of the bundle that a shop uses now, or the folder itself; asked once for all engines of a reload."""
    return str(current_bundle(Path(folder))) if is_shop(Path(folder)) else folder


def _busy(engine: EngineProcess) -> int:
    return len(engine.batches)
