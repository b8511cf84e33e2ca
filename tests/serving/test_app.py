"""`create_app`: the same service as an ASGI application, under another server."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from tests.processes import PATIENCE, started
from tests.serving.service import BUNDLE, PAGE

from batag.serving import create_app


def test_the_app_answers_without_lifespan_and_gives_its_processes_back(tmp_path: Path) -> None:
    async def ask() -> None:
        app = create_app(BUNDLE, engines=1, log=tmp_path / "log.jsonl", hosts=["service"])
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client:
            assert (await client.get("/readyz")).json() == {"ready": True, "engines": 1}
            answer = await client.post("/v1/tag", json={"page": PAGE})
            assert answer.json()["pages"][0]["tags"]
            assert (await client.head("/healthz")).content == b""
            large = await client.post("/v1/tag", content=b" " * 2_000_001, headers={"Content-Type": "application/json"})
            assert large.status_code == 413
            assert (await client.get("/v1/models", headers={"Host": "evil.example"})).status_code == 403
        await app.app.stop()

    before = _children()
    asyncio.run(ask())
    assert _children() == before


def _children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="utf-8").split()


def test_the_app_runs_under_uvicorn(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        f"from batag.serving import create_app\napp = create_app({str(BUNDLE)!r}, engines=1, log={str(tmp_path / 'log')!r})\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "uvicorn", "own:app", "--port", "0", "--app-dir", str(tmp_path)]
    with started(command) as process:
        assert process.stderr is not None
        found = None
        while found is None and (line := process.stderr.readline().decode()):
            found = re.search(r"http://\S+", line)
        assert found is not None
        answer = httpx.post(f"{found[0]}/v1/tag", json={"page": PAGE}, timeout=PATIENCE, trust_env=False)
        assert answer.json()["pages"][0]["tags"]
        process.terminate()
        assert process.wait(PATIENCE) in (0, -signal.SIGTERM)  # uvicorn ends by the signal itself, after its clean-up
        assert "stopped" in (tmp_path / "log").read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_two_replicas_under_ray_serve_answer_on_when_one_is_killed(tmp_path: Path) -> None:
    """In a process of its own: Ray leaves threads and warnings behind."""
    if subprocess.run([sys.executable, "-c", "import ray.serve"], capture_output=True, check=False).returncode:
        pytest.skip("needs pip install 'ray[serve]'")
    program = Path(__file__).parent / "ray_replicas.py"
    with started([sys.executable, str(program), str(BUNDLE)], env=os.environ | {"RAY_DISABLE_MEMORY_MONITOR": "1"}) as process:
        out, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, error.decode()[-3_000:]
    assert b"replaced" in out
