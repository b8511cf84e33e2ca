from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.tiny import catalogue, make_bundle, tiny_run
from torch import Tensor

import batag
from batag.bundles.bundle import read_bundle
from batag.encoders.input import tensors
from batag.errors import InputError, UsageError
from batag.evaluation.operating_point import Dial, OperatingPoint
from batag.features.featurizer import Featurizer
from batag.features.vocabulary import Vocabulary
from batag.heads.classifier import TokenClassifier, build_classifier
from batag.heads.torch_heads import Chain, Scores
from batag.labels.scheme import Scheme
from batag.pages.page import Page
from batag.tagging.assessment import assess
from batag.training import distillation
from batag.training.distillation import Distillation, DistillationEpoch, PreparedDistillation, student_recipe
from batag.training.distillation.agreement import compare
from batag.training.distillation.imitation import imitation_loss, inherit_chain
from batag.training.distillation.projection import project
from batag.training.loop import DivergedError

SMALL = (
    "encoder.width=16",
    "encoder.depth=1",
    "encoder.inner=32",
    "schedule.warmup=40",
    "training.epochs=1",
    "training.average=0.9",
    "training.export=false",
)
Swift = tuple[Path, list[DistillationEpoch], PreparedDistillation]
TEXTS = [["red", "shoe"], ["blue", "boot", "of", "acme"], ["acme"]]


def unlabelled(pages: int) -> list[Page]:
    return [Page(page.id, page.fields, language=page.language) for page in catalogue(pages)]


def begun(*settings: str, pages: int = 30, dev: list[Page] | None = None) -> PreparedDistillation:
    teacher = read_bundle(tiny_run())
    run = Distillation(teacher, student_recipe(teacher, settings=[*SMALL, *settings]), device="cpu")
    return run.read(unlabelled(pages), dev=dev)


def finish(run: PreparedDistillation) -> list[DistillationEpoch]:
    return [done for done in run.train() if isinstance(done, DistillationEpoch)]


def taught(run: PreparedDistillation) -> dict[str, Tensor]:
    finish(run)
    return run.learner.weights()


@pytest.fixture(scope="module")
def swift(tmp_path_factory: pytest.TempPathFactory) -> Swift:
    """A student without dev pages, its epochs, and how it came about."""
    run = begun("training.epochs=25", "training.batch=16")
    epochs = finish(run)
    folder = tmp_path_factory.mktemp("distilled") / "swift"
    run.ship(folder, epochs[-1])
    return folder, epochs, run


def test_a_student_becomes_like_its_teacher_and_its_bundle_is_one_like_any_other(swift: Swift) -> None:
    folder, epochs, _ = swift
    assert epochs[-1].agreement.apart < epochs[0].agreement.apart
    assert epochs[-1].agreement.same > 0.9
    pages = catalogue(10, split="dev")
    teacher, student = (assess(batag.load(each), pages).report()["tokens"]["macro_f1"] for each in (tiny_run(), folder))
    assert student > teacher - 0.15
    assert student > 0.5


def test_tokens_words_classes_and_dial_are_the_teachers(swift: Swift) -> None:
    student, teacher = read_bundle(swift[0]), read_bundle(tiny_run())
    assert student.vocabulary.words == teacher.vocabulary.words
    for part in ("scheme", "labels", "segmentation", "window", "overlap", "dial", "calibration", "fields", "languages"):
        assert getattr(student.description, part) == getattr(teacher.description, part)
    assert student.description.encoder.width == 16
    assert student.description.head.chain
    assert not student.description.head.window_crf


def test_the_bundle_says_whose_student_it_is(swift: Swift) -> None:
    folder, epochs, run = swift
    described = read_bundle(folder).description
    written = hashlib.sha256((read_bundle(tiny_run()).folder / "bundle.json").read_bytes()).hexdigest()
    assert described.trained_on["distilled_from"] == {"name": "flat", "sha256": written}
    assert described.trained_on["pages"] + described.trained_on["held_out"] == 90
    assert described.metrics == {"teacher": epochs[-1].agreement.to_dict()}
    assert not {tuple(each.words) for each in run.held_out} & set(map(tuple, run.texts))


def test_the_same_seed_gives_the_same_student_and_another_another() -> None:
    one, same, other = (taught(begun(f"training.seed={seed}")) for seed in (0, 0, 1))
    assert all(torch.equal(value, same[name]) for name, value in one.items())
    assert not torch.equal(one["head.weight"], other["head.weight"])


def test_labels_of_the_pages_do_not_count() -> None:
    without = begun()
    teacher = without.bundle
    labelled = Distillation(teacher, student_recipe(teacher, settings=SMALL), device="cpu").read(catalogue(30))
    one, other = taught(without), taught(labelled)
    assert all(torch.equal(value, other[name]) for name, value in one.items())


