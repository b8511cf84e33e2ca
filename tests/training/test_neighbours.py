"""Fitting the reader of neighbours, and how much of the say it gets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pytest
import torch

from batag.features.vocabulary import Vocabulary
from batag.heads.classifier import TokenClassifier, build_classifier
from batag.heads.neighbours import SHARE
from batag.heads.prediction import probabilities
from batag.training import neighbours
from batag.training.examples import Example
from batag.training.neighbours import choose_share, fit_neighbours

ENCODER = {"name": "transformer", "width": 8, "depth": 1, "heads": 2, "inner": 8}
HEAD = {"chain": True, "neighbours": 2, "rows": 5_000}
CPU = torch.device("cpu")


def model() -> TokenClassifier:
    torch.manual_seed(0)
    return build_classifier(Vocabulary([]), labels=2, input={"kind": "rich"}, encoder=ENCODER, head=HEAD).eval()


def after_by(numbers: Iterable[int], *, reviewed: bool = True, label: int = 1) -> list[Example]:
    """What stands after `by` is a brand, whatever it is called."""
    return [
        Example(f"p{n}", [f"thing{n % 7}", "by", f"maker{n}", "for", f"use{n % 5}"], [0, 0, label, 0, 0], reviewed=reviewed)
        for n in numbers
    ]


def said(chosen: TokenClassifier, pages: Sequence[Example]) -> list[list[int]]:
    found = probabilities(chosen, [page.words for page in pages], CPU)
    return [row.argmax(-1).tolist() for row in found]


def reader_alone(chosen: TokenClassifier) -> TokenClassifier:
    assert chosen.neighbours is not None
    chosen.neighbours.share.fill_(1.0)
    return chosen


def test_it_learns_from_neighbours_what_no_word_says() -> None:
    fitted = model()
    fit_neighbours(fitted, after_by(range(60)))
    new = after_by(range(100, 120))
    assert said(reader_alone(fitted), new) == [page.labels for page in new]
    assert not any(parameter.requires_grad for parameter in fitted.neighbours.parameters())  # type: ignore[union-attr]
    assert all(parameter.grad is None for parameter in fitted.neighbours.parameters())  # type: ignore[union-attr]


def test_the_same_pages_give_the_same_numbers() -> None:
    one, other = model(), model()
    for each in (one, other):
        fit_neighbours(each, after_by(range(30)))
    for left, right in zip(one.state_dict().values(), other.state_dict().values(), strict=True):
        assert torch.equal(left, right)


def test_pages_by_machines_count_only_where_people_labelled_none() -> None:
    mixed, people, machines = model(), model(), model()
    fit_neighbours(mixed, [*after_by(range(30)), *after_by(range(30, 90), reviewed=False, label=0)])
    fit_neighbours(people, after_by(range(30)))
    fit_neighbours(machines, after_by(range(30), reviewed=False))
    for each in (mixed, machines):
        for left, right in zip(each.state_dict().values(), people.state_dict().values(), strict=True):
            assert torch.equal(left, right)


def test_labels_that_nobody_knows_do_not_count() -> None:
    holes, dense = model(), model()
    fit_neighbours(holes, [Example("a", ["x", "y"], [-1, -1]), *after_by(range(20))])
    fit_neighbours(dense, after_by(range(20)))
    assert said(reader_alone(holes), after_by(range(5))) == said(reader_alone(dense), after_by(range(5)))
    nothing = model()
    fit_neighbours(nothing, [Example("a", ["x", "y"], [-1, -1])])
    assert not nothing.neighbours.facts.any()  # type: ignore[union-attr]


def test_what_a_start_knew_stays_where_new_pages_say_nothing() -> None:
    fitted = model()
    fit_neighbours(fitted, after_by(range(60)))
    others = [Example(f"q{n}", ["red", "shoe", f"{n}cm"], [0, 1, 0]) for n in range(40)]
    fit_neighbours(fitted, others)
    new = after_by(range(100, 120))
    assert said(reader_alone(fitted), others) == [page.labels for page in others]
    right = sum(one == page.labels for one, page in zip(said(fitted, new), new, strict=True))
    assert right >= 18


def test_a_bar_is_told_every_round_and_its_end() -> None:
    seen = []

    def watch(rounds: Iterable[int]) -> Iterator[int]:
        for each in rounds:
            seen.append(each)
            yield each

    fit_neighbours(model(), after_by(range(10)), watch=watch)
    assert seen == list(range(neighbours.ROUNDS + 1))


def test_more_tokens_than_are_of_use_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "_MOST", 2 * 100)
    pages = after_by(range(60))
    drawn = neighbours._some(pages, tokens=100)
    assert len(drawn) == 20
    assert max(int(page.page[1:]) for page in drawn) > 40  # not only of the first file
    some, same = model(), model()
    fit_neighbours(some, pages)
    monkeypatch.undo()
    fit_neighbours(same, drawn)
    assert torch.equal(some.neighbours.facts, same.neighbours.facts)  # type: ignore[union-attr]
    assert neighbours._some(pages, tokens=300) is pages


def test_a_label_that_only_pages_by_machines_have_is_learnt_from_them() -> None:
    only_machines = [Example(f"w{n}", ["pure", "silk"], [0, 2], reviewed=False) for n in range(20)]
    torch.manual_seed(0)
    chosen = build_classifier(Vocabulary([]), labels=3, input={"kind": "rich"}, encoder=ENCODER, head=HEAD).eval()
    fit_neighbours(chosen, [*after_by(range(20)), *after_by(range(20, 30), reviewed=False, label=0), *only_machines])
    assert said(reader_alone(chosen), only_machines[:1]) == [[0, 2]]
    assert said(chosen, after_by([100])) == [[0, 0, 1, 0, 0]]


def test_many_tokens_of_dev_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = model()
    fit_neighbours(fitted, after_by(range(60)))
    seen: list[int] = []
    plain = neighbours._loss
    monkeypatch.setattr(neighbours, "_loss", lambda logits, labels: (seen.append(len(labels)), plain(logits, labels))[1])
    monkeypatch.setattr(neighbours, "_MOST", 2 * 50)
    choose_share(fitted, fitted.state_dict(), after_by(range(40)))
    assert set(seen) == {40}


def test_the_share_is_that_of_the_reader_that_knows_better() -> None:
    pages = after_by(range(60))
    good, bad = model(), model()
    fit_neighbours(good, pages)
    fit_neighbours(bad, after_by(range(60), label=0))
    with torch.no_grad():
        bad.neighbours.facts.normal_(std=3.0)  # type: ignore[union-attr]
    new = after_by(range(100, 140))
    assert choose_share(good, good.state_dict(), new)[SHARE] >= 0.5
    assert choose_share(bad, bad.state_dict(), new)[SHARE] <= 0.3
    assert good.neighbours.share == 0.5  # type: ignore[union-attr]


def test_without_a_reader_there_is_nothing_to_choose() -> None:
    plain = build_classifier(Vocabulary([]), labels=2, input={"kind": "word"}, encoder=ENCODER)
    fit_neighbours(plain, after_by(range(5)))
    weights = plain.state_dict()
    assert choose_share(plain, weights, after_by(range(5))).keys() == weights.keys()


def test_the_loss_is_the_mean_of_minus_the_log_of_what_the_labels_get() -> None:
    logits = np.random.default_rng(0).normal(size=(50, 4)) * 30
    labels = np.arange(50) % 4
    shares = torch.log_softmax(torch.tensor(logits), -1)[torch.arange(50), torch.tensor(labels)]
    assert neighbours._loss(logits, labels) == pytest.approx(-shares.mean().item())
