"""The schema of `bundle.json` with types and bounds; a file that does not match it is refused."""

from functools import cached_property
from itertools import chain, pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from batag.features.term_lists import LEXICON
from batag.labels.scheme import Scheme
from batag.pages.fields import KNOWN_KEYS

FORMAT = 1
"""The version of the bundle format. It changes freely until the first release; from then on older versions load."""
DESCRIPTION = "bundle.json"
MODEL, VOCABULARY, DICTIONARY, GRAPH = "model.safetensors", "vocabulary.json", "dictionary.txt", "model.onnx"
KNOWN = "known_words.safetensors"
TERMS = "terms.tsv"
BACKBONE = "backbone"
LONGEST_WINDOW = 16_384
"""Upper bound of the window; attention costs its square."""
AGAIN = "Copy the bundle again, or train it again"

Size = Annotated[int, Field(ge=1, le=65_536)]
Share = Annotated[float, Field(ge=0, lt=1)]
Name = Annotated[str, Field(min_length=1)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_OWN = "|".join(name.replace(".", r"\.") for name in (MODEL, VOCABULARY, DICTIONARY, GRAPH, KNOWN, TERMS))
_OF_WORDS = r"(word|character)_vectors(\.[A-Za-z-]+)?\.(json|safetensors)"
_OF_BACKBONE = r"backbone/[a-z_]+(\.bpe)?\.(json|txt|model|safetensors)"
FileName = Annotated[str, Field(pattern=rf"^({_OWN}|{_OF_WORDS}|{_OF_BACKBONE})$", max_length=64)]


class _Part(BaseModel):
    # What a later batag adds within the same format is left alone.
    model_config = ConfigDict(extra="ignore", frozen=True)


class SchemeOf(_Part):
    """The classes, and how they are turned into token labels."""

    name: Literal["flat", "bio"]
    classes: Annotated[list[Name], Field(min_length=1)]


class SegmentationOf(_Part):
    """How pages are split into tokens."""

    name: str
    rules: list[str]


class InputOf(_Part):
    """How tokens are turned into vectors."""

    kind: Literal["word", "rich"]
    word_dropout: Share
    dropout: Share
    min_ngram: Annotated[int, Field(ge=1, le=16)]
    max_ngram: Annotated[int, Field(ge=1, le=16)]
    ngram_buckets: Annotated[int, Field(ge=1, le=10_000_000)]
    shape_buckets: Annotated[int, Field(ge=1, le=1_000_000)]
    part_of_speech_buckets: Annotated[int, Field(ge=0, le=1_000_000)]
    spaces: bool = False
    repeats: bool = False


class FeatureOf(_Part):
    """One kind of pretrained features (word vectors, character vectors or a backbone), for one language or for all.
    `shipped` is the digest of those that come with batag, which are not copied into the bundle."""

    kind: Literal["word_vectors", "character_vectors", "backbone"]
    language: str | None
    width: Size
    files: list[FileName]
    shipped: str = ""

    @model_validator(mode="after")
    def _is_somewhere(self) -> Self:
        if bool(self.shipped) == bool(self.files) or len(self.files) == 1:
            raise ValueError("it names neither two files nor features that come with batag")
        return self


class TermsOf(_Part):
    """The term lists whose names are features: the digest of the lexicon it was trained with (empty without), and the number of
    names of its own, which stand in `terms.tsv`."""

    lexicon: str = ""
    own: Annotated[int, Field(ge=0)] = 0


class EncoderOf(_Part):
    """The encoder and its sizes."""

    name: str
    width: Size
    depth: Annotated[int, Field(ge=1, le=1_000)]
    heads: Size
    inner: Size
    position: Literal["sinusoid", "none", "linear", "affine"]
    dropout: Share
    options: dict[str, Any]


class HeadOf(_Part):
    """How vectors are turned into label probabilities."""

    chain: bool
    window_crf: Annotated[int, Field(ge=0, le=16)]
    window_crf_buckets: Annotated[int, Field(ge=1, le=100_000_000)]


class PointOf(_Part):
    """One operating point of the dial between clean and rich."""

    richness: Annotated[float, Field(ge=0, le=1)]
    beta: Annotated[float, Field(gt=0, le=1_000)]
    offsets: dict[Name, Annotated[float, Field(ge=-100, le=100)]]


class CalibrationOf(_Part):
    """An increasing piecewise linear function from raw scores to probabilities."""

    method: str
    raw: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(min_length=1)]
    probability: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(min_length=1)]
    errors: dict[str, float]

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if len(self.raw) != len(self.probability) or any(
            a > b for a, b in chain(pairwise(self.raw), pairwise(self.probability))
        ):
            raise ValueError("is not an increasing function")
        return self


