"""What every objective promises, and that each computes what the paper's equations say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from batag.errors import UsageError
from batag.objectives import PAPER, build_objective
from batag.objectives.notation import Notation, parse_objective
from batag.objectives.punishment import Punishment
from batag.objectives.weights import class_weights

Floats = NDArray[np.float64]


class Meaning(NamedTuple):
    """What a name says: which other classes count (none, all, predicted), the weights, gamma and lambda."""

    others: str
    weights: str
    gamma: float = 0
    factor: float = 1


# Written from the sheet, not taken from the parser.
MEANINGS = {
    "CE": Meaning("none", "ones"),
    "WCE": Meaning("none", "ee"),
    "FCE": Meaning("none", "ones", 1),
    "FWCE": Meaning("none", "ee", 1),
    "PBP(0,s)": Meaning("predicted", "standard"),
    "PBP(0,1)": Meaning("predicted", "ee"),
    "PBPA(0,1)": Meaning("predicted", "array"),
    "PBP(0,8)": Meaning("predicted", "ee", 0, 8),
    "PBPA(0,8)": Meaning("predicted", "array", 0, 8),
    "CL(0,1)": Meaning("all", "ee"),
    "CLA(0,1)": Meaning("all", "array"),
    "CL(0,s)": Meaning("all", "standard"),
    "CL(1,1)": Meaning("all", "ee", 1),
    "CLA(1,1)": Meaning("all", "array", 1),
    "CL(1,20)": Meaning("all", "ee", 1, 20),
    "CLA(1,20)": Meaning("all", "array", 1, 20),
    "CECL": Meaning("all", "ones"),
    "PBP(1,8)": Meaning("predicted", "ee", 1, 8),
    "CLA(2,3.5)": Meaning("all", "array", 2, 3.5),
    "FCE(2)": Meaning("none", "ones", 2),
}
NAMES = (*PAPER, "CECL", "PBP(1,8)", "CLA(2,3.5)", "FCE(2)")
COUNTS = {2: [70, 11], 3: [212, 19, 10], 7: [500, 40, 3, 77, 12, 1, 25]}

# The sheet's batch of four tokens (section 10) and what each loss makes of it: the mean, and each token alone.
P = np.array([[0.4, 0.3, 0.3], [0.4, 0.5, 0.1], [0.2, 0.1, 0.7], [0.6, 0.3, 0.1]])
TRUTH = [0, 0, 1, 2]
SHEET = {
    "CE": (1.609438, (0.916291, 0.916291, 2.302585, 2.302585)),
    "WCE": (21.695510, (1.041632, 1.041632, 29.206474, 55.492301)),
    "CECL": (2.662423, (1.629641, 1.714798, 3.729701, 3.575551)),
    "CL(0,1)": (24.879034, (1.800949, 1.904025, 32.316967, 63.494194)),
    "CL(0,s)": (1.432738, (0.153178, 0.169277, 2.367303, 3.041193)),
    "CL(1,20)": (389.031817, (12.727384, 12.886816, 526.966678, 1003.546389)),
    "CLA(0,1)": (28.007883, (1.447098, 1.495501, 38.257396, 70.831537)),
    "CLA(1,1)": (22.836421, (0.746619, 0.827959, 31.913872, 57.857233)),
    "CLA(1,20)": (390.860988, (12.621228, 12.702568, 531.344579, 1006.775575)),
    "PBP(0,1)": (24.101324, (1.041632, 1.794103, 30.462567, 63.106993)),
    "PBP(0,s)": (1.364812, (0.110259, 0.164906, 2.171011, 3.013074)),
    "PBP(0,8)": (175.969893, (8.333059, 9.085530, 234.907885, 451.553098)),
    "PBP(1,8)": (156.413791, (4.999835, 5.376071, 211.165878, 404.113381)),
    "PBPA(0,8)": (178.331831, (8.333059, 8.727041, 241.287515, 454.979709)),
}
SHEET_GRADIENTS = {
    "CE": [[-0.15, 0.075, 0.075], [-0.15, 0.125, 0.025], [0.05, -0.225, 0.175], [0.15, 0.075, -0.225]],
    "CLA(1,20)": [
        [-3.322965145902142, 1.6614825729510712, 1.6614825729510712],
        [-3.3455346213732824, 2.805431701403032, 0.5401029199702508],
        [13.671277053837526, -64.92156403382421, 51.25028697998668],
        [83.03886857599832, 40.045377948223944, -123.08424652422227],
    ],
    "PBP(0,8)": [
        [-1.3641509433962264, 0.6820754716981132, 0.6820754716981132],
        [-1.472709501954785, 1.2724906510283869, 0.20021885092639818],
        [4.951967038809144, -22.892437533227003, 17.940470494417863],
        [30.166551724137932, 13.52508620689655, -43.691637931034485],
    ],
}


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def weights_of(kind: str, counts: Sequence[int]) -> tuple[Floats, Floats]:
    """alpha [C], and beta [C, C] with a row for each true class."""
    total, classes = sum(counts), len(counts)
    alpha, beta = np.ones(classes), np.ones((classes, classes))
    for k, count in enumerate(counts):
        if kind == "ee":
            alpha[k], beta[:, k] = total / count, total / (total - count)
        elif kind == "standard":
            alpha[k], beta[:, k] = (total - count) / total, count / total
        elif kind == "array":
            alpha[k], beta[k, :] = total / count, total / ((classes - 1) * count)
    return alpha, beta


def independent(
    name: str, counts: Sequence[int], logits: Floats, targets: Sequence[int], weights: Sequence[float] | None = None
) -> float:
    """The sheet's formula term by term: float64, probabilities first."""
    meaning = MEANINGS[name]
    alpha, beta = weights_of(meaning.weights, counts)
    loss = share = 0.0
    for place, truth in enumerate(targets):
        if truth == -1:
            continue
        p = np.exp(logits[place]) / np.exp(logits[place]).sum()
        token = -meaning.factor * alpha[truth] * (1 - p[truth]) ** meaning.gamma * math.log(p[truth])
        for k in range(len(counts)):
            counted = {"none": False, "all": True, "predicted": k == p.argmax()}[meaning.others]
            if k != truth and counted:
                token -= beta[truth, k] * p[k] ** meaning.gamma * math.log(1 - p[k])
        weight = 1.0 if weights is None else weights[place]
        loss += weight * token
        share += weight
    return loss / share


