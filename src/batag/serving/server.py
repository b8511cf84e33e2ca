"""The service as a program: granian in this process, signals, and an orderly end."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import os
import signal
import socket
import time
from collections.abc import Callable
from typing import Any

from batag.errors import InputError, UsageError
from batag.serving.access.guard import LOOPBACK
from batag.serving.app import App
from batag.serving.problem import Problem
from batag.serving.rsgi import RsgiApp
from batag.settings import settings

_FEWEST_BYTES = 8_192
_END_SECONDS = 3


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in LOOPBACK


def check_address(host: str, port: int, *, has_keys: bool, command: str) -> int:
    """Refuse to be open to others without keys, and a port that is taken; return the port (0 becomes a free one)."""
    if not has_keys and not is_loopback(host):
        todo = f"Make a key and name its file: batag keys add NAME --keys keys.json && {command} --host {host} --keys keys.json"
        raise UsageError(f"{host} can be reached from other machines, and there are no keys", todo=todo)
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
            return int(trial.getsockname()[1])
    except OSError as error:
        todo = "Take another with --port, or 0 for any free one"
        raise InputError(f"cannot be listened to ({error.strerror or error})", where=f"{host}:{port}", todo=todo) from None


def run(app: App, *, host: str, port: int, announce: Callable[[], object]) -> None:
    """Serve until SIGTERM or SIGINT; `announce` is called when requests are answered. SIGHUP loads the bundle again."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(app, host, port, announce))


async def _run(app: App, host: str, port: int, announce: Callable[[], object]) -> None:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    started = loop.create_task(app.start())
    ended = loop.create_task(stopped.wait())
    await asyncio.wait({started, ended}, return_when=asyncio.FIRST_COMPLETED)
    if not started.done():
        started.cancel()
        await app.stop()
        return
    try:
        started.result()
        server = _server(app, host, port)
        serving = loop.create_task(server.serve())
        await _until_open(host, port, serving)
        reloads: set[asyncio.Task[None]] = set()

        def reload() -> None:
            task = loop.create_task(_reload(app))
            reloads.add(task)
            task.add_done_callback(reloads.discard)

        loop.add_signal_handler(signal.SIGHUP, reload)
        gc.freeze()  # what is loaded stays: nobody need look at it again
        announce()
        await asyncio.wait({serving, ended}, return_when=asyncio.FIRST_COMPLETED)
        app.log.event("stopping", in_flight=app.in_flight)
        server.stop()
        _, late = await asyncio.wait({serving}, timeout=settings.serve_grace_seconds)
        if late:
            app.log.event("stopped-late", in_flight=app.in_flight)
    finally:
        ended.cancel()
        await app.stop()
    if late:
        os._exit(0)  # connections that nobody reads from are left behind


def _server(app: App, host: str, port: int) -> Any:
    import logging

    from granian.constants import HTTPModes, Interfaces
    from granian.http import HTTP1Settings
    from granian.server.embed import Server

    logging.getLogger("_granian").setLevel(logging.CRITICAL)
    return Server(
        RsgiApp(app),
        address=host,
        port=port,
        interface=Interfaces.RSGI,
        http=HTTPModes.http1,
        websockets=False,
        backlog=max(settings.serve_connections, 128),
        backpressure=settings.serve_connections,
        http1_settings=HTTP1Settings(
            header_read_timeout=settings.serve_header_seconds * 1_000,
            max_buffer_size=max(settings.serve_header_bytes, _FEWEST_BYTES),
        ),
        log_enabled=False,
    )


async def _until_open(host: str, port: int, serving: asyncio.Task[None]) -> None:
    """Wait until connections are accepted."""
    near = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    limit = time.monotonic() + _END_SECONDS
    while True:
        try:
            _, writer = await asyncio.open_connection(near, port)
            writer.close()
            return
        except OSError:
            if serving.done():
                serving.result()
                raise InputError("the server ended at once", where=f"{host}:{port}") from None
            if time.monotonic() > limit:
                raise InputError("cannot be connected to", where=f"{host}:{port}") from None
            await asyncio.sleep(0.01)


async def _reload(app: App) -> None:
    try:
        await app.pool.reload()
    except Problem as problem:
        app.log.event("reload-refused", detail=problem.detail)