def test_labelled_dev_pages_choose_a_dial_of_its_own(tmp_path: Path) -> None:
    run = begun(dev=catalogue(10, split="dev"))
    scores = run.ship(tmp_path / "swift", finish(run)[-1]).scores
    described = read_bundle(tmp_path / "swift").description
    assert described.dial != read_bundle(tiny_run()).description.dial
    assert described.metrics["dev"]["tokens"]["macro_f1"] == scores["dev"]["tokens"]["macro_f1"]
    assert described.trained_on["dev_pages"] == 30


def test_dev_pages_without_labels_are_an_error() -> None:
    with pytest.raises(InputError, match="no token of dev"):
        begun(dev=unlabelled(3))


def test_too_few_pages_are_an_error() -> None:
    with pytest.raises(InputError, match="too few pages"):
        begun(pages=0)


@pytest.mark.parametrize("setting", ["input.ngram_buckets=7", "head.window_crf=1", "pages.scheme=bio", "objective.name=WCE"])
def test_what_is_the_teachers_cannot_be_set(setting: str) -> None:
    with pytest.raises(UsageError, match=r"not for a student.*encoder"):
        student_recipe(read_bundle(tiny_run()), settings=[setting])


def test_a_teacher_without_a_dial_teaches_too(tmp_path: Path) -> None:
    teacher = read_bundle(make_bundle(tmp_path / "made"))
    recipe = student_recipe(teacher, settings=[*SMALL, "encoder.width=4"])
    run = Distillation(teacher, recipe, device="cpu").read(unlabelled(10))
    run.ship(tmp_path / "swift", finish(run)[-1])
    assert batag.load(tmp_path / "swift").dial is None


def test_a_loss_that_is_not_finite_is_one_clear_error() -> None:
    run = begun("schedule.scale=1e30", "schedule.warmup=1")
    with pytest.raises(DivergedError, match=r"step \d+ is nan"):
        finish(run)


def classifier(encoder: dict[str, Any], **input: Any) -> TokenClassifier:
    featurizer = Featurizer.build(Vocabulary(["red", "shoe", "boot"]), input=input)
    return build_classifier(featurizer, labels=3, input=input, encoder=encoder).eval()


@pytest.mark.parametrize("kind", ["word", "rich"])
@pytest.mark.parametrize("width", [8, 12])
def test_a_projection_as_wide_as_the_teacher_loses_nothing(kind: str, width: int) -> None:
    torch.manual_seed(0)
    encoder: dict[str, Any] = {"name": "bat", "depth": 1, "heads": 2, "inner": 16}
    teacher, student = (classifier(encoder | {"width": each}, kind=kind, ngram_buckets=50) for each in (8, width))
    project(teacher, student, TEXTS)
    batch = tensors(teacher.featurizer.batch(TEXTS), torch.device("cpu"))
    one, other = teacher.input(batch)[batch.mask], student.input(batch)[batch.mask]
    torch.testing.assert_close(one @ one.T, other @ other.T, rtol=1e-4, atol=1e-4)


def test_a_narrow_projection_keeps_the_longest_directions() -> None:
    torch.manual_seed(0)
    encoder: dict[str, Any] = {"name": "bat", "depth": 1, "heads": 1, "inner": 16}
    teacher, student = (classifier(encoder | {"width": each}, kind="word") for each in (8, 2))
    with torch.no_grad():
        teacher.input.words.weight[:, 2:] *= 1e-3
    project(teacher, student, TEXTS)
    batch = tensors(teacher.featurizer.batch(TEXTS), torch.device("cpu"))
    one, other = teacher.input(batch)[batch.mask], student.input(batch)[batch.mask]
    torch.testing.assert_close(one @ one.T, other @ other.T, rtol=1e-2, atol=1e-2)


def test_every_text_is_asked_about_twice_with_other_words_of_the_pages_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    run = begun()
    asked: list[list[str]] = []
    monkeypatch.setattr(run, "_step", lambda texts, epoch: asked.extend(texts))
    monkeypatch.setattr(run, "_compare", lambda taught: None)
    finish(run)
    assert sorted(map(len, asked)) == sorted(2 * list(map(len, run.texts)))
    assert {word for text in asked for word in text} <= {word for text in run.texts for word in text}
    nearest = [max(sum(a == b for a, b in zip(text, own, strict=False)) for own in run.texts) / len(text) for text in asked]
    assert min(nearest) < 0.5 < 0.9 < max(nearest)


def test_of_very_many_pages_some_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distillation, "_MOST_PAGES", 20)
    run = begun()
    statistics = run.data.statistics
    assert (statistics["pages"], statistics["held_out"]) == (20, 2)
    assert statistics["left_out"] == 90 - 22
    assert any(all(word.isascii() for word in text) for text in run.texts), "English pages come last"


