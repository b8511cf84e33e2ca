from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.start.out.tagged_shop import TaggedShop, tagged_shop

from batag.start.out import writing

NAMES = ("tags.xlsx", "tags.csv", "report.html", "to_review.xlsx", "to_review.jsonl")
KILLED = """
import os, signal, sys
from pathlib import Path
from tests.start.out.tagged_shop import tagged_shop
folder, renames = Path(sys.argv[1]), int(sys.argv[2])
shop = tagged_shop(folder, [["9", "melra 耳機", "新"]])
done, rename = [], os.replace
def replace(source, target):
    if len(done) == renames:
        os.kill(os.getpid(), signal.SIGKILL)
    done.append(target)
    rename(source, target)
os.replace = replace
shop.write()
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize("renames", range(5))
def test_a_run_that_is_killed_between_files_leaves_each_one_old_or_new(tmp_path: Path, renames: int) -> None:
    old = tagged_shop(tmp_path, [["1", "日立冰箱", "舊"]])
    old.write()
    before = contents(old.out)
    new = tagged_shop(tmp_path / "new", [["9", "melra 耳機", "新"]])
    new.write()
    wanted = contents(new.out)
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), str(renames)], env=os.environ | {"PYTHONPATH": path}, timeout=120
    )
    assert done.returncode == -9
    found = contents(old.out)
    assert found.keys() == {*NAMES}
    assert sum(found[name] == wanted[name] for name in NAMES) == renames
    assert all(found[name] in (before[name], wanted[name]) for name in NAMES)
    assert list(old.out.glob(".*.tmp"))
    TaggedShop(old.export, old.tagged, old.out).write()
    assert contents(old.out) == wanted
    assert not list(old.out.glob(".*"))


def test_an_error_leaves_the_old_files_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = tagged_shop(tmp_path, [["1", "日立冰箱", ""]])
    shop.write()
    before = contents(shop.out)
    monkeypatch.setattr(writing.TableWriter, "add", lambda self, row: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        shop.write()
    assert contents(shop.out) == before
    assert not list(shop.out.glob(".*"))


def test_the_same_input_makes_the_same_bytes(tmp_path: Path) -> None:
    shop = tagged_shop(tmp_path, [[str(n), f"日立冰箱 {n}", "melra"] for n in range(30)])
    shop.write()
    first = contents(shop.out)
    shop.write()
    assert contents(shop.out) == first
