"""How soon the web page of `batag serve` is there, on loopback, each time in a browser that has nothing kept.

    python benchmarks/first_view.py [BUNDLE] --out first_view.json

Milliseconds from the click to the first text on the screen and to the view in which one can type, and the bytes that were sent.
Beside it the first text of an answer of a few bytes (/healthz), which is what this browser takes by itself on this machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
from typing import Any

from place import new_file

from browser import browser, served

FIRST_TEXT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
TIMES = """() => ({
  first_text: performance.getEntriesByName('first-contentful-paint')[0].startTime,
  view: window.viewed,
  bytes: performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource'))
    .reduce((sum, each) => sum + each.transferSize, 0),
})"""
WATCH = """new MutationObserver((_, watching) => {
  if (!document.querySelector('#title')) return;
  watching.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => { window.viewed = performance.now(); }));
}).observe(document, { childList: true, subtree: true });"""


def main() -> None:
    """Open the page so many times and print the medians and the worst."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", nargs="?", default="starter")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--out", type=new_file)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with served(options.bundle) as address, browser() as opened:
        for _ in range(options.runs + 1):
            context = opened.new_context()
            page = context.new_page()
            page.add_init_script(WATCH)
            page.goto(f"{address}/", wait_until="networkidle")
            page.wait_for_function("window.viewed")
            row = page.evaluate(TIMES)
            page.goto(f"{address}/healthz", wait_until="networkidle")
            rows.append({**row, "first_text_of_a_few_bytes": page.evaluate(FIRST_TEXT)})
            context.close()
    rows = rows[1:]  # the first warms the browser up
    found = {
        name: {"best": round(min(values)), "median": round(statistics.median(values)), "worst": round(max(values))}
        for name, values in ((name, [row[name] for row in rows]) for name in rows[0])
    }
    print(json.dumps(found, indent=2))
    if options.out:
        options.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
