"""The keys of a service: a file with their names, scopes and hashes, and never the keys themselves."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from filelock import FileLock

from batag.errors import InputError, UsageError, unknown_name
from batag.pages.file import open_output
from batag.serving.routes import SCOPES

if TYPE_CHECKING:
    from batag.serving.log import Log

FORMAT = 1
_SHAPE = re.compile(r"batag_([0-9a-f]{8})_([A-Za-z0-9_-]{43})")
_LOOK_EVERY = 1.0
_LARGEST = 16 << 20
_LONGEST_NAME = 100


@dataclass(frozen=True, kw_only=True)
class Key:
    """A key: its id, the name that people gave it, what it may do, the hash of its secret, and its rate (requests a minute)."""

    id: str
    name: str
    scopes: tuple[str, ...]
    sha256: str
    created: str
    rate: int | None = None
    revoked: str | None = None

    def allows(self, scope: str) -> bool:
        """Whether it has a scope; admin has all."""
        return scope in self.scopes or "admin" in self.scopes


def add_key(path: Path, name: str, scopes: Iterable[str], *, rate: int | None = None) -> tuple[Key, str]:
    """Add a key to the file, which is made if it is not there; return it with the secret, which nobody can read again."""
    wanted = tuple(dict.fromkeys(scopes))
    for scope in wanted:
        if scope not in SCOPES:
            raise unknown_name(scope, SCOPES, "a scope")
    if not wanted:
        raise UsageError("a key needs a scope", todo=f"There are {', '.join(SCOPES)}")
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        raise UsageError(f"a key's name has 1 to {_LONGEST_NAME} printable characters", todo="Name who uses it")
    with _locked(path):
        keys = read_keys(path) if path.exists() else []
        if any(key.name == name and key.revoked is None for key in keys):
            raise InputError(f"has a key named {name!r}", where=str(path), todo="Revoke it first, or take another name")
        number, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
        key = Key(id=number, name=name, scopes=wanted, sha256=_hash(secret), created=_now(), rate=rate)
        _write(path, [*keys, key])
    return key, f"batag_{number}_{secret}"


def revoke_key(path: Path, which: str) -> Key:
    """Revoke a key by its id or name; a service that runs notices within a second."""
    with _locked(path):
        keys = read_keys(path)
        found = [key for key in keys if which in (key.id, key.name) and key.revoked is None]
        if not found:
            todo = "See the keys with: batag keys list"
            raise InputError(f"has no key {which!r} that is not revoked", where=str(path), todo=todo)
        gone = replace(found[0], revoked=_now())
        _write(path, [gone if key.id == gone.id else key for key in keys])
    return gone


def read_keys(path: Path) -> list[Key]:
    """The keys of a file."""
    try:
        if path.stat().st_size > _LARGEST:
            raise ValueError("it is too large")
        found = orjson.loads(path.read_bytes())
        if found["format"] != FORMAT:
            raise ValueError(f"its format is {found['format']!r}")
        return [_key(each) for each in found["keys"]]
    except FileNotFoundError:
        raise InputError("is not there", where=str(path), todo=f"Make a key: batag keys add NAME --keys {path}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"is not a file of keys ({error})", where=str(path), todo="Restore it from a backup") from None


def _key(record: dict[str, Any]) -> Key:
    key = Key(**(record | {"scopes": tuple(record["scopes"])}))
    texts = (key.id, key.name, key.sha256, key.created, *key.scopes)
    if not all(isinstance(each, str) for each in texts) or not re.fullmatch("[0-9a-f]{64}", key.sha256):
        raise TypeError("a key is damaged")
    if key.rate is not None and (type(key.rate) is not int or key.rate < 1):
        raise TypeError("the rate of a key is damaged")
    return key


class KeyStore:
    """The keys of a running service. The file is read again when it changes; one that cannot be read changes nothing."""

    def __init__(self, path: Path, log: Log) -> None:
        self._path, self._log = path, log
        self._keys = {key.id: key for key in read_keys(path)}
        self._seen = self._stamp()
        self._looked = time.monotonic()

    def find(self, given: str) -> Key | None:
        """The key, unless it is wrong or revoked; compared in constant time."""
        shape = _SHAPE.fullmatch(given)
        key = None if shape is None else self.get(shape[1])
        hashed = _hash(given if shape is None else shape[2])
        same = hmac.compare_digest(hashed, "0" * 64 if key is None else key.sha256)
        return key if same else None

    def get(self, number: str) -> Key | None:
        """The key with this id, unless it is revoked."""
        now = time.monotonic()
        if now - self._looked > _LOOK_EVERY:
            self._looked = now
            self._look()
        key = self._keys.get(number)
        return None if key is None or key.revoked is not None else key

    def _look(self) -> None:
        stamp = self._stamp()
        if stamp == self._seen:
            return
        try:
            self._keys = {key.id: key for key in read_keys(self._path)}
        except (InputError, OSError) as error:
            self._log.event("keys-not-read", detail=getattr(error, "what", type(error).__name__))
        self._seen = stamp

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def _locked(path: Path) -> FileLock:
    if not path.parent.is_dir():
        raise InputError("is not a folder", where=str(path.parent), todo="Make it, or name another file")
    return FileLock(path.with_name(f".{path.name}.lock"))


def _write(path: Path, keys: list[Key]) -> None:
    data = orjson.dumps({"format": FORMAT, "keys": [asdict(key) for key in keys]}, option=orjson.OPT_INDENT_2)
    with open_output(path) as stream:
        stream.write(data + b"\n")
    path.chmod(0o600)


def _hash(secret: str) -> str:
    """256 random bits need no slow hash: nobody can try them all."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
