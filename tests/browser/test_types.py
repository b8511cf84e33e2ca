"""The types in the page's comments hold."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.browser.conftest import needed
from tests.browser.example import PAGE_FOLDER

HERE = Path(__file__).parent
_INSTALLED = Path(sys.prefix) / "node" / "node_modules" / ".bin" / "tsc"


def test_tsc_finds_no_wrong_type_in_the_page(tmp_path: Path) -> None:
    found = str(_INSTALLED) if _INSTALLED.is_file() else shutil.which("tsc")
    tsc = needed("tsc", found, f"npm install --prefix {sys.prefix}/node typescript")
    shutil.copytree(PAGE_FOLDER, tmp_path / "page")
    (tmp_path / "page" / "vendor" / "lit-html.js").unlink()
    shutil.copy(HERE / "lit-html.d.ts", tmp_path / "page" / "vendor" / "lit-html.d.ts")
    shutil.copy(HERE / "tsconfig.json", tmp_path)
    done = subprocess.run([tsc, "--project", str(tmp_path)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
