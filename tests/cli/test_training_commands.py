"""`batag train`, `evaluate` and `show` as a person meets them: what works, and every way it can go wrong."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from tests.tiny import QUICK, as_dict, catalogue, describe, make_bundle, redescribe, tiny_exported, tiny_run, tiny_tagger, typed

import batag as package
from batag.cli.cautions import idle_encoder, rare_classes
from batag.errors import BatagError, InputError, UsageError
from batag.pages.formats import read_pages, write_pages
from batag.pages.page import Page, Tag
from batag.tagging.assessment import assess

pytestmark = pytest.mark.usefixtures("few_rounds")
SETTINGS = [part for setting in (*QUICK, "training.epochs=2") for part in ("--set", setting)]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of all kinds that people bring."""
    folder = tmp_path_factory.mktemp("files")
    pages = catalogue(12)
    write_pages(pages, folder / "train.jsonl")
    write_pages(catalogue(4, split="dev"), folder / "dev.jsonl")
    write_pages([Page(f"u-{page.id}", page.fields) for page in pages], folder / "unlabelled.jsonl")
    write_pages([Page(page.id, page.fields, labelled=True) for page in pages], folder / "no-tags.jsonl")
    write_pages(pages[:1], folder / "one-page.jsonl")
    write_pages(
        [Page(page.id, page.fields, tags=tuple(tag for tag in page.tags if tag.label == "goods")) for page in pages],
        folder / "one-class.jsonl",
    )
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "garbage.jsonl").write_bytes(b"\x00\x01\x02\xff" * 100)
    (folder / "folder").mkdir()
    (folder / "typo.toml").write_text("[encoder]\ndepht = 6\n", encoding="utf-8")
    (folder / "broken.toml").write_text("[encoder\n", encoding="utf-8")
    (folder / "objective.toml").write_text('[objective]\nname = "CLX(1,2)"\n', encoding="utf-8")
    (folder / "binary.toml").write_bytes(b"\xff\xfe\x00")
    (folder / "bad.jsonl").write_text((folder / "train.jsonl").read_text(encoding="utf-8") + "not json\n", encoding="utf-8")
    return folder


