"""Makes the committed bundle of `format-1` and its expected tags anew: `PYTHONPATH=. python tests/bundles/remake.py`.

It is made anew whenever the format changes before the first release, and never after: then the point is that it is old.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from tests.tiny import QUICK, as_dict, catalogue

import batag
from batag.pages.page import Page

FOLDER = Path(__file__).with_name("format-1")
EXPECTED = FOLDER.with_suffix(".expected.json")
SMALL = (
    *("encoder.width=8", "encoder.inner=32", "input.min_word_count=2", "input.ngram_buckets=200", "input.shape_buckets=50"),
    *("input.part_of_speech_buckets=50", "head.window_crf=1", "head.window_crf_buckets=500", "training.export=true"),
    *("training.epochs=25", "input.vectors=vectors.txt"),
)
VECTORS = {"running": (1.0, 0.2, -0.5), "shoes": (0.9, 0.1, -0.4), "boots": (0.8, 0.3, -0.6), "跑鞋": (0.7, 0.2, -0.3)}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        # A relative name: the recipe stands in the bundle.
        os.chdir(folder)
        lines = (f"{word} {' '.join(map(str, numbers))}\n" for word, numbers in VECTORS.items())
        Path("vectors.txt").write_text("".join(lines), encoding="utf-8")
        given: dict[str, Any] = {"dev": catalogue(10, split="dev"), "settings": as_dict(*QUICK, *SMALL), "device": "cpu"}
        tagger = batag.train(catalogue(40), out="format-1", **given)
        assert tagger.engine.name == "onnx"
        shutil.rmtree(FOLDER, ignore_errors=True)
        shutil.copytree(Path("format-1") / "bundle", FOLDER)
        cases = [_case(tagger, page) for page in catalogue(5, split="test")]
    lines = (json.dumps(case, ensure_ascii=False) for case in cases)
    EXPECTED.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def _case(tagger: batag.Tagger, page: Page) -> dict[str, Any]:
    """A page with its tokens, so that another segmenter changes nothing, and its tags."""
    ((_, fields),) = tagger.segmentation.many([page])
    tokens = {each.name: list(map(list, each.origins)) for each in fields}
    given = {"id": page.id, "language": page.language, **page.fields, "tokens": tokens}
    tags = [[tag.field, tag.start, tag.end, tag.label, tag.text, round(tag.score or 0, 6)] for tag in tagger.tag(given)]
    return {"page": given, "tags": tags}


if __name__ == "__main__":
    main()
