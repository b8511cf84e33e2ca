"""Choose the engine of a bundle: the one that starts fastest or, for a large job, the one with the highest throughput."""

from importlib.util import find_spec

from batag.bundles.description import Description
from batag.encoders import DEVICES
from batag.engines import check_engine
from batag.errors import TRAIN_EXTRA, UsageError, unknown_name

LARGE_BYTES = 1_000_000
"""Size of an input (some thousand pages) from which tagging takes longer than loading torch."""
_LIBRARIES = {"torch": "torch", "torch-int8": "torch", "onnx": "onnxruntime"}


def choose_engine(description: Description, *, wanted: str = "auto", device: str = "auto", large: bool = False) -> str:
    """Return the name of the engine to use. `auto` is ONNX Runtime if the bundle has its graph or, for a `large` job, the
    installed engine that was fastest when it was exported."""
    if device.partition(":")[0] not in DEVICES:
        raise unknown_name(device, DEVICES, "a device")
    if wanted != "auto":
        check_engine(wanted, description)
    elif device not in ("auto", "cpu") or description.reads_pages:
        wanted = "torch"
    if wanted != "auto":
        if not _installed(wanted):
            raise UsageError(f"the engine {wanted} needs {_LIBRARIES[wanted]}", todo=TRAIN_EXTRA)
        return wanted
    rates = {"torch": 0.0} | {name: each.tokens_per_second for name, each in description.engines.items()}
    there = [name for name in rates if name in _LIBRARIES and _installed(name)]
    if not there:
        todo = f"Add it where torch is installed: batag export BUNDLE; or {TRAIN_EXTRA}"
        raise UsageError("the bundle has no ONNX engine, and torch is not installed", todo=todo)
    if not large:
        return "onnx" if "onnx" in there else "torch"
    fastest = max(there, key=lambda name: rates[name])
    return "torch" if fastest == "torch-int8" and not _int8_works() else fastest


def _installed(engine: str) -> bool:
    try:
        return find_spec(_LIBRARIES[engine]) is not None
    except ImportError:
        return False


def _int8_works() -> bool:
    from batag.engines.int8 import int8_works

    return int8_works()