def message(done: subprocess.CompletedProcess[str], code: int, *says: str) -> str:
    """The message of a command that failed: its code, at most three lines, no traceback, nothing on standard output."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert 1 <= len(lines) <= 3, done.stderr
    assert "Traceback" not in done.stderr
    for each in says:
        assert each in done.stderr, done.stderr
    return lines[-1]


# What works


def test_train_show_evaluate_and_tag_follow_one_another(batag: Any, files: Path, tmp_path: Path) -> None:
    done = batag("train", files / "train.jsonl", "--dev", files / "dev.jsonl", "--out", tmp_path / "run", *SETTINGS, "--json")
    assert done.returncode == 0, done.stderr
    statistics = json.loads(done.stdout)
    assert statistics["bundle"] == str(tmp_path / "run" / "bundle")
    assert (statistics["data"]["train"]["pages"], statistics["data"]["dev"]["pages"]) == (36, 12)
    assert 0 < statistics["dev"]["tokens"]["macro_f2"] <= 1
    assert done.stderr.count("dev tag F1") == 2
    shown = json.loads(typed("show", tmp_path / "run", "--json").stdout)
    assert shown["metrics"]["dev"] == statistics["dev"]
    assert shown["scheme"]["classes"] == ["goods", "brand"]
    scored = json.loads(typed("evaluate", tmp_path / "run", files / "dev.jsonl", "--json").stdout)
    assert scored["tokens"] == statistics["dev"]["tokens"]
    names = {path.name for path in (tmp_path / "run").iterdir()} - {".lock"}
    assert {"bundle", "curves.png", "data.json", "metrics.jsonl", "recipe.toml"} < names
    assert not any(name.endswith(".tmp") for name in names)


def test_dev_pages_that_also_stand_in_train_are_counted_and_said(files: Path, tmp_path: Path) -> None:
    write_pages([*read_pages(files / "train.jsonl"), *islice(read_pages(files / "dev.jsonl"), 3)], tmp_path / "leaks.jsonl")
    quick = (*SETTINGS, "--set", "training.epochs=1", "--json")
    done = typed("train", tmp_path / "leaks.jsonl", "--dev", files / "dev.jsonl", "--out", tmp_path / "run", *quick)
    assert "dev: pages that are also in train, word for word: 3 of 12; " in done.stderr
    statistics = json.loads(done.stdout)
    assert statistics["data"]["dev"]["in_train"] == 3
    shown = json.loads(typed("show", tmp_path / "run", "--json").stdout)
    assert statistics["mixing_weight"] == shown["mixing_weight"]
    assert any("mixing weight" in line for line in statistics["doubts"]) == (statistics["mixing_weight"] > 0.95)


def test_an_encoder_that_decides_nearly_nothing_is_said_and_what_to_do() -> None:
    (line,) = idle_encoder(0.96)
    assert line.startswith("the mixing weight of the window CRF is 0.96")
    assert "more pages" in line
    assert "training.epochs" in line
    assert "scored with equal weights" in line
    assert "(0: the encoder decides alone; 1: the window CRF, a simpler model of a word and its neighbours)" in line
    assert idle_encoder(1.0)[0].startswith("the mixing weight of the window CRF is 1.00")
    assert idle_encoder(0.95) == idle_encoder(0.5) == idle_encoder(None) == []


def test_training_says_what_comes_out_and_what_to_type_next(files: Path, tmp_path: Path) -> None:
    done = typed("train", files / "train.jsonl", "--out", tmp_path / "run", *SETTINGS, "--set", "training.epochs=1")
    assert done.returncode == 0, done.stderr
    assert "held out" in done.stderr
    for word in ("token level", "tag level", "goods", "brand", "macro", f"batag tag {tmp_path / 'run' / 'bundle'}"):
        assert word in done.stdout
    messages = " ".join(done.stdout.split())
    assert "clean, balanced and rich are values of --richness; no offsets: every tag that is more probable than not" in messages
    # These are few pages: what is not to be trusted, and how many more it takes.
    (line,) = [each for each in done.stderr.splitlines() if each.startswith("brand is rare")]
    assert "tags in train" in line
    assert "more pages)" in line
    assert "would do" not in done.stderr
    assert "measurable, not necessarily good: batag curve" in done.stderr
    assert "scores could not be calibrated" in messages
    assert "clean and rich tags are the same for" in messages


def test_the_number_of_pages_more_follows_the_rarer_of_train_and_dev() -> None:
    statistics: dict[str, Any] = {
        "train": {"pages": 100, "class_tags": {"goods": 500, "brand": 25}},
        "dev": {"pages": 100, "class_tags": {"goods": 500, "brand": 10}},
        "held_out": False,
    }
    (line, _) = rare_classes(statistics)
    assert line.startswith("brand is rare in train: 25 tags")
    assert "about 100 more pages" in line
    assert "(to reach 50 tags in train and 10 in dev, label about 100 more pages in train)" in line
    statistics["dev"]["class_tags"]["brand"] = 2
    assert rare_classes(statistics)[0].startswith("brand is rare in train and dev: 25 tags")
    wanted = "about 100 more pages in train and 400 more pages in dev"
    assert wanted in rare_classes(statistics)[0]
    statistics["dev"]["class_tags"]["brand"] = 0
    assert "and 40 more pages in dev" in rare_classes(statistics)[0]
    statistics["dev"]["class_tags"]["brand"] = 2
    statistics["held_out"] = True
    assert "about 4,000 more pages" in rare_classes(statistics)[0]
    statistics["train"]["class_tags"]["brand"] = 262
    assert rare_classes(statistics)[0].startswith("brand is rare in dev: 262 tags in train, 2 tags in dev")
    statistics["train"]["class_tags"], statistics["dev"]["class_tags"] = ({"goods": 50}, {"goods": 10})
    assert rare_classes(statistics) == []


def test_a_bundle_without_its_run_has_no_old_pages_and_training_from_it_says_so(files: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny_run() / "bundle", tmp_path / "bundle")
    pages = [replace(page, tags=tuple(tag for tag in page.tags if tag.label != "brand")) for page in catalogue(12)]
    write_pages(pages, tmp_path / "new.jsonl")
    call = ("train", tmp_path / "new.jsonl", "--dev", files / "dev.jsonl", "--from", tmp_path / "bundle")
    done = typed(*call, "--out", tmp_path / "run", "--set", "training.epochs=1")
    assert done.returncode == 0, done.stderr
    assert "no old pages are mixed in" in done.stderr
    assert "classes of the base bundle without a tag on these pages: brand" in done.stderr
    done = typed(*call, "--replay", files / "train.jsonl", "--out", tmp_path / "run2", "--set", "training.epochs=1")
    assert "no old page" not in done.stderr
    assert "without a tag" not in done.stderr


def test_the_dial_of_a_finished_run_can_be_chosen_for_other_betas(tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(tiny_run(), run)
    done = typed("train", "--resume", run, "--set", "dial.rich=8")
    assert done.returncode == 0, done.stderr
    before, after = (describe(each / "bundle") for each in (tiny_run(), run))
    assert [point["beta"] for point in after["dial"]] == [0.5, 1.0, 8.0]
    assert after["dial"][:2] == before["dial"][:2]
    weights = "model.safetensors"
    assert after["files"][weights] == before["files"][weights]
    message(typed("train", "--resume", run, "--set", "encoder.depth=3"), 2, "cannot be changed with --resume")


def test_engines_stay_in_the_bundle_when_only_its_dial_is_another(tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(tiny_run(), run)
    shutil.rmtree(run / "bundle")
    shutil.copytree(tiny_exported(), run / "bundle")
    before = describe(run / "bundle")
    assert typed("train", "--resume", run, "--set", "dial.rich=8").returncode == 0
    after = describe(run / "bundle")
    assert after["dial"] != before["dial"]
    assert [after[key] for key in ("engines", "files", "format")] == [before[key] for key in ("engines", "files", "format")]
    for engine in ("onnx", "torch-int8"):
        assert package.load(run, engine=engine).tag({"title": "NORDVIK boots"}) is not None
    (run / "bundle" / "model.onnx").write_bytes(b"damaged")
    assert typed("train", "--resume", run, "--set", "dial.rich=4").returncode == 0
    assert describe(run / "bundle")["engines"] == {}
    assert not (run / "bundle" / "model.onnx").exists()


@pytest.mark.long
def test_the_scores_of_a_bundle_are_those_that_evaluating_it_on_the_dev_pages_gives() -> None:
    for scheme in ("flat", "bio"):
        report = assess(tiny_tagger(scheme), catalogue(10, split="dev")).report()
        dev = describe(tiny_run(scheme) / "bundle")["metrics"]["dev"]
        assert {key: report[key] for key in ("tokens", "tags")} == {key: dev[key] for key in ("tokens", "tags")}


def test_one_class_is_enough_to_learn(files: Path, tmp_path: Path) -> None:
    done = typed("train", files / "one-class.jsonl", "--out", tmp_path / "run", *SETTINGS, "--json")
    assert done.returncode == 0, done.stderr
    assert package.load(tmp_path / "run").labels == ("goods",)


def test_a_bad_record_is_counted_and_does_not_stop_the_training(files: Path, tmp_path: Path) -> None:
    problems = tmp_path / "problems.jsonl"
    done = typed("train", files / "bad.jsonl", "--out", tmp_path / "run", *SETTINGS, "--problems", problems, "--json")
    assert done.returncode == 0, done.stderr
    assert "bad.jsonl:37" in done.stderr
    assert "1 problem: 1 page skipped" in done.stderr
    assert [json.loads(line)["kind"] for line in problems.read_text(encoding="utf-8").splitlines()] == ["bad-json"]
    strict = typed("train", files / "bad.jsonl", "--out", tmp_path / "strict", *SETTINGS, "--strict")
    message(strict, 1, "bad.jsonl:37", "--strict")
    assert not (tmp_path / "strict").exists()


def test_a_recipe_and_settings_are_taken_and_kept(files: Path, tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text('[encoder]\nname = "transformer"\n[pages]\nscheme = "bio"\n', encoding="utf-8")
    done = typed("train", files / "train.jsonl", "--out", tmp_path / "run", "--recipe", tmp_path / "r.toml", *SETTINGS)
    assert done.returncode == 0, done.stderr
    tagger = package.load(tmp_path / "run")
    assert (tagger.scheme.name, tagger.bundle.description.encoder.name) == ("bio", "transformer")
    again = typed("train", "--recipe", tmp_path / "run" / "recipe.toml", "--show-recipe")
    assert again.stdout == (tmp_path / "run" / "recipe.toml").read_text(encoding="utf-8")


def test_files_of_other_formats_are_learnt_from(files: Path, tmp_path: Path) -> None:
    write_pages(catalogue(12), tmp_path / "train.parquet")
    write_pages(catalogue(12), tmp_path / "train.csv")
    done = typed("train", tmp_path / "train.parquet", tmp_path / "train.csv", "--out", tmp_path / "run", *SETTINGS, "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)["data"]
    assert data["train"]["pages"] + data["dev"]["pages"] == 72


# What goes wrong in training

WRONG_TRAINING: dict[str, tuple[tuple[str, ...], int, tuple[str, ...]]] = {
    "a missing file": (("nothing.jsonl",), 1, ("nothing.jsonl", "cannot be opened")),
    "a missing dev file": (("train.jsonl", "--dev", "nothing.jsonl"), 1, ("nothing.jsonl",)),
    "an empty file": (("empty.jsonl",), 1, ("empty.jsonl", "no labelled page")),
    "garbage": (("garbage.jsonl",), 1, ("garbage.jsonl",)),
    "pages that nobody labelled": (("unlabelled.jsonl",), 1, ("unlabelled.jsonl", "no labelled page", "docs/labelling.md")),
    "pages without a tag": (("no-tags.jsonl",), 1, ("no-tags.jsonl", "no tag")),
    "one page": (("one-page.jsonl",), 1, ("one-page.jsonl", "--dev")),
    "dev pages that nobody labelled": (("train.jsonl", "--dev", "unlabelled.jsonl"), 1, ("unlabelled.jsonl",)),
    "an empty dev file": (("train.jsonl", "--dev", "empty.jsonl"), 1, ("empty.jsonl",)),
    "no file": ((), 2, ("no pages to train on",)),
    "standard input": (("-",), 2, ("Name files",)),
    "a device that is not there": (("train.jsonl", "--device", "cuda"), 2, ("cuda", "--device cpu")),
    "a device that does not exist": (("train.jsonl", "--device", "gpu"), 2, ("gpu", "auto, cpu")),
    "a device with a bad number": (("train.jsonl", "--device", "cpu:x"), 2, ("cpu:x",)),
    "an unknown key": (("train.jsonl", "--recipe", "typo.toml"), 2, ("typo.toml", "encoder.depht", "encoder.depth")),
    "an unknown key to set": (("train.jsonl", "--set", "encoder.depht=6"), 2, ("encoder.depht", "encoder.depth")),
    "an unknown table to set": (("train.jsonl", "--set", "encodr.depth=6"), 2, ("encodr", "encoder")),
    "a setting without a value": (("train.jsonl", "--set", "encoder.depth"), 2, ("encoder.depth", "TABLE.KEY=VALUE")),
    "a setting without a table": (("train.jsonl", "--set", "depth=6"), 2, ("depth=6", "TABLE.KEY=VALUE")),
    "a setting of the wrong kind": (("train.jsonl", "--set", "encoder.depth=deep"), 2, ("encoder.depth", "deep")),
    "a number that is too small": (("train.jsonl", "--set", "training.epochs=0"), 2, ("training.epochs",)),
    "heads that do not divide the width": (("train.jsonl", "--set", "encoder.heads=3"), 2, ("encoder.heads",)),
    "an overlap as wide as the window": (("train.jsonl", "--set", "training.overlap=999"), 2, ("training.overlap",)),
    "an unknown encoder": (("train.jsonl", "--set", "encoder.name=bta"), 2, ("bta", "Did you mean 'bat'?")),
    "an unknown option of an encoder": (("train.jsonl", "--set", "encoder.options.wings=2"), 2, ("wings", "attention_scale")),
    "an option that stands elsewhere": (("train.jsonl", "--set", "encoder.options.width=8"), 2, ("width",)),
    "an unknown objective": (("train.jsonl", "--set", "objective.name=XE"), 2, ("XE", "CE")),
    "an unknown objective in a recipe": (("train.jsonl", "--recipe", "objective.toml"), 2, ("CLX",)),
    "an unknown cleaning rule": (("train.jsonl", "--set", "pages.rules=htlm"), 2, ("htlm", "html")),
    "an unknown segmentation": (("train.jsonl", "--set", "pages.segmentation=klingon"), 2, ("klingon",)),
    "a missing dictionary": (("train.jsonl", "--set", "pages.dictionary=no.txt"), 1, ("no.txt",)),
    "a missing recipe": (("train.jsonl", "--recipe", "no.toml"), 1, ("no.toml", "cannot be opened")),
    "a recipe that is not TOML": (("train.jsonl", "--recipe", "broken.toml"), 1, ("broken.toml", "not TOML")),
    "a recipe that is not text": (("train.jsonl", "--recipe", "binary.toml"), 1, ("binary.toml", "not TOML")),
    "a recipe that is a folder": (("train.jsonl", "--recipe", "folder"), 1, ("folder",)),
    "an unknown format": (("train.jsonl", "--format", "jsnol"), 2, ("jsnol", "jsonl")),
    "an unknown language": (("train.jsonl", "--language", "xx"), 2, ("xx", "zh-Hant")),
    "a run to resume that is none": (("--resume", "folder"), 1, ("folder", "not the folder of a run")),
    "a run to resume that is not there": (("--resume", "nothing"), 1, ("nothing",)),
    "pages for a run to resume": (("train.jsonl", "--resume", "folder"), 2, ("--resume",)),
}


@pytest.mark.parametrize(("arguments", "code", "says"), WRONG_TRAINING.values(), ids=WRONG_TRAINING.keys())
def test_a_training_that_cannot_be_says_why_and_leaves_nothing_behind(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, says: tuple[str, ...]
) -> None:
    monkeypatch.chdir(files)
    before = sorted(path.name for path in files.rglob("*"))
    out = () if "--resume" in arguments else ("--out", str(tmp_path / "run"))
    message(typed("train", *arguments, *out), code, *says)
    assert list(tmp_path.iterdir()) == []
    assert sorted(path.name for path in files.rglob("*")) == before


def test_a_folder_of_pages_is_called_a_folder(files: Path, tmp_path: Path) -> None:
    done = typed("train", files / "folder", "--out", tmp_path / "run")
    line = message(done, 2 if done.returncode == 2 else 1, str(files / "folder"))
    assert "is a folder" in line or "is not a file" in line
    assert list(tmp_path.iterdir()) == []


def test_a_run_folder_that_is_there_is_left_alone(files: Path, tmp_path: Path) -> None:
    run = shutil.copytree(tiny_run(), tmp_path / "run")
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
    message(typed("train", files / "train.jsonl", "--out", run), 1, str(run), "is there already", f"--resume {run}")
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*")} == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("keep", encoding="utf-8")
    message(typed("train", files / "train.jsonl", "--out", tmp_path / "mine"), 1, "is there already", "Name a new folder")
    message(typed("train", files / "train.jsonl", "--out", files / "train.jsonl"), 1, "is there already")
    assert (tmp_path / "mine" / "thesis.tex").read_text(encoding="utf-8") == "keep"


def test_a_run_folder_that_cannot_be_made_is_said(files: Path) -> None:
    message(typed("train", files / "train.jsonl", "--out", files / "dev.jsonl" / "run"), 1, "dev.jsonl/run", "another folder")
    message(typed("train", files / "train.jsonl", "--out", "/proc/run"), 1, "/proc/run", "another folder")


def test_an_empty_folder_may_become_a_run_and_is_empty_again_after_an_error(files: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    message(typed("train", files / "no-tags.jsonl", "--out", tmp_path / "run"), 1, "no tag")
    assert not (tmp_path / "run").exists() or list((tmp_path / "run").iterdir()) == []
    done = typed("train", files / "train.jsonl", "--out", tmp_path / "run", *SETTINGS, "--set", "training.epochs=1")
    assert done.returncode == 0, done.stderr


def test_a_process_ends_with_the_same_code_and_message(batag: Any, files: Path, tmp_path: Path) -> None:
    message(batag("train", files / "no-tags.jsonl", "--out", tmp_path / "run"), 1, "no-tags.jsonl", "no tag")
    assert list(tmp_path.iterdir()) == []


# Show


def test_show_says_what_a_bundle_is() -> None:
    done = typed("show", tiny_run())
    assert done.returncode == 0, done.stderr
    messages = ("flat", "format 1", "goods, brand", "bat, 1 layers", "150 pages", "zh-Hant 50", "30 dev pages", "CE", "torch")
    head = (
        "chain CRF; window CRF of 2 words to each side, mixing weight",
        "parts of speech",
        "rjieba",
        "sudachidict_small",
    )
    for word in (*messages, *head, "token level", "tag level"):
        assert word in done.stdout, word
    statistics = json.loads(typed("show", tiny_run(), "--json").stdout)
    weights = tiny_tagger().bundle.weights
    assert statistics["parameters"] == sum(value.numel() for value in weights.values())
    assert statistics["bytes"] == sum(
        path.stat().st_size for path in (tiny_run() / "bundle").iterdir() if path.name != "bundle.json"
    )
    assert statistics["engines"] == ["torch"]
    assert 0 <= statistics["mixing_weight"] <= 1


def test_show_tells_of_a_bundle_that_says_little_about_itself(tmp_path: Path) -> None:
    done = typed("show", make_bundle(tmp_path / "b", dictionary=["Air Max"]))
    assert done.returncode == 0, done.stderr
    assert "not given" in done.stdout


@pytest.mark.parametrize(
    "change",
    [
        {"recipe": {"objective": []}},
        {"recipe": {"objective": {"name": 5}}},
        {"trained_on": {"pages": "many"}},
        {"trained_on": {"pages": None}},
        {"trained_on": {"languages": ["en"]}},
        {"trained_on": {"languages": {"en": "many"}}},
        {"trained_on": {"dev_pages": []}},
        {"metrics": {"dev": []}},
        {"metrics": {"dev": {"epoch": 1}}},
        {"metrics": {"dev": "good"}},
        {"metrics": {"dev": {"epoch": 1, "tokens": {}, "tags": {}}}},
        {"name": "[/red]"},
        {"name": "\x1b[31mred"},
    ],
    ids=str,
)
def test_show_does_not_stumble_over_what_a_strange_bundle_says_of_itself(tmp_path: Path, change: dict[str, Any]) -> None:
    bundle = redescribe(make_bundle(tmp_path / "b"), lambda messages: messages.update(change))
    done = typed("show", bundle)
    assert done.returncode in (0, 1)
    assert "\x1b" not in done.stdout
    assert typed("show", bundle, "--json").returncode in (0, 1)


def test_show_does_not_stumble_over_a_deep_recipe(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(400):
        deep = {"deeper": deep}
    bundle = redescribe(make_bundle(tmp_path / "b"), lambda messages: messages.update(recipe=deep))
    for arguments in ((), ("--json",)):
        assert typed("show", bundle, *arguments).returncode in (0, 1)


def test_show_refuses_what_cannot_tag(tmp_path: Path) -> None:
    bundle = redescribe(make_bundle(tmp_path / "b"), lambda messages: messages["segmentation"].update(name="klingon"))
    message(typed("show", bundle), 1, "bundle.json", "klingon")


# What goes wrong with a bundle


def _flipped(folder: Path) -> None:
    data = bytearray((folder / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (folder / "model.safetensors").write_bytes(data)


SPOILT: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "missing": (shutil.rmtree, ("is not there", "Name the folder")),
    "a newer format": (
        lambda folder: redescribe(folder, lambda messages: messages.update(format=99)),
        ("bundle.json", "newer batag"),
    ),
    "a file missing": (lambda folder: (folder / "vocabulary.json").unlink(), ("vocabulary.json", "is missing", "Copy")),
    "a flipped byte": (_flipped, ("model.safetensors", "SHA-256", "Copy")),
    "no description": (lambda folder: (folder / "bundle.json").unlink(), ("bundle.json", "Name the folder")),
    "not JSON": (lambda folder: (folder / "bundle.json").write_bytes(b"{"), ("bundle.json", "is not JSON")),
    "a path trick": (
        lambda folder: redescribe(
            folder, lambda messages: messages["files"].update({"../x": messages["files"]["vocabulary.json"]})
        ),
        ("bundle.json", "../x"),
    ),
}


@pytest.mark.parametrize(("spoil", "says"), SPOILT.values(), ids=SPOILT.keys())
@pytest.mark.parametrize("command", ["show", "evaluate", "tag"])
def test_every_command_says_what_is_wrong_with_a_bundle(
    files: Path, tmp_path: Path, command: str, spoil: Callable[[Path], object], says: tuple[str, ...]
) -> None:
    bundle = make_bundle(tmp_path / "bundle")
    spoil(bundle)
    rest = {"show": (), "evaluate": (files / "dev.jsonl",), "tag": ("running shoes",)}[command]
    message(typed(command, bundle, *rest), 1, *says)


@pytest.mark.parametrize("command", ["show", "evaluate", "tag"])
def test_every_command_says_that_a_run_is_not_finished(files: Path, tmp_path: Path, command: str) -> None:
    run = shutil.copytree(tiny_run(), tmp_path / "run")
    shutil.rmtree(run / "bundle")
    rest = {"show": (), "evaluate": (files / "dev.jsonl",), "tag": ("running shoes",)}[command]
    message(typed(command, run, *rest), 1, "run without a bundle", f"batag train --resume {run}")


# What goes wrong in evaluating

WRONG_EVALUATION: dict[str, tuple[tuple[str, ...], int, tuple[str, ...]]] = {
    "a missing file": (("nothing.jsonl",), 1, ("nothing.jsonl", "cannot be opened")),
    "an empty file": (("empty.jsonl",), 1, ("empty.jsonl", "no page could be read")),
    "a folder": (("folder",), 1, ("folder",)),
    "garbage": (("garbage.jsonl",), 1, ("garbage.jsonl",)),
    "pages that nobody labelled": (
        ("unlabelled.jsonl",),
        1,
        ("unlabelled.jsonl", "no labelled page to score on", "docs/labelling.md"),
    ),
    "one of two files missing": (("dev.jsonl", "nothing.jsonl"), 1, ("nothing.jsonl",)),
    "a chart that is no picture": (("dev.jsonl", "--chart", "scores.pdf"), 2, ("scores.pdf", ".png")),
    "a device that is not there": (("dev.jsonl", "--device", "cuda"), 2, ("cuda", "--device cpu")),
    "a language that is not ours": (("dev.jsonl", "--language", "xx"), 2, ("xx", "zh-Hant")),
    "a list of wrong pages in no folder": (
        ("dev.jsonl", "--wrong", "no/wrong.jsonl"),
        1,
        ("no/wrong.jsonl", "cannot be written"),
    ),
    "a list of wrong pages that is a folder": (("dev.jsonl", "--wrong", "folder"), 1, ("folder", "is a folder")),
    "a bad record read strictly": (("bad.jsonl", "--strict", "--wrong", "w.jsonl"), 1, ("bad.jsonl:37", "--strict")),
}


@pytest.mark.parametrize(("arguments", "code", "says"), WRONG_EVALUATION.values(), ids=WRONG_EVALUATION.keys())
def test_an_evaluation_that_cannot_be_says_why_and_leaves_nothing_behind(
    files: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, says: tuple[str, ...]
) -> None:
    monkeypatch.chdir(files)
    before = sorted(path.name for path in files.rglob("*"))
    message(typed("evaluate", tiny_run(), *arguments), code, *says)
    assert sorted(path.name for path in files.rglob("*")) == before


def test_a_chart_in_a_folder_that_is_not_there_is_said(files: Path, tmp_path: Path) -> None:
    message(typed("evaluate", tiny_run(), files / "dev.jsonl", "--chart", tmp_path / "no" / "scores.png"), 1, "scores.png")


def test_a_bad_record_is_counted_and_does_not_stop_the_evaluation(files: Path, tmp_path: Path) -> None:
    done = typed("evaluate", tiny_run(), files / "bad.jsonl", "--json")
    report = json.loads(done.stdout)
    assert (report["pages"], report["problems"]) == (36, {"bad-json": 1})
    assert "bad.jsonl:37" in done.stderr


# From Python


def test_batag_trains_on_pages_in_memory_and_loads_what_came_out(tmp_path: Path) -> None:
    tagger = package.train(
        catalogue(12), dev=catalogue(3, split="dev"), out=tmp_path / "run", settings=as_dict(*QUICK, "training.epochs=2")
    )
    assert tagger.labels == ("goods", "brand")
    page = {"title": "NOTEL Smart Rice Cooker"}
    assert tagger.tag(page) == package.load(tmp_path / "run").tag(page) == package.load(tmp_path / "run" / "bundle").tag(page)
    assert {path.name for path in tmp_path.iterdir()} == {"run", "run.pages"}


def test_batag_trains_on_a_file_and_holds_pages_out(files: Path, tmp_path: Path) -> None:
    tagger = package.train(str(files / "train.jsonl"), out=str(tmp_path / "run"), settings=as_dict(*QUICK, "training.epochs=1"))
    trained = tagger.bundle.description.trained_on
    assert trained["pages"] + trained["dev_pages"] == 36
    assert trained["dev_pages"] > 0
    assert {path.name for path in tmp_path.iterdir()} == {"run"}


@pytest.mark.parametrize(
    ("pages", "options", "kind"),
    [
        ([], {}, InputError),
        ([Page("1", {"title": "shoes"})], {}, InputError),
        ([Page("1", {"title": "shoes"}, labelled=True)] * 30, {}, InputError),
        (None, {"settings": ["encoder.depht=1"]}, UsageError),
        (None, {"device": "cuda"}, UsageError),
        (None, {"recipe": "no.toml"}, InputError),
    ],
    ids=["no page", "not labelled", "no tag", "bad setting", "no such device", "no recipe"],
)
def test_a_training_from_python_that_cannot_be_leaves_no_run_and_can_be_tried_again(
    tmp_path: Path, pages: list[Page] | None, options: dict[str, Any], kind: type[BatagError]
) -> None:
    for _ in range(2):  # the same call can be made again, and says the same
        with pytest.raises(kind) as caught:
            package.train(catalogue(10) if pages is None else pages, out=tmp_path / "run", **options)
        assert "is there already" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_a_training_from_python_that_never_began_leaves_no_pages_behind(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"encoder\.depht"):
        package.train(catalogue(2), out=tmp_path / "run", settings=as_dict("encoder.depht=1"))
    assert list(tmp_path.iterdir()) == []


def test_a_second_training_into_a_run_leaves_the_pages_of_the_first_alone(tmp_path: Path) -> None:
    pages = catalogue(10)
    package.train(pages, out=tmp_path / "run", settings=as_dict(*QUICK, "training.epochs=1"))
    before = (tmp_path / "run.pages" / "train.jsonl").read_bytes()
    with pytest.raises(InputError, match="is there already"):
        package.train(pages[:5], out=tmp_path / "run", settings=as_dict(*QUICK))
    assert (tmp_path / "run.pages" / "train.jsonl").read_bytes() == before


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:constrained_layout not applied")
@pytest.mark.parametrize("label", ["a" * 300, "[/red]", "型號 (規格)"], ids=["long", "markup", "spaces"])
def test_what_may_be_trained_may_be_loaded_whatever_a_class_is_called(tmp_path: Path, label: str) -> None:
    pages = [
        Page(page.id, page.fields, tags=tuple(Tag(tag.field, tag.start, tag.end, label, tag.text) for tag in page.tags))
        for page in catalogue(8)
    ]
    write_pages(pages, tmp_path / "p.jsonl")
    done = typed("train", tmp_path / "p.jsonl", "--out", tmp_path / "run", *SETTINGS, "--set", "training.epochs=1")
    if done.returncode:  # refused before the work is fine, after it is not
        message(done, 1)
        assert not (tmp_path / "run").exists()
        return
    assert package.load(tmp_path / "run").labels == (label,)
    assert label[:10] in typed("show", tmp_path / "run").stdout


@pytest.mark.long
@pytest.mark.parametrize("name", [b"run\xff", "跑 鞋[/red]".encode()], ids=["not UTF-8", "markup"])
def test_a_run_may_have_any_name(files: Path, tmp_path: Path, name: bytes) -> None:
    out = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    done = typed("train", files / "train.jsonl", "--out", out, *SETTINGS, "--set", "training.epochs=1", "--json")
    assert done.returncode == 0
    assert package.load(out).labels == ("goods", "brand")


def test_importing_batag_loads_nothing_heavy() -> None:
    heavy = ("torch", "numpy", "pyarrow", "matplotlib", "rich")
    program = f"import sys, batag; batag.Page, batag.Tag; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_what_batag_offers_is_there_and_nothing_else_is_promised() -> None:
    assert sorted(package.__all__) == [
        "BatagError",
        "Page",
        "Tag",
        "Tagger",
        "Tags",
        "__version__",
        "distinct",
        "evaluate",
        "load",
        "read_pages",
        "top",
        "train",
        "write_pages",
    ]
    assert all(hasattr(package, name) for name in package.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Taggr'"):
        _ = package.Taggr


def test_show_counts_the_pages_that_were_scored_and_says_what_they_are() -> None:
    from batag.cli.show import measured_on

    told = tiny_tagger().bundle.description
    assert measured_on(told) == "30 dev pages"
    old = told.model_copy(update={"trained_on": told.trained_on | {"dev_pages": 0, "old_dev_pages": 30}})
    assert measured_on(old) == "30 old dev pages"
    dev = told.metrics["dev"] | {"measured_by": "made-up", "pages": 200}
    assert measured_on(old.model_copy(update={"metrics": {"dev": dev}})) == "200 made-up dev pages"
