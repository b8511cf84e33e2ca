"""The page of a service in a real browser, on loopback.

Needs `apt install chromium fonts-wqy-zenhei fonts-ipafont-gothic`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def browser() -> Iterator[Browser]:
    """The machine's own chromium, without a window."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        raise SystemExit("There is no chromium: apt install chromium")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


@contextmanager
def served(bundle: str) -> Iterator[str]:
    """The address of `batag serve` with this bundle, as long as it is needed."""
    command = [sys.executable, "-m", "batag", "serve", bundle, "--port", "0", "--engines", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stderr is not None
            found = (re.search(r"http://\S+", line) for line in process.stderr)
            address = next(filter(None, found), None)
            if address is None:
                raise SystemExit(f"{' '.join(command)} did not start")
            yield address[0]
        finally:
            process.terminate()
