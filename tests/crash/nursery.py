"""Small trainings for tests: run here to their end, or born by a process that has torch in memory and killed at any moment."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any

# Rich input, dropout, word dropout and averaging are the default recipe's.
TINY = (
    *(
        "encoder.width=16",
        "encoder.depth=1",
        "encoder.heads=2",
        "encoder.inner=32",
        "input.ngram_buckets=50",
        "input.shape_buckets=20",
    ),
    *(
        "training.batch=4",
        "training.checkpoint_steps=3",
        "schedule.warmup=50",
        "head.window_crf_buckets=200",
        "input.vectors=",
        "training.export=false",
    ),
)


def small_files(folder: Path, *, train: int = 24, dev: int = 8) -> dict[str, Any]:
    """Sample pages in files, as `DataFiles` takes them."""
    from batag.pages.formats import write_pages
    from batag.sample import sample_pages

    folder.mkdir(parents=True, exist_ok=True)
    write_pages(sample_pages("en", pages=train, style="paper"), folder / "train.jsonl")
    write_pages(sample_pages("en", pages=dev, split="dev", style="paper"), folder / "dev.jsonl")
    return {"train": (folder / "train.jsonl",), "dev": (folder / "dev.jsonl",)}


def new_run(folder: Path, files: dict[str, Any], *settings: str) -> Any:
    """A tiny run, not prepared yet."""
    from batag.training.data import DataFiles
    from batag.training.recipe import read_recipe
    from batag.training.run import Run

    return Run.create(folder, read_recipe(None, settings=[*TINY, *settings]), DataFiles(**files))


def finished(run: Any, *, watch: Callable[[int], None] = lambda _: None) -> Any:
    """The finished run; `watch` hears of every step and epoch."""
    watch(0)
    steps = run.prepare(device="cpu").train()
    for number in count(1):
        try:
            next(steps)
        except StopIteration as end:
            return end.value
        watch(number)
    return None


def resumed(folder: Path, *settings: str, watch: Callable[[int], None] = lambda _: None) -> Any:
    """A run that was left, trained to its end."""
    from batag.training.run import Run

    return finished(Run.open(folder, settings=list(settings)), watch=watch)


def outcome(folder: Path) -> dict[str, Any]:
    """All numbers of a finished run, to be compared bit by bit."""
    from batag.training.checkpoint import load_weights_file

    found: dict[str, Any] = {}
    for name in ("last", "best"):
        tensors, metadata = load_weights_file(folder / f"{name}.safetensors")
        found |= {f"{name}.{key}": value.numpy().tobytes() for key, value in tensors.items()}
        found[name] = metadata
    found["bundle"] = (folder / "bundle" / "model.safetensors").read_bytes()
    lines = map(json.loads, (folder / "metrics.jsonl").read_text(encoding="utf-8").split("\n")[:-1])
    found["metrics"] = [{key: value for key, value in line.items() if key not in ("seconds", "busy")} for line in lines]
    return found


def differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """The names of what is not the same in two outcomes."""
    return sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))


def check_complete(folder: Path) -> None:
    """Every file that stands under its own name can be read whole."""
    from batag.bundles.bundle import read_bundle
    from batag.training.checkpoint import load_weights_file
    from batag.training.recipe import read_recipe

    for name in ("last.safetensors", "best.safetensors"):
        if (folder / name).exists():
            load_weights_file(folder / name)
    if (folder / "recipe.toml").exists():
        read_recipe(folder / "recipe.toml")
    if (folder / "data.json").exists():
        assert json.loads((folder / "data.json").read_text())["train"]
    if (folder / "bundle").exists():
        assert read_bundle(folder / "bundle").model() is not None
    if (folder / "curves.png").exists():
        assert (folder / "curves.png").read_bytes().endswith(b"IEND\xaeB`\x82")
    if (folder / "metrics.jsonl").exists():
        for line in (folder / "metrics.jsonl").read_bytes().split(b"\n")[:-1]:
            json.loads(line)


def strays(folder: Path) -> set[str]:
    """What was left under a temporary name."""
    return {path.name for path in folder.glob(".*") if path.name != ".lock"}


@dataclass(frozen=True)
class Moment:
    """When to die: just `before` or `after` a file gets its name, or with `half` of it written; the so manieth time."""

    file: str
    at: str
    number: int = 1


@dataclass(frozen=True)
class Born:
    """How a training ended: by kill -9, or by itself with an exit code."""

    killed: bool
    code: int


class Nursery:
    """Gives birth to trainings and kills them."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.kills = 0

    def __enter__(self) -> Nursery:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()

    def train(
        self,
        folder: Path,
        files: dict[str, Any],
        settings: Iterable[str] = (),
        *,
        after: int | None = None,
        moment: Moment | None = None,
    ) -> Born:
        """Begin a run, or go on with it; killed somewhere `after` so many steps or at a moment, if it is not done by then."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {
            "folder": str(folder),
            "files": {part: list(map(str, paths)) for part, paths in files.items()},
            "settings": list(settings),
            "after": after,
            "moment": None if moment is None else vars(moment),
        }
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the nursery is gone"
        born = Born(**json.loads(answer))
        self.kills += born.killed
        return born


def _give_birth(order: dict[str, Any]) -> Born:
    """A child trains; it is killed when it says over the pipe that its time has come."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        code = 1
        try:
            _train(order, writing)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    os.close(writing)
    if os.read(reading, 1):
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    os.close(reading)
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    return Born(killed, -1 if killed else os.waitstatus_to_exitcode(status))


