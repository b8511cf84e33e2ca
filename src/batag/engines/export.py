"""Export an engine: build it, compare it with float32 torch on pages, and only then add it to the bundle.

The input of the ONNX graph is vectors and a mask, not words: every catalogue has new words, and the vector of a word is
computed once when it is first seen (word_table). The heads after the logits run in NumPy for all pages at once. Shapes: B
pages, L tokens, D width.
"""

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from safetensors.numpy import save
from torch import Tensor, nn

from batag.bundles.bundle import Bundle, read_bundle
from batag.bundles.description import GRAPH, KNOWN, EngineOf
from batag.bundles.exported import add_engine
from batag.bundles.found import check_own
from batag.encoders.position import sinusoid
from batag.engines.engine import Engine
from batag.engines.int8 import input_ranges
from batag.engines.onnx_engine import OnnxEngine
from batag.engines.parity import LabelledWords, Parity, compare, compare_rates
from batag.engines.torch_engine import TorchEngine
from batag.errors import TRAIN_EXTRA, InputError, UsageError
from batag.features.batches import BATCH_TOKENS

EXPORTED = ("onnx", "torch-int8")
LARGEST_DIFFERENCE = 1e-4
LARGEST_LOSS = 0.003
_MAY_LOSE = {"macro F2": "macro_f2", "tag F2": "tag_f2"}
_OPSET = 20
_LIBRARIES = ("onnx", "onnxscript")
_LONGEST = 2_048
_MOST_PAGES = 1_000


@dataclass(frozen=True)
class Exported:
    """An exported engine, its comparison with float32 torch, and the reason why it was refused (empty if it was added)."""

    engine: str
    parity: Parity
    tokens_per_second: float
    refused: str = ""


def export(
    bundle: Bundle, *, engine: str, pages: Sequence[LabelledWords], force: bool = False, known_words: bool = True
) -> Exported:
    """Build an engine, compare it with float32 torch on pages, and add it to the bundle if it passes (or with `force`).
    Precomputed vectors of frequent words, which save time at the start, are left out without `known_words`."""
    check_export(bundle, engine=engine)
    if not pages:
        raise InputError("no page to check the export on", todo="Give pages that have tokens")
    reference = TorchEngine(bundle, device="cpu")
    words = [each for each, _ in pages]
    graph = b""
    ranges: dict[str, tuple[float, float]] = {}
    made: Engine
    if engine == "onnx":
        graph = _graph(reference, bundle, words)
        made = OnnxEngine(bundle, graph=graph)
    else:
        ranges = input_ranges(reference.layers, lambda: reference.probabilities(words))
        made = TorchEngine(bundle, device="cpu", ranges=ranges)
    parity = compare(made, bundle, pages)
    rates = compare_rates({"torch": reference, engine: made}, words)
    refused = "" if force else _verdict(parity, int8=engine == "torch-int8")
    if not refused:
        # Rates of another hour are compared by what float32 torch did then and does now.
        before = bundle.description.engines.get("torch")
        plain = before if before is not None and before.tokens_per_second else EngineOf(tokens_per_second=rates["torch"])
        rate = round(rates[engine] * plain.tokens_per_second / rates["torch"], 1)
        entry = EngineOf(tokens_per_second=rate, largest_difference=parity.largest, checked=parity.to_dict(), ranges=ranges)
        files = {GRAPH: graph} if graph else {}
        if known_words and KNOWN not in bundle.description.files and (known := reference.table.known()):
            files[KNOWN] = save(known)
        add_engine(bundle.folder, engine, entry, files=files, torch=plain)
    return Exported(engine, parity, rates[engine], refused)


def add_onnx(folder: Path, pages: Sequence[LabelledWords]) -> str:
    """Add the ONNX engine to a new bundle; returns the reason if that is not possible, else an empty text."""
    bundle = read_bundle(folder)
    if "onnx" in bundle.description.engines:
        return ""
    try:
        return export(bundle, engine="onnx", pages=pages[:_MOST_PAGES]).refused
    except (UsageError, InputError) as error:
        return error.what


