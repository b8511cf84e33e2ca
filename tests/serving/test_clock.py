"""The machine's clock is set while the service runs: nobody notices."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.processes import wait_until
from tests.serving.service import PAGE, Service, serving
from tests.serving.test_limits import refused

from batag.serving.access.keys import add_key

YEARS = 10 * 365 * 86_400
PATCH = """
import os, time
own, file = time.time, os.environ["CLOCK"]
def jumped():
    with open(file) as stream:
        return own() + float(stream.read() or 0)
time.time = jumped
"""


def years_of(service: Service) -> set[str]:
    return {str(each["time"])[:4] for each in service.events()}


@pytest.mark.parametrize("jump", [YEARS, -YEARS])
def test_a_clock_that_jumps_stops_nothing(tmp_path: Path, jump: int) -> None:
    """Deadlines, sessions, rates and the queue count by a clock that nobody can set; only the log tells the time."""
    clock, keys = tmp_path / "clock", tmp_path / "keys.json"
    clock.write_text("0", encoding="utf-8")
    (tmp_path / "sitecustomize.py").write_text(PATCH, encoding="utf-8")
    named = {"Authorization": f"Bearer {add_key(keys, 'one', ['admin'])[1]}"}
    slow = {"Authorization": f"Bearer {add_key(keys, 'slow', ['tag'], rate=6)[1]}"}
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    with serving(tmp_path, "--engines", 1, "--keys", keys, CLOCK=str(clock), PYTHONPATH=path) as service:
        began = service.post("/v1/session", {"key": named["Authorization"].removeprefix("Bearer ")})
        session = {"Cookie": began.headers["set-cookie"].partition(";")[0], "X-CSRF-Token": began.json()["csrf"]}
        before = service.post("/v1/tag", {"page": PAGE}, headers=named)
        assert before.status_code == 200
        assert service.post("/v1/tag", {"page": PAGE}, headers=slow).status_code == 200
        clock.write_text(str(jump), encoding="utf-8")
        assert service.post("/v1/tag", {"page": PAGE}, headers=named).json() == before.json()
        assert service.post("/v1/tag", {"page": PAGE}, headers=session).status_code == 200
        refused(service.post("/v1/tag", {"page": PAGE}, headers=slow), 429, "rate")
        assert service.client.get("/readyz").status_code == 200
        assert service.post("/v1/models/reload", {}, headers=named).status_code == 200
        assert service.post("/v1/tag", {"page": PAGE}, headers=session).status_code == 200
        wait_until(lambda: len(years_of(service)) > 1)  # the clock did jump
        assert service.stop() == 0
