"""Starting, stopping, reloading, and what dies under load."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.conftest import Run
from tests.processes import PATIENCE, wait_until
from tests.serving.service import BUNDLE, Service, serving

BIG = {"pages": [{"title": f"NORDVIK {number} " + "waterproof hiking boots 防水登山鞋 " * 20} for number in range(32)]}


@contextmanager
def load(service: Service, clients: int = 4) -> Iterator[list[int]]:
    """Clients that ask again and again; the statuses of their answers, 0 for none."""
    statuses: list[int] = []
    ended = threading.Event()

    def ask() -> None:
        with httpx.Client(base_url=service.url, timeout=PATIENCE, trust_env=False) as client:
            number = 0
            while not ended.is_set():
                number += 1
                try:
                    statuses.append(client.post("/v1/tag", json={"page": {"title": f"NORDVIK boots {number}"}}).status_code)
                except httpx.HTTPError:
                    statuses.append(0)

    threads = [threading.Thread(target=ask) for _ in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield statuses
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def test_sigterm_answers_what_is_in_flight_and_refuses_what_comes(tmp_path: Path) -> None:
    with serving(tmp_path, "--engines", 1, BATAG_SERVE_QUEUE_TOKENS="100000") as service:
        answers: list[int] = []

        def ask() -> None:
            answers.append(httpx.post(f"{service.url}/v1/tag", json=BIG, timeout=PATIENCE, trust_env=False).status_code)

        (engine,) = service.engines()
        os.kill(engine, signal.SIGSTOP)  # so that all of them wait
        asking = [threading.Thread(target=ask) for _ in range(3)]
        for thread in asking:
            thread.start()
        wait_until(lambda: service.metric("batag_in_flight") == 4)  # the question itself is one
        service.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not _connects(service))
        os.kill(engine, signal.SIGCONT)
        assert service.process.wait(PATIENCE) == 0
        for thread in asking:
            thread.join()
        assert answers == [200] * 3
        assert service.events()[-1]["event"] == "stopped"


def _connects(service: Service) -> bool:
    host, _, port = service.url.removeprefix("http://").partition(":")
    try:
        socket.create_connection((host, int(port))).close()
    except ConnectionRefusedError:
        return False
    return True


def test_sigterm_is_obeyed_within_the_grace_period_whatever_clients_do(tmp_path: Path) -> None:
    with serving(tmp_path, "--engines", 1, BATAG_SERVE_GRACE_SECONDS="1") as service:
        host, _, port = service.url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port))) as idle, socket.create_connection((host, int(port))) as slow:
            slow.sendall(
                b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
            )
            idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert idle.recv(100).startswith(b"HTTP/1.1 200")
            began = time.monotonic()
            assert service.stop() == 0
            assert time.monotonic() - began < PATIENCE / 2


def engine_events(service: Service) -> list[str]:
    return [each["event"] for each in service.events() if "engine" in each["event"]]


def test_an_engine_that_is_killed_under_load_is_replaced_and_every_request_is_answered(tmp_path: Path) -> None:
    with serving(tmp_path, "--engines", 2) as service, load(service) as statuses:
        for _ in range(2):
            wait_until(lambda: service.client.get("/readyz").json().get("engines") == 2)
            before = len(statuses)
            victim = service.engines()[0]
            os.kill(victim, signal.SIGKILL)
            wait_until(lambda victim=victim: victim not in service.engines())
            wait_until(lambda before=before: len(statuses) > before + 50)
        wait_until(lambda: service.client.get("/readyz").json().get("engines") == 2)
        assert service.metric("batag_engine_deaths_total") == 2
        wait_until(lambda: engine_events(service) == ["engine-died", "engine-replaced"] * 2)
    assert set(statuses) == {200}


def test_all_engines_killed_at_once_are_replaced(tmp_path: Path) -> None:
    with serving(tmp_path, "--engines", 2) as service, load(service) as statuses:
        for victim in service.engines():
            os.kill(victim, signal.SIGKILL)
        before = len(statuses)
        wait_until(lambda: len(statuses) > before + 50)
    assert set(statuses) == {200}


def test_a_killed_loader_takes_its_engines_along_and_all_are_replaced(tmp_path: Path) -> None:
    with serving(tmp_path, "--engines", 2) as service, load(service) as statuses:
        engines, (loader,) = service.engines(), service.loaders()
        os.kill(loader, signal.SIGKILL)
        wait_until(lambda: len(service.engines()) == 2 and not {*engines} & {*service.engines()})
        before = len(statuses)
        wait_until(lambda: len(statuses) > before + 50)
        assert service.metric("batag_engine_deaths_total") == 2
    assert set(statuses) == {200}


def test_engines_share_the_memory_of_the_bundle(tmp_path: Path) -> None:
    with serving(tmp_path, "--engines", 2) as service:
        assert service.tag().status_code == 200
        (loader,) = service.loaders()
        private = {pid: _memory(pid, "Private_Dirty:") for pid in [loader, *service.engines()]}
        assert all(_memory(engine, "Rss:") / 2 > private[engine] for engine in service.engines()), private


def changed_bundle(folder: Path) -> Path:
    """A bundle of its own, whose description differs from the original's."""
    from tests.tiny import redescribe

    shutil.copytree(BUNDLE, folder)
    return redescribe(folder, lambda description: description.update(name="another"))


