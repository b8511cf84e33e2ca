"""A tagger beside the user's own work: threads, forked children, copies and other processes."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
from tests.conftest import mostly_long
from tests.tiny import make_bundle, tiny_exported, tiny_tagger

import batag
from batag.errors import InputError, UsageError

PAGE = {"title": "new running shoes", "description": "acme 跑鞋 running ガーゼ " * 40}
WIDE = {"name": "bat", "width": 128, "depth": 2, "heads": 4, "inner": 512}

FORKS = """
import os, sys, time
import torch
torch.set_num_threads(2)
import batag
page = {"title": "new running shoes", "description": "acme 跑鞋 running ガーゼ " * 40}
wide, exported, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]) or None
engines = [(wide, "torch"), *((exported, name) for name in ("torch", "torch-int8", "onnx", "auto"))]
torch.rand(500, 500) @ torch.rand(500, 500)  # the user's own work, with two threads
load = lambda folder, engine: batag.load(folder, engine=engine, device="cpu", threads=threads)
taggers = [load(*each) for each in engines]
tags = [tagger.tag(page) for tagger in taggers]
child = os.fork()
if not child:
    same = tags == [tagger.tag(page) for tagger in taggers]
    new = [load(*each) for each in engines if each[1] in ("torch", "onnx")]
    same = same and tags[:2] + tags[3:4] == [tagger.tag(page) for tagger in new]
    sys.exit(0 if same else 3)
end = time.monotonic() + 120
while time.monotonic() < end:
    found, status = os.waitpid(child, os.WNOHANG)
    if found:
        sys.exit(os.waitstatus_to_exitcode(status))
    time.sleep(0.02)
os.kill(child, 9)
os.waitpid(child, 0)
sys.exit("the forked child hangs")
"""


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network of the usual width: its products are large enough for torch to share them out."""
    return make_bundle(tmp_path_factory.mktemp("wide") / "bundle", encoder=WIDE)


@pytest.mark.long
@pytest.mark.parametrize("threads", mostly_long([0, 2], 2))
def test_a_forked_child_tags_with_what_its_parent_loaded_and_loads_taggers_of_its_own(threads: int, wide: Path) -> None:
    command = [sys.executable, "-c", FORKS, wide, tiny_exported(), str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("asked", "expected"), [(None, 1), (1, 1), (3, 3)])
def test_torch_has_the_threads_that_are_asked_for_while_it_tags_and_the_users_before_and_after(
    asked: int | None, expected: int, wide: Path
) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    seen: list[int] = []
    hook = torch.nn.modules.module.register_module_forward_hook(lambda *_: seen.append(torch.get_num_threads()))
    try:
        tagger = batag.load(wide, device="cpu", threads=asked)
        assert torch.get_num_threads() == 2
        tagger.tag(PAGE)
        assert torch.get_num_threads() == 2
        with pytest.raises(TypeError):
            tagger.engine.probabilities([[None]])  # type: ignore[list-item]
        assert torch.get_num_threads() == 2
    finally:
        hook.remove()
        torch.set_num_threads(before)
    assert set(seen) == {expected}


def test_many_threads_that_tag_leave_torch_as_it_was(wide: Path) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        tagger = batag.load(wide, device="cpu")
        workers = [threading.Thread(target=lambda: [tagger.tag(PAGE) for _ in range(20)]) for _ in range(4)]
        for each in workers:
            each.start()
        for each in workers:
            each.join()
        seen: list[int] = []
        later = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
        later.start()
        later.join()
        assert (torch.get_num_threads(), seen) == (2, [2])
    finally:
        torch.set_num_threads(before)


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="threads are counted by Linux")
@pytest.mark.parametrize(("asked", "more"), [("None", 0), ("1", 0), ("3", 2)])
def test_onnx_starts_no_thread_unless_it_is_asked_to_and_reports_to_nobody(asked: str, more: int) -> None:
    code = (
        "import os, numpy, batag, batag.tagging.tagger\n"
        "before = len(os.listdir('/proc/self/task'))\n"
        f"tagger = batag.load({str(tiny_exported())!r}, engine='onnx', threads={asked})\n"
        "tagger.tag({'title': 'new running shoes'})\n"
        "print(len(os.listdir('/proc/self/task')) - before)\n"
    )
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "ORT_DISABLE_TELEMETRY")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert int(done.stdout) == more


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True])
def test_a_number_of_threads_that_is_none_is_a_mistake_of_the_call(threads: object, wide: Path) -> None:
    with pytest.raises(UsageError, match="threads"):
        batag.load(wide, device="cpu", threads=threads)


# Copies


@pytest.mark.parametrize("engine", ["torch", "onnx"])
def test_a_tagger_can_be_copied_and_sent_to_other_processes(engine: str) -> None:
    tagger = batag.load(tiny_exported(), engine=engine, device="cpu")
    expected = tagger.tag(PAGE)
    for other in (pickle.loads(pickle.dumps(tagger)), copy.copy(tagger), copy.deepcopy(tagger)):
        assert other is not tagger
        assert other.engine.name == engine
        assert other.tag(PAGE) == expected
    assert len(pickle.dumps(tagger)) < 100_000


def test_a_copy_of_a_tagger_has_its_options(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("shoes\n", encoding="utf-8")
    tagger = batag.load(tiny_exported(), engine="torch", device="cpu", stop_words=tmp_path / "words.txt", threads=3)
    other = pickle.loads(pickle.dumps(tagger))
    assert other.engine.threads == 3
    (tmp_path / "words.txt").unlink()
    with pytest.raises(InputError, match=r"words\.txt"):
        pickle.loads(pickle.dumps(tagger))


def test_a_copy_of_a_tagger_whose_bundle_is_gone_or_another_is_a_clear_error(tmp_path: Path) -> None:
    folder = make_bundle(tmp_path / "bundle")
    sent = pickle.dumps(batag.load(folder, device="cpu"))
    make_bundle(folder, classes=["color"])
    with pytest.raises(InputError, match="has changed since the tagger was loaded"):
        pickle.loads(sent)
    folder.rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is not there"):
        pickle.loads(sent)


def test_the_tagger_of_a_relative_path_can_be_sent_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_bundle(tmp_path / "bundle")
    monkeypatch.chdir(tmp_path)
    sent = pickle.dumps(batag.load("bundle", device="cpu"))
    monkeypatch.chdir("/")
    assert pickle.loads(sent).labels == ("goods", "brand", "feature")


def test_a_tagger_with_an_engine_of_the_users_own_keeps_it() -> None:
    tagger = batag.Tagger(tiny_tagger().bundle, engine=tiny_tagger().engine)
    assert copy.copy(tagger).labels == tagger.labels
