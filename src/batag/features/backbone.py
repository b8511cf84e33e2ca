"""A Hugging Face model that reads whole pages and is not fine-tuned.

Shapes: P word pieces, K features per token.
"""

import math
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from torch import Tensor

from batag.errors import InputError, UsageError
from batag.features.batches import Floats
from batag.settings import settings

_BACKBONE_FILES = (
    *("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"),
    *("vocab.txt", "vocab.json", "merges.txt", "sentencepiece.bpe.model", "spiece.model", "added_tokens.json"),
)
_SPARE = 2


def backbone_files(folder: Path) -> list[Path]:
    """The files of a Hugging Face model that are used."""
    found = [folder / name for name in _BACKBONE_FILES if (folder / name).is_file()]
    if not {folder / name for name in _BACKBONE_FILES[:2]} <= set(found):
        todo = "Name a local folder with config.json, model.safetensors and the tokenizer's files"
        raise InputError("is not the folder of a Hugging Face model", where=str(folder), todo=todo)
    return found


class Backbone:
    """The mean of all hidden states (embedding and layers), averaged over the word pieces of each token."""

    kind = "backbone"
    language: str | None = None

    def __init__(self, folder: Path) -> None:
        try:
            from transformers import AutoConfig, AutoModel, AutoTokenizer
            from transformers.utils import logging
        except ImportError as error:
            raise UsageError("a backbone needs transformers", todo="pip install 'batag[backbone]'") from error
        self._files = backbone_files(folder)
        logging.disable_progress_bar()
        local = {"local_files_only": True, "trust_remote_code": False}
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True, add_prefix_space=True, **local)
            _check_claims(AutoConfig.from_pretrained(folder, **local), folder / _BACKBONE_FILES[1])
            self._model = AutoModel.from_pretrained(folder, use_safetensors=True, **local).eval().requires_grad_(False)
            self.width = int(self._model.config.hidden_size)
            self._most = min(int(getattr(self._model.config, "max_position_embeddings", 512)), 512) - 2
        except Exception as error:  # whatever a strange folder makes of it
            raise InputError(f"cannot be loaded ({error})", where=str(folder), todo="Check its files") from error
        self._known: OrderedDict[tuple[str, ...], Tensor] = OrderedDict()
        self._bytes = 0

    def read(self, pages: Sequence[Sequence[str]]) -> Floats:
        """The hidden states [B,L,K] of the tokens of pages, zeros at padding."""
        states = np.zeros((len(pages), max(map(len, pages)), self.width), dtype=np.float32)
        for row, page in zip(states, pages, strict=True):
            row[: len(page)] = self._of_page(tuple(page)).numpy()
        return states

    def _of_page(self, page: tuple[str, ...]) -> Tensor:
        """The hidden states of one page; pages are read one by one, so that they do not influence each other, and cached."""
        if page not in self._known:
            self._known[page] = vectors = torch.cat([self._read(chunk) for chunk in self._chunks(page)]).half()
            self._bytes += vectors.nbytes
            while self._bytes > settings.backbone_cache_bytes and len(self._known) > 1:
                self._bytes -= self._known.popitem(last=False)[1].nbytes
        return self._known[page].float()

    def _chunks(self, page: Sequence[str]) -> Iterator[list[str]]:
        """Split a page into chunks of words that fit into the model."""
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


def _check_claims(config: Any, weights: Path) -> None:
    """Raise an error if the configuration describes a larger model than the weights file holds (a few may be missing)."""
    from transformers import AutoModel

    with safe_open(weights, "np") as file:
        shapes = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118
    if int(getattr(config, "num_hidden_layers", 0)) > len(shapes):
        raise ValueError(f"config.json claims {config.num_hidden_layers} layers, {weights.name} has {len(shapes)} tensors")
    with torch.device("meta"):
        claimed = sum(each.numel() for each in AutoModel.from_config(config).parameters())
    if claimed > _SPARE * sum(map(math.prod, shapes)):
        raise ValueError(f"config.json claims a model of {claimed:,} numbers, {weights.name} has far fewer")
