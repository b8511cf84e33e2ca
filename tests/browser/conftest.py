"""One browser and one service for all tests of the page; every opened page is watched for errors and foreign requests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from tests.browser.example import LOCALES, Example
from tests.serving.service import Service, serving

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
_QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync")
Visit = Callable[..., Page]


def needed(name: str, found: str | None, todo: str) -> str:
    """A program that a test cannot do without: a failure where CI installs it, and elsewhere a skip that says what to do."""
    if found is None:
        why = f"NOT TESTED: the web page; there is no {name}: {todo}"
        pytest.fail(why) if os.environ.get("CI") and os.geteuid() == 0 else pytest.skip(why)
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = needed("chromium", next(filter(None, map(shutil.which, _CHROMIUM)), None), "apt-get install chromium")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=list(_QUIET))
        yield found
        found.close()


@pytest.fixture(scope="module")
def service(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("service"), "--engines", 1) as found:
        yield found


@contextmanager
def visiting(browser: Browser, home: str) -> Iterator[Visit]:
    """Opens the page; at the end no request may have left its origin and no error may have been reported."""
    opened: list[BrowserContext] = []
    wrong: list[str] = []

    def visit(language: str = "en", *, url: str = home, routes: dict[str, Any] | None = None, errors: bool = True) -> Page:
        context = browser.new_context(
            locale=LOCALES[language],
            viewport={"width": 1280, "height": 900},
            permissions=["clipboard-read", "clipboard-write"],
            reduced_motion="reduce",
        )
        opened.append(context)
        context.set_default_timeout(20_000)
        for path, answer in (routes or {}).items():
            context.route(f"{url}{path}", answer)
        page = context.new_page()

        def look(address: str) -> None:
            if not address.startswith(f"{url}/"):
                wrong.append(f"a request to {address}")

        context.on("request", lambda request: look(request.url))
        page.on("pageerror", lambda error: wrong.append(f"an error: {error}"))
        if errors:
            page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
        page.goto(f"{url}/")
        page.wait_for_selector("main h1")
        return page

    yield visit
    for context in opened:
        context.close()
    assert wrong == []


@pytest.fixture
def visit(browser: Browser, service: Service) -> Iterator[Visit]:
    """Opens the page anew."""
    with visiting(browser, service.url) as visit:
        yield visit


@pytest.fixture(scope="module", params=LOCALES)
def opened(request: pytest.FixtureRequest, browser: Browser, service: Service) -> Iterator[Example]:
    with visiting(browser, service.url) as visit:
        yield Example.pick(visit(request.param), request.param)


@pytest.fixture
def example(opened: Example) -> Example:
    """The page in one language with an example picked, as it is right after the answer: opened once for all tests."""
    opened.reset()
    return opened
