"""Fitting the window CRF, and choosing its mixing weight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from batag.encoders.input import tensors
from batag.features.featurizer import Featurizer
from batag.features.vocabulary import Vocabulary
from batag.heads.classifier import TokenClassifier, build_classifier
from batag.heads.prediction import probabilities
from batag.heads.torch_heads import MIXING_WEIGHT, Scores
from batag.labels.scheme import Scheme
from batag.training import window_crf
from batag.training.examples import Example
from batag.training.window_crf import choose_mixing_weight, fit_window_crf

ENCODER = {"name": "transformer", "width": 8, "depth": 1, "heads": 2, "inner": 8}
HEAD = {"chain": True, "window_crf": 2, "window_crf_buckets": 5_000}
CPU = torch.device("cpu")


def model(*, labels: int = 2, **head: Any) -> TokenClassifier:
    torch.manual_seed(0)
    input, head = {"kind": "rich"}, HEAD | head
    featurizer = Featurizer.build(Vocabulary([]), input=input, head=head)
    return build_classifier(featurizer, labels=labels, input=input, encoder=ENCODER, head=head).eval()


def after_by(numbers: Iterable[int], *, reviewed: bool = True, label: int = 1) -> list[Example]:
    """What stands after `by` is a brand, whatever it is called."""
    return [
        Example(f"p{n}", [f"thing{n % 7}", "by", f"maker{n}", "for", f"use{n % 5}"], [0, 0, label, 0, 0], reviewed=reviewed)
        for n in numbers
    ]


def predicted_labels(chosen: TokenClassifier, pages: Sequence[Example]) -> list[list[int]]:
    found = probabilities(chosen, [page.words for page in pages], CPU)
    labels = 1 + len(chosen.continuation)
    return [row[:, :labels].argmax(-1).tolist() for row in found]


def crf_alone(chosen: TokenClassifier) -> TokenClassifier:
    assert chosen.window_crf is not None
    chosen.window_crf.mixing_weight.fill_(1.0)
    return chosen


def test_it_learns_from_neighbours_what_no_word_says() -> None:
    fitted = model()
    fit_window_crf(fitted, after_by(range(60)))
    new = after_by(range(100, 120))
    assert predicted_labels(crf_alone(fitted), new) == [page.labels for page in new]
    assert not any(parameter.requires_grad for parameter in fitted.window_crf.parameters())  # type: ignore[union-attr]
    assert all(parameter.grad is None for parameter in fitted.window_crf.parameters())  # type: ignore[union-attr]


def test_the_same_pages_give_the_same_numbers() -> None:
    one, other = model(), model()
    for each in (one, other):
        fit_window_crf(each, after_by(range(30)))
    for left, right in zip(one.state_dict().values(), other.state_dict().values(), strict=True):
        assert torch.equal(left, right)


def test_pages_by_machines_count_only_where_people_labelled_none() -> None:
    mixed, people, machines = model(), model(), model()
    fit_window_crf(mixed, [*after_by(range(30)), *after_by(range(30, 90), reviewed=False, label=0)])
    fit_window_crf(people, after_by(range(30)))
    fit_window_crf(machines, after_by(range(30), reviewed=False))
    for each in (mixed, machines):
        for left, right in zip(each.state_dict().values(), people.state_dict().values(), strict=True):
            assert torch.equal(left, right)


def test_labels_that_nobody_knows_do_not_count() -> None:
    holes, dense = model(), model()
    fit_window_crf(holes, [Example("a", ["x", "y"], [-1, -1]), *after_by(range(20))])
    fit_window_crf(dense, after_by(range(20)))
    assert predicted_labels(crf_alone(holes), after_by(range(5))) == predicted_labels(crf_alone(dense), after_by(range(5)))
    nothing = model()
    fit_window_crf(nothing, [Example("a", ["x", "y"], [-1, -1])])
    assert not nothing.window_crf.weights.any()  # type: ignore[union-attr]


def test_what_a_start_knew_stays_where_new_pages_say_nothing() -> None:
    fitted = model()
    fit_window_crf(fitted, after_by(range(60)))
    others = [Example(f"q{n}", ["red", "shoe", f"{n}cm"], [0, 1, 0]) for n in range(40)]
    fit_window_crf(fitted, others)
    new = after_by(range(100, 120))
    assert predicted_labels(crf_alone(fitted), others) == [page.labels for page in others]
    right = sum(one == page.labels for one, page in zip(predicted_labels(fitted, new), new, strict=True))
    assert right >= 18


def test_a_bar_is_told_every_round_and_its_end() -> None:
    seen = []

    def watch(rounds: Iterable[int]) -> Iterator[int]:
        for each in rounds:
            seen.append(each)
            yield each

    fit_window_crf(model(), after_by(range(10)), watch=watch)
    assert seen == list(range(window_crf.ROUNDS + 1))


def test_more_tokens_than_are_of_use_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_crf, "_MOST", 2 * 100)
    pages = after_by(range(60))
    drawn = window_crf._some(pages, tokens=100)
    assert len(drawn) == 20
    assert max(int(page.page[1:]) for page in drawn) > 40  # not only of the first file
    some, same = model(), model()
    fit_window_crf(some, pages)
    monkeypatch.undo()
    fit_window_crf(same, drawn)
    assert torch.equal(some.window_crf.weights, same.window_crf.weights)  # type: ignore[union-attr]
    assert window_crf._some(pages, tokens=300) is pages


def test_a_label_that_only_pages_by_machines_have_is_learnt_from_them() -> None:
    only_machines = [Example(f"w{n}", ["pure", "silk"], [0, 2], reviewed=False) for n in range(20)]
    chosen = model(labels=3)
    fit_window_crf(chosen, [*after_by(range(20)), *after_by(range(20, 30), reviewed=False, label=0), *only_machines])
    assert predicted_labels(crf_alone(chosen), only_machines[:1]) == [[0, 2]]
    assert predicted_labels(chosen, after_by([100])) == [[0, 0, 1, 0, 0]]


def test_many_tokens_of_dev_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = model()
    fit_window_crf(fitted, after_by(range(60)))
    pages = after_by(range(40))
    monkeypatch.setattr(window_crf, "_MOST", 2 * 50)
    chosen = choose_mixing_weight(fitted, fitted.state_dict(), pages)[MIXING_WEIGHT]
    drawn = window_crf._some(pages, tokens=50)
    assert len(drawn) == 10
    monkeypatch.undo()
    assert chosen == choose_mixing_weight(fitted, fitted.state_dict(), drawn)[MIXING_WEIGHT]


def test_the_mixing_weight_makes_the_pages_of_dev_most_likely() -> None:
    """Of two weights only their ratio is kept: no other pair makes the pages likelier than a multiple of the chosen one."""
    fitted = model()
    fit_window_crf(fitted, after_by(range(8)))
    with torch.no_grad():
        fitted.head.weight.normal_(std=0.3)
    dev = [Example(f"d{n}", ["by", f"maker{n}", "by", "coat"], [0, 1, -1, n % 2]) for n in range(12)]
    batch = tensors(fitted.featurizer.batch([page.words for page in dev]), CPU)
    labels = torch.tensor([page.labels for page in dev])
    assert fitted.window_crf is not None
    with torch.no_grad():
        encoder, crf = fitted.of_encoder(fitted.input(batch), batch), fitted.window_crf(batch)

        def likelihood(own: float, other: float) -> float:
            return encoder.add(crf, torch.tensor(own), torch.tensor(other)).log_likelihood(labels).sum().item()

        chosen = choose_mixing_weight(fitted, fitted.state_dict(), dev)[MIXING_WEIGHT].item()
        sizes = np.linspace(0.02, 6, 80)
        best = max(likelihood(one, other) for one in sizes for other in sizes)
        found = max(likelihood((1 - chosen) * size, chosen * size) for size in np.linspace(0.02, 12, 400))
    assert 0 < chosen < 1
    assert found >= best - 0.02


def test_the_mixing_weight_is_chosen_without_dropout() -> None:
    fitted = model()
    fit_window_crf(fitted, after_by(range(8)))
    for module in fitted.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.9
    dev = [Example(f"d{n}", ["by", f"maker{n}", "by", "coat"], [0, 1, -1, n % 2]) for n in range(12)]
    weights = fitted.state_dict()
    expected = choose_mixing_weight(fitted, weights, dev)[MIXING_WEIGHT]
    fitted.train()
    assert choose_mixing_weight(fitted, weights, dev)[MIXING_WEIGHT] == expected
    assert fitted.training


def test_pages_without_words_choose_nothing() -> None:
    fitted = model()
    assert choose_mixing_weight(fitted, fitted.state_dict(), [Example("a", [], [])])[MIXING_WEIGHT] == 0.5


def test_the_mixing_weight_is_higher_where_the_crf_knows_better() -> None:
    pages = after_by(range(60))
    good, bad = model(), model()
    fit_window_crf(good, pages)
    fit_window_crf(bad, after_by(range(60), label=0))
    with torch.no_grad():
        bad.window_crf.weights.normal_(std=3.0)  # type: ignore[union-attr]
    new = after_by(range(100, 140))
    assert choose_mixing_weight(good, good.state_dict(), new)[MIXING_WEIGHT] >= 0.5
    assert choose_mixing_weight(bad, bad.state_dict(), new)[MIXING_WEIGHT] <= 0.3
    assert good.window_crf.mixing_weight == 0.5  # type: ignore[union-attr]


def test_one_that_only_disturbs_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one answers alone, however little it knows."""
    fitted = model()
    pages = after_by(range(40))
    labels = torch.tensor([page.labels for page in pages])
    wrong = 2.0 * torch.nn.functional.one_hot(1 - labels, 2)
    mostly_right = 2.0 * torch.nn.functional.one_hot(torch.cat((1 - labels[:9], labels[9:])), 2)
    assert fitted.window_crf is not None
    for encoder, crf, expected in ((wrong, mostly_right, 1.0), (mostly_right, wrong, 0.0)):
        monkeypatch.setattr(fitted, "of_encoder", lambda _, batch, own=encoder: Scores(own, batch.mask))
        monkeypatch.setattr(fitted.window_crf, "forward", lambda batch, own=crf: Scores(own, batch.mask))
        assert choose_mixing_weight(fitted, fitted.state_dict(), pages)[MIXING_WEIGHT] == expected


def test_without_a_window_crf_there_is_nothing_to_choose() -> None:
    plain = model(window_crf=0)
    fit_window_crf(plain, after_by(range(5)))
    weights = plain.state_dict()
    assert choose_mixing_weight(plain, weights, after_by(range(5))).keys() == weights.keys()


def test_the_fit_makes_whole_pages_likelier_and_forbidden_transitions_stay_low() -> None:
    scheme = Scheme("bio", ("goods",))
    pages = [Example(f"p{n}", ["by", f"maker{n}", "inc"], [0, 1, 2]) for n in range(20)]
    fitted = model(labels=3)
    fitted.forbid(scheme.allowed_before)
    assert fitted.window_crf is not None
    batch = tensors(fitted.featurizer.batch([page.words for page in pages]), CPU)
    labels = torch.tensor([page.labels for page in pages])
    before = fitted.window_crf(batch).log_likelihood(labels).mean().item()
    fit_window_crf(fitted, pages)
    after = fitted.window_crf(batch).log_likelihood(labels).mean().item()
    assert after > max(before, -0.1)
    chain = fitted.window_crf.chain
    assert chain.transitions[0, 2] < -9
    assert chain.starts[2] < -9
    assert chain.transitions[1, 2] > 0
