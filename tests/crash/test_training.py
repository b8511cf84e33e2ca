"""A run can be left at any moment - kill -9, Ctrl-C, a full disk - and resumed as if nothing had happened, bit by bit."""

from __future__ import annotations

import builtins
import errno
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.conftest import Run as Batag
from tests.conftest import mostly_long
from tests.crash.nursery import (
    TINY,
    Moment,
    Nursery,
    check_complete,
    differing,
    finished,
    new_run,
    outcome,
    resumed,
    small_files,
    strays,
)
from tests.processes import PATIENCE, started

from batag.cli.train import train_watched
from batag.errors import InputError
from batag.training import loop
from batag.training import prepared as run_module
from batag.training.checkpoint import load_weights_file
from batag.training.loop import EpochDone, StepDone
from batag.training.prepared import PreparedRun
from batag.training.run import Run

LONG = ("training.epochs=4",)
SHORT = ("training.epochs=2", "training.selection=macro_f2")


@pytest.fixture
def _no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """The curves take longer than such a training."""
    monkeypatch.setattr(run_module, "draw_curves", lambda *_, **__: None)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return small_files(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, files: dict[str, Any]) -> dict[str, Any]:
    """The outcome of a run of two epochs of six steps that nothing happened to."""
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    finished(new_run(folder, files, *SHORT))
    return outcome(folder)


@pytest.fixture(scope="module")
def encoder_alone(tmp_path_factory: pytest.TempPathFactory, files: dict[str, Any]) -> dict[str, Any]:
    """The same without a window CRF, which would hide the differences between the epochs of a young encoder."""
    folder = tmp_path_factory.mktemp("alone") / "run"
    finished(new_run(folder, files, *SHORT, "head.window_crf=0"))
    return outcome(folder)


# kill -9


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as born:
        yield born


