"""Pretrained word vectors: from files of word2vec or GloVe, or of an installed spaCy model.

Shapes: N words, K features per word, G clusterings.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from batag.errors import BatagError, InputError, UsageError
from batag.features.batches import Floats
from batag.features.pretrained import Clusters, PretrainedWords
from batag.segmentation.speech import normal_form

_OF_SPACY = ("vectors", "key2row", "strings.json")
Rows = NDArray[np.int32]
ClusterNumbers = NDArray[np.uint16]


class WordVectors(PretrainedWords):
    """A table of word vectors. A word is looked up as written, in lower case, then in its normal form; unknown words have
    zeros. With `clusters`, words also have the numbers of their clusters."""

    kind = "word_vectors"

    def __init__(
        self,
        words: Sequence[str],
        table: Floats,
        rows: Rows | None = None,
        *,
        clusters: ClusterNumbers | None = None,
        language: str | None = None,
    ) -> None:
        """The first row of `table` is zeros; `rows` gives the row of each word (default: one row per word, in order);
        `clusters` [N,G] has each word's cluster in each clustering."""
        self.words, self.width, self.language = list(words), table.shape[1], language
        self._table, self._rows, self._clusters = table, rows, clusters
        self._place_of = {word: place for place, word in enumerate(self.words, 1)}
        self._row_at = np.arange(len(self.words) + 1) if rows is None else np.concatenate(([0], rows))

    def look_up(self, words: Sequence[str]) -> tuple[Floats, list[Clusters]]:
        found = self._place_of
        places = [found.get(word) or found.get(word.lower()) or found.get(normal_form(word), 0) for word in words]
        return self._table[self._row_at[places]], list(map(self._names, places))

    def _names(self, place: int) -> Clusters:
        if self._clusters is None or not place:
            return ()
        return tuple(f"like{clustering}={number}" for clustering, number in enumerate(self._clusters[place - 1].tolist()))

    def files(self) -> dict[str, bytes]:
        words = json.dumps(self.words, ensure_ascii=False).encode(errors="surrogatepass")
        more = {"rows": self._rows, "clusters": self._clusters}
        kept = {name: value for name, value in more.items() if value is not None}
        return self.named(words, save({"vectors": self._table} | kept))

    @classmethod
    def of_files(cls, words: bytes, table: bytes, *, language: str | None = None) -> WordVectors:
        """Read what `files` wrote; raises ValueError if it is damaged or was changed."""
        names, found = json.loads(words), load(table)
        vectors, rows, clusters = found["vectors"], found.get("rows"), found.get("clusters")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError("the words are not a list of texts")
        count = len(names) + 1 if rows is None else len(vectors)
        if vectors.ndim != 2 or len(vectors) != count or vectors.dtype != np.float32 or not np.isfinite(vectors).all():
            raise ValueError(f"the vectors are not {count} rows of finite numbers")
        if rows is not None and (
            rows.shape != (len(names),) or rows.dtype != np.int32 or not ((rows >= 0) & (rows < count)).all()
        ):
            raise ValueError(f"the vectors have no row for each of {len(names)} words")
        if clusters is not None and (clusters.ndim != 2 or len(clusters) != len(names) or clusters.dtype != np.uint16):
            raise ValueError(f"the vectors have no clusters for each of {len(names)} words")
        return cls(names, vectors, rows, clusters=clusters, language=language)


def vector_files(name: str) -> tuple[Path, ...]:
    """The file of that name, or the files of the installed spaCy model of that name."""
    if Path(name).exists() or not name.isidentifier():
        return (Path(name),)
    try:
        package = find_spec(name)
    except ValueError:  # a module without a spec, such as __main__
        package = None
    for folder in package.submodule_search_locations or () if package is not None else ():
        for vectors in sorted(Path(folder).glob(f"*/vocab/{_OF_SPACY[0]}")):
            return tuple(vectors.with_name(each) for each in _OF_SPACY)
    what = "is neither a file of word vectors nor an installed spaCy model that has some"
    raise InputError(what, where=name, todo="Check the name, or install it: pip install --no-deps ja-ginza")


