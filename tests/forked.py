"""Commands in processes that are forked from one which has imported batag: importing it anew takes longer than most of them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.processes import PATIENCE

_IMPORTED = (
    *("batag.cli", "batag.catalogue.job", "batag.keywords", "batag.labels.inspection", "batag.pages.formats"),
    *("batag.evaluation.report", "batag.sample", "batag.segmentation", "batag.tagging.tagger", "batag.terms.terms"),
    *("pyarrow.parquet", "rich.table", "rich.progress"),
)


class Forker:
    """A process from which commands are forked. Settings are read from the environment when batag is imported, so a command
    with other variables needs a process of its own."""

    def __init__(self) -> None:
        self._link, theirs = socket.socketpair()
        self._link.settimeout(PATIENCE)
        with theirs:
            command = [sys.executable, "-m", __name__, str(theirs.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=Path(__file__).parents[1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._link.close()
        self._process.wait(PATIENCE)

    def run(self, arguments: Sequence[str], *, cwd: Path | None) -> subprocess.CompletedProcess[bytes]:
        """Run a command with nothing in its standard input; returns its exit code and what it printed."""
        reading, writing = os.pipe()
        os.close(writing)
        with open(reading, "rb") as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            asked = json.dumps([[os.fsdecode(each) for each in arguments], str(cwd or Path.cwd()), dict(os.environ)]).encode()
            socket.send_fds(self._link, [len(asked).to_bytes(4)], [each.fileno() for each in (given, out, err)])
            self._link.sendall(asked)
            code = int.from_bytes(self._link.recv(4), signed=True)
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(list(arguments), code, out.read(), err.read())


def _serve(link: socket.socket) -> None:
    while True:
        size, files, _, _ = socket.recv_fds(link, 4, 3)
        if not size:
            return
        arguments, cwd, environment = json.loads(link.recv(int.from_bytes(size), socket.MSG_WAITALL))
        if (child := os.fork()) == 0:
            link.close()
            _be(arguments, cwd, environment, files)
        for each in files:
            os.close(each)
        _, status = os.waitpid(child, 0)
        link.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, signed=True))


def _be(arguments: list[str], cwd: str, environment: dict[str, str], files: list[int]) -> None:
    """Become the command in this process."""
    from batag.cli import main

    code = 1
    try:
        for number, each in enumerate(files):
            os.dup2(each, number)
            os.close(each)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = [str(Path(sys.executable).with_name("batag")), *arguments]
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    from importlib import import_module

    for name in _IMPORTED:
        import_module(name)
    _serve(socket.socket(fileno=int(sys.argv[1])))
