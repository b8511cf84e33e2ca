"""Keywords, lists of terms and trained bundles on labelled pages, in one table: `batag evaluate --keywords`, labels ignored.

Run `python benchmarks/keyword_tags.py FOLDER_OF_CORPORA --bundle taobao-zh=FOLDER ...`. A list is every text that is tagged in
the training pages. A set without a bundle has no trained row.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

from place import new_folder

from batag.pages.formats import read_pages, write_pages
from batag.pages.page import Page
from batag.sample.catalogue import LANGUAGES, sample_pages

METHODS = "auto,tfidf,bm25,yake,textrank,singlerank,rake"
AT = ("5", "10", "15")
SAMPLE_PAGES = {"train": 180, "test": 100}
ICECAT_PAGES = 2_000


def sample(data: Path) -> tuple[list[Page], list[Page]]:
    made = {
        split: [p for each in LANGUAGES for p in sample_pages(each, pages=n, split=split, style="paper")]
        for split, n in SAMPLE_PAGES.items()
    }
    return made["train"], made["test"]


def taobao(data: Path) -> tuple[list[Page], list[Page]]:
    train, test = (list(read_pages(data / f"taobao-zh/chars.{split}.txt")) for split in ("train", "test"))
    return train, test


def wikipedia(data: Path) -> tuple[list[Page], list[Page]]:
    pages = list(read_pages(data / "wikipedia-ja/ner.json"))
    place = {page.id: crc32(str(page.extra["curid"]).encode()) % 10 for page in pages}
    return [page for page in pages if place[page.id] > 1], [page for page in pages if place[page.id] == 0]


def icecat(data: Path) -> tuple[list[Page], list[Page]]:
    """The brand of each page is its only tag, at the first place where it stands."""
    pages = []
    for page in read_pages(data / "search/icecat-en/pages.jsonl"):
        brand = str(page.extra.get("brand") or "")
        start = page["title"].lower().find(brand.lower())
        if brand and start >= 0:
            pages.append(
                replace(page, tags=(page.cut("title", start, start + len(brand), "brand"),), labelled=True, reviewed=True)
            )
    test = [page for page in pages if crc32(page.id.encode()) % 8 == 0]
    return [page for page in pages if crc32(page.id.encode()) % 8], test[:ICECAT_PAGES]


SETS = {"sample": sample, "taobao-zh": taobao, "wikipedia-ja": wikipedia, "icecat-en brands": icecat}


def tagged_texts(pages: Iterable[Page]) -> list[str]:
    return sorted({" ".join(tag.text.split()) for page in pages for tag in page.tags} - {""})


def measure(name: str, data: Path, bundle: Path | None) -> dict[str, Any]:
    train, test = SETS[name](data)
    with tempfile.TemporaryDirectory() as made:
        pages, terms = Path(made) / "test.jsonl", Path(made) / "terms.txt"
        write_pages(test, pages)
        terms.write_text("\n".join(each for each in tagged_texts(train) if not each.startswith("#")), encoding="utf-8")
        names = [str(bundle)] if bundle is not None else []
        command = [sys.executable, "-m", "batag", "evaluate", *names, str(pages), "--keywords", METHODS, "--json"]
        done = subprocess.run([*command, "--terms", f"{terms}=term"], check=True, capture_output=True)
    rows = json.loads(done.stdout)["methods"]
    return {
        ("trained bundle" if key == str(bundle) else "list of train's tags" if key == "lists" else key): row
        for key, row in rows.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--bundle", action="append", default=[], metavar="SET=FOLDER")
    parser.add_argument("--out", type=new_folder, default=str(Path(__file__).parent / "results"))
    options = parser.parse_args()
    bundles = {name: Path(folder) for name, _, folder in (each.partition("=") for each in options.bundle)}
    results: dict[str, Any] = {}
    lines = [
        "# Keywords, lists and trained bundles on labelled pages",
        "",
        "`python benchmarks/keyword_tags.py FOLDER_OF_CORPORA`",
        "",
    ]
    for name in SETS:
        results[name] = rows = measure(name, options.data, bundles.get(name))
        titles = [f"{score.upper()}@{top}" for score in ("f1", "f2") for top in AT]
        lines += [f"## {name} ({next(iter(rows.values()))['pages']:,} pages)", ""]
        lines += [f"| texts, mean over pages | {' | '.join(titles)} | exact spans F1@10 |", "|---|" + "---:|" * 7]
        for label, row in rows.items():
            cells = [f"{100 * row['texts'][top][score]:.1f}" for score in ("f1", "f2") for top in AT]
            lines.append(f"| {label} | {' | '.join(cells)} | {100 * row['spans']['10']['f1']:.1f} |")
        lines.append("")
        print("\n".join(lines[-len(rows) - 3 :]), flush=True)
        (options.out / "keyword-tags.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    (options.out / "keyword-tags.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
