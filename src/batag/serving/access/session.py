"""Sessions of browsers: a signed cookie that names a key and an end, and a token that only our own page can read."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time

from batag.settings import settings

COOKIE = "batag_session"
_COOKIE = re.compile(rf"(?:^|;\s*){COOKIE}=([0-9a-f]{{8}}\.[0-9]{{1,15}}\.[0-9a-f]{{64}})(?:;|$)")


class Sessions:
    """Nothing is stored: the signature says that a cookie is ours, and a restart of the service ends all sessions. Time is
    counted by a clock that nobody can set."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def begin(self, key: str, *, secure: bool) -> tuple[str, str]:
        """The cookie of a new session with a key's id, and its CSRF token."""
        stem = f"{key}.{int(time.monotonic()) + settings.serve_session_seconds}"
        value = f"{stem}.{self._sign('session', stem)}"
        return self._header(value, seconds=settings.serve_session_seconds, secure=secure), self._sign("csrf", value)

    def end(self) -> str:
        """The header that removes the cookie."""
        return self._header("", seconds=0, secure=False)

    def find(self, cookies: str | None) -> tuple[str, str] | None:
        """The key's id and the CSRF token of the session in the cookies, if there is one that has not ended."""
        found = _COOKIE.search(cookies or "")
        if found is None:
            return None
        stem, _, signature = found[1].rpartition(".")
        key, _, end = stem.partition(".")
        if not hmac.compare_digest(signature, self._sign("session", stem)) or int(end) < time.monotonic():
            return None
        return key, self._sign("csrf", found[1])

    def _sign(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose}:{text}".encode(), hashlib.sha256).hexdigest()

    def _header(self, value: str, *, seconds: int, secure: bool) -> str:
        more = "; Secure" if secure else ""
        return f"{COOKIE}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{more}"
