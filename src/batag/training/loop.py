"""The training loop: a generator that yields steps and epochs; saving, logging and progress are left to the caller.

Random numbers depend only on the seed and the epoch (batches) or step (dropout), so that a run can be resumed from its weights
and its step alone.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from batag.encoders.input import tensors
from batag.errors import InputError
from batag.evaluation.dev_scores import DevScores, score_examples
from batag.features.batches import Floats, epoch_batches, in_batches
from batag.features.featurizer import Batch
from batag.features.term_lists import Hiding
from batag.heads.classifier import TokenClassifier
from batag.heads.prediction import probabilities
from batag.heads.torch_heads import Scores
from batag.labels.scheme import IGNORED, Scheme
from batag.objectives.objective import Objective
from batag.training.examples import Example
from batag.training.gradients import Gradients, adversarial_loss
from batag.training.recipe import Recipe
from batag.training.schedule import VERSIONS, learning_rate, peak_keeping_scale
from batag.training.targets import padded_labels, padded_weights, weighted_loss

_PAPER_BATCH = 8


@dataclass(frozen=True, slots=True)
class StepDone:
    """One step: the loss of its batch and its learning rate."""

    step: int
    epoch: int
    loss: float
    rate: float
    tokens: int


@dataclass(frozen=True, slots=True)
class EpochDone:
    """One epoch: the mean loss of its steps, the scores on dev and, separately, those on old dev pages."""

    epoch: int
    step: int
    loss: float
    scores: DevScores
    old: DevScores | None = None


class BadLossError(Exception):
    """The loss (or its gradient) is not finite; the weights are those before the step."""

    def __init__(self, what: str, *, step: int, loss: float, examples: Sequence[Example]) -> None:
        super().__init__(what)
        self.what, self.step, self.loss, self.examples = what, step, loss, examples


class DivergedError(InputError):
    """Training ended because a loss or gradient was not finite."""


@dataclass
class Learner:
    """Everything that a step changes: the weights, their moving average, Adam's moments and the step number.

    If it is `fresh`, the encoder may inspect the first batch before training (Admin).
    """

    model: TokenClassifier
    optimizer: torch.optim.Adam
    gradients: Gradients
    average: dict[str, Tensor] = field(default_factory=dict)
    fresh: bool = True
    step: int = 0
    epochs: int = 0
    last_loss: float = 0.0
    loss_sum: float = 0.0

    def weights(self) -> dict[str, Tensor]:
        """The weights that are evaluated and shipped: the moving average, if there is one."""
        return self.model.state_dict() | self.average


def build_learner(model: TokenClassifier, *, average: float, device: torch.device) -> Learner:
    """A learner at step 0."""
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True)
    kept = {name: value.detach().clone() for name, value in model.named_parameters() if value.requires_grad} if average else {}
    return Learner(model, optimizer, Gradients(model.parameters()), kept)


def rate_of(recipe: Recipe, step: int, *, steps_per_epoch: int) -> float:
    """The learning rate of a step."""
    chosen = recipe.schedule
    # Told by the pages, not by the number of epochs: a run may be made longer later.
    warmup = min(2 * steps_per_epoch, 1000) if chosen.warmup == "auto" else int(chosen.warmup)
    version = VERSIONS[chosen.version]
    larger = math.sqrt(recipe.training.batch / _PAPER_BATCH)
    scale = larger * peak_keeping_scale(warmup) if chosen.scale == "peak" else float(chosen.scale)
    return learning_rate(
        step,
        width=recipe.encoder.width,
        warmup=warmup,
        alpha=version["alpha"],
        scale=version.get("scale", 1.0) * scale,
        beta=None if chosen.beta == "joined" else float(chosen.beta),
    )


def train_steps(
    learner: Learner,
    objective: Objective,
    examples: Sequence[Example],
    dev: Sequence[Example],
    *,
    recipe: Recipe,
    scheme: Scheme,
    old: Sequence[Example] = (),
) -> Iterator[StepDone | EpochDone]:
    """Train from the learner's current step to the end of the recipe's last epoch; `old` dev pages are scored separately."""
    chosen = recipe.training
    device = next(learner.model.parameters()).device
    lengths = [len(example.words) for example in examples]
    per_epoch = math.ceil(len(examples) / chosen.batch)
    while learner.epochs < chosen.epochs_of(per_epoch):
        epoch = learner.epochs + 1
        batches = epoch_batches(lengths, batch=chosen.batch, seed=chosen.seed, epoch=epoch)
        for number in range(learner.step - learner.epochs * per_epoch, per_epoch):
            batch = [examples[each] for each in batches[number]]
            rate = rate_of(recipe, learner.step + 1, steps_per_epoch=per_epoch)
            yield take_step(learner, objective, batch, recipe=recipe, epoch=epoch, rate=rate, device=device)
        scores = score(learner, dev, scheme)
        before = score(learner, old, scheme) if old else None
        loss, learner.loss_sum, learner.epochs = learner.loss_sum / per_epoch, 0.0, epoch
        yield EpochDone(epoch, learner.step, loss, scores, before)


def take_step(
    learner: Learner,
    objective: Objective,
    batch: Sequence[Example],
    *,
    recipe: Recipe,
    epoch: int,
    rate: float,
    device: torch.device,
) -> StepDone:
    """Take one training step on a batch of examples."""
    featurizer = learner.model.featurizer
    hiding = Hiding(recipe.input.term_dropout, f"{recipe.training.seed}/{learner.step}") if featurizer.terms else None
    words = tensors(featurizer.batch([example.words for example in batch], window=False, hiding=hiding), device)
    targets = padded_labels(batch, words.mask.shape[1]).to(device)

    weights = None if all(example.weights is None for example in batch) else padded_weights(batch, targets)

    def loss_of(scores: Scores) -> Tensor:
        if recipe.learns_pages:
            return page_loss(scores, targets, weights)
        logits = scores.log_marginals()
        if weights is None:
            loss: Tensor = objective(logits.flatten(0, 1), targets.flatten())
            return loss
        return weighted_loss(objective, logits, targets, weights)

    learn(learner, words, loss_of, recipe=recipe, rate=rate, examples=batch)
    return StepDone(learner.step, epoch, learner.last_loss, rate, int((targets != IGNORED).sum()))


def learn(
    learner: Learner,
    words: Batch[Tensor],
    loss_of: Callable[[Scores], Tensor],
    *,
    recipe: Recipe,
    rate: float,
    examples: Sequence[Example] = (),
) -> None:
    """One step towards a smaller loss, which is a function of the scores; `examples` are named if it is not finite."""
    model, step = learner.model, learner.step + 1
    torch.manual_seed((recipe.training.seed * 1_000_003 + step) % 2**63)
    model.train()
    if step == 1 and learner.fresh:
        model.encoder.prepare(model.input(words).detach(), words.mask)

    def whole_loss(vectors_BLD: Tensor) -> Tensor:
        return loss_of(model.read(vectors_BLD, words)) + model.encoder.auxiliary_loss

    loss = adversarial_loss(whole_loss, model.input(words), words.mask, epsilon=recipe.training.adversarial_epsilon)
    descend(learner, loss, recipe=recipe, rate=rate, examples=examples)


def page_loss(scores: Scores, targets: Tensor, weights_BL: Tensor | None) -> Tensor:
    """The negative log-likelihood of whole pages, divided by the number of labelled tokens; a page counts by the mean weight of
    its labelled tokens."""
    known_BL = targets != IGNORED
    loss_B = -scores.log_likelihood(targets)
    if weights_BL is not None:
        loss_B = loss_B * (weights_BL * known_BL).sum(1) / known_BL.sum(1).clamp(min=1)
    return loss_B.sum() / known_BL.sum().clamp(min=1)


def descend(learner: Learner, loss: Tensor, *, recipe: Recipe, rate: float, examples: Sequence[Example]) -> None:
    """Take one step of Adam; a loss that is not finite raises an error before any weight is changed."""
    model, optimizer, step = learner.model, learner.optimizer, learner.step + 1
    value = loss.item()
    if not math.isfinite(value):
        raise BadLossError(f"the loss of step {step} is {value}", step=step, loss=value, examples=examples)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    norm = learner.gradients.gather()
    if not math.isfinite(length := norm.item()):
        raise BadLossError(f"the gradient of step {step} is {length}", step=step, loss=value, examples=examples)
    parameters: list[Tensor] = list(model.parameters())
    if recipe.training.clip:
        nn.utils.clip_grads_with_norm_(parameters, recipe.training.clip, norm)
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    if learner.average:
        # Young averages forget faster, so that the start's random weights do not linger.
        share = min(recipe.training.average, (1 + step) / (10 + step))
        with torch.no_grad():
            learnt = (each for each in parameters if each.requires_grad)
            for kept, each in zip(learner.average.values(), learnt, strict=True):
                kept.lerp_(each, 1 - share)
    learner.step, learner.last_loss, learner.loss_sum = step, value, learner.loss_sum + value


def score(learner: Learner, dev: Sequence[Example], scheme: Scheme) -> DevScores:
    """The scores on dev of the weights that would be shipped."""
    found = probabilities_with(learner.model, learner.weights(), dev)
    return score_examples(found, [example.labels for example in dev], scheme)


def probabilities_with(model: TokenClassifier, weights: Mapping[str, Tensor], examples: Sequence[Example]) -> list[Floats]:
    """The rows of probabilities of each example, computed with these weights; the model's own weights are restored."""
    device, was_training = next(model.parameters()).device, model.training
    model.eval()
    with other_weights(model, weights):
        found = in_batches(lambda batch: probabilities(model, batch, device), [each.words for each in examples])
    model.train(was_training)
    return found


@contextmanager
def other_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> Iterator[None]:
    """Use other weights in the model temporarily."""
    own = {name: value.detach().clone() for name, value in model.state_dict().items()}
    model.load_state_dict(dict(weights))
    try:
        yield
    finally:
        model.load_state_dict(own)


@contextmanager
def repeatable(threads: int, *, strict: bool) -> Iterator[None]:
    """Make torch deterministic; the process's settings and random state are restored afterwards."""
    before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    # It would write to all new memory before it is used, four hundred times a step; what it guards against is not done here.
    filled = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    with torch.random.fork_rng(devices=[]):
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(True, warn_only=not strict)
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
        try:
            yield
        finally:
            torch.set_num_threads(before[0])
            torch.use_deterministic_algorithms(before[1])
            torch.utils.deterministic.fill_uninitialized_memory = filled  # type: ignore[attr-defined]
