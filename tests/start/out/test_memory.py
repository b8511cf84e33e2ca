from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.start.out.tagged_shop import tagged_shop

MEASURED = """
import resource, sys
from pathlib import Path
from batag.start.out import Export, Facts, write_out
folder = Path(sys.argv[1])
export = Export(paths=(str(folder / "shop.csv"),), columns={"id": "sku", "title": "商品名稱", "description": "描述"})
write_out(folder / "out", export=export, tagged=folder / "tagged", labels=("brand", "goods"), facts=Facts(shop="x"), review=20)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the unit of the peak differs")
def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    peaks = []
    for rows in (2_500, 10_000):
        folder = tmp_path / str(rows)
        letters = [chr(0x4E00 + number) for number in range(rows)]
        tagged_shop(folder, [[letter, f"日立冰箱 {letter * 9}", "melra " + letter * 1_500] for letter in letters])
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, str(folder)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        peaks.append(int(done.stdout))
    assert peaks[1] - peaks[0] < 12_000, peaks  # in KB: the texts of 7,500 more rows have 22 MB
