"""The loop: what a step does, that nothing random outlives it, and that nothing that is not finite reaches the weights."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.crash.nursery import new_run, small_files
from torch import Tensor, nn

from batag.encoders.bat import Bat
from batag.encoders.encoder import Encoder
from batag.encoders.input import tensors
from batag.evaluation.tokens import class_numbers
from batag.features.batches import epoch_batches
from batag.heads.torch_heads import Chain, Scores
from batag.labels.scheme import IGNORED
from batag.objectives import build_objective
from batag.training.data import Data
from batag.training.examples import Example
from batag.training.loop import (
    BadLossError,
    EpochDone,
    Learner,
    StepDone,
    page_loss,
    rate_of,
    take_step,
    train_steps,
)
from batag.training.recipe import Recipe, read_recipe
from batag.training.schedule import learning_rate
from batag.training.targets import padded_labels

pytestmark = pytest.mark.usefixtures("few_rounds")
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return small_files(tmp_path_factory.mktemp("pages"), train=14, dev=5)


class Lesson:
    """A fresh learner with its data: 14 pages, four a step, four steps an epoch."""

    def __init__(self, folder: Path, files: dict[str, Any], *settings: str) -> None:
        run = new_run(folder, files, "training.epochs=2", *settings)
        run = run.prepare(device="cpu")
        self.recipe: Recipe = run.recipe
        self.data: Data = run.data
        self.learner: Learner = run.learner
        self.objective: nn.Module = build_objective(self.recipe.objective.name, self.data.counts)

    def steps(self) -> Iterator[StepDone | EpochDone]:
        return train_steps(
            self.learner,
            self.objective,  # type: ignore[arg-type]
            self.data.train,
            self.data.dev,
            recipe=self.recipe,
            scheme=self.data.scheme,
        )

    def step(self) -> StepDone:
        """One step on the first four pages."""
        return take_step(
            self.learner,
            self.objective,  # type: ignore[arg-type]
            self.data.train[:4],
            recipe=self.recipe,
            epoch=1,
            rate=rate_of(self.recipe, self.learner.step + 1, steps_per_epoch=4),
            device=CPU,
        )

    def scores_of(self, batch: Sequence[Example]) -> Scores:
        """What the model says of these pages in training."""
        words = tensors(self.learner.model.featurizer.batch([example.words for example in batch]), CPU)
        with torch.no_grad():
            scores: Scores = self.learner.model.train()(words)
        return scores

    @property
    def bits(self) -> dict[str, bytes]:
        """Everything that a step changes."""
        learner = self.learner
        found = {f"model.{name}": value for name, value in learner.model.named_parameters()}
        found |= {f"average.{name}": value for name, value in learner.average.items()}
        for name, parameter in learner.model.named_parameters():
            found |= {f"adam.{name}.{key}": value for key, value in learner.optimizer.state.get(parameter, {}).items()}
        numbers = repr((learner.step, learner.epochs, learner.loss_sum)).encode()
        return {name: value.detach().numpy().tobytes() for name, value in found.items()} | {"numbers": numbers}


@pytest.fixture
def lesson(tmp_path: Path, files: dict[str, Any]) -> Callable[..., Lesson]:
    made: list[Lesson] = []

    def make(*settings: str) -> Lesson:
        made.append(Lesson(tmp_path / f"run{len(made)}", files, *settings))
        return made[-1]

    return make


Lessons = Callable[..., Lesson]


# What is yielded


def test_steps_and_epochs_are_told_in_order_with_their_numbers(lesson: Lessons) -> None:
    one = lesson()
    events = list(one.steps())
    kinds = "".join("s" if isinstance(done, StepDone) else "E" for done in events)
    assert kinds == "ssssE" * 2
    steps = [done for done in events if isinstance(done, StepDone)]
    assert [(done.step, done.epoch) for done in steps] == [(number, 1 + (number - 1) // 4) for number in range(1, 9)]
    assert [done.rate for done in steps] == [rate_of(one.recipe, done.step, steps_per_epoch=4) for done in steps]
    for number, done in enumerate(each for each in events if isinstance(each, EpochDone)):
        own = [step.loss for step in steps[4 * number : 4 * number + 4]]
        assert (done.epoch, done.step) == (number + 1, 4 * number + 4)
        assert done.loss == pytest.approx(sum(own) / 4, rel=1e-12)


def test_an_epoch_learns_from_every_labelled_token_once_in_the_batches_of_its_seed(lesson: Lessons) -> None:
    one = lesson("training.seed=5")
    events = [done for done in one.steps() if isinstance(done, StepDone)]
    lengths = [len(example.words) for example in one.data.train]
    for epoch in (1, 2):
        batches = epoch_batches(lengths, batch=4, seed=5, epoch=epoch)
        learnt = [sum(label != IGNORED for each in batch for label in one.data.train[each].labels) for batch in batches]
        assert [done.tokens for done in events if done.epoch == epoch] == learnt
    assert sum(done.tokens for done in events) == 2 * sum(one.data.counts)


def test_the_loss_of_a_step_is_the_objectives_on_its_batch(lesson: Lessons) -> None:
    plain = (
        "input.dropout=0",
        "input.word_dropout=0",
        "encoder.dropout=0",
        "objective.name=CLA(1,20)",
        "training.adversarial_epsilon=0",
    )
    one = lesson(*plain)
    batch = one.data.train[:4]
    logits = one.scores_of(batch).log_marginals()
    labels = [label for example in batch for label in example.labels]
    rows = torch.cat([row[: len(example.words)] for row, example in zip(logits, batch, strict=True)])
    assert one.step().loss == pytest.approx(one.objective(rows, torch.tensor(labels)).item(), rel=1e-5)


NO_CHANCE = ("input.dropout=0", "input.word_dropout=0", "encoder.dropout=0", "training.adversarial_epsilon=0")


def test_the_loss_of_a_step_is_that_of_whole_pages_if_the_recipe_learns_pages(lesson: Lessons) -> None:
    one, tokens, plain = lesson(*NO_CHANCE), lesson(*NO_CHANCE, "objective.level=token"), lesson(*NO_CHANCE, "head.chain=false")
    assert [each.recipe.learns_pages for each in (one, tokens, plain)] == [True, False, False]
    for each in (one, tokens, plain):
        batch = each.data.train[:4]
        with torch.no_grad():  # a chain by chance: pages and tokens differ
            for parameter in each.learner.model.chain.parameters() if each.learner.model.chain is not None else ():
                parameter.copy_(torch.arange(parameter.numel()).sin().view_as(parameter))
        scores = each.scores_of(batch)
        targets = padded_labels(batch, scores.mask_BL.shape[1])
        pages = page_loss(scores, targets, None).item()
        by_token = each.objective(scores.log_marginals().flatten(0, 1), targets.flatten()).item()
        assert each is plain or abs(pages - by_token) > 1e-3
        assert each.step().loss == pytest.approx(pages if each is one else by_token, rel=1e-5)


def chance_scores(lengths: list[int]) -> Scores:
    torch.manual_seed(0)
    chain = Chain(3).double()
    for parameter in chain.parameters():
        torch.nn.init.normal_(parameter)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return chain(torch.randn(len(lengths), max(lengths), 3, dtype=torch.float64), mask)


def test_the_loss_of_pages_is_divided_by_their_labelled_tokens() -> None:
    scores = chance_scores([4, 2, 3])
    targets = torch.tensor([[0, 1, IGNORED, 2], [1, 1, IGNORED, IGNORED], [IGNORED] * 4])
    expected = -(scores.log_likelihood(targets)[:2].sum()) / 5
    assert page_loss(scores, targets, None).item() == pytest.approx(expected.item())
    assert page_loss(scores, targets, torch.ones(3, 4)).item() == pytest.approx(expected.item())
    assert page_loss(scores, torch.full_like(targets, IGNORED), None).item() == pytest.approx(0, abs=1e-12)


def test_a_page_counts_by_the_mean_weight_of_its_labelled_tokens() -> None:
    scores = chance_scores([4, 2, 3])
    targets = torch.tensor([[0, 1, IGNORED, 2], [1, 1, IGNORED, IGNORED], [2, IGNORED, 0, IGNORED]])
    # What stands where nothing is labelled does not matter.
    weights = torch.tensor([[0.5, 1.0, 9.0, 0.0], [0.2, 0.2, 9.0, 9.0], [1.0, 9.0, 1.0, 9.0]])
    one, two, three = (-scores.log_likelihood(targets)).tolist()
    expected = (0.5 * one + 0.2 * two + 1.0 * three) / 7
    assert page_loss(scores, targets, weights).item() == pytest.approx(expected)
    without = page_loss(scores, targets, weights * torch.tensor([[1.0], [0.0], [1.0]])).item()
    assert without == pytest.approx((0.5 * one + 1.0 * three) / 7)


def test_pages_with_weights_of_their_own_are_learnt_from_by_these(lesson: Lessons) -> None:
    one, other = lesson(*NO_CHANCE), lesson(*NO_CHANCE)
    half = [replace(example, weights=[0.5] * len(example.words)) for example in other.data.train[:4]]
    taken = one.step()
    other.data.train[:4] = half
    assert other.step().loss == pytest.approx(taken.loss / 2, rel=1e-5)


def test_labels_are_padded_with_what_is_ignored(lesson: Lessons) -> None:
    batch = lesson().data.train[:4]
    longest = max(len(example.words) for example in batch)
    padded = padded_labels(batch, longest)
    assert padded.shape == (4, longest)
    for row, example in zip(padded.tolist(), batch, strict=True):
        assert row == example.labels + [IGNORED] * (longest - len(example.labels))


def test_scores_on_dev_count_every_labelled_token_of_dev(lesson: Lessons) -> None:
    one = lesson()
    (*_, last) = one.steps()
    assert isinstance(last, EpochDone)
    class_of = class_numbers(one.data.scheme)
    truth = [class_of[label] for example in one.data.dev for label in example.labels if label != IGNORED]
    expected = [truth.count(number) for number in range(1 + len(one.data.scheme.classes))]
    assert last.scores.tokens.confusion.sum(1).tolist() == expected


# The rate


@pytest.mark.parametrize(("batch", "larger"), [(8, 1.0), (32, 2.0), (2, 0.5)])
def test_the_rate_of_a_short_warm_up_keeps_the_peak_and_grows_with_the_batch(batch: int, larger: float) -> None:
    for warmup in (50, 1000, 4000):
        recipe = read_recipe(None, settings=[f"schedule.warmup={warmup}", "schedule.scale=peak", f"training.batch={batch}"])
        peak = larger * learning_rate(4000, warmup=4000)
        assert rate_of(recipe, warmup, steps_per_epoch=7) == pytest.approx(peak, rel=1e-9)
        assert all(rate_of(recipe, step, steps_per_epoch=7) < peak for step in (1, warmup // 2, warmup + 1, 3 * warmup))


@pytest.mark.parametrize(("steps", "warmup"), [(1, 2), (30, 60), (500, 1000), (501, 1000), (100_000, 1000)])
def test_a_warm_up_by_itself_takes_two_epochs_and_at_most_1000_steps(steps: int, warmup: int) -> None:
    recipe = read_recipe(None, settings=["schedule.warmup=auto"])
    explicit = read_recipe(None, settings=[f"schedule.warmup={warmup}"])
    for step in (1, warmup, 10 * warmup):
        assert rate_of(recipe, step, steps_per_epoch=steps) == rate_of(explicit, step, steps_per_epoch=1)


def test_the_rate_is_the_schedules_times_the_scale() -> None:
    recipe = read_recipe(
        None, settings=["schedule.scale=0.5", "schedule.version=v4.1", "encoder.width=64", "schedule.warmup=9"]
    )
    for step in (1, 9, 100):
        expected = learning_rate(step, width=64, warmup=9, alpha=7 / 15, scale=0.5 * 1.001)
        assert rate_of(recipe, step, steps_per_epoch=7) == pytest.approx(expected, rel=1e-12)


def test_adam_steps_with_the_rate_that_is_told(lesson: Lessons) -> None:
    one = lesson()
    # The first step of Adam moves every weight that has a gradient by the rate.
    before = one.learner.model.head.weight.detach().clone()
    done = one.step()
    moved = (one.learner.model.head.weight.detach() - before).abs()
    assert torch.allclose(moved[moved > 0], torch.tensor(done.rate), rtol=1e-2)
    assert len(moved[moved > 0])


# Randomness


def test_the_same_seed_gives_the_same_bits_whatever_else_draws_random_numbers(lesson: Lessons) -> None:
    one, other = lesson(), lesson()
    events = list(one.steps())
    again = []
    for done in other.steps():
        again.append(done)
        torch.manual_seed(len(again))
        torch.rand(len(again))
    assert [done.loss for done in again] == [done.loss for done in events]
    assert other.bits == one.bits


def test_another_seed_gives_other_weights_and_losses(lesson: Lessons) -> None:
    one, other = lesson("training.seed=0"), lesson("training.seed=1")
    assert one.bits["model.head.weight"] != other.bits["model.head.weight"], "the start is drawn from the seed"
    assert [done.loss for done in one.steps()] != [done.loss for done in other.steps()]


def test_every_step_drops_other_words_and_values(lesson: Lessons) -> None:
    one = lesson("encoder.dropout=0", "schedule.scale=1e-30", "training.average=0")
    losses = {one.step().loss for _ in range(4)}
    assert len(losses) == 4


def test_what_the_featurizer_saw_before_does_not_change_a_bit(lesson: Lessons) -> None:
    # A run that is resumed begins with a fresh featurizer: its words have other rows there.
    one, other = lesson(), lesson()
    for example in reversed(other.data.train):
        other.learner.model.featurizer.batch([example.words[::-1]])
    losses = [[each.step().loss for _ in range(3)] for each in (one, other)]
    assert losses[0] == losses[1]
    assert other.bits == one.bits


# What the encoder is asked for


def test_the_encoder_is_prepared_once_before_the_first_step(lesson: Lessons, monkeypatch: pytest.MonkeyPatch) -> None:
    one = lesson()
    start = one.bits
    calls = []

    def prepare(self: Encoder, vectors: Tensor, mask: Tensor) -> None:
        assert one.bits == start, "the weights are still those of the start"
        assert vectors.shape == (*mask.shape, 16)
        assert not vectors.requires_grad
        assert mask.dtype == torch.bool
        calls.append(one.learner.step)

    monkeypatch.setattr(Bat, "prepare", prepare)
    events = list(one.steps())
    assert len(events) == 10
    assert calls == [0]


def test_what_prepare_changes_is_what_the_first_step_learns_from(lesson: Lessons, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = lesson("training.average=0"), lesson("training.average=0")

    @torch.no_grad()
    def prepare(self: Encoder, vectors: Tensor, mask: Tensor) -> None:
        for parameter in self.parameters():
            parameter.mul_(0.5)

    taken = one.step()
    monkeypatch.setattr(Bat, "prepare", prepare)
    assert other.step().loss != taken.loss
    assert other.bits != one.bits


def test_a_resumed_learner_is_not_prepared_again(lesson: Lessons, monkeypatch: pytest.MonkeyPatch) -> None:
    one = lesson()
    next(one.steps())
    monkeypatch.setattr(Bat, "prepare", lambda *_: pytest.fail("prepared a second time"))
    assert [done.step for done in one.steps() if isinstance(done, StepDone)] == list(range(2, 9))


def test_the_auxiliary_loss_is_learnt_from(lesson: Lessons, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = lesson(), lesson()
    taken = one.step()
    monkeypatch.setattr(Bat, "auxiliary_loss", property(lambda self: 1 + self.norm.weight.sum()))
    expected = taken.loss + 1 + 16.0
    assert other.step().loss == pytest.approx(expected, rel=1e-6)
    assert other.bits["model.encoder.norm.weight"] != one.bits["model.encoder.norm.weight"]


# The average


def test_the_average_forgets_the_start_fast_and_then_keeps_its_share(lesson: Lessons) -> None:
    one = lesson("training.average=0.2")
    expected = {name: value.detach().clone().double() for name, value in one.learner.model.named_parameters()}
    for step in range(1, 5):
        one.step()
        share = min(0.2, (1 + step) / (10 + step))
        for name, value in one.learner.model.named_parameters():
            expected[name] = share * expected[name] + (1 - share) * value.detach().double()
        for name, value in one.learner.average.items():
            assert torch.allclose(value.double(), expected[name], atol=1e-6), (step, name)
    assert all(torch.equal(one.learner.weights()[name], value) for name, value in one.learner.average.items())


def test_without_an_average_the_weights_themselves_are_shipped(lesson: Lessons) -> None:
    one = lesson("training.average=0")
    one.step()
    assert one.learner.average == {}
    own = dict(one.learner.model.named_parameters())
    assert {name: value.data_ptr() for name, value in one.learner.weights().items()} == {
        name: value.data_ptr() for name, value in own.items()
    }


@pytest.mark.parametrize("average", [0, 0.9])
def test_scoring_dev_leaves_everything_as_it_was(lesson: Lessons, average: float) -> None:
    one = lesson(f"training.average={average}", "training.epochs=1")
    before: dict[str, bytes] = {}
    for done in one.steps():
        if isinstance(done, StepDone):
            before = one.bits
    after = one.bits
    assert before.pop("numbers") != after.pop("numbers")
    assert after == before


def test_dev_is_scored_with_the_average(lesson: Lessons) -> None:
    one = lesson("training.epochs=1")
    events = []
    for done in one.steps():
        events.append(done)
        if len(events) == 4:
            # An average that predicts none for every token, whatever the weights and the window CRF predict.
            with torch.no_grad():
                for value in one.learner.average.values():
                    value.zero_()
                one.learner.average["head.bias"][0] = 1e3
    assert isinstance(events[-1], EpochDone)
    assert events[-1].scores.tokens.confusion[:, 1:].sum() == 0


# What is not finite


class Spoilt(nn.Module):
    """An objective whose value, or whose gradient, is spoilt from one call on."""

    def __init__(self, inner: nn.Module, *, call: int, value: float | None = None, gradient: float | None = None) -> None:
        super().__init__()
        self.inner, self.call, self.value, self.gradient = inner, call, value, gradient
        self.calls = 0

    def forward(self, logits: Tensor, targets: Tensor, weights: Tensor | None = None) -> Tensor:
        self.calls += 1
        if self.calls >= self.call:
            if self.gradient is not None:
                spoil = self.gradient
                logits.register_hook(lambda gradient: torch.full_like(gradient, spoil))
            if self.value is not None:
                return self.inner(logits, targets, weights) * 0 + self.value
        return self.inner(logits, targets, weights)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("settings", [(), ("training.clip=1", "training.average=0")])
def test_a_loss_that_is_not_finite_ends_before_anything_is_touched(
    lesson: Lessons, value: float, settings: tuple[str, ...]
) -> None:
    # Adversarial training would ask for a loss twice a step.
    one = lesson(*settings, "training.adversarial_epsilon=0", "objective.level=token")
    one.objective = Spoilt(one.objective, call=3, value=value)
    steps = one.steps()
    next(steps)
    next(steps)
    before = one.bits
    with pytest.raises(BadLossError) as caught:
        next(steps)
    assert one.bits == before
    assert caught.value.step == 3
    assert str(caught.value) == f"the loss of step 3 is {value}"
    batch = epoch_batches([len(example.words) for example in one.data.train], batch=4, seed=0, epoch=1)[2]
    assert list(caught.value.examples) == [one.data.train[each] for each in batch]


@pytest.mark.parametrize("gradient", [math.nan, math.inf])
@pytest.mark.parametrize("clip", [1, 0])
def test_a_gradient_that_is_not_finite_never_reaches_the_weights(lesson: Lessons, gradient: float, clip: float) -> None:
    one = lesson(f"training.clip={clip}", "training.adversarial_epsilon=0", "objective.level=token")
    one.objective = Spoilt(one.objective, call=3, gradient=gradient)
    steps = one.steps()
    next(steps)
    next(steps)
    before = one.bits
    with pytest.raises(BadLossError, match="gradient of step 3"):
        list(steps)
    assert one.bits == before


def test_huge_weights_are_found_out_and_kept(lesson: Lessons) -> None:
    one = lesson()
    with torch.no_grad():
        one.learner.model.head.weight.fill_(3e38)
    before = one.bits
    with pytest.raises(BadLossError, match="the loss of step 1"):
        next(one.steps())
    assert one.bits == before


def test_clipping_makes_a_gradient_no_longer_than_asked_and_no_other(lesson: Lessons) -> None:
    norms = {}
    for clip in (0, 1e-3, 1e9):
        one = lesson(f"training.clip={clip}")
        one.step()
        gradients = [each.grad for each in one.learner.model.parameters() if each.grad is not None]
        norms[clip] = math.sqrt(sum(float((each.double() ** 2).sum()) for each in gradients))
    assert norms[0] == pytest.approx(norms[1e9], rel=1e-6)
    assert norms[1e-3] == pytest.approx(1e-3, rel=1e-2)
    assert norms[0] > 1e-2


def test_a_learner_can_be_copied_and_goes_on_the_same(lesson: Lessons) -> None:
    one = lesson()
    next(one.steps())
    other = copy.deepcopy(one)
    assert [done.loss for done in one.steps()] == [done.loss for done in other.steps()]
    assert one.bits == other.bits
