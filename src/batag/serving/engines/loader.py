"""The process that has loaded a bundle, as the front sees it. Engines are forked from it, so that they share its memory."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from typing import Any

from batag.errors import InputError
from batag.serving.engines.link import Unpacker, pack

_MODULE = "batag.serving.engines.worker"
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
_READ_BYTES = 1 << 16
_END_SECONDS = 2


class Loader:
    """Loads a bundle once, in a process of its own; `model` is what is known of it then. Its engines end with it."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.model: dict[str, Any] = {}
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Start the process, and return when it has tagged its first page; a bundle that cannot be used is an error."""
        self._control, theirs = socket.socketpair()
        self._control.setblocking(False)
        with theirs:
            command = [sys.executable, "-P", "-m", _MODULE, str(theirs.fileno()), str(os.getpid())]
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=os.environ | _python_path() | _ONE_THREAD
            )
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(self._control, pack(self.options))
        unpacker = Unpacker()
        while data := await loop.sock_recv(self._control, _READ_BYTES):
            for head, _ in unpacker.feed(data):
                if "ready" not in head:
                    what, where, todo = head["failed"]
                    raise InputError(what, where=where, todo=todo)
                self.model = head["ready"]
                return
        self.close()
        raise InputError(f"the engine ended while it was starting (exit code {await self.gone()})")

    @property
    def is_alive(self) -> bool:
        """Whether engines can be had from it."""
        return self._process is not None and self._control is not None and self._process.poll() is None

    def fork(self) -> socket.socket:
        """A new engine: our end of the link to it."""
        assert self._control is not None
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self._control, [b"\0"], [theirs.fileno()])
        except OSError:
            ours.close()
            raise
        return ours

    def close(self) -> None:
        """End the process, and with it engines that have not left by themselves."""
        if self._control is not None:
            self._control.close()
            self._control = None

    async def gone(self) -> int | None:
        """Wait until a closed one has ended, and return its exit code; one that does not end is killed."""
        if self._process is None:
            return None
        for _ in range(_END_SECONDS * 50):
            if (code := self._process.poll()) is not None:
                return code
            await asyncio.sleep(0.02)
        self._process.kill()
        return await asyncio.get_running_loop().run_in_executor(None, self._process.wait)


def _python_path() -> dict[str, str]:
    """The child finds the same modules, wherever this process found them."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
