"""The one shape of every error that reaches the application: problem+json (RFC 9457) that says what, where and what to do."""

from __future__ import annotations

import orjson

KINDS: dict[str, tuple[int, str]] = {
    "bad-json": (400, "The body is not JSON"),
    "bad-request": (400, "The request is not whole"),
    "no-key": (401, "A key is needed"),
    "wrong-scope": (403, "The key may not do this"),
    "foreign-origin": (403, "Another website asks"),
    "foreign-host": (403, "The service has another name"),
    "no-csrf": (403, "The session's token is missing"),
    "not-found": (404, "There is nothing here"),
    "wrong-method": (405, "Wrong method"),
    "slow-client": (408, "The body came too slowly"),
    "reloading": (409, "A reload is running"),
    "too-large": (413, "The body is too large"),
    "not-json": (415, "The body is not announced as JSON"),
    "unknown-key": (422, "Unknown key"),
    "wrong-type": (422, "Wrong type"),
    "wrong-value": (422, "Wrong value"),
    "too-long": (422, "Too long"),
    "too-many": (422, "Too many"),
    "bad-bundle": (422, "The bundle cannot be used"),
    "rate": (429, "Too many requests with this key"),
    "engine": (500, "The engine failed"),
    "full": (503, "The queue is full"),
    "stopping": (503, "The service is stopping"),
    "not-ready": (503, "No engine is ready"),
    "late": (504, "No answer in time"),
}
"""The kinds of problems: status and title."""
MEDIA_TYPE = "application/problem+json"


class Problem(Exception):  # noqa: N818 (it is the word of RFC 9457)
    """A request that is refused: its kind, what is wrong, where, and what to do."""

    def __init__(self, kind: str, detail: str, *, where: str = "", todo: str = "", retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.where, self.todo, self.retry_after = kind, detail, where, todo, retry_after

    @property
    def status(self) -> int:
        """The status of the answer."""
        return KINDS[self.kind][0]

    def body(self, request_id: str) -> bytes:
        """The JSON of the answer."""
        return orjson.dumps(
            {
                "type": f"urn:batag:{self.kind}",
                "title": KINDS[self.kind][1],
                "status": self.status,
                "detail": self.detail,
                "where": self.where,
                "todo": self.todo,
                "request_id": request_id,
            }
        )