def batch(classes: int, *, tokens: int = 12, seed: int = 0, ignored: bool = True) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(tokens, classes, generator=generator, dtype=torch.float64)
    targets = torch.randint(classes, (tokens,), generator=generator)
    if ignored:
        targets[::5] = -1
    return logits, targets


def number(loss: Tensor) -> float:
    return float(loss.detach())


def test_the_sixteen_of_the_paper_are_all_here_and_mean_what_the_test_says() -> None:
    assert len(PAPER) == len(set(PAPER)) == 16
    assert set(NAMES) == set(MEANINGS)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("classes", COUNTS)
def test_it_equals_the_formula(name: str, classes: int, weighted: bool) -> None:
    for seed in range(3):
        logits, targets = batch(classes, seed=seed)
        weights = torch.rand(12, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) if weighted else None
        loss = build_objective(name, COUNTS[classes])(logits, targets, weights)
        assert loss.shape == ()
        expected = independent(
            name, COUNTS[classes], logits.numpy(), targets.tolist(), None if weights is None else weights.tolist()
        )
        assert number(loss) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("classes", COUNTS)
def test_its_gradient_is_the_derivative_of_its_value(name: str, classes: int) -> None:
    logits, targets = batch(classes, tokens=6, seed=4)
    weights = torch.rand(6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    objective = build_objective(name, COUNTS[classes])
    assert torch.autograd.gradcheck(lambda x: objective(x, targets, weights), (logits.requires_grad_(),))


@pytest.mark.parametrize("name", SHEET)
def test_it_gives_the_sheets_numbers(name: str) -> None:
    mean, each = SHEET[name]
    objective = build_objective(name, [212, 19, 10])
    logits, truth = torch.from_numpy(np.log(P)), torch.tensor(TRUTH)
    assert number(objective(logits, truth)) == pytest.approx(mean, rel=1e-6)
    # Printed with six places.
    for place, expected in enumerate(each):
        assert number(objective(logits[place : place + 1], truth[place : place + 1])) == pytest.approx(
            expected, abs=6e-7, rel=0
        )


@pytest.mark.parametrize("name", SHEET_GRADIENTS)
def test_it_gives_the_sheets_gradients(name: str) -> None:
    logits = torch.from_numpy(np.log(P)).requires_grad_()
    build_objective(name, [212, 19, 10])(logits, torch.tensor(TRUTH)).backward()
    assert logits.grad is not None
    np.testing.assert_allclose(logits.grad, SHEET_GRADIENTS[name], rtol=1e-9, atol=1e-12)


def test_the_weights_are_the_sheets() -> None:
    counts = [212, 19, 10]
    positive, negative = class_weights("ee", counts)
    np.testing.assert_allclose(positive, [1.136792, 12.684211, 24.1], atol=1e-6)
    np.testing.assert_allclose(negative, [[8.310345, 1.085586, 1.043290]] * 3, atol=1e-6)
    positive, negative = class_weights("standard", counts)
    np.testing.assert_allclose(positive, [0.120332, 0.921162, 0.958506], atol=1e-6)
    np.testing.assert_allclose(negative, [[0.879668, 0.078838, 0.041494]] * 3, atol=1e-6)
    positive, negative = class_weights("array", counts)
    array = np.array([[1.136792, 6.342105, 12.05], [0.568396, 12.684211, 12.05], [0.568396, 6.342105, 24.1]])
    np.testing.assert_allclose(positive, array.diagonal(), atol=1e-6)
    for truth in range(3):
        for other in {0, 1, 2} - {truth}:
            assert float(negative[truth, other]) == pytest.approx(array[other, truth], abs=1e-6)


@pytest.mark.parametrize("logarithm", ["natural", "of ten"])
def test_the_papers_worked_example(logarithm: str) -> None:
    """The truth is class 0 and the predictions are the first two of P; the paper prints logarithms of ten."""
    unit = 1.0 if logarithm == "natural" else math.log(10)
    expected = {
        "natural": {"CE": (0.916291, 0.916291), "CECL": (1.629641, 1.714798), "PBP": (0.916291, 1.609438)},
        "of ten": {"CE": (0.397940, 0.397940), "CECL": (0.707744, 0.744727), "PBP": (0.397940, 0.698970)},
    }[logarithm]
    counts = [5, 5, 5]
    objectives = {
        "CE": build_objective("CE", counts),
        "CECL": build_objective("CECL", counts),
        "PBP": Punishment(Notation("PBP", "PBP", "none"), counts),
    }
    for each, objective in objectives.items():
        for place in (0, 1):
            loss = objective(torch.from_numpy(np.log(P))[place : place + 1], torch.tensor([0]))
            assert number(loss) / unit == pytest.approx(expected[each][place], abs=1e-6)


def test_gamma_zero_is_not_gamma_one() -> None:
    """The published code turns 0 into 1."""
    logits, targets = batch(3)
    zero, one = (number(build_objective(name, COUNTS[3])(logits, targets)) for name in ("PBP(0,8)", "PBP(1,8)"))
    assert zero > one * 1.01


def test_where_the_pull_of_contrast_changes_sign() -> None:
    """The appendix's p* where CL(1,l)'s two terms balance in a two-class token, with natural logarithms."""
    for factor, balance in ((1, 0.5), (8, 0.7628), (12, 0.8011), (18, 0.8343), (20, 0.8422), (24, 0.8550)):

        def slope(p: float, factor: float = factor) -> float:
            """Of a class that half of the tokens have: lambda (1-p) ln p for those, p ln(1-p) for the rest."""
            q = torch.tensor(p, dtype=torch.float64, requires_grad=True)
            logits = torch.stack((torch.log(q), torch.log(1 - q))).expand(2, 2)
            objective = build_objective(f"CLA(1,{factor})", [10, 10])
            positive = objective(logits[:1], torch.tensor([0]))
            contrast = build_objective("CLA(1,0)", [10, 10])
            # Positive term of a token of class 0, contrast term of a token of class 1 against class 0.
            (positive - contrast(logits[:1], torch.tensor([0])) + contrast(logits[:1], torch.tensor([1]))).backward()
            assert q.grad is not None
            return float(q.grad)

        assert slope(balance - 2e-4) < 0 < slope(balance + 2e-4)


@pytest.mark.parametrize("gamma", [0, 1, 2])
@pytest.mark.parametrize("family", ["CL", "CLA", "PBP", "PBPA"])
@pytest.mark.parametrize("boost", [1, 8])
def test_its_gradient_is_the_appendix_closed_form(family: str, gamma: int, boost: int) -> None:
    """dL/dp_c = boost alpha [gamma (1-p)^(gamma-1) ln p - (1-p)^gamma / p] of the true class, for the other classes that count
    dL/dp_j = beta [-gamma p^(gamma-1) ln(1-p) + p^gamma / (1-p)]; the chain rule through softmax makes them dL/dlogits."""
    alpha, beta = class_weights("array" if family.endswith("A") else "ee", COUNTS[3])
    for p, truth in zip(P, TRUTH, strict=True):
        to_p = np.zeros(3)
        to_p[truth] = gamma * (1 - p[truth]) ** (gamma - 1) * np.log(p[truth]) if gamma else 0.0
        to_p[truth] = boost * alpha[truth].item() * (to_p[truth] - (1 - p[truth]) ** gamma / p[truth])
        for other in range(3):
            counts = other != truth and (family.startswith("CL") or other == p.argmax())
            if counts:
                pull = -gamma * p[other] ** (gamma - 1) * np.log(1 - p[other]) if gamma else 0.0
                to_p[other] = beta[truth, other].item() * (pull + p[other] ** gamma / (1 - p[other]))
        assert to_p[truth] < 0 <= np.delete(to_p, truth).min()
        expected = p * to_p - p * (p @ to_p)
        logits = torch.tensor(np.log(p)[None], requires_grad=True)
        build_objective(f"{family}({gamma},{boost})", COUNTS[3])(logits, torch.tensor([truth])).backward()
        assert logits.grad is not None
        np.testing.assert_allclose(logits.grad[0], expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "by_classes"), [("CE", 0.5364793), ("CLA(1,1)", 7.612141), ("CLA(1,20)", 130.28700), ("PBP(1,8)", 52.137936)]
)
def test_the_published_codes_normaliser_is_ours_divided_by_the_classes(name: str, by_classes: float) -> None:
    ours = number(build_objective(name, COUNTS[3])(torch.tensor(np.log(P)), torch.tensor(TRUTH)))
    assert ours / 3 == pytest.approx(by_classes, rel=1e-6)


