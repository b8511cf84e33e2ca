"""`bundle.json`: what a bundle is, in types and bounds; a description that is not like this is refused."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

FORMAT = 7
"""The version of the bundle format that is written; this batag reads all up to it. From 7 on `bundle.json` has a checksum of
its own, and says which texts of stop words are tags all the same."""
WITHOUT_DIGEST = 6

DESCRIPTION = "bundle.json"
LONGEST_WINDOW = 16_384
"""What a window costs grows with its square."""
KNOWN = "known.safetensors"
BACKBONE = "backbone"
AGAIN = "Copy the bundle again, or train it again"

Size = Annotated[int, Field(ge=1, le=65_536)]
Name = Annotated[str, Field(min_length=1)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Own = Literal[
    "model.safetensors",
    "vocabulary.json",
    "dictionary.txt",
    "vectors.json",
    "vectors.safetensors",
    "english.json",
    "english.safetensors",
    "characters.json",
    "characters.safetensors",
    "known.safetensors",
    "model.onnx",
]
_OfBackbone = Annotated[str, Field(pattern=r"^backbone/[a-z_]+(\.bpe)?\.(json|txt|model|safetensors)$", max_length=64)]
FileName = _Own | _OfBackbone
GRAPH: FileName = "model.onnx"
_WORDS = r"(vectors(\+english)?(\+characters)?|english(\+characters)?|characters)"
Pretrained = Annotated[str, Field(pattern=rf"^({BACKBONE}|({BACKBONE}\+)?{_WORDS}|)$")]


class _Part(BaseModel):
    # What a later batag adds within the same format is left alone.
    model_config = ConfigDict(extra="ignore", frozen=True)


class SchemeOf(_Part):
    """Classes and how they are labels of tokens."""

    name: Literal["flat", "bio"]
    classes: Annotated[list[Name], Field(min_length=1)]


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
    ngram_buckets: Annotated[int, Field(ge=1, le=10_000_000)] = 20_000
    shape_buckets: Annotated[int, Field(ge=1, le=1_000_000)] = 1_000
    part_of_speech_buckets: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    pretrained_width: Annotated[int, Field(ge=0, le=65_536)] = 0


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


class HeadOf(_Part):
    """How vectors become labels."""

    chain: bool = False
    window_crf: Annotated[int, Field(ge=0, le=16)] = 0
    window_crf_buckets: Annotated[int, Field(ge=1, le=100_000_000)] = 1


class PointOf(_Part):
    """One operating point of the dial."""

    richness: Annotated[float, Field(ge=0, le=1)]
    beta: Annotated[float, Field(gt=0, le=1_000)]
    offsets: dict[Name, Annotated[float, Field(ge=-100, le=100)]]


class OperatingPointsOf(_Part):
    """The dial between clean and rich, in order of richness."""

    points: list[PointOf] = []

    @model_validator(mode="after")
    def _rises(self) -> Self:
        """A dial from 0 to 1 whose offsets never fall, all for the same classes."""
        places = [point.richness for point in self.points]
        if places and (places[0] != 0 or places[-1] != 1 or places != sorted(set(places))):
            raise ValueError("richness does not rise from 0 to 1")
        for one, other in pairwise(self.points):
            if one.offsets.keys() != other.offsets.keys():
                raise ValueError("the points have offsets of different classes")
            if any(other.offsets[name] < offset for name, offset in one.offsets.items()):
                raise ValueError("an offset falls as richness rises")
        return self


class CalibrationOf(_Part):
    """A rising line from raw scores to probabilities."""

    method: str = "none"
    raw: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(min_length=1)] = [0.0, 1.0]
    probability: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(min_length=1)] = [0.0, 1.0]
    errors: dict[str, float] = {}

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if len(self.raw) != len(self.probability) or any(
            a > b for a, b in chain(pairwise(self.raw), pairwise(self.probability))
        ):
            raise ValueError("is not a rising line")
        return self


class EngineOf(_Part):
    """An engine that was exported and checked: its rate on that machine, how far its answers were from float32 torch, and for
    int8 in torch the range of what goes into each product."""

    tokens_per_second: Annotated[float, Field(ge=0)] = 0.0
    largest_difference: Annotated[float, Field(ge=0)] = 0.0
    checked: dict[str, Any] = {}
    ranges: dict[Name, tuple[float, float]] = {}


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
    dictionaries: dict[Name, str] = {}
    input: InputOf
    encoder: EncoderOf
    head: HeadOf = HeadOf()
    window: Annotated[int, Field(ge=2, le=LONGEST_WINDOW)]
    overlap: Annotated[int, Field(ge=0, le=LONGEST_WINDOW)]
    operating_points: OperatingPointsOf = OperatingPointsOf()
    calibration: CalibrationOf = CalibrationOf()
    allowed: list[Name] = []
    metrics: dict[str, Any] = {}
    trained_on: dict[str, Any] = {}
    recipe: dict[str, Any] = {}
    pretrained: Pretrained = ""
    engines: dict[Name, EngineOf] = {}
    files: dict[FileName, FileOf]

    @property
    def reads_pages(self) -> bool:
        """Whether a backbone reads pages as a whole: then nothing is the same for a word wherever it stands."""
        return BACKBONE in self.pretrained.split("+")

    @model_validator(mode="after")
    def _dial_of_its_classes(self) -> Self:
        if any(point.offsets.keys() != set(self.scheme.classes) for point in self.operating_points.points):
            raise ValueError("the operating points are not those of its classes")
        return self