def test_a_reload_takes_the_new_bundle_without_a_dropped_request(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(BUNDLE, bundle)
    with serving(tmp_path, "--engines", 2, bundle=bundle) as service:
        old, engines = service.tag().json()["bundle"], service.engines()
        changed_bundle(tmp_path / "new")
        shutil.rmtree(bundle)
        (tmp_path / "new").rename(bundle)
        with load(service) as statuses:
            answer = service.post("/v1/models/reload", {})
            assert answer.status_code == 200, answer.text
            before = len(statuses)
            wait_until(lambda: len(statuses) > before + 20)
        assert answer.json()["was"] == old
        assert answer.json()["bundle"] == service.tag().json()["bundle"] != old
        assert service.client.get("/v1/models").json()["models"][0]["name"] == "another"
        assert set(statuses) == {200}
        wait_until(lambda: not {*engines} & {*service.engines()})  # the memory of the old ones is given back
        assert len(service.engines()) == 2


def test_a_corrupt_bundle_is_refused_and_the_old_one_serves_on(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(BUNDLE, bundle)
    with serving(tmp_path, "--engines", 1, bundle=bundle) as service:
        old = service.tag().json()
        data = bytearray((bundle / "model.safetensors").read_bytes())
        data[-1] ^= 1
        (bundle / "model.safetensors").write_bytes(data)
        answer = service.post("/v1/models/reload", {})
        assert (answer.status_code, answer.json()["type"]) == (422, "urn:batag:bad-bundle")
        assert "model.safetensors" in answer.json()["where"]
        assert service.tag().json() == old
        shutil.rmtree(bundle)
        service.process.send_signal(signal.SIGHUP)
        wait_until(lambda: sum(each["event"] == "reload-refused" for each in service.events()) >= 2)
        assert service.tag().json() == old


def test_a_shop_is_served_by_the_bundle_that_it_names(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    (shop / "bundles").mkdir(parents=True)
    shutil.copytree(BUNDLE, shop / "bundles" / "0001")
    changed_bundle(shop / "bundles" / "0002")
    (shop / "shop.json").write_text("{}", encoding="utf-8")
    (shop / "CURRENT").write_text('{"bundle": "bundles/0001"}', encoding="utf-8")
    (shop / "bundles" / "0001.names.json").write_text('{"language": "ja", "brands": {"acme": "アクメ"}}', encoding="utf-8")
    with serving(tmp_path, "--engines", 1, bundle=shop) as service:
        old = service.tag().json()["bundle"]
        asked = {"texts": ["ACME", "refrigerator"]}
        assert [each["canonical"] for each in service.post("/v1/terms/explain", asked).json()["terms"]] == ["アクメ", "冷蔵庫"]
        (shop / "CURRENT").write_text('{"bundle": "bundles/0003"}', encoding="utf-8")
        answer = service.post("/v1/models/reload", {})
        assert (answer.status_code, answer.json()["type"]) == (422, "urn:batag:bad-bundle")
        assert "bundles/0003" in answer.json()["detail"]
        assert service.tag().json()["bundle"] == old
        (shop / "CURRENT").write_text('{"bundle": "bundles/0002"}', encoding="utf-8")
        assert service.post("/v1/models/reload", {}).json()["was"] == old
        assert service.client.get("/v1/models").json()["models"][0]["name"] == "another"
        assert service.post("/v1/terms/explain", asked).json()["terms"][0]["canonical"] == "acme"


def test_sighup_loads_the_bundle_again(tmp_path: Path) -> None:
    with serving(tmp_path, "--engines", 1) as service:
        before = service.engines()
        service.process.send_signal(signal.SIGHUP)
        wait_until(lambda: any(each["event"] == "reloaded" for each in service.events()))
        wait_until(lambda: not {*before} & {*service.engines()})
        assert service.tag().status_code == 200


def test_a_full_disk_for_the_log_stops_nothing(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with serving(tmp_path, "--engines", 1, "--log", "/dev/full") as service:
        assert {service.tag().status_code for _ in range(20)} == {200}
        wait_until(lambda: service.metric("batag_lost_log_lines") >= 20)
        assert service.stop() == 0


def test_a_bundle_that_cannot_be_used_is_one_line(batag: Run, tmp_path: Path) -> None:
    done = batag("serve", tmp_path / "nothing", "--port", 0)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"batag: {tmp_path / 'nothing'}: is not there")


def test_a_port_that_is_taken_is_one_line(batag: Run, tmp_path: Path) -> None:
    with serving(tmp_path, "--engines", 1) as service:
        port = service.url.rpartition(":")[2]
        done = batag("serve", BUNDLE, "--port", port)
    assert done.returncode == 1
    assert "cannot be listened to (Address already in use)" in done.stderr


def test_the_log_has_neither_text_of_pages_nor_paths_of_strangers(tmp_path: Path) -> None:
    with serving(tmp_path, "--engines", 1) as service:
        service.tag({"title": "SECRETWORD boots"})
        service.tag({"titel": "SECRETWORD"})
        service.client.get("/SECRETWORD?key=SECRETWORD")
        service.client.post("/v1/tag", content=b'{"SECRETWORD', headers={"Content-Type": "application/json"})
        service.stop()
        assert "SECRETWORD" not in service.log.read_text(encoding="utf-8")
        lines = [each for each in service.events() if each["event"] == "request"]
    assert [each["status"] for each in lines] == [200, 422, 404, 400]
    assert lines[0]["pages"] == 1
    assert lines[1]["problem"] == "unknown-key"


def test_the_front_keeps_nothing_of_what_it_has_answered(tmp_path: Path) -> None:
    """Requests that wait are watched for clients that leave; once that kept them, with their answers, for ever."""
    with serving(tmp_path, "--engines", 1) as service:
        (engine,) = service.engines()
        pages = [{"title": page["title"] * 4} for page in BIG["pages"]]

        def ask() -> int:
            os.kill(engine, signal.SIGSTOP)
            threading.Timer(0.05, os.kill, (engine, signal.SIGCONT)).start()
            return len(service.post("/v1/tag", {"pages": pages}).content)

        for _ in range(3):
            ask()
        before = _front_memory(service)
        answered = sum(ask() for _ in range(40))
        assert answered > 18_000_000
        assert _front_memory(service) - before < answered / 2


def _front_memory(service: Service) -> int:
    return _memory(service.process.pid, "Pss:")


def _memory(pid: int, kind: str) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(kind))