def test_ce_is_cross_entropy() -> None:
    logits, targets = batch(7)
    expected = F.cross_entropy(logits, targets, ignore_index=-1)
    assert number(build_objective("CE", COUNTS[7])(logits, targets)) == pytest.approx(number(expected), rel=1e-12)


def test_focal_names_without_a_number_have_gamma_one() -> None:
    logits, targets = batch(3)
    for short, long in (("FCE", "FCE(1)"), ("FWCE", "FWCE(1)")):
        assert number(build_objective(short, COUNTS[3])(logits, targets)) == number(
            build_objective(long, COUNTS[3])(logits, targets)
        )


@pytest.mark.parametrize("garbage", [0.0, 7.0, 1e4])
def test_ignored_tokens_contribute_nothing(name: str, garbage: float) -> None:
    objective = build_objective(name, COUNTS[3])
    logits, targets = batch(3, ignored=False)
    noise = garbage * torch.randn(4, 3, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    more = torch.cat((noise[:2], logits, noise[2:])).requires_grad_()
    padded = F.pad(targets, (2, 2), value=-1)
    loss = objective(more, padded)
    loss.backward()
    alone = logits.clone().requires_grad_()
    expected = objective(alone, targets)
    expected.backward()
    assert number(loss) == pytest.approx(number(expected), rel=1e-12)
    assert more.grad is not None
    assert (more.grad[[0, 1, -2, -1]] == 0).all()
    torch.testing.assert_close(more.grad[2:-2], alone.grad)
    weights = torch.linspace(0.1, 2, 16, dtype=torch.float64)
    assert number(objective(more, padded, weights)) == pytest.approx(
        number(objective(logits, targets, weights[2:-2])), rel=1e-12
    )


@pytest.mark.parametrize("garbage", [math.inf, -math.inf, math.nan])
def test_logits_that_are_no_numbers_spoil_nothing_where_they_are_ignored(name: str, garbage: float) -> None:
    objective = build_objective(name, COUNTS[3])
    logits, targets = batch(3, ignored=False)
    more = F.pad(logits, (0, 0, 1, 0), value=garbage).requires_grad_()
    loss = objective(more, F.pad(targets, (1, 0), value=-1))
    loss.backward()
    assert number(loss) == pytest.approx(number(objective(logits, targets)), rel=1e-12)
    assert more.grad is not None
    assert more.grad[1:].isfinite().all()


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_a_batch_without_a_labelled_token_gives_zero_and_trains_nothing(name: str, weighted: bool) -> None:
    for tokens in (5, 1, 0):
        logits = torch.randn(tokens, 3, generator=torch.Generator().manual_seed(0)).requires_grad_()
        loss = build_objective(name, COUNTS[3])(logits, torch.full((tokens,), -1), torch.rand(tokens) if weighted else None)
        loss.backward()
        assert number(loss) == 0
        assert logits.grad is not None
        assert (logits.grad == 0).all()


def test_labelled_tokens_that_all_weigh_nothing_give_zero(name: str) -> None:
    logits = torch.randn(4, 3, generator=torch.Generator().manual_seed(0)).requires_grad_()
    loss = build_objective(name, COUNTS[3])(logits, torch.tensor([0, 1, 2, -1]), torch.zeros(4))
    loss.backward()
    assert number(loss) == 0
    assert logits.grad is not None
    assert (logits.grad == 0).all()


def test_a_weight_of_three_counts_as_three_tokens(name: str) -> None:
    logits, targets = batch(3)
    weights = torch.tensor([1, 3, 2, 1, 0, 1, 2, 2, 1, 3, 1, 1])
    objective = build_objective(name, COUNTS[3])
    repeated = objective(logits.repeat_interleave(weights, 0), targets.repeat_interleave(weights))
    assert number(objective(logits, targets, weights.double())) == pytest.approx(number(repeated), rel=1e-12)
    assert number(objective(logits, targets, 5 * weights.double())) == pytest.approx(number(repeated), rel=1e-12)


def test_it_is_finite_where_float32_has_no_more_digits(name: str) -> None:
    """Every order of logits of 1e4 and -1e4, whichever is true: a prediction can be hopeless, or too good."""
    for classes in COUNTS:
        rows = [[1e4 if k == high else -1e4 for k in range(classes)] for high in range(classes)]
        rows += [[-1e4 if k == low else 1e4 for k in range(classes)] for low in range(classes)]
        rows += [[0.0] * classes, [30.0, *[-30.0] * (classes - 1)], [1e4 - 1, 1e4, *[0.0] * (classes - 2)]]
        objective = build_objective(name, COUNTS[classes])
        for truth in range(classes):
            logits = torch.tensor(rows).requires_grad_()
            loss = objective(logits, torch.full((len(rows),), truth))
            loss.backward()
            assert loss.dtype == torch.float32
            assert loss.isfinite()
            assert number(loss) >= 0
            assert logits.grad is not None
            assert logits.grad.isfinite().all()


def test_a_hopeless_token_costs_what_it_should_and_is_still_pulled(name: str) -> None:
    """Two classes apart by 600, float32: ln p of the truth and ln (1 - p) of the other are both -600, not a clipped -23."""
    meaning = MEANINGS[name]
    alpha, beta = weights_of(meaning.weights, COUNTS[2])
    logits = torch.tensor([[300.0, -300.0]]).requires_grad_()
    loss = build_objective(name, COUNTS[2])(logits, torch.tensor([1]))
    pull = meaning.factor * alpha[1] + (0 if meaning.others == "none" else beta[1, 0])
    assert number(loss) == pytest.approx(600 * pull, rel=1e-5)
    loss.backward()
    assert logits.grad is not None
    np.testing.assert_allclose(logits.grad, [[pull, -pull]], rtol=1e-3)


def test_a_nearly_perfect_token_keeps_its_digits_in_float32(name: str) -> None:
    """1 - p is 2e-22 here: in float32 p is 1, and a logarithm of 1 - p would be lost."""
    logits = torch.tensor([[25.0, -25.0], [-25.0, 25.0]])
    targets = torch.tensor([0, 1])
    objective = build_objective(name, COUNTS[2])
    assert number(objective(logits, targets)) == pytest.approx(number(objective(logits.double(), targets)), rel=1e-4, abs=1e-30)


def test_half_precision_logits_are_counted_in_float32(name: str) -> None:
    logits, targets = batch(3)
    objective = build_objective(name, COUNTS[3])
    loss = objective(logits.half(), targets)
    assert loss.dtype == torch.float32
    assert number(loss) == pytest.approx(number(objective(logits.half().double(), targets)), rel=1e-5)


@pytest.mark.parametrize("classes", [3, 7])
def test_the_order_of_the_classes_does_not_matter(name: str, classes: int) -> None:
    logits, targets = batch(classes)
    order = torch.randperm(classes, generator=torch.Generator().manual_seed(5))
    # Class order[k] is now called k.
    renamed = torch.where(targets < 0, -1, order.argsort()[targets.clamp(min=0)])
    other = build_objective(name, [COUNTS[classes][k] for k in order])(logits[:, order], renamed)
    assert number(other) == pytest.approx(number(build_objective(name, COUNTS[classes])(logits, targets)), rel=1e-9)


def test_the_order_of_the_tokens_does_not_matter(name: str) -> None:
    logits, targets = batch(3)
    order = torch.randperm(12, generator=torch.Generator().manual_seed(5))
    objective = build_objective(name, COUNTS[3])
    assert number(objective(logits[order], targets[order])) == pytest.approx(number(objective(logits, targets)), rel=1e-12)


@pytest.mark.parametrize("counts", [[100, 0, 7], [0, 5, 0], [100, 0]], ids=str)
def test_a_class_without_a_training_token_gives_finite_numbers(name: str, counts: list[int]) -> None:
    classes = len(counts)
    logits = torch.randn(classes, classes, generator=torch.Generator().manual_seed(1)).requires_grad_()
    loss = build_objective(name, counts)(logits, torch.arange(classes))
    loss.backward()
    assert loss.isfinite()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()
    assert logits.grad.abs().sum() > 0


def test_a_prediction_that_is_tied_first_is_the_truth_costs_no_punishment() -> None:
    """Where the true class is among the highest and comes first, it is what is predicted."""
    punishment = build_objective("PBP(0,1)", COUNTS[3])(torch.zeros(1, 3), torch.tensor([0]))
    plain = build_objective("WCE", COUNTS[3])(torch.zeros(1, 3), torch.tensor([0]))
    assert number(punishment) == pytest.approx(number(plain), rel=1e-6)


def test_the_weights_are_no_part_of_a_saved_model(name: str) -> None:
    objective = build_objective(name, COUNTS[3])
    assert not objective.state_dict()
    assert not list(objective.parameters())


# Names ----------------------------------------------------------------------------------------------------------------


def test_spaces_and_case_do_not_matter(name: str) -> None:
    logits, targets = batch(3)
    expected = number(build_objective(name, COUNTS[3])(logits, targets))
    for spelling in (name.lower(), name.upper(), name.replace(",", " , ").replace("(", " ( "), f" {name}\n"):
        assert number(build_objective(spelling, COUNTS[3])(logits, targets)) == expected


def test_the_name_that_an_objective_bears_builds_it_again(name: str) -> None:
    bears = build_objective(name, COUNTS[3]).name
    assert parse_objective(bears) == parse_objective(name)


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("CEE", "CE"),
        ("WEC", "WCE"),
        ("FWEC", "FWCE"),
        ("CECLL", "CECL"),
        ("CLA(1,20", "CLA(1,20)"),
        ("CLB(1,20)", "CL(1,20)"),
        ("BPB(0,8)", "PBP(0,8)"),
        ("pbp[0,8]", "PBP(0,8)"),
        ("PBBA(0,8)", "PBPA(0,8)"),
        ("CECLA(1,20)", "CLA(1,20)"),
    ],
)
def test_a_typo_names_the_nearest(wrong: str, meant: str) -> None:
    with pytest.raises(UsageError) as caught:
        build_objective(wrong, COUNTS[3])
    assert repr(wrong) in str(caught.value)
    assert f"Did you mean {meant!r}?" in str(caught.value)
    for each in ("CE", "WCE", "FCE", "FWCE", "CECL", "CL(", "CLA(", "PBP(", "PBPA("):
        assert each in caught.value.todo