@pytest.fixture(scope="module")
def more_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return small_files(tmp_path_factory.mktemp("more"), train=48, dev=16)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, nursery: Nursery, more_files: dict[str, Any]) -> dict[str, Any]:
    """The outcome of a run of four epochs of twelve steps that nobody killed."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    assert nursery.train(folder, more_files, LONG).code == 0
    return outcome(folder)


# A run is killed at each of these in turn and goes on each time; where a file is written anew it counts from there.
MOMENTS = (
    Moment("data.json", "half"),
    Moment("recipe.toml", "before"),
    Moment("recipe.toml", "after"),
    Moment("last.safetensors", "half"),
    Moment("metrics.jsonl", "half"),
    Moment("last.safetensors", "before", 2),
    Moment("last.safetensors", "after", 2),
    Moment("score", "before"),
    Moment("best.safetensors", "half"),
    Moment("best.safetensors", "after"),
    Moment("last.safetensors", "half", 4),
    Moment("recipe.toml", "half"),
    Moment("score", "before", 2),
    Moment("bundle", "before"),
    Moment("bundle", "after"),
    Moment("curves.png", "half"),
    # Once there is a bundle, the old one is put aside first.
    Moment(".bundle.old", "after"),
    Moment("curves.png", "after"),
)


def test_a_run_killed_at_every_delicate_moment_ends_as_if_nothing_had_happened(
    tmp_path: Path, nursery: Nursery, more_files: dict[str, Any], whole: dict[str, Any]
) -> None:
    folder = tmp_path / "run"
    left = set()
    for moment in MOMENTS:
        born = nursery.train(folder, more_files, LONG, moment=moment)
        assert born.killed, moment
        check_complete(folder)
        left |= {name.split(".")[1] for name in strays(folder)}
    assert {"last", "best", "bundle", "metrics", "recipe", "curves"} <= left
    assert nursery.train(folder, more_files, LONG).code == 0
    check_complete(folder)
    assert differing(outcome(folder), whole) == []


@pytest.mark.long
def test_runs_killed_at_random_moments_end_as_if_nothing_had_happened(
    tmp_path: Path, nursery: Nursery, more_files: dict[str, Any], whole: dict[str, Any], thorough: bool
) -> None:
    wanted, kills, runs = 20 if thorough else 5, 0, 0
    draw = random.Random(20)
    while kills < wanted:
        folder = tmp_path / f"run{runs}"
        runs += 1
        assert runs < 3 * wanted, f"only {kills} kills hit in {runs} runs"
        for _ in range(4):
            # A run has 48 steps and four epochs.
            born = nursery.train(folder, more_files, LONG, after=draw.randrange(30))
            check_complete(folder)
            kills += born.killed
            if not born.killed:
                assert born.code == 0
                break
        else:
            assert nursery.train(folder, more_files, LONG).code == 0
        check_complete(folder)
        assert differing(outcome(folder), whole) == []


def test_the_same_seed_gives_the_same_bits_in_another_process(
    tmp_path: Path, more_files: dict[str, Any], whole: dict[str, Any]
) -> None:
    finished(new_run(tmp_path / "run", more_files, *LONG))
    assert differing(outcome(tmp_path / "run"), whole) == []


@pytest.mark.usefixtures("_no_picture")
@pytest.mark.long
def test_metrics_cut_off_within_a_character_are_no_obstacle(
    tmp_path: Path, files: dict[str, Any], monkeypatch: pytest.MonkeyPatch, undisturbed: dict[str, Any]
) -> None:
    folder = tmp_path / "run"
    run = new_run(folder, files, *SHORT)
    run = run.prepare(device="cpu")
    steps = run.train()
    while next(steps).step < 7:
        pass
    steps.close()
    # What a kill between two writes of a long line leaves: half of a Chinese character at the end.
    with open(folder / "metrics.jsonl", "ab") as stream:
        stream.write('{"kind": "epoch", "epoch": 2, "true": {"商品'.encode()[:-1])
    resumed(folder)
    assert differing(outcome(folder), undisturbed) == []


# A disk that is full or read-only


class Disk:
    """Stands between batag and the disk: once broken, files of one name fail as `fault` says, until mended."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, name: str, fault: str) -> None:
        self.name, self.fault, self.broken, self.met = name, fault, False, 0
        self._open, self._fsync = builtins.open, os.fsync
        for module in (builtins, io):
            monkeypatch.setattr(module, "open", self.open)
        monkeypatch.setattr(os, "fsync", self.fsync)

    def _hit(self, path: object) -> bool:
        hit = self.broken and fnmatch(Path(str(path)).name, self.name)
        self.met += hit
        return hit

    def open(self, path: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if self.fault == "fsync" or mode[0] == "r" or not self._hit(path):
            return self._open(path, mode, *arguments, **options)
        if self.fault == "read-only":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return self._open("/dev/full", mode.replace("a", "w"), *arguments, **options)

    def fsync(self, number: int) -> None:
        path = os.readlink(f"/proc/self/fd/{number}")
        if path == "/dev/full" or (self.fault == "fsync" and self._hit(path)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._fsync(number)


WORDS = {"full": ("full", "no space"), "fsync": ("full", "no space"), "read-only": ("read-only",)}


def train_until(run: PreparedRun, stop: Callable[[StepDone | EpochDone], bool], then: Callable[[], object]) -> None:
    """Train on, doing something once on the way."""
    done = False
    for each in run.train():
        if not done and stop(each):
            done = True
            then()


def check_message(error: InputError, folder: Path, *, fault: str, name: str = "") -> None:
    """One line that says what, where and what to do."""
    message = str(error)
    assert any(word in message.lower() for word in WORDS[fault]), message
    assert str(folder / name) in message
    assert f"--resume {folder}" in message
    assert "\n" not in message


@pytest.mark.usefixtures("_no_picture")
@pytest.mark.parametrize("fault", mostly_long(WORDS, "fsync"))
@pytest.mark.parametrize("name", ["last.safetensors", "best.safetensors"])
def test_a_disk_that_fails_at_a_checkpoint_leaves_the_last_good_one(
    tmp_path: Path,
    files: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    undisturbed: dict[str, Any],
    name: str,
    fault: str,
) -> None:
    folder = tmp_path / "run"
    disk = Disk(monkeypatch, name=f".{name}.*", fault=fault)
    run = new_run(folder, files, *SHORT)
    run = run.prepare(device="cpu")
    kept: dict[str, bytes] = {}

    def breaks() -> None:
        disk.broken = True
        kept["last"] = (folder / "last.safetensors").read_bytes()

    with pytest.raises(InputError) as caught:
        # The checkpoint of step 3 is good; steps 4 and 5 are lost, or the epoch that ends with step 6.
        train_until(run, lambda done: done.step == (4 if "last" in name else 6), breaks)
    assert disk.met
    check_message(caught.value, folder, fault=fault, name=name)
    assert (folder / "last.safetensors").read_bytes() == kept["last"]
    assert load_weights_file(folder / "last.safetensors")[1]["step"] == (3 if "last" in name else 6)
    assert not strays(folder), "the half-written file takes room on a full disk"
    check_complete(folder)
    disk.broken = False
    resumed(folder)
    assert differing(outcome(folder), undisturbed) == []


@pytest.mark.usefixtures("with_picture")
@pytest.mark.parametrize("fault", mostly_long(["full", "read-only"], "full"))
@pytest.mark.parametrize(
    "name", mostly_long([".metrics.*", "metrics.jsonl", ".model.*", ".bundle.json.*", ".curves.*"], ".model.*")
)
def test_a_disk_that_fails_at_any_other_file_is_as_clear_and_does_as_little_harm(
    tmp_path: Path,
    files: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    undisturbed: dict[str, Any],
    name: str,
    fault: str,
) -> None:
    folder = tmp_path / "run"
    disk = Disk(monkeypatch, name=name, fault=fault)
    run = new_run(folder, files, *SHORT)
    disk.broken = True
    with pytest.raises(InputError) as caught:
        finished(run)
    assert disk.met
    check_message(caught.value, folder, fault=fault)
    check_complete(folder)
    assert not (folder / "bundle").exists() or "curves" in name
    disk.broken = False
    resumed(folder)
    assert differing(outcome(folder), undisturbed) == []


@pytest.mark.usefixtures("_no_picture")
def test_a_disk_that_is_full_before_the_first_checkpoint_says_that_there_is_none(
    tmp_path: Path, files: dict[str, Any], monkeypatch: pytest.MonkeyPatch, undisturbed: dict[str, Any]
) -> None:
    disk = Disk(monkeypatch, name=".last.*", fault="full")
    run = new_run(tmp_path / "run", files, *SHORT)
    disk.broken = True
    with pytest.raises(InputError, match="none yet"):
        finished(run)
    disk.broken = False
    resumed(tmp_path / "run")
    assert differing(outcome(tmp_path / "run"), undisturbed) == []


@pytest.mark.parametrize("name", [".data.*", ".recipe.*"])
def test_a_run_that_cannot_even_begin_leaves_no_folder_in_the_way(
    tmp_path: Path, files: dict[str, Any], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    disk = Disk(monkeypatch, name=name, fault="full")
    disk.broken = True
    with pytest.raises(InputError) as caught:
        new_run(tmp_path / "run", files)
    assert str(tmp_path / "run") in str(caught.value)
    disk.broken = False
    # The same command again, once there is room.
    assert new_run(tmp_path / "run", files).recipe.training.batch == 4


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True, capture_output=True)


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Path]:
    """A real file system of its own, of 2 MB."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    place = tmp_path / "device"
    place.mkdir()
    try:
        mount("-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place))
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no file system can be mounted here: {error}")
    try:
        yield place
    finally:
        # A fault in the test may have left a file open there.
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(path: Path) -> None:
    """A file that takes all the room there is."""
    with open(path, "wb", buffering=0) as stream:
        for size in (1 << 16, 1 << 12, 1):
            with suppress(OSError):
                while stream.write(b"x" * size):
                    pass
    assert shutil.disk_usage(path.parent).free == 0


@pytest.mark.usefixtures("_no_picture")
def test_a_device_that_is_really_full_leaves_the_last_good_checkpoint(
    device: Path, files: dict[str, Any], undisturbed: dict[str, Any]
) -> None:
    folder = device / "run"
    run = new_run(folder, files, *SHORT)
    run = run.prepare(device="cpu")
    with pytest.raises(InputError) as caught:
        train_until(run, lambda done: done.step == 4, lambda: fill(device / "ballast"))
    check_message(caught.value, folder, fault="full", name="last.safetensors")
    check_complete(folder)
    assert load_weights_file(folder / "last.safetensors")[1]["step"] == 3
    # As long as there is no room, going on is refused as clearly and harms nothing.
    with pytest.raises(InputError) as caught:
        resumed(folder)
    assert "space" in str(caught.value) or "full" in str(caught.value)
    assert str(folder) in str(caught.value)
    check_complete(folder)
    (device / "ballast").unlink()
    resumed(folder)
    assert differing(outcome(folder), undisturbed) == []


@pytest.mark.long
@pytest.mark.usefixtures("_no_picture")
def test_a_device_too_small_for_a_second_checkpoint_says_so_and_keeps_the_first(tmp_path: Path, device: Path) -> None:
    files = small_files(tmp_path / "pages")
    mount("-o", "remount,size=300k", str(device))
    folder = device / "run"
    with pytest.raises(InputError) as caught:
        finished(new_run(folder, files, *SHORT, "input.part_of_speech_buckets=0"))
    check_message(caught.value, folder, fault="full")
    check_complete(folder)
    kept = load_weights_file(folder / "last.safetensors")[1]["step"]
    mount("-o", "remount,size=4m", str(device))
    resumed(folder)
    finished(new_run(tmp_path / "run", files, *SHORT, "input.part_of_speech_buckets=0"))
    assert 0 <= kept < 12
    assert differing(outcome(folder), outcome(tmp_path / "run")) == []


@pytest.mark.usefixtures("_no_picture")
def test_a_device_that_is_really_read_only_is_refused_and_nothing_is_lost(
    device: Path, files: dict[str, Any], undisturbed: dict[str, Any]
) -> None:
    folder = device / "run"
    run = new_run(folder, files, *SHORT)
    run = run.prepare(device="cpu")
    steps = run.train()
    while next(steps).step < 5:
        pass
    steps.close()
    mount("-o", "remount,ro", str(device))
    for refused in (lambda: resumed(folder), lambda: new_run(device / "other", files)):
        with pytest.raises(InputError) as caught:
            refused()
        assert str(device) in str(caught.value)
        assert "read-only" in str(caught.value).lower()
    # A run that is at work when it happens: its checkpoint cannot be written.
    with pytest.raises(InputError) as caught:
        run.save()
    check_message(caught.value, folder, fault="read-only")
    check_complete(folder)
    mount("-o", "remount,rw", str(device))
    resumed(folder)
    assert differing(outcome(folder), undisturbed) == []


# Ctrl-C


def at_a_step(monkeypatch: pytest.MonkeyPatch, run: PreparedRun, interrupt: Callable[[], None]) -> None:
    """Right after Adam moved the weights of step 5, before the step is counted."""
    taken = []

    def moved(*_: Any) -> None:
        taken.append(1)
        if len(taken) == 5:
            interrupt()

    run.learner.optimizer.register_step_post_hook(moved)


def at_dev(monkeypatch: pytest.MonkeyPatch, run: PreparedRun, interrupt: Callable[[], None]) -> None:
    """While dev is scored with the average in the place of the weights."""
    probabilities, taken = loop.probabilities, []

    def predicted(*arguments: Any) -> Any:
        taken.append(1)
        if len(taken) == 1:
            interrupt()
        return probabilities(*arguments)

    monkeypatch.setattr(loop, "probabilities", predicted)


def at_the_best(monkeypatch: pytest.MonkeyPatch, run: PreparedRun, interrupt: Callable[[], None]) -> None:
    """Before the weights of the best epoch (the last one) are on the disk."""
    interrupt_at_place(monkeypatch, "best.safetensors", interrupt, number=2)


def at_a_checkpoint(monkeypatch: pytest.MonkeyPatch, run: PreparedRun, interrupt: Callable[[], None]) -> None:
    """While a checkpoint is written."""
    interrupt_at_place(monkeypatch, "last.safetensors", interrupt, number=2)


def at_the_end(monkeypatch: pytest.MonkeyPatch, run: PreparedRun, interrupt: Callable[[], None]) -> None:
    """While the bundle is written."""
    interrupt_at_place(monkeypatch, "bundle", interrupt, number=1)


def interrupt_at_place(monkeypatch: pytest.MonkeyPatch, name: str, interrupt: Callable[[], None], *, number: int) -> None:
    """Interrupt when something of that name comes to its place the so manieth time."""
    taken = []

    def instead_of(place: Callable[..., None]) -> Callable[..., None]:
        def placed(old: Any, new: Any, **options: Any) -> None:
            if Path(new).name == name:
                taken.append(1)
                if len(taken) == number:
                    interrupt()
            place(old, new, **options)

        return placed

    monkeypatch.setattr(os, "replace", instead_of(os.replace))
    monkeypatch.setattr(os, "rename", instead_of(os.rename))


def how_it_ends(train: Callable[[], object]) -> BaseException | None:
    """What ended a training before its time."""
    try:
        train()
    except (typer.Exit, KeyboardInterrupt) as ended:
        return ended
    return None


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """As in a program that somebody watches; under nohup or in the background the signal may be ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_no_picture", "_interruptible")
@pytest.mark.parametrize("times", mostly_long([1, 2], 1))
@pytest.mark.parametrize("moment", [at_a_step, at_dev, at_the_best, at_a_checkpoint, at_the_end])
def test_an_interrupt_at_a_delicate_moment_leaves_what_can_be_gone_on_with(
    tmp_path: Path,
    files: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    encoder_alone: dict[str, Any],
    moment: Callable[[pytest.MonkeyPatch, PreparedRun, Callable[[], None]], None],
    times: int,
) -> None:
    folder = tmp_path / "run"
    run = new_run(folder, files, *SHORT, "head.window_crf=0")
    prepare = Run.prepare
    interrupted = []

    def interrupt() -> None:
        # The second one is of somebody who does not want to wait for the end of a step.
        interrupted.append(1)
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)

    def prepared(run: Run, **options: Any) -> PreparedRun:
        found = prepare(run, **options)
        moment(here, found, interrupt)
        return found

    assert encoder_alone["best"]["epoch"] == 2, "at_the_best would not show anything"
    with monkeypatch.context() as here:
        here.setattr(Run, "prepare", prepared)
        ended = how_it_ends(lambda: train_watched(run, device="cpu"))
    if isinstance(ended, typer.Exit):
        assert ended.exit_code == 130
        assert f"batag train --resume {folder}" in capsys.readouterr().err
    elif ended is None:
        assert moment is at_the_end, "it went on as if nothing had been said"
    else:
        assert times == 2
    assert interrupted
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    check_complete(folder)
    resumed(folder)
    assert differing(outcome(folder), encoder_alone) == []


