"""A training step of ours beside the same network and optimiser written plainly in PyTorch, interleaved, one thread.

Run `python benchmarks/training_step.py`; the figure to look at is the ratio (ours / plain), and the share of matrix products.
Shapes: B pages, L tokens, D width.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from batag.features.vocabulary import Vocabulary
from batag.labels.scheme import Scheme
from batag.objectives import build_objective
from batag.paper.definition import PAPER_SETTINGS
from batag.training.examples import Example
from batag.training.loop import build_learner, rate_of, take_step
from batag.training.model import fresh_classifier
from batag.training.recipe import read_recipe

PAGES, TOKENS, WORDS, WIDTH, DEPTH, HEADS, INNER, LABELS = 8, 47, 19_000, 128, 4, 4, 512, 3
# With what they call: adding the bias is a copy inside addmm. Attention's kernel is two products and a softmax in one.
PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::_scaled_dot_product_flash")


class PlainNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gain, self.bias = nn.Parameter(torch.ones(WIDTH)), nn.Parameter(torch.zeros(WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        return (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + 1e-4) * self.gain + self.bias


class PlainLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.conv1, self.conv3 = nn.Conv1d(WIDTH, WIDTH, 1), nn.Conv1d(WIDTH, WIDTH, 3, padding=1)
        self.norm1, self.norm2, self.norm3 = PlainNorm(), PlainNorm(), PlainNorm()
        self.widen, self.narrow, self.residual = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH), nn.Conv1d(WIDTH, WIDTH, 1)

    def forward(self, z: Tensor, mask: Tensor) -> Tensor:
        q, k, v = (f(z).view(*z.shape[:2], HEADS, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :], scale=1 / math.sqrt(WIDTH))
        a = self.o(a.transpose(1, 2).reshape(z.shape))
        masked = (z * mask.unsqueeze(-1)).transpose(1, 2)
        c1 = F.relu(self.conv1(z.transpose(1, 2))).transpose(1, 2)
        c3 = F.relu(self.conv3(masked)).transpose(1, 2)
        u = self.norm2(self.norm1(c1 + a + c3) + z)
        w = F.relu(self.residual(u.transpose(1, 2))).transpose(1, 2)
        return self.norm3(self.narrow(F.relu(self.widen(u))) + w)


class Plain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS + 2, WIDTH, padding_idx=0)
        nn.init.normal_(self.words.weight, std=WIDTH**-0.5)
        self.norm = PlainNorm()
        self.layers = nn.ModuleList(PlainLayer() for _ in range(DEPTH))
        self.head = nn.Linear(WIDTH, LABELS)
        place, rate = torch.arange(512)[:, None], torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(10000.0) / WIDTH))
        self.register_buffer("table", torch.stack((torch.sin(place * rate), torch.cos(place * rate)), -1).flatten(1))

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        z = self.norm(self.words(words) * math.sqrt(WIDTH) + self.table[: words.shape[1]])
        for layer in self.layers:
            z = layer(z, mask)
        return self.head(z)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--steps", type=int, default=10)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rng = random.Random(0)
    recipe = read_recipe(None, settings=PAPER_SETTINGS)
    vocabulary = Vocabulary(f"w{number}" for number in range(WORDS))
    batches = [
        [Example("", rng.choices(vocabulary.words, k=TOKENS), rng.choices(range(LABELS), k=TOKENS)) for _ in range(PAGES)]
        for _ in range(options.steps)
    ]
    cpu = torch.device("cpu")
    model = fresh_classifier(recipe, vocabulary, Scheme("flat", ("goods", "brand")), pretrained=None)
    learner, objective = build_learner(model, average=0, device=cpu), build_objective("CE", [20, 2, 1])
    plain = Plain()
    optimizer = torch.optim.Adam(plain.parameters(), betas=(0.9, 0.98), eps=1e-9, fused=True)
    assert sum(p.numel() for p in plain.parameters()) == sum(p.numel() for p in model.parameters())
    tensors = [
        (
            torch.tensor([[vocabulary.number(word) for word in each.words] for each in batch]),
            torch.tensor([e.labels for e in batch]),
        )
        for batch in batches
    ]
    full = torch.ones(PAGES, TOKENS, dtype=torch.bool)
    step = 0

    def run_plain() -> None:
        nonlocal step
        for words, labels in tensors:
            step += 1
            loss = F.cross_entropy(plain(words, full).flatten(0, 1), labels.flatten())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            for group in optimizer.param_groups:
                group["lr"] = rate_of(recipe, step, steps_per_epoch=500)
            optimizer.step()
            loss.item()

    def run_ours() -> None:
        for batch in batches:
            rate = rate_of(recipe, learner.step + 1, steps_per_epoch=500)
            take_step(learner, objective, batch, recipe=recipe, epoch=1, rate=rate, device=cpu)

    times: dict[str, list[float]] = {"plain": [], "ours": []}
    pairs: list[tuple[str, Callable[[], None]]] = [("plain", run_plain), ("ours", run_ours)]
    for number in range(options.rounds + 2):
        for name, run in pairs if number % 2 else reversed(pairs):
            began = time.perf_counter()
            run()
            if number >= 2:  # two rounds of warm-up
                times[name].append(1000 * (time.perf_counter() - began) / options.steps)
    ratios = [ours / other for ours, other in zip(times["ours"], times["plain"], strict=True)]
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        for _ in range(5):
            run_ours()
    events = profile.key_averages()
    total = sum(event.self_cpu_time_total for event in events)
    products = sum(event.cpu_time_total for event in events if event.key.startswith(PRODUCTS))
    report = {
        "torch": torch.__version__,
        "pages": PAGES,
        "tokens": TOKENS,
        "words": WORDS,
        "parameters": sum(p.numel() for p in model.parameters()),
        "plain_ms": round(statistics.median(times["plain"]), 2),
        "ours_ms": round(statistics.median(times["ours"]), 2),
        "ratio_median": round(statistics.median(ratios), 3),
        "ratio_quartiles": [round(value, 3) for value in statistics.quantiles(ratios, n=4)],
        "share_of_matrix_products": round(products / total, 3),
        "most_time": {
            e.key: round(e.self_cpu_time_total / total, 3) for e in sorted(events, key=lambda e: -e.self_cpu_time_total)[:8]
        },
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