def test_agreement_is_told_by_tags_labels_and_probabilities() -> None:
    scheme = Scheme("flat", ("goods",))
    taught, learnt = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.9, 0.1], [0.6, 0.4]])
    alike = compare([taught], [taught], scheme, dial=None)
    assert (alike.same, alike.tag_f1, alike.tag_f2, alike.apart) == (1.0, 1.0, 1.0, 0.0)
    apart = compare([taught], [learnt], scheme, dial=None)
    assert (apart.texts, apart.tokens, apart.same) == (1, 2, 0.5)
    assert apart.apart == pytest.approx((0.2 * np.log(0.2 / 0.6) + 0.8 * np.log(0.8 / 0.4)) / 2)
    assert (apart.tag_f1, apart.tag_f2) == (0.0, 0.0)


def test_agreement_of_tags_counts_borders_at_the_points_of_the_dial() -> None:
    scheme = Scheme("flat", ("goods",))
    dial = Dial(tuple(OperatingPoint(r, b, (own,)) for r, b, own in ((0.0, 0.5, -1.0), (0.5, 1.0, 0.0), (1.0, 2.0, 2.5))))
    none, sure, half = [0.98, 0.02], [0.02, 0.98], [0.7, 0.3]
    teacher = [np.array([none, sure, sure, none]), np.zeros((0, 2)), np.array([sure, none, half])]
    student = [np.array([none, sure, none, none]), np.zeros((0, 2)), np.array([sure, none, half])]
    found = compare(teacher, student, scheme, dial=dial)
    # Of two tags one has the teacher's borders; the third is one for both where it is rich.
    assert found.tag_f1 == pytest.approx(1 / 2)
    assert found.tag_f2 == pytest.approx(2 / 3)
    assert (found.texts, found.tokens) == (3, 7)


def chains(labels: int) -> tuple[Scores, Scores]:
    """The scores of a teacher and of a student that knows nothing yet, on two pages."""
    torch.manual_seed(0)
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    made = []
    for scale in (1.0, 0.0):
        chain = Chain(labels).double()
        for parameter in chain.parameters():
            torch.nn.init.normal_(parameter, std=scale)
        made.append(chain(scale * torch.randn(2, 4, labels, dtype=torch.float64), mask))
    return made[0], made[1]


@pytest.mark.parametrize(
    "scheme", [Scheme("flat", ("goods", "brand")), Scheme("bio", ("goods",))], ids=lambda scheme: scheme.name
)
def test_the_loss_of_a_student_is_least_where_it_says_what_its_teacher_says(scheme: Scheme) -> None:
    teacher, student = chains(3)
    taught = teacher.log_probabilities(scheme.continuation).exp().detach()
    mask = teacher.mask_BL
    least = imitation_loss(teacher, taught, mask, scheme.continuation).item()
    assert imitation_loss(student, taught, mask, scheme.continuation).item() > least + 0.1
    values = teacher.log_probabilities(scheme.continuation).exp().detach().numpy()
    expected, tokens = 0.0, 0
    for page, real in zip(values, mask.numpy(), strict=True):
        for place in np.flatnonzero(real):
            row = page[place]
            expected -= sum(row[label] * np.log(row[label]) for label in range(3))
            for label in (1, 2):
                onward = row[2 + label]
                if place:
                    entropy = -onward * np.log(onward) - (1 - onward) * np.log(1 - onward)
                    expected += page[place - 1, label] * entropy
            tokens += 1
    assert least == pytest.approx(expected / tokens, rel=1e-4)
    logits = teacher.logits_BLC.detach().clone().requires_grad_()
    own = Scores(logits, mask, *(value.detach() for value in teacher.chain()))
    (gradient,) = torch.autograd.grad(imitation_loss(own, taught, mask, scheme.continuation), logits)
    assert gradient.abs().max() < 1e-4, "nothing near it is better"


def test_a_teacher_without_a_chain_teaches_labels_alone() -> None:
    teacher, student = chains(3)
    taught = torch.softmax(teacher.logits_BLC, -1).detach()
    for own in (student, Scores(student.logits_BLC, student.mask_BL)):
        rows = own.log_probabilities((1, 2))[..., :3]
        expected = -(taught * rows).sum(-1)[teacher.mask_BL].mean()
        assert imitation_loss(own, taught, teacher.mask_BL, (1, 2)).item() == pytest.approx(expected.item())


def test_a_students_chain_starts_as_that_of_all_that_its_teacher_mixes() -> None:
    teacher = read_bundle(tiny_run()).model()
    assert teacher.chain is not None
    assert teacher.window_crf is not None
    chain = Chain(len(read_bundle(tiny_run()).scheme.labels))
    inherit_chain(teacher, chain)
    weight = teacher.window_crf.mixing_weight.item()
    for own, one, other in zip(
        chain.parameters(), teacher.chain.parameters(), teacher.window_crf.chain.parameters(), strict=True
    ):
        torch.testing.assert_close(own, (1 - weight) * one + weight * other)
