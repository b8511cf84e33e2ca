"""Whether a request may be answered: the name that it calls us by, the website that it comes from, its key, and its rate."""

from __future__ import annotations

import hmac
from typing import Any

from batag.serving.access.keys import Key, KeyStore
from batag.serving.access.rate import Rates
from batag.serving.access.session import Sessions
from batag.serving.problem import Problem
from batag.serving.request import Request, read_object
from batag.serving.routes import ANY, SCOPES, Route
from batag.settings import settings

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_SAFE = ("GET", "HEAD")
_SCHEME = "bearer "
_TODO = "Send the header Authorization: Bearer batag_..., or begin a session"


class Guard:
    """The rules of one service. Without a store of keys everybody on this machine may ask, but no website that a browser here
    shows. `hosts` are the names that requests may call us by; without any they are this machine's or, with keys, all."""

    def __init__(self, keys: KeyStore | None, hosts: frozenset[str] | None = None) -> None:
        self._keys, self._sessions, self._rates = keys, Sessions(), Rates()
        self._hosts = LOOPBACK | hosts if hosts is not None else None if keys is not None else LOOPBACK

    @property
    def is_open(self) -> bool:
        """Whether no key is needed."""
        return self._keys is None

    def check(self, request: Request, route: Route) -> None:
        """Refuse what may not be answered; note the key that asks."""
        self.check_place(request)
        if self._keys is None or not route.scope:
            return
        key = self._key(request)
        if route.scope != ANY and not key.allows(route.scope):
            detail = f"the key has the scope {', '.join(key.scopes)}, not {route.scope}"
            raise Problem("wrong-scope", detail, where="Authorization", todo="Use another key")
        self._rates.count(key.id, key.rate or settings.serve_key_requests)

    def check_place(self, request: Request) -> None:
        """Refuse a request that calls us by a foreign name (DNS rebinding) or that another website sends."""
        host = (request.header("host") or "").lower()
        name = host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]
        if self._hosts is not None and name not in self._hosts:
            todo = "Call it localhost, or start it with --allow-host NAME"
            raise Problem("foreign-host", "the service has no such name", where="Host", todo=todo)
        origin = request.header("origin")
        if origin is not None and origin.lower().partition("://")[2] != host:
            raise Problem("foreign-origin", "another website asks", where="Origin", todo="Ask from the service's own page")
        if request.method not in _SAFE and request.header("sec-fetch-site") in ("cross-site", "same-site"):
            raise Problem("foreign-origin", "another website asks", where="Sec-Fetch-Site")

    def _key(self, request: Request) -> Key:
        assert self._keys is not None
        given = request.header("authorization")
        if given is not None:
            if given[: len(_SCHEME)].lower() != _SCHEME:
                raise Problem("no-key", "this is not a Bearer key", where="Authorization", todo=_TODO)
            key = self._keys.find(given[len(_SCHEME) :].strip())
            if key is None:
                raise Problem("no-key", "the key is wrong or revoked", where="Authorization", todo=_TODO)
        else:
            session = self._sessions.find(request.header("cookie"))
            key = None if session is None else self._keys.get(session[0])
            if session is None or key is None:
                raise Problem("no-key", "there is no key", where="Authorization", todo=_TODO)
            sent = request.header("x-csrf-token") or ""
            if request.method not in _SAFE and not hmac.compare_digest(sent.encode(), session[1].encode()):
                todo = "Send the header X-CSRF-Token with the value that GET /v1/session gives"
                raise Problem("no-csrf", "the session's token is missing or wrong", where="X-CSRF-Token", todo=todo)
        request.key = key.id
        return key

    def session(self, request: Request) -> dict[str, Any]:
        """What `GET /v1/session` says."""
        if self._keys is None:
            return {"open": True, "scopes": list(SCOPES), "csrf": None}
        session = self._sessions.find(request.header("cookie"))
        key = None if session is None else self._keys.get(session[0])
        if session is None or key is None:
            return {"open": False, "scopes": [], "csrf": None}
        return {"open": False, "scopes": list(key.scopes), "csrf": session[1]}

    def begin_session(self, request: Request, body: bytes) -> tuple[dict[str, Any], str]:
        """Begin a session with the key in the body: what is answered, and the cookie."""
        found = read_object(body)
        for name in found:
            if name != "key":
                raise Problem("unknown-key", f"{name[:100]!r} is not a key of this request", where=name[:100])
        given = found.get("key")
        if not isinstance(given, str):
            raise Problem("wrong-type", "this is not text", where="key")
        if self._keys is None:
            return self.session(request), ""
        key = self._keys.find(given.strip())
        if key is None:
            raise Problem("no-key", "the key is wrong or revoked", where="key")
        secure = (request.header("origin") or "").lower().startswith("https:")
        cookie, csrf = self._sessions.begin(key.id, secure=secure)
        request.key = key.id
        return {"open": False, "scopes": list(key.scopes), "csrf": csrf}, cookie

    def no_cookie(self) -> str:
        """The header that ends a session."""
        return self._sessions.end()
