"""The paths of the service: one row each. What comes later (search, review) adds rows."""

from __future__ import annotations

from dataclasses import dataclass

TAG, ADMIN = SCOPES = ("tag", "admin")
"""What a key may do: ask for tags, change the service."""
ANY = "any"
"""Any key will do."""


@dataclass(frozen=True, slots=True)
class Route:
    """A path and method: the handler's name, the scope that a key needs (empty: none), and whether it is a probe of the machine
    that runs the service, which does not know its name."""

    method: str
    path: str
    handler: str
    scope: str = ""
    probe: bool = False


_ROWS = (
    Route("POST", "/v1/tag", "tag", TAG),
    Route("POST", "/v1/explain", "explain", TAG),
    Route("POST", "/v1/keywords", "keywords", TAG),
    Route("POST", "/v1/terms/explain", "terms", TAG),
    Route("GET", "/v1/models", "models", TAG),
    Route("POST", "/v1/models/reload", "reload", ADMIN),
    Route("GET", "/v1/session", "session"),
    Route("POST", "/v1/session", "begin_session"),
    Route("DELETE", "/v1/session", "end_session"),
    Route("GET", "/healthz", "alive", probe=True),
    Route("GET", "/readyz", "ready", probe=True),
    Route("GET", "/metrics", "metrics", ANY),
    Route("GET", "/openapi.json", "openapi"),
)
ROUTES: dict[tuple[str, str], Route] = {(row.method, row.path): row for row in _ROWS}


def allowed(path: str) -> list[str]:
    """The methods of a path."""
    return [row.method for row in _ROWS if row.path == path]