class EngineOf(_Part):
    """An exported engine: its throughput on the machine that exported it, the largest difference of its probabilities from
    float32 torch and, for int8, the input range of each linear layer."""

    tokens_per_second: Annotated[float, Field(ge=0)]
    largest_difference: Annotated[float, Field(ge=0)] = 0.0
    checked: dict[str, Any] = {}
    ranges: dict[Name, tuple[float, float]] = {}


class FileOf(_Part):
    """Size and checksum of a file."""

    sha256: Digest
    bytes: Annotated[int, Field(ge=0)]


class Description(_Part):
    """The whole `bundle.json`. `fields` and `languages` are those of the training pages, most frequent first; `columns` maps
    fields to the columns of the training files."""

    format: int
    batag: str
    created: str
    name: str
    fields: list[Name]
    columns: dict[Name, Name]
    languages: list[Name]
    scheme: SchemeOf
    segmentation: SegmentationOf
    dictionaries: dict[Name, str]
    input: InputOf
    features: list[FeatureOf]
    terms: TermsOf = TermsOf()
    encoder: EncoderOf
    head: HeadOf
    window: Annotated[int, Field(ge=2, le=LONGEST_WINDOW)]
    overlap: Annotated[int, Field(ge=0, le=LONGEST_WINDOW)]
    dial: list[PointOf]
    calibration: CalibrationOf
    tagged_stop_words: list[Name]
    metrics: dict[str, Any]
    trained_on: dict[str, Any]
    recipe: dict[str, Any]
    engines: dict[Name, EngineOf]
    files: dict[FileName, FileOf]

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The token labels in order of their number."""
        return Scheme(self.scheme.name, tuple(self.scheme.classes)).labels

    @property
    def usual_columns(self) -> dict[str, str]:
        """The columns in which files have the bundle's fields unless `--columns` names others: those of the training files, or
        columns with the field's own name."""
        mapped = {*self.columns, *self.columns.values(), *KNOWN_KEYS}
        return self.columns | {name: name for name in self.fields if name not in mapped}

    @property
    def pretrained_width(self) -> int:
        """The number of pretrained features per token."""
        return sum(each.width for each in self.features)

    @property
    def terms_setting(self) -> str:
        """The value of `input.terms` for a training that continues; names of its own come with the bundle."""
        return LEXICON if self.terms.lexicon else ""

    @property
    def reads_pages(self) -> bool:
        """Whether a backbone reads whole pages, so that a word's vector depends on its context."""
        return any(each.kind == BACKBONE for each in self.features)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        """Check what concerns several parts at once. It also builds the labels, so that bad classes are an error here."""
        _ = self.labels
        if self.overlap >= self.window:
            raise ValueError("its overlap is not smaller than its window")
        places = [point.richness for point in self.dial]
        if places and (places[0] != 0 or places[-1] != 1 or places != sorted(set(places))):
            raise ValueError("the richness of the dial does not rise from 0 to 1")
        if any(point.offsets.keys() != set(self.scheme.classes) for point in self.dial):
            raise ValueError("the dial is not that of its classes")
        if any(other.offsets[name] < offset for one, other in pairwise(self.dial) for name, offset in one.offsets.items()):
            raise ValueError("an offset of the dial falls as richness rises")
        wanted = {MODEL, VOCABULARY, *(file for each in self.features for file in each.files)}
        if self.terms.own:
            wanted.add(TERMS)
        if missing := sorted(wanted - self.files.keys()):
            raise ValueError(f"it does not list {missing[0]}")
        return self
