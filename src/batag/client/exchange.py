"""The requests of both clients, without the sending: bodies, batches, and how long to wait before the next try."""

from __future__ import annotations

import random
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

from batag.client.answer import ServiceError, Tagged, to_tagged
from batag.errors import UsageError
from batag.pages.page import Page, without_surrogates
from batag.pages.record import not_a_page

Pages = Page | Mapping[str, Any]
AGAIN = frozenset({429, 502, 503, 504})
"""Statuses after which the same request may succeed."""
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 30.0
_PLACE = re.compile(r"pages\[(\d+)\]")
_ENVELOPE = 1_000
_OPTIONS = ("richness", "labels", "min_score", "top", "distinct", "canonical_language")
Sent = tuple[int, dict[str, Any] | ServiceError]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may have; `Client.models` gives those of a service."""

    pages: int = 32
    body_bytes: int = 2_000_000


def wait_before(attempt: int, retry_after: str | None = None) -> float:
    """Seconds to wait before the next try (the first is 1): twice as long each time, at random so that clients do not come
    together, and never shorter than the service asks for."""
    grown: float = min(_FIRST_WAIT * 2.0 ** (attempt - 1), _LONGEST_WAIT)
    return min(_asked(retry_after), _LONGEST_WAIT) + grown * random.uniform(0.5, 1.0)


def _asked(retry_after: str | None) -> float:
    if not retry_after:
        return 0.0
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        moment = parsedate_to_datetime(retry_after)
    except ValueError:
        return 0.0
    return max((moment - datetime.now(UTC)).total_seconds(), 0.0) if moment.tzinfo else 0.0


def base_url(url: str) -> str:
    """The address of a service, checked."""
    if not re.match(r"https?://[^/]", url):
        raise UsageError(f"{url!r} is not the address of a service", todo="Write it as http://localhost:8080")
    if path := re.search(r"(?<!/)/v1(/|$).*", url):
        raise UsageError(f"{url!r} is a path of a service", todo=f"Give the address without {path[0]}: {url[: path.start()]}")
    return url.rstrip("/")


def headers_of(key: str | None) -> dict[str, str]:
    """The headers of every request."""
    own = {"Content-Type": "application/json", "Accept": "application/json"}
    return own | ({"Authorization": f"Bearer {key}"} if key else {})


def page_record(page: Pages) -> dict[str, Any]:
    """A page as the service takes it. Lone surrogates, which JSON in UTF-8 cannot have, become U+FFFD: offsets stay."""
    if not isinstance(page, (Page, Mapping)):
        raise UsageError(not_a_page(page), todo="See docs/python.md for what a page is")
    if not isinstance(page, Page):
        return dict(page)
    found: dict[str, Any] = {"id": page.id, "fields": {name: without_surrogates(text) for name, text in page.fields.items()}}
    return found | ({"language": page.language} if page.language else {})


def tag_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `/v1/tag` that are set."""
    for name in options:
        if name not in _OPTIONS:
            raise UsageError(f"{name!r} is not an option of tagging", todo=f"There are {', '.join(_OPTIONS)}")
    return {name: list(value) if name == "labels" else value for name, value in options.items() if value is not None}


def batches(pages: Iterable[Pages], limits: Limits) -> Iterator[list[bytes]]:
    """The pages as JSON in groups that one request may have; a page over the limit is a group, and the service says so."""
    group: list[bytes] = []
    size = _ENVELOPE
    for page in pages:
        data = orjson.dumps(page_record(page))
        if group and (len(group) >= limits.pages or size + len(data) >= limits.body_bytes):
            yield group
            group, size = [], _ENVELOPE
        group.append(data)
        size += len(data) + 1
    if group:
        yield group


def tag_batch(group: Sequence[bytes], options: Mapping[str, Any]) -> Generator[bytes, Sent, list[Tagged]]:
    """Tag a group: yields bodies to send and takes what comes back. A page that the service cannot use gets its error, and the
    others are sent again without it."""
    found: dict[int, Tagged] = {}
    left = list(range(len(group)))
    tail = orjson.dumps(options)[1:]
    while left:
        body = b'{"pages":[' + b",".join(group[number] for number in left) + b"]" + (b"," if options else b"") + tail
        status, answer = yield body
        if not isinstance(answer, ServiceError):
            found |= dict(zip(left, map(to_tagged, answer["pages"]), strict=True))
            break
        place = _PLACE.search(answer.where)
        if status == 413 and len(left) == 1:
            bad = left[0]
        elif status == 422 and place is not None and int(place[1]) < len(left):
            bad = left[int(place[1])]
        else:
            raise answer
        found[bad] = Tagged(orjson.loads(group[bad]).get("id"), None, (), answer.what)
        left.remove(bad)
    return [found[number] for number in range(len(group))]