@pytest.mark.usefixtures("_no_picture", "_interruptible")
def test_a_training_that_fails_gives_the_interrupt_back(
    tmp_path: Path, files: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch, name=".last.*", fault="full")
    disk.broken = True
    with pytest.raises(InputError):
        train_watched(new_run(tmp_path / "run", files, *SHORT), device="cpu")
    # Otherwise the next Ctrl-C of the program that called would do nothing.
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.long
def test_a_real_interrupt_saves_says_how_to_go_on_and_is_resumed(tmp_path: Path, batag: Batag, files: dict[str, Any]) -> None:
    settings = [*TINY, "training.checkpoint_steps=100000"]
    folder = tmp_path / "run"
    command = [
        *(str(Path(sys.executable).with_name("batag")), "train", str(files["train"][0]), "--dev", str(files["dev"][0])),
        *("--out", str(folder), "--device", "cpu", "--set", "training.epochs=100000"),
        *(part for setting in settings for part in ("--set", setting)),
    ]
    with started(command) as process:
        assert process.stderr is not None
        message = ""
        while "epoch   2" not in message:
            line = process.stderr.readline().decode()
            assert line, message
            message += line
        process.send_signal(signal.SIGINT)
        out, err = (stream.decode() for stream in process.communicate(timeout=PATIENCE))
    assert process.returncode == 130, err
    assert f"stopped; resume with: batag train --resume {folder}" in err
    assert "Traceback" not in err
    assert out == ""
    check_complete(folder)
    metadata = load_weights_file(folder / "last.safetensors")[1]
    assert metadata["step"] >= 12
    epochs = metadata["epochs"] + 1

    done = batag("train", "--resume", folder, "--set", f"training.epochs={epochs}", "--device", "cpu", "--json")
    assert done.returncode == 0, done.stderr
    assert f"resumed at step {metadata['step']}" in done.stderr.replace(",", "")
    assert json.loads(done.stdout)["dev"]["epoch"] <= epochs
    finished(new_run(tmp_path / "undisturbed", files, *settings, f"training.epochs={epochs}"))
    assert differing(outcome(folder), outcome(tmp_path / "undisturbed")) == []
