"""Other engines for a bundle: made, checked against float32 torch on pages, and only then put into it.

The graph takes vectors and a mask, not words: every catalogue brings new words, and a word is spelt and summed up once when it
is first seen (word_table), not each time that it stands on a page. What follows the logits (answer) is a loop over a page's
tokens that NumPy does for all pages at once.
Shapes: B pages, L tokens, D width.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass, replace
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from safetensors.numpy import save
from torch import Tensor, nn

from batag.bundles.bundle import Bundle, check_classes
from batag.bundles.description import GRAPHS, KNOWN, EngineOf
from batag.bundles.exported import add_engine
from batag.encoders.position import sinusoid
from batag.engines import build_engine
from batag.engines.engine import Engine
from batag.engines.int8 import seen_ranges
from batag.engines.onnx_engine import import_runtime
from batag.engines.parity import Parity, compare, compare_rates
from batag.engines.torch_engine import TorchEngine
from batag.errors import InputError, UsageError
from batag.features.batches import BATCH_TOKENS, by_length
from batag.training.examples import Example

LARGEST_DIFFERENCE = 1e-4
LARGEST_LOSS = 0.003
_OPSET = 20
_LIBRARIES = ("onnx", "onnxscript")
_LONGEST = 2_048


@dataclass(frozen=True)
class Exported:
    """An engine that was made, what was found, and why it was refused, if it was."""

    name: str
    parity: Parity
    tokens_a_second: float
    refused: str = ""


def export(bundle: Bundle, *, kind: str, int8: bool, examples: Sequence[Example], force: bool = False) -> Exported:
    """Make an engine, compare it with float32 torch on examples, and add it to the bundle unless it is worse."""
    check_export(bundle, kind=kind, int8=int8)
    if not examples:
        raise InputError("no page to check the export on", todo="Give pages that have tokens")
    name = f"{kind}-int8" if int8 else kind
    reference = TorchEngine(bundle, device="cpu")
    graph = b""
    ranges: dict[str, tuple[float, float]] = {}
    if kind == "torch":
        ranges = seen_ranges(reference.layers, lambda: reference.probabilities([each.words for each in examples]))
    else:
        graph = _graph(reference, bundle, [each.words for each in examples], int8=int8)
    engine = _trial(bundle, name, graph, ranges)
    parity = compare(engine, bundle, examples)
    rates = compare_rates({"torch": reference, name: engine}, [each.words for each in examples])
    refused = "" if force else _verdict(parity, bundle, int8=int8)
    found = Exported(name, parity, rates[name], refused)
    if not refused:
        # Rates of another hour are compared by what float32 torch did then and does now.
        before = bundle.description.engines.get("torch")
        plain = before if before is not None and before.tokens_a_second else EngineOf(tokens_a_second=rates["torch"])
        rate = round(rates[name] * plain.tokens_a_second / rates["torch"], 1)
        facts = EngineOf(tokens_a_second=rate, largest_difference=parity.largest, checked=parity.facts(), ranges=ranges)
        files = {GRAPHS[name]: graph} if graph else {}
        if KNOWN not in bundle.description.files and (known := reference.table.known()):
            files[KNOWN] = save(known)
        add_engine(bundle.folder, name, facts, files=files, torch=plain)
    return found


def check_export(bundle: Bundle, *, kind: str, int8: bool) -> None:
    """Whatever makes an export impossible, known before a page is read."""
    if kind not in ("onnx", "torch"):
        raise UsageError(f"{kind!r} cannot be exported", todo="There are onnx and torch")
    if kind == "torch" and not int8:
        raise UsageError("every bundle runs in float32 torch as it is", todo="Say --int8, or --engine onnx")
    missing = [name for name in _LIBRARIES if kind == "onnx" and find_spec(name) is None]
    if missing:
        raise UsageError(
            f"exporting needs {' and '.join(missing)}", todo=f"{sys.executable} -m pip install {' '.join(missing)}"
        )
    check_classes(bundle.description, bundle.folder)
    if bundle.description.reads_pages:
        raise UsageError("a bundle with a backbone runs in torch only", todo="Distil it: batag distil BUNDLE PAGES -o SWIFT")


def _verdict(parity: Parity, bundle: Bundle, *, int8: bool) -> str:
    """Why an engine is not good enough, if it is not."""
    if not int8:
        if parity.largest > LARGEST_DIFFERENCE:
            return f"a probability differs by {parity.largest:.2g}, more than {LARGEST_DIFFERENCE:g}"
        return f"{parity.other_labels} tokens have another label" if parity.other_labels else ""
    if not parity.labelled:
        return "without labelled pages nobody knows what int8 costs"
    lost = max(point.before["macro_f2"] - point.after["macro_f2"] for point in parity.points.values())
    return f"macro F2 falls by {100 * lost:.2f} points, more than {100 * LARGEST_LOSS:g}" if lost > LARGEST_LOSS else ""


def _trial(bundle: Bundle, name: str, graph: bytes, ranges: dict[str, tuple[float, float]]) -> Engine:
    """The engine as it will be once it is in the bundle."""
    with tempfile.TemporaryDirectory() as folder:
        said = bundle.description.model_copy(update={"engines": {**bundle.description.engines, name: EngineOf(ranges=ranges)}})
        trial = replace(bundle, description=said)
        if graph:
            for each in bundle.description.files.keys() - {GRAPHS[name]}:
                (Path(folder) / each).symlink_to(bundle.folder.resolve() / each)
            (Path(folder) / GRAPHS[name]).write_bytes(graph)
            trial = replace(trial, folder=Path(folder))
        return build_engine(name, trial, device="cpu")


class _Layers(nn.Module):
    """Vectors and mask to logits: all that a graph needs."""

    def __init__(self, encoder: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.encoder, self.head = encoder, head

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        found: Tensor = self.head(self.encoder(vectors, mask))
        return found


class _KnownPositions(nn.Module):
    """x + PE from a table that reaches far enough: a graph needs no sine."""

    def __init__(self, table_LD: Tensor) -> None:
        super().__init__()
        self.register_buffer("table", table_LD)

    def forward(self, x_BLD: Tensor) -> Tensor:
        table: Any = self.table
        found: Tensor = x_BLD + table[: x_BLD.shape[1]]
        return found


def _graph(reference: TorchEngine, bundle: Bundle, texts: Sequence[Sequence[str]], *, int8: bool) -> bytes:
    """The encoder as an ONNX file with any number of pages of any length up to a window (or 2,048 tokens)."""
    import onnx

    said = bundle.description
    longest = max(said.window, _LONGEST)
    encoder = deepcopy(reference.model.encoder)
    if said.encoder.position == "sinusoid":
        encoder.position = _KnownPositions(sinusoid(longest, encoder.width).float())  # type: ignore[assignment]
    layers = _Layers(encoder, deepcopy(reference.model.head)).eval()
    batches = [
        reference.table.look_up([texts[number] for number in batch])[:2]
        for batch in by_length(list(map(len, texts)), tokens=BATCH_TOKENS)
    ]
    # Two pages or more: a size of one would be taken for a constant.
    wide = max(batches, key=lambda batch: min(batch[1].shape))
    if min(wide[1].shape) < 2:
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
        what = f"the encoder {said.encoder.name} cannot be written as an ONNX graph"
        raise UsageError(what, todo="Use --engine torch --int8, or distil it into a bat: batag distil") from error
    assert program is not None
    graph: bytes = program.model_proto.SerializeToString()
    return graph if not int8 else _calibrated(onnx.load_from_string(graph), batches)


def _calibrated(graph: Any, batches: Sequence[tuple[Any, ...]]) -> bytes:
    """The graph with its products in int8, by the ranges that its inputs have on these pages."""
    import_runtime()
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    class Pages(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.left = iter([dict(zip(("vectors", "mask"), batch, strict=True)) for batch in batches])

        def get_next(self) -> dict[str, Any] | None:
            return next(self.left, None)

    weights = {each.name for each in graph.graph.initializer}
    products = [node.name for node in graph.graph.node if node.op_type in ("MatMul", "Gemm") and node.input[1] in weights]
    with tempfile.TemporaryDirectory() as folder, _quiet():
        before, after = Path(folder) / "before.onnx", Path(folder) / "after.onnx"
        before.write_bytes(graph.SerializeToString())
        quantize_static(
            before,
            after,
            Pages(),
            quant_format=QuantFormat.QDQ,
            op_types_to_quantize=["MatMul", "Gemm"],
            nodes_to_quantize=products[:-1],  # the last one gives the logits
            per_channel=True,
            reduce_range=True,  # as in int8.py, and for the same reason
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
        )
        return after.read_bytes()


@contextmanager
def _quiet() -> Iterator[None]:
    """No word of the libraries' own: what there is to say is said by the comparison."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
