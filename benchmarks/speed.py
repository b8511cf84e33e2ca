"""How fast whole catalogues are tagged, beside other tools, all in one run on the same pages, one thread each unless said.

Run `python benchmarks/speed.py BUNDLE SWIFT TRAIN.words.tsv --out benchmarks/results` (needs the extra `bench`): both
are bundles with exported engines; the labelled pages of TRAIN teach spaCy and the CRF and are, without labels, what is tagged.
Rounds of all that is compared alternate, and the best of each counts: other work on the machine then hits all alike. Sections
can be named (segmentation encoder stages lines latency start scaling length pages); finished ones stay in speed.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from place import new_folder

HERE = Path(__file__).parent
SECTIONS = ("segmentation", "encoder", "stages", "lines", "latency", "start", "scaling", "length", "pages")
ENVIRONMENT = os.environ | {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
}
Facts = dict[str, Any]


def best(things: Mapping[str, Callable[[], object]], *, rounds: int = 5) -> dict[str, float]:
    """The least seconds of each, in alternating rounds after one to warm up."""
    seconds = dict.fromkeys(things, float("inf"))
    for number in range(rounds + 1):
        for name, run in things.items():
            began = time.perf_counter()
            run()
            if number:
                seconds[name] = min(seconds[name], time.perf_counter() - began)
    return seconds


def titles(train: Path) -> list[str]:
    from batag.pages.formats import read_pages

    return [page["title"] for page in read_pages(train, format="words")]


def recombined(train: Path, pages: int) -> list[str]:
    """Distinct pages: the first half of one title and the second half of another, so that no cache of whole pages helps."""
    rng, own = random.Random(0), titles(train)
    made: dict[str, None] = {}
    while len(made) < pages:
        one, other = rng.choice(own), rng.choice(own)
        made[one[: len(one) // 2] + other[len(other) // 2 :]] = None
    return list(made)


def write(texts: list[str], path: Path) -> Path:
    lines = (json.dumps({"id": number, "title": text}, ensure_ascii=False) + "\n" for number, text in enumerate(texts))
    path.write_text("".join(lines), encoding="utf-8")
    return path


def fastest(folder: Path) -> str:
    """The engine that a large job takes."""
    from batag.bundles.bundle import find_bundle, read_description
    from batag.engines.choice import choose_engine

    return choose_engine(read_description(find_bundle(folder)), large=True)


def segmentation(options: argparse.Namespace) -> Facts:
    import jieba
    import spacy

    from batag.pages.page import Page
    from batag.segmentation.segmentation import Segmentation

    texts = titles(options.train)
    pages = [Page(str(number), {"title": text}) for number, text in enumerate(texts)]
    ours, theirs = Segmentation(), spacy.blank("zh", config={"nlp": {"tokenizer": {"segmenter": "jieba"}}})
    jieba.initialize()
    seconds = best(
        {
            "batag (cleaning, language, words)": lambda: ours.tokenize(pages),
            "jieba": lambda: [jieba.lcut(text) for text in texts],
            "spaCy blank zh with jieba": lambda: [theirs.make_doc(text) for text in texts],
        }
    )
    size = sum(map(len, texts))
    return {
        name: {"pages_per_second": len(texts) / each, "characters_per_second": size / each} for name, each in seconds.items()
    }


def encoder(options: argparse.Namespace) -> Facts:
    """The layers alone on batches as they come, and the products of these shapes alone."""
    import numpy as np
    import torch

    from batag.bundles.bundle import read_bundle
    from batag.encoders.sequence import page_words
    from batag.engines import build_engine
    from batag.features.batches import BATCH_TOKENS, by_length
    from batag.pages.page import Page

    torch.set_num_threads(1)
    found: Facts = {}
    pages = [Page(str(number), {"title": text}) for number, text in enumerate(titles(options.train)[:2048])]
    for name, folder in (("default", options.bundle), ("swift", options.swift)):
        bundle = read_bundle(folder)
        words = [page_words(each.fields)[0] for each in bundle.segmentation.tokenize(pages)]
        batches = [[words[number] for number in batch] for batch in by_length(list(map(len, words)), tokens=BATCH_TOKENS)]
        padded = sum(len(batch) * max(map(len, batch)) for batch in batches)
        tokens = sum(map(len, words))
        engines: dict[str, Any] = {each: build_engine(each, bundle, device="cpu") for each in bundle.description.engines}
        given = [next(iter(engines.values())).table.look_up(batch)[:2] for batch in batches]
        layers = [layer for layer in engines["torch"].layers.modules() if isinstance(layer, torch.nn.Linear)]
        rows = BATCH_TOKENS
        pairs = [(torch.randn(rows, each.in_features), torch.randn(each.in_features, each.out_features)) for each in layers]
        with torch.inference_mode():
            seconds = _by_batch(engines, given, pairs)
        flops = sum(2 * each.in_features * each.out_features for each in layers)
        lengths = np.array([len(batch) * max(map(len, batch)) ** 2 for batch in batches])
        sizes = bundle.description.encoder
        attention = 4 * sizes.width * sizes.depth * float(lengths.sum())
        peak = rows * flops / seconds["products"]
        found[name] = {
            "padding": 1 - tokens / padded,
            "product_gflops": peak / 1e9,
            "engines": {
                each: {
                    "tokens_per_second": tokens / seconds[each],
                    "times_torch": seconds["torch"] / seconds[each],
                    "share_of_product_rate": (padded * flops + attention) / seconds[each] / peak,
                }
                for each in engines
            },
        }
    return found


def _by_batch(engines: Mapping[str, Any], given: list[Any], pairs: list[Any], rounds: int = 12) -> dict[str, float]:
    """Seconds for all batches, of each the least of rounds that the engines take in turn; so of the products alone."""
    import torch

    least = {(name, place): float("inf") for name in engines for place in range(len(given))}
    products = [float("inf")] * len(pairs)
    for _ in range(rounds):
        for name, engine in engines.items():
            for place, batch in enumerate(given):
                began = time.perf_counter()
                engine.logits(*batch)
                least[name, place] = min(least[name, place], time.perf_counter() - began)
        for place, pair in enumerate(pairs):
            began = time.perf_counter()
            torch.mm(*pair)
            products[place] = min(products[place], time.perf_counter() - began)
    return {name: sum(least[name, place] for place in range(len(given))) for name in engines} | {"products": sum(products)}


def stages(options: argparse.Namespace) -> Facts:
    """Where the time of one part goes, in microseconds per page: each stage alone, words known already, best of rounds."""
    import gc

    import torch

    import batag
    from batag.catalogue.inputs import Inputs

    torch.set_num_threads(1)
    source = write(recombined(options.train, 8_000), options.work / "stages.jsonl")
    part = next(Inputs(paths=(str(source),)).parts())
    gc.disable()  # as a job does
    found: Facts = {}
    for name, folder in (("default, float32 torch", options.bundle), ("default", options.bundle), ("swift", options.swift)):
        tagger = batag.load(folder, engine="torch" if "torch" in name else fastest(folder))
        found[f"{name} ({tagger.engine.name})"] = _stages(tagger, part)
    gc.enable()
    return {stage: {name: found[name][stage] for name in found} for stage in next(iter(found.values()))}


def _stages(tagger: Any, part: Any) -> Facts:
    from batag.catalogue.output import Output, encode
    from batag.catalogue.rows import read_rows
    from batag.encoders.sequence import page_words
    from batag.features.batches import BATCH_TOKENS, by_length

    engine, rows = tagger.engine, read_rows(part, whole=True)
    pages: Any = rows.pages
    words = [page_words(each.fields)[0] for each in tagger.segmentation.tokenize(pages)]
    batches = [[words[number] for number in batch] for batch in by_length(list(map(len, words)), tokens=BATCH_TOKENS)]
    given = [engine.table.look_up(batch) for batch in batches]
    logits = [engine.logits(vectors, mask) for vectors, mask, _ in given]
    predictions = tagger.predict_all(pages)
    tags = tagger.tags_of_all(predictions)
    things: dict[str, Callable[[], object]] = {
        "read rows": lambda: read_rows(part, whole=True),
        "clean, language, words": lambda: [page_words(each.fields) for each in tagger.segmentation.tokenize(pages)],
        "look words up": lambda: [engine.table.look_up(batch) for batch in batches],
        "encoder": lambda: [engine.logits(vectors, mask) for vectors, mask, _ in given],
        "answer": lambda: [engine.answer(own, scores, mask) for own, (_, mask, scores) in zip(logits, given, strict=True)],
        "tags": lambda: tagger.tags_of_all(predictions),
        "write rows": lambda: encode(rows, tags, Output(format="jsonl")),
    }
    return {stage: 1e6 * each / part.rows for stage, each in best(things, rounds=3).items()}


def lines(options: argparse.Namespace) -> Facts:
    """From file to file in one process, loading aside."""
    from peers.lines import prepare

    prepare(options.train, options.work)
    own = write(titles(options.train), options.work / "own.jsonl")
    many = write(recombined(options.train, options.pages), options.work / "many.jsonl")
    found: Facts = {}
    for corpus, source in (("the pages themselves", own), (f"{options.pages:,} pages recombined from them", many)):
        rows: dict[str, list[Facts]] = {}
        for _ in range(options.rounds):
            for name, command in _lines(options, source).items():
                done = subprocess.run(command, check=True, capture_output=True, env=ENVIRONMENT, cwd=HERE)
                rows.setdefault(name, []).append(json.loads(done.stdout.splitlines()[-1]))
        count = sum(1 for _ in source.open(encoding="utf-8"))
        found[corpus] = {
            name: {
                "pages_per_second": count / min(each["seconds"] for each in runs),
                "loading": min(each["loading"] for each in runs),
            }
            for name, runs in rows.items()
        }
    return found


def _lines(options: argparse.Namespace, source: Path) -> dict[str, list[str]]:
    target = str(options.work / "out.jsonl")
    python = sys.executable
    ours = [python, str(Path(__file__).resolve()), "--line"]
    return {
        "batag, fastest engine": [*ours, str(options.bundle.resolve()), "auto", str(source.resolve()), target],
        "batag, float32 torch": [*ours, str(options.bundle.resolve()), "torch", str(source.resolve()), target],
        "batag swift": [*ours, str(options.swift.resolve()), "auto", str(source.resolve()), target],
        "spaCy": [python, "-m", "peers.lines", "spacy", str((options.work / "spacy").resolve()), str(source.resolve()), target],
        "CRF": [python, "-m", "peers.lines", "crf", str((options.work / "crf.model").resolve()), str(source.resolve()), target],
    }


def one_line(bundle: Path, engine: str, source: Path, target: Path) -> None:
    """A catalogue job in this process; prints what `peers.lines` does."""
    began = time.perf_counter()
    from batag.catalogue.inputs import Inputs
    from batag.catalogue.job import Job
    from batag.catalogue.tagged import Options
    from batag.pages.problems import Problems
    from batag.tagging.tagger import Tagger

    chosen = fastest(bundle) if engine == "auto" else engine
    tagger = Tagger.load(bundle, engine=chosen)
    tagger.tag({"title": "新款 连衣裙"})
    # The job finds its tagger loaded, as the other tools do.
    Tagger.load = lambda *_, **__: tagger  # type: ignore[assignment, method-assign, misc]
    inputs, asked = Inputs(paths=(str(source),)), Options(format="jsonl")
    job = Job(
        bundle=bundle, engine=chosen, inputs=inputs, out=str(target), options=asked, one_file=True, workers=1, restart=True
    )
    loaded = time.perf_counter()
    job.run(problems=Problems())
    print(json.dumps({"seconds": time.perf_counter() - loaded, "loading": loaded - began, "engine": chosen}))


def latency(options: argparse.Namespace) -> Facts:
    """One short page at a time through Python."""
    import torch

    import batag

    torch.set_num_threads(1)
    texts = recombined(options.train, 1_200)
    found: Facts = {}
    things: dict[str, Callable[[str], object]] = {}
    for name, folder in (("batag", options.bundle), ("batag swift", options.swift)):
        chosen = batag.load(folder)
        things[f"{name}, as it is loaded"] = lambda text, tagger=chosen: tagger.tag({"title": text})
        for engine in chosen.bundle.description.engines:
            tagger = batag.load(folder, engine=engine, device="cpu")
            things[f"{name}, {engine}"] = lambda text, tagger=tagger: tagger.tag({"title": text})
    if (options.work / "spacy").exists():
        import spacy

        things["spaCy"] = spacy.load(options.work / "spacy")
    asked = dict.fromkeys(things, texts)
    if options.other is not None:
        tagger, name = batag.load(options.bundle), "batag, as it is loaded, pages that nobody learnt from"
        things[name], asked[name] = lambda text: tagger.tag({"title": text}), titles(options.other)
    taken: dict[str, list[float]] = {name: [] for name in things}
    # In turns of a hundred: a service has one model in the processor's caches, not nine.
    for start in range(0, len(texts), 100):
        for name, run in things.items():
            for number, text in enumerate(asked[name][start : start + 100], start):
                began = time.perf_counter()
                run(text)
                if number >= 200:
                    taken[name].append(1000 * (time.perf_counter() - began))
    for name, times in taken.items():
        times.sort()
        found[name] = {"p50_ms": statistics.median(times), "p99_ms": times[int(0.99 * len(times))]}
    return found


def start(options: argparse.Namespace) -> Facts:
    """`batag tag BUNDLE TEXT` as a process of its own, from nothing to printed tags."""
    text = "防水登山鞋 新款 女"
    commands = {
        f"batag tag, {engine}": [sys.executable, "-m", "batag", "tag", str(options.bundle), text, "--engine", engine]
        for engine in ("onnx", "torch")
    }
    commands["batag --help"] = [sys.executable, "-m", "batag", "--help"]
    commands["import torch"] = [sys.executable, "-c", "import torch"]
    commands["import onnxruntime"] = [sys.executable, "-c", "import onnxruntime"]
    if (options.work / "spacy").exists():
        code = f"import spacy; nlp = spacy.load({str(options.work / 'spacy')!r}); print(nlp({text!r}).ents)"
        commands["spaCy, load and tag"] = [sys.executable, "-c", code]

    def runs(command: list[str]) -> Callable[[], object]:
        return lambda: subprocess.run(command, check=True, capture_output=True, env=ENVIRONMENT)

    return {name: {"seconds": each} for name, each in best({n: runs(c) for n, c in commands.items()}).items()}


def scaling(options: argparse.Namespace) -> Facts:
    """The same job by one process, two, and a Ray of two, from the command to its last line; start-up is part of it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = options.work / "scaling.parquet"
    texts = recombined(options.train, options.scaling_pages)
    pq.write_table(pa.table({"id": list(range(len(texts))), "title": texts}), source)
    found: Facts = {}
    for name, more in (
        ("1 process", ["--workers", "1"]),
        ("2 processes", ["--workers", "2"]),
        ("Ray, 2 workers", ["--workers", "2", "--cluster", "ray"]),
    ):
        with tempfile.TemporaryDirectory(dir=options.work) as folder:
            command = [sys.executable, "-m", "batag", "tag", str(options.bundle), str(source), "-o", f"{folder}/out/", *more]
            began = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True, env=ENVIRONMENT)
            seconds = time.perf_counter() - began
        found[name] = {"seconds": seconds, "pages_per_second": len(texts) / seconds}
        found[name]["times_one"] = found["1 process"]["seconds"] / seconds
    return found


