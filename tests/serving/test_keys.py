"""Keys and sessions: who may ask, for what, and how often."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from tests.conftest import Run
from tests.processes import wait_until
from tests.serving.service import BUNDLE, PAGE, Service, serving
from tests.serving.test_limits import refused

from batag.errors import InputError, UsageError
from batag.serving.access import session
from batag.serving.access.keys import add_key, read_keys, revoke_key
from batag.serving.access.session import Sessions
from batag.settings import settings


@dataclass
class Locked:
    """A service that needs a key, and its keys."""

    service: Service
    file: Path
    tag: str
    admin: str
    slow: str

    def ask(self, key: str | None, path: str = "/v1/tag", method: str = "POST", **headers: str) -> httpx.Response:
        named = {} if key is None else {"Authorization": f"Bearer {key}"}
        body = {"json": {"page": PAGE}} if method == "POST" else {}
        return self.service.client.request(method, path, headers=named | headers, **body)


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    folder = tmp_path_factory.mktemp("locked")
    file = folder / "keys.json"
    tag, admin = add_key(file, "tag", ["tag"])[1], add_key(file, "admin", ["admin"])[1]
    slow = add_key(file, "slow", ["tag"], rate=30)[1]
    with serving(folder, "--engines", 1, "--host", "0.0.0.0", "--keys", file) as service:
        yield Locked(service, file, tag, admin, slow)


def test_a_key_is_needed_and_must_be_right(locked: Locked) -> None:
    assert locked.ask(locked.tag).status_code == 200
    answer = locked.ask(None)
    refused(answer, 401, "no-key", "Authorization")
    assert answer.headers["www-authenticate"] == "Bearer"
    wrong = locked.tag[:-1] + ("a" if locked.tag[-1] != "a" else "b")
    for each in (wrong, "x", "batag_00000000_" + "x" * 43):
        refused(locked.ask(each), 401, "no-key")
    basic = locked.service.post("/v1/tag", {"page": PAGE}, headers={"Authorization": f"Basic {locked.tag}"})
    refused(basic, 401, "no-key")


def test_a_key_does_what_its_scope_allows(locked: Locked) -> None:
    refused(locked.ask(locked.tag, "/v1/models/reload"), 403, "wrong-scope")
    assert locked.ask(locked.admin, "/v1/tag").status_code == 200
    for path in ("/v1/models", "/metrics"):
        assert locked.ask(locked.tag, path, "GET").status_code == 200
        refused(locked.ask(None, path, "GET"), 401, "no-key")
    for path in ("/healthz", "/readyz", "/v1/session", "/openapi.json"):
        assert locked.ask(None, path, "GET").status_code == 200


def test_a_key_has_its_rate(locked: Locked) -> None:
    """Thirty a minute are five in ten seconds, which is what may come at once."""
    for _ in range(5):
        assert locked.ask(locked.slow).status_code == 200
    answer = locked.ask(locked.slow)
    refused(answer, 429, "rate")
    assert 1 <= int(answer.headers["retry-after"]) <= 2
    assert locked.ask(locked.tag).status_code == 200


def test_a_revoked_key_is_refused_while_the_service_runs(locked: Locked) -> None:
    new = add_key(locked.file, "new", ["tag"])[1]
    wait_until(lambda: locked.ask(new).status_code == 200)
    cookie, _ = begin(locked, new)
    revoke_key(locked.file, "new")
    wait_until(lambda: locked.ask(new).status_code == 401)
    refused(locked.ask(None, "/v1/models", "GET", Cookie=cookie), 401, "no-key")


def test_a_damaged_file_of_keys_changes_nothing(locked: Locked) -> None:
    good = locked.file.read_bytes()
    try:
        locked.file.write_bytes(b"{")
        wait_until(lambda: any(each["event"] == "keys-not-read" for each in asked(locked)))
        assert locked.ask(locked.tag).status_code == 200
    finally:
        locked.file.write_bytes(good)


def asked(locked: Locked) -> list[dict[str, object]]:
    locked.ask(locked.tag)
    return locked.service.events()


def begin(locked: Locked, key: str) -> tuple[str, str]:
    """Begin a session: its cookie as a browser sends it, and its token."""
    answer = httpx.post(f"{locked.service.url}/v1/session", json={"key": key}, trust_env=False)
    assert answer.status_code == 200, answer.text
    return answer.headers["set-cookie"].partition(";")[0], answer.json()["csrf"]


def test_a_key_becomes_a_session_that_needs_its_token(locked: Locked) -> None:
    answer = httpx.post(f"{locked.service.url}/v1/session", json={"key": locked.tag}, trust_env=False)
    for flag in ("HttpOnly", "SameSite=Strict", "Path=/", f"Max-Age={settings.serve_session_seconds}"):
        assert flag in answer.headers["set-cookie"]
    assert locked.tag not in answer.headers["set-cookie"]
    assert answer.json()["scopes"] == ["tag"]
    cookie, token = begin(locked, locked.tag)
    assert locked.ask(None, **{"Cookie": cookie, "X-CSRF-Token": token}).status_code == 200
    refused(locked.ask(None, Cookie=cookie), 403, "no-csrf")
    refused(locked.ask(None, **{"Cookie": cookie, "X-CSRF-Token": "0" * 64}), 403, "no-csrf")
    refused(locked.ask(None, **{"Cookie": cookie, "X-CSRF-Token": begin(locked, locked.admin)[1]}), 403, "no-csrf")
    refused(locked.ask(None, "/v1/models/reload", **{"Cookie": cookie, "X-CSRF-Token": token}), 403, "wrong-scope")
    again = locked.ask(None, "/v1/session", "GET", Cookie=cookie).json()
    assert again == {"open": False, "scopes": ["tag"], "csrf": token}
    foreign = {"Cookie": cookie, "X-CSRF-Token": token, "Origin": "https://evil.example"}
    refused(locked.ask(None, **foreign), 403, "foreign-origin")
    ended = locked.ask(None, "/v1/session", "DELETE", Cookie=cookie)
    assert "Max-Age=0" in ended.headers["set-cookie"]


def test_a_wrong_key_begins_no_session(locked: Locked) -> None:
    post = locked.service.post
    refused(post("/v1/session", {"key": "batag_00000000_" + "x" * 43}), 401, "no-key", "key")
    refused(post("/v1/session", {"key": 3}), 422, "wrong-type", "key")
    refused(post("/v1/session", {"kez": "x"}), 422, "unknown-key", "kez")
    forged = f"{session.COOKIE}=00000000.99999999999.{'0' * 64}"
    refused(locked.ask(None, "/v1/models", "GET", Cookie=forged), 401, "no-key")


def test_a_session_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr(session.time, "monotonic", lambda: now)
    sessions = Sessions()
    cookie = sessions.begin("00000000", secure=True)[0]
    assert "; Secure" in cookie
    now += settings.serve_session_seconds
    assert sessions.find(cookie) is not None
    now += 1
    assert sessions.find(cookie) is None
    assert Sessions().find(cookie) is None


def test_a_key_is_in_no_log_and_no_file(locked: Locked) -> None:
    for key in (locked.tag, locked.admin, locked.tag[:-1] + "-"):
        locked.ask(key)
        locked.service.post("/v1/session", {"key": key})
    wait_until(lambda: any(each.get("key") == locked.tag.split("_")[1] for each in locked.service.events()))
    for file in (locked.file, locked.service.log):
        for key in (locked.tag, locked.admin):
            assert key.split("_", 2)[2] not in file.read_text(encoding="utf-8")


def test_keys_are_added_listed_and_revoked_by_command(batag: Run, tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    made = batag("keys", "add", "shop", "--keys", file, "--rate", 60)
    secret = made.stdout.strip()
    assert secret.startswith("batag_")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    both = json.loads(batag("keys", "add", "ops", "--scope", "admin", "--keys", file, "--json").stdout)
    assert both["scopes"] == ["admin"]
    assert secret not in batag("keys", "list", "--keys", file).stdout
    listed = json.loads(batag("keys", "list", "--keys", file, "--json").stdout)
    assert [(each["name"], each["rate"], each["revoked"]) for each in listed] == [("shop", 60, None), ("ops", None, None)]
    assert batag("keys", "revoke", "shop", "--keys", file).returncode == 0
    assert json.loads(batag("keys", "list", "--keys", file, "--json").stdout)[0]["revoked"]
    again = batag("keys", "revoke", "shop", "--keys", file)
    assert (again.returncode, "has no key 'shop'" in again.stderr) == (1, True)


def test_a_file_of_keys_that_is_wrong_is_an_error_and_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    with pytest.raises(InputError, match="is not there"):
        read_keys(file)
    add_key(file, "one", ["tag"])
    with pytest.raises(InputError, match="has a key named 'one'"):
        add_key(file, "one", ["tag"])
    for scopes in (["tags"], []):
        with pytest.raises(UsageError):
            add_key(file, "two", scopes)
    for text in ("{", "[]", '{"format": 2, "keys": []}', '{"format": 1, "keys": [{"id": 1}]}', "[" * 99_999):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match="is not a file of keys"):
            add_key(file, "two", ["tag"])
        assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "127.example.com"])
def test_others_are_let_in_with_keys_only(batag: Run, host: str) -> None:
    done = batag("serve", BUNDLE, "--port", 0, "--host", host)
    assert done.returncode == 2
    assert f"{host} can be reached from other machines, and there are no keys" in " ".join(done.stderr.split())
    assert "batag keys add NAME --keys keys.json" in " ".join(done.stderr.split())
