"""How well kinds of goods find their category: the lexicon's names through Shopify's taxonomy, and goods tags of other corpora.

python benchmarks/taxonomy.py SHOPIFY --tags words.test.tsv --out results/taxonomy

SHOPIFY is the folder with en/categories.txt, ja/, zh-TW/ and zh-CN/. Each language is mapped through its own file alone: the
share of the goods names that map, and how often two languages agree (the same id, or one is the parent of the other). Then 200
random mappings through all four, and up to 500 words tagged as goods, to be read by eye.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

from place import new_folder

from batag.pages.formats import read_pages
from batag.terms.lexicon import GOODS, Entry
from batag.terms.meaning import Meaning
from batag.terms.sources import import_taxonomy
from batag.terms.taxonomy import Taxonomy
from batag.terms.terms import Terms

FILES = {"en": "en", "ja": "ja", "zh-Hant": "zh-TW", "zh-Hans": "zh-CN"}
SAMPLE, WORDS, SEED = 200, 500, 20261121


def alone(terms: Terms, goods: list[Entry], language: str) -> tuple[dict[str, Meaning], dict[str, Any]]:
    """What the first name of each kind of goods means in one language, and the share of all names that map."""
    asked = [(name, GOODS, language) for entry in goods for name in entry.names.get(language, ())]
    means = dict(zip(((name, language) for name, _, _ in asked), terms.meanings(asked), strict=True))
    first = {entry.id: means[entry.names[language][0], language] for entry in goods if language in entry.names}
    mapped = sum(each.category is not None for each in means.values())
    kinds = sum(each.category is not None for each in first.values())
    by = Counter(each.category.by for each in first.values() if each.category is not None)
    shares = {"names": mapped / len(means), "kinds": kinds / len(first), "by": dict(by)}
    return first, shares


def near(taxonomy: Taxonomy, one: str, other: str) -> bool:
    """Whether two ids are the same, or one is the parent of the other."""
    return one == other or taxonomy.parents[one] == other or taxonomy.parents[other] == one


def line(taxonomy: Taxonomy, meaning: Meaning) -> str:
    match = meaning.category
    where = "-" if match is None else f"{match.by}\t{match.confidence:.2f}\t{match.name}\t{taxonomy.path(match.id)}"
    return f"{meaning.text}\t{where}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shopify", type=Path)
    parser.add_argument("--tags", type=Path, help="labelled pages with tags of the label goods")
    parser.add_argument("--label", default=GOODS, help="the label of goods in --tags")
    parser.add_argument("--out", type=new_folder, default="benchmarks/results/taxonomy")
    arguments = parser.parse_args()
    paths = {language: arguments.shopify / folder / "categories.txt" for language, folder in FILES.items()}
    whole = Terms(taxonomy=import_taxonomy(list(paths.values())))
    assert whole.taxonomy is not None
    goods = [entry for entry in whole.lexicon.entries if entry.kind == GOODS]
    report: dict[str, Any] = {"taxonomy": whole.taxonomy.version, "kinds": len(goods), "alone": {}, "agreement": {}}
    first: dict[str, dict[str, Meaning]] = {}
    for language, path in paths.items():
        terms = Terms(taxonomy=import_taxonomy([path], language=language))
        first[language], report["alone"][language] = alone(terms, goods, language)
    same = both = 0
    for one, other in combinations(FILES, 2):
        pairs = [
            (left, right)
            for id in first[one].keys() & first[other].keys()
            if (left := first[one][id].category) is not None and (right := first[other][id].category) is not None
        ]
        agreed = sum(near(whole.taxonomy, left.id, right.id) for left, right in pairs)
        same, both = same + agreed, both + len(pairs)
        report["agreement"][f"{one} {other}"] = {"both map": len(pairs), "agree": agreed / len(pairs)}
    report["agreement"]["all"] = {"both map": both, "agree": same / both}
    draw = random.Random(SEED)
    asked = [(name, GOODS, language) for entry in goods for language, names in entry.names.items() for name in names]
    began = time.process_time()
    meanings = whole.meanings(asked)
    report["names a second, all languages"] = round(len(asked) / (time.process_time() - began))
    mapped = [each for each in meanings if each.category is not None]
    report["all languages together"] = len(mapped) / len(meanings)
    sample = draw.sample(mapped, SAMPLE)
    (arguments.out / "sample.tsv").write_text("\n".join(line(whole.taxonomy, each) for each in sample) + "\n", encoding="utf-8")
    if arguments.tags is not None:
        count = Counter(tag.text for page in read_pages(arguments.tags) for tag in page.tags if tag.label == arguments.label)
        words = sorted(count)
        known = [
            each.text for each in whole.meanings([(word, GOODS, "zh-Hans") for word in words]) if each.category is not None
        ]
        report["all tags"] = {
            "texts": len(count),
            "texts mapped": len(known) / len(count),
            "tags mapped": sum(count[text] for text in known) / count.total(),
        }
        words = sorted(draw.sample(words, min(WORDS, len(words))))
        tags = whole.meanings([(word, GOODS, "zh-Hans") for word in words])
        report["tags"] = {"words": len(words), "mapped": sum(each.category is not None for each in tags) / len(words)}
        (arguments.out / "tags.tsv").write_text("\n".join(line(whole.taxonomy, each) for each in tags) + "\n", encoding="utf-8")
    (arguments.out / "taxonomy.json").write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(report, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