@pytest.mark.parametrize(
    "wrong", ["", "()", "loss", "交叉熵", "CE(1)", "WCE(2)", "CECL(1,20)", "FCE(1,2)", "CL(1,2,3)", "CL1,20"]
)
def test_what_is_no_name_is_the_users_mistake(wrong: str) -> None:
    with pytest.raises(UsageError, match="is not an objective"):
        parse_objective(wrong)


@pytest.mark.parametrize("head", ["CL", "CLA", "PBP", "PBPA"])
@pytest.mark.parametrize("numbers", ["", "()", "(1)"])
def test_missing_numbers_are_asked_for(head: str, numbers: str) -> None:
    with pytest.raises(UsageError, match="lacks its two numbers") as caught:
        parse_objective(head + numbers)
    assert f"{head}(0,8)" in caught.value.todo


@pytest.mark.parametrize(
    "wrong",
    [
        "CL(-1,2)",
        "CL(1,-2)",
        "CL(a,2)",
        "CL(1,b)",
        "CL(s,1)",
        "PBP(,8)",
        "PBP(0,)",
        "FCE()",
        "FCE(x)",
        "CL(nan,1)",
        "CL(1,inf)",
    ],
)
def test_numbers_that_are_none_are_the_users_mistake(wrong: str) -> None:
    with pytest.raises(UsageError, match="is not a number of at least 0") as caught:
        parse_objective(wrong)
    assert wrong in str(caught.value)


