"""`bundle.json`: what a bundle is, in types and bounds; a description that is not like this is refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

FORMAT = 1
"""The version of the bundle format that this batag writes; it reads all up to it."""

Size = Annotated[int, Field(ge=1, le=65_536)]
Name = Annotated[str, Field(min_length=1)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Own = Literal[
    "model.safetensors",
    "vocabulary.json",
    "dictionary.txt",
    "vectors.json",
    "vectors.safetensors",
    "model.onnx",
    "model.int8.onnx",
]
_OfBackbone = Annotated[str, Field(pattern=r"^backbone/[a-z_]+(\.bpe)?\.(json|txt|model|safetensors)$", max_length=64)]
FileName = _Own | _OfBackbone


class _Part(BaseModel):
    # What a later batag adds within the same format is left alone.
    model_config = ConfigDict(extra="ignore", frozen=True)


class SchemeOf(_Part):
    """Classes and how they are labels of tokens; what learnt from pages without labels has none."""

    name: Literal["flat", "bio"]
    classes: list[Name]


class SegmentationOf(_Part):
    """How pages become tokens."""

    name: str
    rules: list[str]


class InputOf(_Part):
    """How tokens become vectors."""

    kind: Literal["word", "rich"]
    word_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    shortest: Annotated[int, Field(ge=1, le=16)] = 1
    longest: Annotated[int, Field(ge=1, le=16)] = 4
    buckets: Annotated[int, Field(ge=1, le=10_000_000)] = 20_000
    shapes: Annotated[int, Field(ge=1, le=1_000_000)] = 1_000
    frozen_width: Annotated[int, Field(ge=0, le=65_536)] = 0


class EncoderOf(_Part):
    """The encoder and its sizes."""

    name: str
    width: Size
    depth: Annotated[int, Field(ge=1, le=1_000)]
    heads: Size
    inner: Size
    position: Literal["sinusoid", "none", "linear", "affine"] = "sinusoid"
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    options: dict[str, Any] = {}


class PointOf(_Part):
    """One operating point of the dial."""

    richness: Annotated[float, Field(ge=0, le=1)]
    beta: Annotated[float, Field(gt=0, le=1_000)]
    offsets: dict[Name, Annotated[float, Field(ge=-100, le=100)]]


class OperatingPointsOf(_Part):
    """The dial between clean and rich, in order of richness."""

    points: list[PointOf] = []


class CalibrationOf(_Part):
    """A rising line from raw scores to probabilities."""

    method: str = "none"
    raw: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(min_length=1)] = [0.0, 1.0]
    probability: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(min_length=1)] = [0.0, 1.0]
    errors: dict[str, float] = {}


class FileOf(_Part):
    """What a file must be."""

    sha256: Digest
    bytes: Annotated[int, Field(ge=0)]


class Description(_Part):
    """The whole of `bundle.json`."""

    format: int
    batag: str
    created: str
    name: str
    scheme: SchemeOf
    labels: list[str]
    segmentation: SegmentationOf
    input: InputOf
    encoder: EncoderOf
    window: Annotated[int, Field(ge=2, le=1_000_000)]
    overlap: Annotated[int, Field(ge=0, le=1_000_000)]
    operating_points: OperatingPointsOf = OperatingPointsOf()
    calibration: CalibrationOf = CalibrationOf()
    metrics: dict[str, Any] = {}
    trained_on: dict[str, Any] = {}
    recipe: dict[str, Any] = {}
    frozen: Literal["", "vectors", "backbone"] = ""
    files: dict[FileName, FileOf]
