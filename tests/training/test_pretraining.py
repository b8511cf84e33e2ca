from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.tiny import QUICK, catalogue, typed

import batag
from batag.bundles.bundle import read_bundle
from batag.errors import InputError
from batag.features.vocabulary import FIRST, UNKNOWN, Vocabulary
from batag.heads.classifier import build_classifier
from batag.pages.formats import write_pages
from batag.training.data import DataFiles
from batag.training.pretraining import HIDDEN, Pretraining, PretrainingEpoch, guess, hide
from batag.training.recipe import read_recipe
from batag.training.run import Run

WORDS = ["red", "shoe", "blue", "boot"]


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    path = tmp_path / "pages.jsonl"
    write_pages(catalogue(40), path)
    return path


def begun(folder: Path, pages: Path, *settings: str) -> Pretraining:
    run = Pretraining.create(folder, read_recipe(None, settings=[*QUICK, "training.epochs=2", *settings]), DataFiles((pages,)))
    run.prepare(device="cpu")
    return run


def finish(run: Pretraining) -> list[PretrainingEpoch]:
    return [done for done in run.train() if isinstance(done, PretrainingEpoch)]


@pytest.mark.parametrize("kind", ["word", "rich"])
def test_the_input_shows_nothing_of_a_hidden_word(kind: str) -> None:
    torch.manual_seed(0)
    encoder = {"name": "bat", "width": 8, "depth": 1, "heads": 2, "inner": 16}
    model = build_classifier(Vocabulary(WORDS), labels=8, input={"kind": kind}, encoder=encoder).eval()
    hidden = torch.tensor([[False, True, False]])
    seen = []
    for middle in ("shoe", "boot", "NEW-1"):
        batch = model.input.lexicon.batch([["red", middle, "blue"]])
        seen.append(model.input(type(batch)(**{**vars(batch), "hidden": hidden})))
    assert torch.equal(seen[0], seen[1])
    assert torch.equal(seen[0], seen[2])
    torch.testing.assert_close(seen[0][0, 1], model.input.scale * model.input.words.weight[UNKNOWN])


def test_the_word_around_a_character_does_not_tell_it(tmp_path: Path, pages: Path) -> None:
    run = begun(tmp_path / "run", pages, "pages.segmentation=characters")
    assert run.learner is not None
    input = run.learner.model.input.eval()
    seen = []
    for word in ("北京", "北海"):
        batch = input.lexicon.batch([list(f"{word}美食")])
        seen.append(input(type(batch)(**{**vars(batch), "hidden": torch.tensor([[False, True, False, False]])})))
    assert torch.equal(seen[0], seen[1])


def test_about_the_share_of_words_is_hidden_and_only_known_ones_are_guessed() -> None:
    torch.manual_seed(0)
    encoder = {"name": "bat", "width": 8, "depth": 1, "heads": 2, "inner": 16}
    model = build_classifier(Vocabulary(WORDS), labels=8, input={"kind": "rich"}, encoder=encoder)
    batch = hide(model.input.lexicon.batch([[*WORDS, "unknown"] * 200] * 3))
    assert batch.hidden is not None
    assert batch.hidden.float().mean().item() == pytest.approx(HIDDEN, abs=0.03)
    loss, right, count = guess(model, batch)
    assert count == int((batch.hidden & (batch.words >= FIRST)).sum())
    assert 0 <= right <= count
    loss.backward()
    assert model.input.words.weight.grad is not None


@pytest.mark.long
def test_guessing_gets_better_and_the_bundle_starts_a_training(tmp_path: Path, pages: Path) -> None:
    epochs = finish(begun(tmp_path / "words", pages, "training.epochs=4"))
    assert epochs[-1].dev_loss < epochs[0].dev_loss
    assert epochs[-1].guessed > 0.05
    bundle = read_bundle(tmp_path / "words")
    assert bundle.scheme.classes == ()
    with pytest.raises(InputError, match="knows words but no tags"):
        batag.load(tmp_path / "words")
    settings = [*QUICK, f"input.pretrained={tmp_path / 'words'}"]
    run = Run.create(tmp_path / "run", read_recipe(None, settings=settings), DataFiles((pages,)))
    run.prepare(device="cpu")
    assert run.learner is not None
    own = run.learner.model.state_dict()
    for name, value in bundle.weights.items():
        if not name.startswith(("head.", "input.words")):
            assert torch.equal(own[name], value)
    assert run.data is not None
    assert set(run.data.scheme.classes) == {"goods", "brand"}


def test_pretraining_is_resumed_to_the_same_numbers(tmp_path: Path, pages: Path) -> None:
    finish(begun(tmp_path / "whole", pages, "training.checkpoint_steps=3"))
    left = begun(tmp_path / "left", pages, "training.checkpoint_steps=3")
    steps = left.train()
    for _ in range(8):
        next(steps)
    steps.close()
    again = Pretraining.open(tmp_path / "left")
    again.prepare(device="cpu")
    finish(again)
    one, other = (read_bundle(tmp_path / name).weights for name in ("whole", "left"))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_too_few_pages_leave_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    write_pages(catalogue(1)[:1], path)
    with pytest.raises(InputError, match="too few pages"):
        begun(tmp_path / "words", path)
    assert not (tmp_path / "words").exists()


def test_the_command_says_what_to_type_next(tmp_path: Path, pages: Path) -> None:
    settings = [each for setting in (*QUICK, "training.epochs=1") for each in ("--set", setting)]
    said = typed("pretrain", pages, "--out", tmp_path / "words", *settings)
    assert said.returncode == 0, said.stderr
    assert "input.pretrained=" in said.stdout
    assert "hidden words guessed" in said.stderr
    assert typed("pretrain").returncode == 2
    assert typed("pretrain", pages, "--resume", tmp_path / "words").returncode == 2