@pytest.mark.parametrize(("wrong", "instead"), [("CLA(0,s)", "CL"), ("PBPA(1,S)", "PBP")])
def test_array_weights_and_standard_weights_exclude_each_other(wrong: str, instead: str) -> None:
    with pytest.raises(UsageError, match="array weights and standard weights exclude each other") as caught:
        parse_objective(wrong)
    assert instead in caught.value.todo


@pytest.mark.parametrize("counts", [[], [5], [5, -1], [-3, -4], [0, 0, 0]], ids=str)
def test_counts_that_make_no_classes_are_the_users_mistake(name: str, counts: list[int]) -> None:
    with pytest.raises(UsageError, match="at least two classes"):
        build_objective(name, counts)


def test_a_target_below_zero_never_trains_as_class_none() -> None:
    """Other libraries ignore -100, and so does our token score: here it is ignored or refused, but not taken for class 0."""
    objective = build_objective("CE", COUNTS[3])
    logits, _ = batch(3, tokens=2)
    try:
        loss = objective(logits, torch.tensor([1, -100]))
    except (IndexError, RuntimeError, ValueError, AssertionError):
        return
    assert number(loss) == pytest.approx(number(objective(logits[:1], torch.tensor([1]))))


def test_a_target_beyond_the_classes_is_refused(name: str) -> None:
    logits, _ = batch(3, tokens=2)
    with pytest.raises((IndexError, RuntimeError, ValueError, AssertionError)):
        build_objective(name, COUNTS[3])(logits, torch.tensor([1, 3]))


