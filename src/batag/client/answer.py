"""What the service answers, as Python objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from batag.errors import BatagError
from batag.pages.page import Tag

_KEYS = frozenset(Tag.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class Tagged:
    """The tags of one page, or why there are none."""

    id: str | None
    language: str | None
    tags: tuple[Tag, ...]
    error: str | None = None


class ServiceError(BatagError):
    """The service refused a request or could not be reached; `status` is 0 without an answer, `kind` as in docs/serving.md."""

    def __init__(
        self, what: str, *, where: str = "", todo: str = "", status: int = 0, kind: str = "", request_id: str = ""
    ) -> None:
        super().__init__(what, where=where, todo=todo)
        self.status, self.kind, self.request_id = status, kind, request_id


def to_tag(record: Mapping[str, Any]) -> Tag:
    """A tag of an answer; keys that this version does not know are left out."""
    return Tag(**{key: value for key, value in record.items() if key in _KEYS})


def to_tagged(record: Mapping[str, Any]) -> Tagged:
    """A page of an answer."""
    return Tagged(record["id"], record["language"], tuple(map(to_tag, record["tags"])), record["error"])


def read_answer(status: int, body: bytes, *, url: str) -> dict[str, Any]:
    """The object in an answer; a refusal is an error."""
    try:
        found = orjson.loads(body)
        if not isinstance(found, dict):
            raise TypeError
    except (ValueError, TypeError):
        todo = "Check the address: it should be that of `batag serve`"
        raise ServiceError(f"answered {status} with something that is not JSON", where=url, todo=todo, status=status) from None
    if status == 200:
        return found
    kind = str(found.get("type", "")).removeprefix("urn:batag:")
    place = str(found.get("where", ""))
    raise ServiceError(
        str(found.get("detail") or f"answered {status}"),
        where=f"{url}: {place}" if place else url,
        todo=str(found.get("todo", "")),
        status=status,
        kind=kind,
        request_id=str(found.get("request_id", "")),
    )