def check_export(bundle: Bundle, *, engine: str) -> None:
    """Raise an error before any work if an export is impossible."""
    if engine not in EXPORTED:
        raise UsageError(f"{engine!r} cannot be exported", todo=f"There are {' and '.join(EXPORTED)}; every bundle has torch")
    check_own(bundle.folder)
    if engine == "onnx" and (missing := [name for name in _LIBRARIES if find_spec(name) is None]):
        raise UsageError(f"exporting needs {' and '.join(missing)}", todo=TRAIN_EXTRA)
    if bundle.description.reads_pages:
        raise UsageError("a bundle with a backbone runs in torch only", todo="Distil it: batag distil BUNDLE PAGES -o SWIFT")


def _verdict(parity: Parity, *, int8: bool) -> str:
    """The reason why an engine fails the comparison; empty if it passes."""
    if not int8:
        if parity.largest > LARGEST_DIFFERENCE:
            return f"a probability differs by {parity.largest:.2g}, more than {LARGEST_DIFFERENCE:g}"
        return f"{parity.other_labels} tokens have another label" if parity.other_labels else ""
    if not parity.labelled:
        return "without labelled pages the loss of accuracy by int8 is unknown"
    losses = {name: parity.before[key] - parity.after[key] for name, key in _MAY_LOSE.items()}
    name, lost = max(losses.items(), key=lambda item: item[1])
    return f"{name} falls by {100 * lost:.2f} points, more than {100 * LARGEST_LOSS:g}" if lost > LARGEST_LOSS else ""


class _Layers(nn.Module):
    """The module that is exported: vectors and mask to logits."""

    def __init__(self, encoder: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.encoder, self.head = encoder, head

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        found: Tensor = self.head(self.encoder(vectors, mask))
        return found


class _KnownPositions(nn.Module):
    """Adds the position encoding from a precomputed table, so that the graph contains no sine."""

    def __init__(self, table_LD: Tensor) -> None:
        super().__init__()
        self.register_buffer("table", table_LD)

    def forward(self, x_BLD: Tensor) -> Tensor:
        table: Any = self.table
        found: Tensor = x_BLD + table[: x_BLD.shape[1]]
        return found


def _graph(reference: TorchEngine, bundle: Bundle, texts: Sequence[Sequence[str]]) -> bytes:
    """The encoder as an ONNX file for any number of pages of up to the window or 2,048 tokens, whichever is longer."""
    description = bundle.description
    longest = max(description.window, _LONGEST)
    encoder = deepcopy(reference.model.encoder)
    if description.encoder.position == "sinusoid":
        encoder.position = _KnownPositions(sinusoid(longest, encoder.width).float())  # type: ignore[assignment]
    layers = _Layers(encoder, deepcopy(reference.model.head)).eval()
    # Two pages or more: a size of one would be taken for a constant. Of several lengths: padding must be in the graph.
    ordered = sorted(filter(None, texts), key=len, reverse=True)
    number = max(BATCH_TOKENS // len(ordered[0]), 2) if ordered else 0
    wide = reference.table.look_up(ordered[:: max(len(ordered) // number, 1)][:number])[:2] if ordered else None
    if wide is None or min(wide[1].shape) < 2:
        raise InputError("too few words to export with", todo="Give more pages")
    pages, length = torch.export.Dim("pages", min=1, max=1 << 20), torch.export.Dim("length", min=1, max=longest)
    shapes = {0: pages, 1: length}
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()), _quiet():
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                layers,
                tuple(map(torch.from_numpy, wide)),
                dynamo=True,
                opset_version=_OPSET,
                dynamic_shapes=(shapes, shapes),
                input_names=["vectors", "mask"],
                output_names=["logits"],
                verbose=False,
            )
    except Exception as error:  # the exporter has many kinds
        what = f"the encoder {description.encoder.name} cannot be exported as an ONNX graph by torch {torch.__version__}"
        raise UsageError(what, todo="Use --engine torch-int8, or distil it into a bat: batag distil") from error
    assert program is not None
    return _without_traces(program.model_proto)


def _without_traces(model: Any) -> bytes:
    """The graph without the exporter's notes about source code, which name local folders."""
    graph = model.graph
    for part in (
        model,
        graph,
        *graph.node,
        *graph.input,
        *graph.output,
        *graph.value_info,
        *graph.initializer,
        *model.functions,
    ):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    for node in (node for function in model.functions for node in function.node):
        node.ClearField("metadata_props")
        node.ClearField("doc_string")
    found: bytes = model.SerializeToString()
    return found


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the messages of the exporter's libraries."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
