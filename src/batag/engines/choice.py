"""Which engine runs a bundle here: the fastest that it has and that works on this machine, tried once in a process of its own.

Some libraries die by an illegal instruction on processors that announce more than they can; a child dies in our place.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from zlib import crc32

from batag.bundles.bundle import MODEL, Bundle, find_bundle, read_bundle, read_description
from batag.bundles.description import GRAPHS, Description
from batag.engines import ENGINES, WITHOUT_TORCH, build_engine, check_engine
from batag.engines.engine import Engine, LayerEngine
from batag.engines.pair import Pair
from batag.errors import BatagError
from batag.pages.file import open_output

AUTO = ("auto", "soonest")
_SOONER = "onnx"
_LIBRARIES = {"torch": "torch", "onnx": "onnxruntime"}
_SECONDS = 120
_MOST_REMEMBERED = 1_000
_PAGE = ["new", "running", "shoes", "跑鞋", "スニーカー"] * 7
_TRIED = [["shoes"], _PAGE, *[_PAGE] * 30]
"""One page, few and many: engines may read them by other instructions."""


def choose_engine(folder: Path | str, *, wanted: str = "auto", device: str = "auto") -> str:
    """The engine as wanted; `auto`: the fastest of the bundle that works here; `soonest`: rather one without torch."""
    folder = find_bundle(Path(folder))
    said = read_description(folder)
    if wanted not in AUTO:
        return check_engine(wanted, said)
    if device not in ("auto", "cpu") or said.reads_pages:
        return "torch"
    for name in _by_rate(said, first=WITHOUT_TORCH if wanted == "soonest" else frozenset()):
        if name == "torch" or works(folder, name):
            return name
    return "torch"


def chosen_engine(bundle: Bundle, *, wanted: str = "auto", device: str = "auto", threads: int | None = None) -> Engine:
    """The engine as wanted; with `auto`, a lone page goes to ONNX Runtime if the bundle has a graph, which answers it sooner
    than torch (and differs from float32 torch by at most 1e-4)."""
    name = choose_engine(bundle.folder, wanted=wanted, device=device)
    engine = build_engine(name, bundle, device=device, threads=threads)
    paired = wanted == "auto" and name not in WITHOUT_TORCH and _SOONER in bundle.description.engines
    if paired and device in ("auto", "cpu") and isinstance(engine, LayerEngine) and works(bundle.folder, _SOONER):
        sooner = build_engine(_SOONER, bundle, device="cpu", threads=threads)
        assert isinstance(sooner, LayerEngine)
        return Pair(engine, sooner)
    return engine


def _by_rate(said: Description, *, first: frozenset[str]) -> list[str]:
    """The engines of a bundle, the fastest first; torch in float32 without a rate of its own comes last."""
    rates = {"torch": 0.0} | {name: each.tokens_a_second for name, each in said.engines.items() if name in ENGINES}
    return sorted(rates, key=lambda name: (name not in first, -rates[name]))


def works(folder: Path, name: str) -> bool:
    """Whether an engine runs here; what a child process found is remembered for this very graph (in torch: these weights), this
    processor and these libraries."""
    key = f"{name} {_content(folder, name)} {_library(name)} batag {version('batag')} {_processor()}"
    known = _remembered()
    if key not in known:
        command = [sys.executable, "-P", "-m", "batag.engines.choice", str(folder), name]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        try:
            ended = subprocess.run(command, capture_output=True, timeout=_SECONDS, env=environment, check=False).returncode
        except (OSError, subprocess.TimeoutExpired):
            return False
        if ended > 0:  # not the processor: something is missing, or the bundle is damaged
            return False
        known = dict([*_remembered().items(), (key, "works" if ended == 0 else f"died by signal {-ended}")][-_MOST_REMEMBERED:])
        with suppress(OSError, BatagError):
            _memory().parent.mkdir(parents=True, exist_ok=True)
            with open_output(_memory()) as stream:
                stream.write(json.dumps(known, indent=1).encode())
    return known[key] == "works"


def _content(folder: Path, name: str) -> str:
    """The hash of what an engine runs."""
    files = read_description(folder).files
    return (files.get(GRAPHS.get(name, MODEL)) or files[MODEL]).sha256


def _memory() -> Path:
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user without a home
        folder = Path(tempfile.gettempdir())
    return folder / "batag" / "engines.json"


def _remembered() -> dict[str, str]:
    try:
        found = json.loads(_memory().read_bytes())
    except (OSError, ValueError):
        return {}
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def _library(name: str) -> str:
    library = _LIBRARIES[name.partition("-")[0]]
    try:
        return f"{library} {version(library)}"
    except PackageNotFoundError:
        return library


def _processor() -> str:
    """Its name and a sum over what it announces; virtual machines of many kinds have one name."""
    with suppress(OSError):
        said = dict(line.split(":", 1) for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines() if ":" in line)
        facts = {key.strip(): value.strip() for key, value in said.items()}
        if "model name" in facts:
            return f"{facts['model name']} {crc32(facts.get('flags', '').encode()):08x}"
    return platform.processor() or platform.machine()


def _try() -> None:
    """In the child: load the engine and ask it something."""
    folder, name = Path(sys.argv[1]), sys.argv[2]
    engine = build_engine(name, read_bundle(folder, layers=name not in WITHOUT_TORCH), device="cpu")
    for values in engine.probabilities(_TRIED):
        assert abs(float(values.sum(1).mean()) - 1) < 1e-3


if __name__ == "__main__":
    _try()
