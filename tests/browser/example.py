"""What the tests look at: the page in one language with an example picked, and what stands on it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect
from tests.serving.service import Service

PAGE_FOLDER = Path(__file__).parents[2] / "src" / "batag" / "serving" / "page"
LOCALES = {"en": "en-GB", "zh-Hant": "zh-TW", "ja": "ja-JP"}
"""A browser's language by the page's."""
PICKED = {"en": "Hiking boots", "zh-Hant": "除濕機", "ja": "炊飯器"}
SHOWN = ".tag[role]"
BALANCED = 10
Fact = tuple[str, str, int, str]
"""Field, label, start and text of a tag."""

_AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
# Where each tag stands is counted from the text that is shown before it, not read from the attribute beside it.
_HIGHLIGHTED = """text => [...text.querySelectorAll('.tag[role]')].map(tag => {
  const field = tag.closest('p'), walker = document.createTreeWalker(field, NodeFilter.SHOW_TEXT);
  let before = '', own = '';
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest('.hidden')) continue;
    if (tag.contains(node)) own += node.data;
    else if (tag.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_PRECEDING) before += node.data;
  }
  return [field.className.replace('tagged-', ''), tag.dataset.label, [...before].length, own];
})"""


@dataclass
class Example:
    """A page with its example: what was given, and what is shown."""

    page: Page
    language: str
    words: dict[str, str]
    given: dict[str, str]

    @classmethod
    def pick(cls, page: Page, language: str, name: str | None = None) -> Example:
        """Pick an example on a page that was just opened."""
        page.get_by_role("button", name=name or PICKED[language], exact=True).click()
        expect(page.locator(SHOWN).first).to_be_visible()
        given = {field: page.locator(f"#{field}").input_value() for field in ("title", "description")}
        return cls(page, language, catalogue(language), given)

    def reset(self) -> None:
        """As it is right after the answer."""
        self.page.set_viewport_size({"width": 1280, "height": 900})
        self.page.emulate_media(color_scheme="light")
        self.page.mouse.move(0, 0)
        self.page.keyboard.press("Escape")
        self.turn(BALANCED)

    def turn(self, step: int) -> None:
        self.page.locator("#dial").fill(str(step))

    def choose(self, number: int = 0) -> None:
        """Click on a tag and wait until the page says why it is one."""
        self.page.locator(SHOWN).nth(number).click()
        expect(self.page.locator(".why .score, .why .still").first).to_be_visible()


def catalogue(language: str) -> dict[str, str]:
    """The page's words in a language."""
    found: dict[str, str] = json.loads((PAGE_FOLDER / "catalogues" / f"{language}.json").read_text(encoding="utf-8"))
    return found


def ask(service: Service, page: dict[str, str], **options: Any) -> list[dict[str, Any]]:
    """The tags that the service answers with."""
    tags: list[dict[str, Any]] = service.tag(page, **options).json()["pages"][0]["tags"]
    return tags


def highlighted(page: Page) -> list[Fact]:
    """The tags that the page shows."""
    found = page.locator(".tagged").evaluate(_HIGHLIGHTED)
    return [tuple(each) for each in found]


def facts(tags: list[dict[str, Any]]) -> list[Fact]:
    return [(tag["field"], tag["label"], tag["start"], tag["text"]) for tag in tags]


def clipboard(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


def submit(page: Page, description: str) -> None:
    """Tag a description as typed, and wait for the answer."""
    page.locator("#description").fill(description)
    with page.expect_response("**/v1/tag"):
        page.locator("#description").press("Control+Enter")
    expect(page.locator("[aria-busy=true]")).to_have_count(0)


def violations(page: Page) -> list[str]:
    """What axe finds wrong on the page as it stands."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(found => found.violations)")
    return [f"{each['id']}: {node['html']} {node.get('failureSummary', '')}" for each in found for node in each["nodes"]]