def read_vectors(path: Path, *more: Path) -> WordVectors:
    """Read word vectors: word2vec's binary format (.bin) or text (word and numbers, with or without word2vec's first line),
    also .gz, or the files of a spaCy model. If a word occurs twice, the first vector is used."""
    if more:
        return _of_spacy(path)
    damaged = "Give word2vec's .bin, or text as GloVe's: a word and its numbers a line"
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as stream:
            name = path.with_suffix("").name if path.suffix == ".gz" else path.name
            words, rows = (_binary if name.endswith((".bin", ".vector")) else _text)(stream, str(path))
    except BatagError:
        raise
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot be read ({error})", where=str(path), todo="Check the file") from error
    except ValueError as error:
        raise InputError(str(error), where=str(path), todo=damaged) from error
    if not words:
        raise InputError("holds no word vector", where=str(path), todo=damaged)
    table = np.zeros((len(words) + 1, len(rows[0])), dtype=np.float32)
    for number, row in enumerate(rows, 1):
        table[number] = row
    if not np.isfinite(table).all():
        raise InputError("holds numbers that are not finite", where=str(path), todo=damaged)
    return WordVectors(words, table)


def _of_spacy(path: Path) -> WordVectors:
    """Read the vectors of a spaCy model, in which several words may share a row."""
    try:
        from spacy.strings import StringStore
        from spacy.vectors import Vectors
    except ImportError as error:
        raise UsageError("the vectors of a spaCy model need spaCy", todo="pip install 'batag[vectors]'") from error
    try:
        strings, vectors = StringStore().from_disk(path.with_name(_OF_SPACY[2])), Vectors().from_disk(path.parent)
        kept = [(strings[key], row + 1) for key, row in vectors.key2row.items() if key in strings and row >= 0]
        table = np.concatenate((np.zeros((1, vectors.data.shape[1])), vectors.data)).astype(np.float32)
    except (OSError, ValueError, KeyError, IndexError) as error:
        todo = "Install the model again; it must have word vectors (models that end in _sm have none)"
        raise InputError(f"holds no word vectors that can be read ({error})", where=str(path), todo=todo) from error
    if not kept or not np.isfinite(table).all():
        raise InputError(
            "holds no word vector, or numbers that are not finite", where=str(path), todo="Install a model that has some"
        )
    words, rows = zip(*kept, strict=True)
    return WordVectors(words, table, np.array(rows, dtype=np.int32))


def _binary(stream: BinaryIO | gzip.GzipFile, where: str) -> tuple[list[str], list[Floats]]:
    try:
        count, width = map(int, stream.readline(100).split())
    except ValueError:
        count = width = 0
    if not 0 < width <= 65_536 or not 0 < count <= 100_000_000:
        raise ValueError("is not word2vec's binary format")
    found: dict[str, Floats] = {}
    for _ in range(count):
        word = bytearray()
        while (letter := stream.read(1)) not in (b" ", b""):
            word += letter.strip(b"\n")
        data = stream.read(4 * width)
        if len(data) < 4 * width:
            raise ValueError("is not word2vec's binary format: it ends too early")
        found.setdefault(word.decode(errors="replace"), np.frombuffer(data, dtype="<f4"))
    return list(found), list(found.values())


def _text(stream: BinaryIO | gzip.GzipFile, where: str) -> tuple[list[str], list[Floats]]:
    found: dict[str, Floats] = {}
    width = 0
    for number, line in enumerate(stream, 1):
        if line.isspace() or (number == 1 and len(line.split()) == 2):
            continue
        # A line that begins with a space has no word: too few numbers are left below.
        width = width or len(line.split()) - (not line[:1].isspace())
        # From the right: a word may have a space in it. As bytes: it may be a space itself (U+00A0).
        word, *values = line.strip().rsplit(maxsplit=width)
        try:
            row = np.array(values, dtype=np.float32)
        except ValueError:
            row = np.zeros(0, dtype=np.float32)
        if len(row) != width or not width:
            raise InputError(f"is not a word and {width} numbers", where=f"{where}:{number}", todo="Correct or remove the line")
        found.setdefault(word.decode(errors="replace"), row)
    return list(found), list(found.values())
