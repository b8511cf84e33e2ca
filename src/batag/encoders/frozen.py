"""What others learnt of words, used as it is: a file of word vectors, or a Hugging Face model that reads the whole page.

Shapes: B pages, L tokens, K numbers a token.
"""

from __future__ import annotations

import gzip
import json
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load, save
from torch import Tensor

from batag.errors import InputError, UsageError

KINDS = ("vectors", "backbone")
_REMEMBERED_BYTES = 1 << 30
_BACKBONE_FILES = (
    *("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"),
    *("vocab.txt", "vocab.json", "merges.txt", "sentencepiece.bpe.model", "spiece.model", "added_tokens.json"),
)
Table = NDArray[np.float32]


class Frozen(Protocol):
    """Gives each token of each page K numbers that training does not change."""

    width: int

    def of(self, pages: Sequence[Sequence[str]]) -> Tensor: ...

    def files(self) -> dict[str, bytes]:
        """What a bundle keeps of it, by name."""
        ...


class WordVectors:
    """A vector a word, as it is written or else in lower case; a word that is not in the file has zeros."""

    def __init__(self, words: Sequence[str], table: Table) -> None:
        self.words, self.width = list(words), table.shape[1]
        self._rows = {word: row for row, word in enumerate(self.words, 1)}
        self._table = torch.from_numpy(np.concatenate((np.zeros((1, self.width), dtype=np.float32), table)))

    def of(self, pages: Sequence[Sequence[str]]) -> Tensor:
        rows = torch.zeros(len(pages), max(map(len, pages)), dtype=torch.long)
        for row, words in zip(rows, pages, strict=True):
            row[: len(words)] = torch.tensor([self._rows.get(w) or self._rows.get(w.lower(), 0) for w in words])
        return self._table[rows]

    def files(self) -> dict[str, bytes]:
        words = json.dumps(self.words, ensure_ascii=False).encode(errors="surrogatepass")
        return {"vectors.json": words, "vectors.safetensors": save({"vectors": self._table[1:].contiguous()})}

    @classmethod
    def of_files(cls, folder: Path) -> WordVectors:
        table = load((folder / "vectors.safetensors").read_bytes())["vectors"].numpy()
        return cls(json.loads((folder / "vectors.json").read_bytes()), table)