# Weights by batch -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_dynamic_weights_are_those_of_the_batch(name: str) -> None:
    logits, targets = (
        torch.randn(40, 3, generator=torch.Generator().manual_seed(5), dtype=torch.float64),
        torch.arange(40) % 7 % 4 - 1,
    )
    own = [int((targets == label).sum()) for label in range(3)]
    assert min(own) > 0
    dynamic = build_objective(name, [1000, 10, 1], weights="dynamic")
    torch.testing.assert_close(dynamic(logits, targets), build_objective(name, own)(logits, targets), rtol=0, atol=1e-12)
    torch.testing.assert_close(
        dynamic(logits[:9], targets[:9]),
        build_objective(name, [int((targets[:9] == label).sum()) for label in range(3)])(logits[:9], targets[:9]),
        rtol=0,
        atol=1e-12,
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("targets", [[0, 0, 0], [2, -1, 1], [-1, -1, -1]])
def test_dynamic_weights_of_a_batch_that_lacks_a_class_are_finite(name: str, targets: list[int]) -> None:
    logits = torch.randn(3, 3, generator=torch.Generator().manual_seed(5)).requires_grad_()
    loss = build_objective(name, [5, 5, 5], weights="dynamic")(logits, torch.tensor(targets))
    loss.backward()
    assert loss.isfinite()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()


def test_weights_are_fixed_or_dynamic() -> None:
    with pytest.raises(UsageError, match="'batch' is not a kind of weights"):
        build_objective("CE", [5, 5], weights="batch")