def length(options: argparse.Namespace) -> Facts:
    """Pages of 20 to 2,000 words, as many as make 40,000 words."""
    import torch

    import batag
    from batag.pages.page import Page

    torch.set_num_threads(1)
    tagger = batag.load(options.bundle, engine=fastest(options.bundle))
    words = [word for text in recombined(options.train, 4_000) for word in (text[at : at + 2] for at in range(0, len(text), 2))]
    found: Facts = {}
    for size in (20, 50, 100, 200, 500, 1_000, 2_000):
        pages = [
            Page(str(number), {"title": " ".join(words[number * size : (number + 1) * size])})
            for number in range(40_000 // size)
        ]
        (seconds,) = best({"": lambda pages=pages: tagger.predict_all(pages)}, rounds=2).values()
        tokens = sum(len(field.tokens) for each in tagger.predict_all(pages) for field in each.fields)
        found[f"{size} words"] = {"tokens_per_second": tokens / seconds, "pages_per_second": len(pages) / seconds}
    return found


def pages(options: argparse.Namespace) -> Facts:
    """Sample pages from 10,000 to a million with the swift bundle: seconds, and the resident memory of all its processes at
    every tenth of the way."""
    from itertools import chain, islice

    from batag.pages.formats import write_pages
    from batag.sample import LANGUAGES, sample_pages

    found: Facts = {}
    for count in (10_000, 100_000, options.most_pages):
        source = options.work / f"sample-{count}.jsonl.zst"
        if not source.exists():
            share = -(-count // len(LANGUAGES))
            made = (sample_pages(each, pages=share, split="test", seed=9, style="paper") for each in LANGUAGES)
            write_pages(islice(chain.from_iterable(zip(*made, strict=True)), count), source)
        with tempfile.TemporaryDirectory(dir=options.work) as folder:
            command = [sys.executable, "-m", "batag", "tag", str(options.swift), str(source), "-o", f"{folder}/out/"]
            began = time.perf_counter()
            with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=ENVIRONMENT) as process:
                marks: list[tuple[int, int]] = []
                while process.poll() is None:
                    marks.append((len(list(Path(folder).glob("out/part-*"))), memory(process.pid)))
                    time.sleep(0.25)
            seconds = time.perf_counter() - began
            total = max(mark[0] for mark in marks) or 1
        tenths = [max((mb for done, mb in marks if done * 10 // total == tenth), default=0) for tenth in range(10)]
        found[f"{count:,}"] = {"seconds": seconds, "pages_per_second": count / seconds, "memory_mb_by_tenth": tenths}
    return found


def memory(pid: int) -> int:
    """Resident MB of a process and its children."""
    total = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
            if int(path.parent.name) == pid or int(fields[1]) == pid:
                total += int(fields[21]) * 4096
        except (OSError, IndexError, ValueError):
            continue
    return total >> 20


def markdown(found: Facts) -> str:
    """A table a section."""
    out = []
    for section, rows in found.items():
        if section == "machine":
            continue
        out.append(f"\n## {section}\n")
        groups: list[tuple[str, Facts]] = [("", rows)]
        if section == "lines":
            groups = list(rows.items())
        elif section == "encoder":
            title = "{}: products alone {:.0f} GFLOP/s, padding {:.1%}"
            groups = [
                (title.format(name, each["product_gflops"], each["padding"]), each["engines"]) for name, each in rows.items()
            ]
        for title, table in groups:
            names = list(next(iter(table.values())))
            out += (
                [title, "", f"| | {' | '.join(name.replace('_', ' ') for name in names)} |"]
                if title
                else [f"| | {' | '.join(name.replace('_', ' ') for name in names)} |"]
            )
            out.append("|---|" + "---:|" * len(names))
            out += [f"| {key} | {' | '.join(_cell(row[name]) for name in names)} |" for key, row in table.items()]
            out.append("")
    return "\n".join(out) + f"\n{found['machine']}\n"


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def draw(found: Facts, path: Path) -> None:
    """Pages a second from file to file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    corpora = found["lines"]
    figure, axes = pyplot.subplots(1, len(corpora), figsize=(11, 3.2), sharey=True)
    for axis, (corpus, rows) in zip(axes, corpora.items(), strict=True):
        names = list(rows)[::-1]
        bars = axis.barh(names, [rows[name]["pages_per_second"] for name in names], color=["#999"] * 2 + ["#2a7"] * 3)
        axis.bar_label(bars, fmt="{:,.0f}", padding=3)
        axis.set_title(corpus, fontsize=9)
        axis.set_xlabel("pages a second, one core, file to file")
        axis.margins(x=0.2)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    if sys.argv[1:2] == ["--line"]:
        one_line(Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4]), Path(sys.argv[5]))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("swift", type=Path)
    parser.add_argument("train", type=Path)
    parser.add_argument("sections", nargs="*", help=f"of {', '.join(SECTIONS)}; none: all")
    parser.add_argument("--pages", type=int, default=60_000, help="recombined pages from file to file")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scaling-pages", type=int, default=600_000)
    parser.add_argument("--most-pages", type=int, default=1_000_000)
    parser.add_argument("--work", type=new_folder, default="speed-work", help="models of the peers, pages")
    parser.add_argument("--other", type=Path, help="words of pages that are not among TRAIN's, for the latency of new words")
    parser.add_argument("--out", type=new_folder, help="a folder for speed.json, speed.md and speed.png")
    options = parser.parse_args()
    options.work = options.work.resolve()
    kept = (options.out or options.work) / "speed.json"
    found: Facts = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    for section in options.sections or SECTIONS:
        found[section] = globals()[section](options)
        print(json.dumps({section: found[section]}, indent=1, ensure_ascii=False), flush=True)
        import torch

        cores = f"{os.cpu_count()} cores of {platform.machine()}"
        found["machine"] = (
            f"{cores}, torch {torch.__version__}, Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}"
        )
        found = {name: found[name] for name in (*SECTIONS, "machine") if name in found}
        kept.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(markdown(found))
    if options.out is not None:
        (options.out / "speed.md").write_text(markdown(found).lstrip(), encoding="utf-8")
        if "lines" in found:
            draw(found, options.out / "speed.png")


if __name__ == "__main__":
    main()