def read_vectors(path: Path) -> WordVectors:
    """word2vec's binary format (.bin) or text (word, numbers; with or without word2vec's first line), also .gz."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as stream:
            name = path.with_suffix("").name if path.suffix == ".gz" else path.name
            words, table = (_binary if name.endswith((".bin", ".vector")) else _text)(stream, path)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", where=str(path), todo="Check the name") from error
    if not words:
        raise InputError("holds no word vector", where=str(path), todo="Give word2vec's .bin, or text as GloVe's")
    distinct = {word: row for row, word in reversed(list(enumerate(words)))}
    return WordVectors(list(distinct), table[list(distinct.values())])


def _binary(stream: Any, path: Path) -> tuple[list[str], Table]:
    damaged = InputError("is not word2vec's binary format", where=str(path), todo="Give word2vec's .bin, or text as GloVe's")
    try:
        count, width = map(int, stream.readline().split())
        if not 0 < width <= 65_536 or not 0 < count <= 100_000_000:
            raise damaged
        words, rows = [], []
        for _ in range(count):
            word = bytearray()
            while (letter := stream.read(1)) not in (b" ", b""):
                if letter != b"\n":
                    word += letter
            data = stream.read(4 * width)
            if len(data) < 4 * width:
                raise damaged
            words.append(word.decode(errors="replace"))
            rows.append(np.frombuffer(data, dtype="<f4"))
    except ValueError as error:
        raise damaged from error
    return words, np.stack(rows).astype(np.float32)


def _text(stream: BinaryIO | Any, path: Path) -> tuple[list[str], Table]:
    words: list[str] = []
    rows: list[Table] = []
    for number, line in enumerate(stream, 1):
        word, *values = line.decode(errors="replace").rstrip().split(" ")
        if number == 1 and len(values) == 1:
            continue
        try:
            row = np.array(values, dtype=np.float32)
        except ValueError:
            row = np.zeros(0, dtype=np.float32)
        if not len(row) or (rows and len(row) != len(rows[0])) or not np.isfinite(row).all():
            what = f"{len(row)} numbers where {len(rows[0]) if rows else 'some'} are expected"
            raise InputError(what, where=f"{path}:{number}", todo="A line is a word and its numbers, one space between")
        words.append(word)
        rows.append(row)
    return words, np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)


class Backbone:
    """The mean of all hidden states (the embedding's and every layer's), then over the pieces of each token."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            from transformers import AutoModel, AutoTokenizer
            from transformers.utils import logging
        except ImportError as error:
            raise UsageError("a backbone needs transformers", todo="pip install 'batag[backbone]'") from error
        if not (folder / "config.json").is_file() or not (folder / "model.safetensors").is_file():
            todo = "Name a local folder with config.json, model.safetensors and the tokenizer's files"
            raise InputError("is not the folder of a Hugging Face model", where=str(folder), todo=todo)
        logging.disable_progress_bar()
        local = {"local_files_only": True, "trust_remote_code": False}
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True, add_prefix_space=True, **local)
            self._model = AutoModel.from_pretrained(folder, use_safetensors=True, **local).eval().requires_grad_(False)
        except (OSError, ValueError) as error:
            raise InputError(f"cannot be loaded ({error})", where=str(folder), todo="Check its files") from error
        self.width = int(self._model.config.hidden_size)
        self._most = min(int(self._model.config.max_position_embeddings), 512)
        self._known: OrderedDict[tuple[str, ...], Tensor] = OrderedDict()
        self._bytes = 0

    def of(self, pages: Sequence[Sequence[str]]) -> Tensor:
        found = [self._remembered(tuple(page)) for page in pages]
        missing = [number for number, vectors in enumerate(found) if vectors is None]
        if missing:
            for number, vectors in zip(missing, self._read([list(pages[number]) for number in missing]), strict=True):
                # Rounded the first time too: what comes from memory must be the same.
                found[number] = self._remember(tuple(pages[number]), vectors.half())
        out = torch.zeros(len(pages), max(map(len, pages)), self.width)
        for row, known in zip(out, found, strict=True):
            assert known is not None
            row[: len(known)] = known
        return out

    @torch.inference_mode()
    def _read(self, pages: list[list[str]]) -> list[Tensor]:
        """Pages in chunks that the model can hold; each token's vector comes from one chunk."""
        chunks = [(number, start) for number, page in enumerate(pages) for start in range(0, len(page), self._most // 4)]
        texts = [pages[number][start : start + self._most // 4] for number, start in chunks]
        made = self._tokenizer(
            texts, is_split_into_words=True, truncation=True, max_length=self._most, padding=True, return_tensors="pt"
        )
        states = self._model(**made, output_hidden_states=True).hidden_states
        mean_CPK = torch.stack(states).mean(0)
        out = [torch.zeros(len(page), self.width) for page in pages]
        for row, (number, start) in enumerate(chunks):
            pieces = made.word_ids(row)
            inside = torch.tensor([place for place, word in enumerate(pieces) if word is not None], dtype=torch.long)
            of_word = torch.tensor([pieces[place] for place in inside.tolist()], dtype=torch.long)
            length = len(texts[row])
            sums = torch.zeros(length, self.width).index_add_(0, of_word, mean_CPK[row, inside])
            counts = torch.zeros(length).index_add_(0, of_word, torch.ones(len(of_word)))
            out[number][start : start + length] = sums / counts.clamp(min=1)[:, None]
        return out

    def _remembered(self, page: tuple[str, ...]) -> Tensor | None:
        vectors = self._known.get(page)
        return None if vectors is None else vectors.float()

    def _remember(self, page: tuple[str, ...], vectors: Tensor) -> Tensor:
        """Pages come again every epoch; the oldest go when there are too many."""
        if page not in self._known:
            self._known[page] = vectors
            self._bytes += vectors.nbytes
        while self._bytes > _REMEMBERED_BYTES:
            self._bytes -= self._known.popitem(last=False)[1].nbytes
        return vectors.float()

    def files(self) -> dict[str, bytes]:
        return {
            f"backbone/{name}": (self.folder / name).read_bytes() for name in _BACKBONE_FILES if (self.folder / name).is_file()
        }


def read_frozen(kind: str, source: Path) -> Frozen:
    """Word vectors of a file, or the model of a folder."""
    if kind not in KINDS:
        raise UsageError(f"{kind!r} is not a kind of frozen input", todo=f"There are {', '.join(KINDS)}")
    return read_vectors(source) if kind == "vectors" else Backbone(source)


def frozen_of_bundle(kind: str, folder: Path) -> Frozen:
    """The same again from what a bundle keeps."""
    return WordVectors.of_files(folder) if kind == "vectors" else Backbone(folder / "backbone")
