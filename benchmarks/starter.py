"""Make the starter, the bundle that comes with batag: `make starter`, or python benchmarks/starter.py --out FOLDER.

It learns from the lexicon and the sample catalogue alone, by recipes/starter.toml, and prints its scores on pages of the sample
whose brands and goods it has not seen (test), with all lists and with the names of those pages taken out of them.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from place import new_folder

import batag
from batag.bundles.bundle import Bundle, read_bundle
from batag.bundles.compact import write_compact
from batag.bundles.found import STARTER_FOLDER
from batag.engines.export import export
from batag.features.term_lists import TermLists
from batag.features.term_matcher import MARK, fold
from batag.pages.page import Page
from batag.sample import sample_pages
from batag.tagging.tagger import Tagger
from batag.terms.lexicon import read_lexicon
from batag.terms.plural import singular
from batag.training.examples import label_words, make_examples
from batag.training.loop import EpochDone, StepDone

RECIPE = Path(__file__).parent.parent / "recipes" / "starter.toml"
LANGUAGES = ("zh-Hant", "zh-Hans", "ja", "en")
PAGES = {"zh-Hant": 4_500, "zh-Hans": 1_800, "ja": 4_200, "en": 4_200}
DEV, TEST = 200, 500


def main() -> None:
    """Train, write the compact copy, export its engine, print scores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=new_folder, default=STARTER_FOLDER, help="folder of the bundle, which is replaced")
    parser.add_argument("--run", type=Path, help="folder of the training; kept if it is named")
    parser.add_argument("--scores", action="store_true", help="only print the scores of the bundle in --out")
    asked = parser.parse_args()
    if not asked.scores:
        with tempfile.TemporaryDirectory() as folder:
            make(asked.out, asked.run or Path(folder) / "starter")
    print_scores(asked.out)


def make(out: Path, run: Path) -> None:
    """Train into the folder of a run and write the starter to `out`."""
    train, dev = (list(pages(split)) for split in ("train", "dev"))
    if not (run / "bundle").is_dir():
        batag.train(train, dev=dev, out=run, recipe=RECIPE, device="cpu", progress=_say)
    compact(run, out, dev)


def compact(run: Path, out: Path, dev: list[Page]) -> None:
    """Write the compact copy of a run's bundle, with the ONNX engine of its rounded weights."""
    shutil.rmtree(out, ignore_errors=True)
    making = run.resolve().parent / "starter.compact"
    shutil.rmtree(making, ignore_errors=True)
    write_compact(read_bundle(run), making)
    bundle = read_bundle(making)
    words = label_words(dev, bundle.segmentation)
    size = {"window": bundle.description.window, "overlap": bundle.description.overlap}
    examples = [(each.words, each.labels) for each in make_examples(words, bundle.scheme, **size)]
    made = export(bundle, engine="onnx", pages=examples, known_words=False)
    assert not made.refused, made.refused
    shutil.copytree(making, out)
    shutil.rmtree(making)


def pages(split: str) -> Iterator[Page]:
    """The pages of the sample in all languages."""
    counts = PAGES if split == "train" else dict.fromkeys(LANGUAGES, DEV if split == "dev" else TEST)
    return chain.from_iterable(
        sample_pages(language, pages=counts[language], split=split, style="shops") for language in LANGUAGES
    )


def print_scores(folder: Path) -> None:
    """Print tag F1 on test by language, with all lists and with the names of those pages taken out of them."""
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    print(f"{folder.name}: {size:.1f} MB; {TEST} pages of the sample (test) in each language, tag F1 with exact borders")
    test = list(pages("test"))
    taggers = {"all lists": Tagger(read_bundle(folder)), "names of the pages hidden": Tagger(without_names(folder, test))}
    for title, tagger in taggers.items():
        for language in LANGUAGES:
            tags = batag.evaluate(tagger, [page for page in test if page.language == language])["tags"]
            by_class = ", ".join(f"{name} {100 * each['f1']:.1f}" for name, each in sorted(tags["classes"].items()))
            print(f"{title:26} {language:8} {100 * tags['micro']['f1']:.1f} ({by_class})", flush=True)


def without_names(folder: Path, test: list[Page]) -> Bundle:
    """The bundle with the lexicon as its only list, without any name that is a tag on these pages."""
    bundle = read_bundle(folder)
    texts = {form for page in test for tag in page.tags for form in (tag.text, singular(tag.text.lower()))}
    hidden = set(map(fold, texts))
    left = tuple(
        (name, row.kind)
        for row in read_lexicon().rows
        for names in row.names().values()
        for name in names
        if fold(name.removesuffix(MARK)) not in hidden
    )
    # Its lists are read once and kept; here they are others.
    vars(bundle)["terms"] = TermLists(own=left)
    return bundle


def _say(done: StepDone | EpochDone) -> None:
    if isinstance(done, EpochDone):
        print(f"epoch {done.epoch}: loss {done.loss:.4f}, dev {done.scores.summary()}", flush=True)


if __name__ == "__main__":
    main()
