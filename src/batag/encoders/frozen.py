"""What others learnt of words, used as it is: a file of word vectors, or a Hugging Face model that reads the whole page.

Shapes: B pages, L tokens, K numbers a token.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load, save
from torch import Tensor

from batag.errors import InputError, UsageError
from batag.settings import settings

KINDS = ("vectors", "backbone")
_BACKBONE_FILES = (
    *("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"),
    *("vocab.txt", "vocab.json", "merges.txt", "sentencepiece.bpe.model", "spiece.model", "added_tokens.json"),
)
Table = NDArray[np.float32]


class Frozen(Protocol):
    """Gives each token of each page K numbers that training does not change."""

    kind: str
    width: int

    def of(self, pages: Sequence[Sequence[str]]) -> Tensor: ...

    def files(self) -> dict[str, bytes]:
        """What a bundle keeps of it, by name."""
        ...


class WordVectors:
    """A vector a word, as it is written or else in lower case; a word that is not in the file has zeros."""

    kind = "vectors"

    def __init__(self, words: Sequence[str], table: Table) -> None:
        """`table` has a row a word, after a first one of zeros."""
        self.words, self.width = list(words), table.shape[1]
        self._rows = {word: row for row, word in enumerate(self.words, 1)}
        self._table = torch.from_numpy(table)

    def of(self, pages: Sequence[Sequence[str]]) -> Tensor:
        rows = torch.zeros(len(pages), max(map(len, pages)), dtype=torch.long)
        for row, words in zip(rows, pages, strict=True):
            row[: len(words)] = torch.tensor([self._rows.get(w) or self._rows.get(w.lower(), 0) for w in words])
        return self._table[rows]

    def files(self) -> dict[str, bytes]:
        words = json.dumps(self.words, ensure_ascii=False).encode(errors="surrogatepass")
        return {"vectors.json": words, "vectors.safetensors": save({"vectors": self._table})}

    @classmethod
    def of_files(cls, words: bytes, table: bytes, *, width: int) -> WordVectors:
        """From what `files` gave, which may have been tampered with (ValueError)."""
        names, found = json.loads(words), load(table)["vectors"]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError("`vectors.json` is not a list of words")
        if found.shape != (len(names) + 1, width) or found.dtype != torch.float32 or not torch.isfinite(found).all():
            raise ValueError(f"the vectors are not {len(names) + 1} x {width} finite numbers")
        return cls(names, found.numpy())


def read_vectors(path: Path) -> WordVectors:
    """word2vec's binary format (.bin) or text (word, numbers; with or without word2vec's first line), also .gz.

    Of a word that stands twice the first vector counts.
    """
    damaged = "Give word2vec's .bin, or text as GloVe's: a word and its numbers a line"
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as stream:
            name = path.with_suffix("").name if path.suffix == ".gz" else path.name
            words, rows = (_binary if name.endswith((".bin", ".vector")) else _text)(stream, str(path))
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


def _binary(stream: BinaryIO | gzip.GzipFile, where: str) -> tuple[list[str], list[Table]]:
    try:
        count, width = map(int, stream.readline(100).split())
    except ValueError:
        count = width = 0
    if not 0 < width <= 65_536 or not 0 < count <= 100_000_000:
        raise ValueError("is not word2vec's binary format")
    found: dict[str, Table] = {}
    for _ in range(count):
        word = bytearray()
        while (letter := stream.read(1)) not in (b" ", b""):
            word += letter.strip(b"\n")
        data = stream.read(4 * width)
        if len(data) < 4 * width:
            raise ValueError("is not word2vec's binary format: it ends too early")
        found.setdefault(word.decode(errors="replace"), np.frombuffer(data, dtype="<f4"))
    return list(found), list(found.values())


def _text(stream: BinaryIO | gzip.GzipFile, where: str) -> tuple[list[str], list[Table]]:
    found: dict[str, Table] = {}
    width = 0
    for number, line in enumerate(stream, 1):
        parts = line.decode(errors="replace").rstrip().split(" ")
        if number == 1 and len(parts) == 2:
            continue
        width = width or len(parts) - 1
        # From the right: a word may have a space in it.
        word, values = " ".join(parts[: len(parts) - width]), parts[len(parts) - width :]
        try:
            row = np.array(values, dtype=np.float32)
        except ValueError:
            row = np.zeros(0, dtype=np.float32)
        if not word or len(row) != width or not width:
            raise InputError(f"is not a word and {width} numbers", where=f"{where}:{number}", todo="Mend or remove the line")
        found.setdefault(word, row)
    return list(found), list(found.values())


def backbone_files(folder: Path) -> list[Path]:
    """The files of a Hugging Face model that are used."""
    found = [folder / name for name in _BACKBONE_FILES if (folder / name).is_file()]
    if not {folder / name for name in _BACKBONE_FILES[:2]} <= set(found):
        todo = "Name a local folder with config.json, model.safetensors and the tokenizer's files"
        raise InputError("is not the folder of a Hugging Face model", where=str(folder), todo=todo)
    return found


class Backbone:
    """The mean of all hidden states (the embedding's and every layer's), then over the pieces of each token."""

    kind = "backbone"

    def __init__(self, folder: Path) -> None:
        try:
            from transformers import AutoModel, AutoTokenizer
            from transformers.utils import logging
        except ImportError as error:
            raise UsageError("a backbone needs transformers", todo="pip install 'batag[backbone]'") from error
        self._files = backbone_files(folder)
        logging.disable_progress_bar()
        local = {"local_files_only": True, "trust_remote_code": False}
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True, add_prefix_space=True, **local)
            self._model = AutoModel.from_pretrained(folder, use_safetensors=True, **local).eval().requires_grad_(False)
            self.width = int(self._model.config.hidden_size)
            self._most = min(int(getattr(self._model.config, "max_position_embeddings", 512)), 512) - 2
        except Exception as error:  # whatever a strange folder makes of it
            raise InputError(f"cannot be loaded ({error})", where=str(folder), todo="Check its files") from error
        self._known: OrderedDict[tuple[str, ...], Tensor] = OrderedDict()
        self._bytes = 0

    def of(self, pages: Sequence[Sequence[str]]) -> Tensor:
        out = torch.zeros(len(pages), max(map(len, pages)), self.width)
        for row, page in zip(out, pages, strict=True):
            row[: len(page)] = self._of_page(tuple(page))
        return out

    def _of_page(self, page: tuple[str, ...]) -> Tensor:
        """Each page by itself, so that nothing depends on what else is asked; pages come again every epoch."""
        if page not in self._known:
            self._known[page] = vectors = torch.cat([self._read(chunk) for chunk in self._chunks(page)]).half()
            self._bytes += vectors.nbytes
            while self._bytes > settings.backbone_cache_bytes and len(self._known) > 1:
                self._bytes -= self._known.popitem(last=False)[1].nbytes
        return self._known[page].float()

    def _chunks(self, page: Sequence[str]) -> Iterator[list[str]]:
        """As many words at a time as the model can hold."""
        pieces = self._tokenizer(list(page), is_split_into_words=True, add_special_tokens=False, truncation=False)
        amounts = Counter(pieces.word_ids())
        chunk: list[str] = []
        size = 0
        for number, word in enumerate(page):
            if chunk and size + amounts[number] > self._most:
                yield chunk
                chunk, size = [], 0
            chunk.append(word)
            size += amounts[number]
        yield chunk

    @torch.inference_mode()
    def _read(self, words: list[str]) -> Tensor:
        # Only a single word can be too long: of that its beginning counts.
        made = self._tokenizer(words, is_split_into_words=True, truncation=True, max_length=self._most + 2, return_tensors="pt")
        mean_PK = torch.stack(self._model(**made, output_hidden_states=True).hidden_states).mean(0)[0]
        pieces = made.word_ids(0)
        inside = torch.tensor([place for place, word in enumerate(pieces) if word is not None], dtype=torch.long)
        of_word = torch.tensor([pieces[place] for place in inside.tolist()], dtype=torch.long)
        sums = torch.zeros(len(words), self.width).index_add_(0, of_word, mean_PK[inside])
        counts = torch.zeros(len(words)).index_add_(0, of_word, torch.ones(len(of_word)))
        return sums / counts.clamp(min=1)[:, None]

    def files(self) -> dict[str, bytes]:
        return {f"backbone/{path.name}": path.read_bytes() for path in self._files}
