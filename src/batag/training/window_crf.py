"""Fit the window CRF to all pages before the encoder is trained; its mixing weight is chosen on dev.

Shapes: B pages, L tokens, N tokens of all pages, C labels.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, takewhile

import torch
from torch import Tensor

from batag.encoders.input import tensors
from batag.features.batches import BATCH_TOKENS, by_length
from batag.features.featurizer import Batch
from batag.features.term_lists import Hiding
from batag.heads.classifier import TokenClassifier
from batag.heads.torch_heads import MIXING_WEIGHT, WindowCRF
from batag.labels.scheme import IGNORED
from batag.training.examples import Example
from batag.training.loop import other_weights
from batag.training.targets import padded_labels

ROUNDS, _HISTORY, _SQUARES = 90, 10, 1e-5
_STEPS = 20
_MOST = 4_000_000
Watch = Callable[[Iterable[int]], Iterable[int]]


def fit_window_crf(
    model: TokenClassifier, examples: Sequence[Example], *, term_dropout: float = 0.0, watch: Watch = iter
) -> None:
    """Fit the CRF by L-BFGS to the pages that people labelled (or to machine labels if there are no others), regularised
    towards its initial weights.

    Weights of features that do not occur stay as they were: 0, or those of the base bundle. Listed names are hidden once, the
    same ones in every round.
    """
    if model.window_crf is None:
        return
    some = _some(_of_people(examples), tokens=_MOST // model.window_crf.weights.shape[1])
    batches = []
    for numbers in by_length([len(example.words) for example in some], tokens=4 * BATCH_TOKENS):
        chosen = [some[number] for number in numbers]
        hiding = Hiding(term_dropout, f"window/{numbers[0]}") if model.featurizer.terms else None
        found = model.featurizer.batch([example.words for example in chosen], pretrained=False, hiding=hiding)
        batch = tensors(found, torch.device("cpu"))
        batches.append((batch, padded_labels(chosen, batch.mask.shape[1])))
    if batches:
        _fit(model.window_crf, batches, watch=watch)


def _of_people(examples: Sequence[Example]) -> list[Example]:
    """The pages that a person has reviewed, and others with a label that does not occur there, since it could not be predicted
    otherwise."""
    known = {IGNORED, *(label for example in examples if example.reviewed for label in example.labels)}
    return [example for example in examples if example.reviewed or not known.issuperset(example.labels)]


def _some(examples: Sequence[Example], *, tokens: int) -> Sequence[Example]:
    """A random sample of the examples with about this many tokens; more would cost memory and time and change little."""
    if sum(len(example.words) for example in examples) <= tokens:
        return examples
    drawn = random.Random(0).sample(examples, len(examples))
    ends = accumulate(len(example.words) for example in drawn)
    return drawn[: max(1, sum(1 for _ in takewhile(lambda end: end <= tokens, ends)))]


def _fit(crf: WindowCRF, batches: Sequence[tuple[Batch[Tensor], Tensor]], *, watch: Watch) -> None:
    """Fit only the rows of features that occur, in a small CRF of their own, which is fast for few pages."""
    seen = torch.cat([_rows(batch) for batch, _ in batches]).unique()
    small = WindowCRF(crf.weights.shape[1], side=crf.side, buckets=len(seen))
    small.load_state_dict(crf.state_dict() | {"weights": crf.weights[seen.to(crf.weights.device)]})
    fitted = [small.weights, small.edge, *small.chain.parameters()]
    for value in fitted:
        value.requires_grad_(True)
    before = [value.detach().clone() for value in fitted]
    examples = [(replace(batch, window=torch.searchsorted(seen, _rows(batch))), labels) for batch, labels in batches]
    tokens = max(sum(int((labels != IGNORED).sum()) for _, labels in examples), 1)
    optimizer = torch.optim.LBFGS(
        fitted, max_iter=ROUNDS, max_eval=ROUNDS, history_size=_HISTORY, line_search_fn="strong_wolfe"
    )
    rounds: Iterator[int] = iter(watch(range(ROUNDS + 1)))

    def loss() -> Tensor:
        next(rounds, None)
        optimizer.zero_grad()
        total = torch.zeros(())
        for batch, labels in examples:
            part = -small(batch).log_likelihood(labels).sum() / tokens
            part.backward()
            total += part.detach()
        apart = [(value - own).square().sum() for value, own in zip(fitted, before, strict=True)]
        squares = _SQUARES * torch.stack(apart).sum()
        squares.backward()
        return total + squares.detach()

    optimizer.step(loss)
    for _ in rounds:  # to the end of the bar
        pass
    whole = crf.weights.index_copy(0, seen.to(crf.weights.device), small.weights.detach().to(crf.weights.device))
    crf.load_state_dict(small.state_dict() | {"weights": whole})


def _rows(batch: Batch[Tensor]) -> Tensor:
    assert batch.window is not None
    return batch.window


def choose_mixing_weight(model: TokenClassifier, weights: Mapping[str, Tensor], dev: Sequence[Example]) -> dict[str, Tensor]:
    """Return the weights with the mixing weight under which dev's pages are most likely, whatever the scale of the mixture; if
    there is a window CRF."""
    if model.window_crf is None:
        return dict(weights)
    some = _some([example for example in dev if example.words], tokens=_MOST // model.window_crf.weights.shape[1])
    batches = []
    was_training = model.training
    model.eval()
    with torch.no_grad(), other_weights(model, weights):
        for numbers in by_length([len(example.words) for example in some], tokens=4 * BATCH_TOKENS):
            chosen = [some[number] for number in numbers]
            device = model.window_crf.weights.device
            batch = tensors(model.featurizer.batch([example.words for example in chosen]), device)
            labels = padded_labels(chosen, batch.mask.shape[1]).to(device)
            batches.append((model.of_encoder(model.input(batch), batch), model.window_crf(batch), labels))
    model.train(was_training)
    # How sure both are together is left to the calibration: of the two weights only their ratio is kept.
    pair = torch.full((2,), 0.5, requires_grad=True)
    optimizer = torch.optim.LBFGS([pair], max_iter=_STEPS, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        total = torch.zeros(())
        for encoder, crf, labels in batches:
            part = -encoder.add(crf, *pair).log_likelihood(labels).sum() / len(some)
            part.backward()
            total += part.detach().cpu()
        return total

    optimizer.step(loss)
    own, other = pair.detach().tolist()
    if min(own, other) <= 0:  # one of them only disturbs, or both: the better one alone
        gain = sum(
            (crf.log_likelihood(labels) - encoder.log_likelihood(labels)).sum().item() for encoder, crf, labels in batches
        )
        own, other = float(gain <= 0), float(gain > 0)
    return dict(weights) | {MIXING_WEIGHT: torch.tensor(other / (own + other))}
