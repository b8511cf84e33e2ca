"""Other tools from a file of pages to a file of tags, as their users would write it: spaCy (blank zh with jieba, NER) and
python-crfsuite with jieba. `prepare` trains both on labelled pages; `python -m peers.lines TOOL MODEL IN OUT` runs one and
prints its seconds without loading, and those of the load."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from batag.pages.formats import read_pages

EPOCHS = 5


def prepare(train: Path, folder: Path) -> None:
    """Models of both tools, trained on the same pages; kept if they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = [page for page in read_pages(train, format="words") if page.labelled]
    if not (folder / "spacy").exists():
        _spacy(pages, folder / "spacy")
    if not (folder / "crf.model").exists():
        _crf(pages, folder / "crf.model")


def _spacy(pages: list[Any], folder: Path) -> None:
    import random

    import spacy
    from spacy.training import Example

    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": {"segmenter": "jieba"}}})
    ner = nlp.add_pipe("ner")
    examples = []
    for page in pages:
        made, gold = nlp.make_doc(page["title"]), nlp.make_doc(page["title"])
        spans = [gold.char_span(tag.start, tag.end, tag.label, alignment_mode="expand") for tag in page.tags]
        gold.set_ents(spacy.util.filter_spans([span for span in spans if span is not None]))
        for tag in page.tags:
            ner.add_label(tag.label)  # type: ignore[attr-defined]
        examples.append(Example(made, gold))
    optimizer = nlp.initialize(lambda: examples[:200])
    rng = random.Random(0)
    for _ in range(EPOCHS):
        rng.shuffle(examples)
        for start in range(0, len(examples), 32):
            nlp.update(examples[start : start + 32], sgd=optimizer, drop=0.2)
    nlp.to_disk(folder)


def _crf(pages: list[Any], path: Path) -> None:
    import jieba
    import pycrfsuite

    from peers.crf import features

    trainer = pycrfsuite.Trainer(verbose=False)
    for page in pages:
        words, labels, place = jieba.lcut(page["title"]), [], 0
        for word in words:
            middle = place + len(word) / 2
            labels.append(next((tag.label for tag in page.tags if tag.start <= middle < tag.end), "none"))
            place += len(word)
        trainer.append(features(words), labels)
    trainer.set_params({"c1": 0.1, "c2": 0.01, "max_iterations": 150, "feature.possible_transitions": True})
    trainer.train(str(path))


def run_spacy(model: Path, source: Path, target: Path) -> tuple[float, float]:
    began = time.perf_counter()
    import spacy

    nlp = spacy.load(model)
    list(nlp.pipe(["新款 连衣裙"]))  # jieba reads its dictionary at the first word
    loaded = time.perf_counter()
    with source.open(encoding="utf-8") as lines, target.open("w", encoding="utf-8") as out:
        records = ((record["title"], record) for record in map(json.loads, lines))
        for doc, record in nlp.pipe(records, as_tuples=True, batch_size=256):
            tags = [{"start": e.start_char, "end": e.end_char, "label": e.label_, "text": e.text} for e in doc.ents]
            out.write(json.dumps(record | {"tags": tags}, ensure_ascii=False) + "\n")
    return time.perf_counter() - loaded, loaded - began


def run_crf(model: Path, source: Path, target: Path) -> tuple[float, float]:
    began = time.perf_counter()
    import jieba
    import pycrfsuite

    from peers.crf import features

    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    jieba.initialize()
    loaded = time.perf_counter()
    with source.open(encoding="utf-8") as lines, target.open("w", encoding="utf-8") as out:
        for record in map(json.loads, lines):
            words = jieba.lcut(record["title"])
            tags: list[dict[str, Any]] = []
            place = 0
            for word, label in zip(words, tagger.tag(features(words)), strict=True):
                end = place + len(word)
                if tags and tags[-1]["end"] == place and tags[-1]["label"] == label:
                    tags[-1]["end"] = end
                elif label != "none":
                    tags.append({"start": place, "end": end, "label": label})
                place = end
            for tag in tags:
                tag["text"] = record["title"][tag["start"] : tag["end"]]
            out.write(json.dumps(record | {"tags": tags}, ensure_ascii=False) + "\n")
    return time.perf_counter() - loaded, loaded - began


if __name__ == "__main__":
    tool = {"spacy": run_spacy, "crf": run_crf}[sys.argv[1]]
    seconds, loading = tool(*map(Path, sys.argv[2:5]))
    print(json.dumps({"seconds": seconds, "loading": loading}))