def _train(order: dict[str, Any], writing: int) -> None:
    folder, files = Path(order["folder"]), {part: tuple(map(Path, paths)) for part, paths in order["files"].items()}
    if order["moment"]:
        _die_at(Moment(**order["moment"]), writing)

    def watch(number: int) -> None:
        if number == order["after"]:  # and goes on: the kill comes a moment later
            os.write(writing, b"x")

    if (folder / "recipe.toml").exists():
        resumed(folder, watch=watch)
        return
    # Killed before there was a run: the user takes the folder away and begins again.
    shutil.rmtree(folder, ignore_errors=True)
    finished(new_run(folder, files, *order["settings"]), watch=watch)


def _die_at(moment: Moment, writing: int) -> None:
    """Stop for good when a file of that name comes to its place; `score` is the evaluation on dev."""
    from batag.training import loop

    seen = 0

    def now(name: str) -> bool:
        nonlocal seen
        seen += name == moment.file
        return name == moment.file and seen == moment.number

    def stop() -> None:
        os.write(writing, b"x")
        signal.pause()

    def placed(place: Callable[..., None]) -> Callable[..., None]:
        def wrapped(old: Any, new: Any, **options: Any) -> None:
            here = now(Path(new).name)
            if here and moment.at == "half":
                os.truncate(old, os.path.getsize(old) // 2)
            if here and moment.at != "after":
                stop()
            place(old, new, **options)
            if here:
                stop()

        return wrapped

    os.replace, os.rename = placed(os.replace), placed(os.rename)
    score = loop.score

    def scored(*arguments: Any, **options: Any) -> Any:
        if now("score"):
            stop()
        return score(*arguments, **options)

    loop.score = scored


def _main() -> None:
    """Load everything once, without starting any thread; then an order a line."""
    import torch

    from batag.evaluation.charts import draw_curves

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        new_run(place / "run", small_files(place)).prepare(device="cpu")
        scores = dict.fromkeys(("tag_f1", "tag_f2", "macro_f1", "macro_f2", "selected"), 0.5)
        epoch = {"kind": "epoch", "epoch": 1, "step": 1, "loss": 1.0, "true": {"brand": 1}, "predicted": {"brand": 1}}
        draw_curves([{"kind": "step", "step": 1, "loss": 1.0, "rate": 0.1}, epoch | scores], place / "a.png", title="a")
    for line in sys.stdin:
        print(json.dumps(vars(_give_birth(json.loads(line)))), flush=True)


if __name__ == "__main__":
    _main()
