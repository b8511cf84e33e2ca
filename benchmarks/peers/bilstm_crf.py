"""BiLSTM-CRF with word vectors and a character convolution (Ma and Hovy 2016), the CRF by pytorch-crf.

Shapes: B pages, L tokens, U distinct words of a batch, K characters of a word, C labels.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torchcrf import CRF

from batag.labels.scheme import Scheme
from batag.training.examples import Example
from peers import tag_f1

Predict = Callable[[Sequence[Sequence[str]]], tuple[list[list[int]], list[np.ndarray[Any, Any]] | None]]
EPOCHS, BATCH, LONGEST_WORD = 20, 16, 20


class Network(nn.Module):
    """100 numbers a word, 50 by its characters, 200 hidden, dropout 0.5."""

    def __init__(self, words: int, characters: int, labels: int) -> None:
        super().__init__()
        self.words, self.characters = nn.Embedding(words, 100, padding_idx=0), nn.Embedding(characters, 30, padding_idx=0)
        self.convolution = nn.Conv1d(30, 50, 3, padding=1)
        self.lstm = nn.LSTM(150, 100, bidirectional=True, batch_first=True)
        self.dropout, self.out, self.crf = nn.Dropout(0.5), nn.Linear(200, labels), CRF(labels, batch_first=True)

    def emissions(self, words_BL: Tensor, characters_UK: Tensor, of_word_BL: Tensor) -> Tensor:
        character_features = self.convolution(self.characters(characters_UK).transpose(1, 2)).amax(-1)[of_word_BL]
        x = self.dropout(torch.cat((self.words(words_BL), character_features), dim=-1))
        return self.out(self.dropout(self.lstm(x)[0]))


def fit(train: Sequence[Example], dev: Sequence[Example], scheme: Scheme, *, seed: int) -> Predict:
    """Adam 1e-3, twenty epochs, rare words hidden; the best epoch by tag F1 on dev."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    rng = random.Random(seed)
    counts: dict[str, int] = {}
    for example in train:
        for word in example.words:
            counts[word] = counts.get(word, 0) + 1
    number = {word: place for place, word in enumerate(counts, 2)}
    letter = {each: place for place, each in enumerate(sorted({c for word in counts for c in word}), 2)}
    network = Network(len(number) + 2, len(letter) + 2, len(scheme.labels))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)

    def tensors(batch: Sequence[Sequence[str]], hide: float = 0.0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        numbers = [
            torch.tensor([1 if counts.get(w, 0) == 1 and rng.random() < hide else number.get(w, 1) for w in words])
            for words in batch
        ]
        padded = pad_sequence(numbers, batch_first=True)
        place = {word: row for row, word in enumerate(dict.fromkeys(word for words in batch for word in words), 1)}
        rows = [[0] * LONGEST_WORD]
        rows += ([letter.get(c, 1) for c in word[:LONGEST_WORD]] + [0] * (LONGEST_WORD - len(word)) for word in place)
        of_word = pad_sequence([torch.tensor([place[word] for word in words]) for words in batch], batch_first=True)
        return padded, torch.tensor(rows), of_word, padded != 0

    def predict(sequences: Sequence[Sequence[str]]) -> tuple[list[list[int]], list[np.ndarray[Any, Any]] | None]:
        network.eval()
        paths: list[list[int]] = [[]] * len(sequences)
        order = sorted(range(len(sequences)), key=lambda place: len(sequences[place]))
        found: list[np.ndarray[Any, Any]] = [np.zeros((0, len(scheme.labels)))] * len(sequences)
        for start in range(0, len(order), 64):
            chosen = [place for place in order[start : start + 64] if len(sequences[place])]
            if not chosen:
                continue
            words, characters, of_word, mask = tensors([sequences[place] for place in chosen])
            emissions = network.emissions(words, characters, of_word).detach().requires_grad_()
            for place, path in zip(chosen, network.crf.decode(emissions, mask=mask), strict=True):
                paths[place] = path
            tags = torch.zeros_like(words)
            network.crf(emissions, tags, mask=mask, reduction="sum").backward()
            assert emissions.grad is not None
            # d log p(tags) / d emission is one-hot minus marginal.
            marginals = nn.functional.one_hot(tags, len(scheme.labels)) - emissions.grad
            for place, row in zip(chosen, marginals, strict=True):
                found[place] = row[: len(sequences[place])].clamp(0, 1).numpy()
        return paths, found

    best, kept = -1.0, copy.deepcopy(network.state_dict())
    kept_train = [example for example in train if example.words]
    for _ in range(EPOCHS):
        network.train()
        rng.shuffle(kept_train)
        for start in range(0, len(kept_train), BATCH):
            batch = kept_train[start : start + BATCH]
            words, characters, of_word, mask = tensors([each.words for each in batch], hide=0.5)
            labels = pad_sequence([torch.tensor(each.labels).clamp(min=0) for each in batch], batch_first=True)
            loss = -network.crf(network.emissions(words, characters, of_word), labels, mask=mask, reduction="token_mean")
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 5.0)
            optimizer.step()
        score = tag_f1(dev, predict([each.words for each in dev])[0], scheme)
        if score > best:
            best, kept = score, copy.deepcopy(network.state_dict())
    network.load_state_dict(kept)
    return predict
