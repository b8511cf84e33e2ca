"""The client for ordinary code; threads may share one."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import orjson

from batag.client.answer import ServiceError, Tagged, read_answer, to_tagged
from batag.client.exchange import (
    AGAIN,
    Limits,
    Pages,
    Sent,
    base_url,
    batches,
    headers_of,
    page_record,
    tag_batch,
    tag_options,
    wait_before,
)
from batag.pages.page import Page, Tag
from batag.pages.record import check_many

_UNREACHED = "Check the address, and that `batag serve` runs there"


class Client:
    """A client of one service. A request that finds the service full, stopping or unreachable is tried again up to `retries`
    times, after the seconds that the service asks for."""

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        timeout: float = 60.0,
        retries: int = 8,
        concurrency: int = 4,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url, self._retries, self._concurrency = base_url(url), retries, concurrency
        self._limits: Limits | None = None
        self._http = httpx.Client(timeout=timeout, headers=headers_of(key), transport=transport)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def tag(self, page: Pages, **options: Any) -> list[Tag]:
        """The tags of a page; options are those of a request, as in docs/serving.md."""
        asked = {"page": page_record(page)} | tag_options(options)
        return list(to_tagged(self._ask("POST", "/v1/tag", asked)["pages"][0]).tags)

    def tag_many(self, pages: Iterable[Pages], **options: Any) -> Iterator[Tagged]:
        """Tag any number of pages in order, in large requests of which some are under way at once; `pages` is read as they go.
        A page that cannot be tagged has `error`, and the others go on."""
        check_many(pages)
        chosen, limits = tag_options(options), self.limits()
        with ThreadPoolExecutor(self._concurrency) as threads:
            waiting: deque[Future[list[Tagged]]] = deque()
            try:
                for group in batches(pages, limits):
                    waiting.append(threads.submit(self._tag_batch, group, chosen))
                    if len(waiting) >= 2 * self._concurrency:
                        yield from waiting.popleft().result()
                while waiting:
                    yield from waiting.popleft().result()
            finally:
                for each in waiting:
                    each.cancel()

    def tag_file(self, path: Path | str, *, columns: dict[str, str] | None = None, **options: Any) -> Iterator[Page]:
        """Yield the pages of a file of any format, tagged; the file is read as the service answers. A page that could not be
        tagged has the reason in `extra["error"]`."""
        from batag.pages.problems import Problems
        from batag.segmentation.majority import read_with_language

        found = read_with_language(path, columns=columns, problems=Problems())
        yield from self.tag_pages(found, **options)

    def tag_pages(self, pages: Iterable[Page], **options: Any) -> Iterator[Page]:
        """Yield the pages with their tags."""
        kept: deque[Page] = deque()

        def passing() -> Iterator[Page]:
            for page in pages:
                kept.append(page)
                yield page

        for tagged in self.tag_many(passing(), **options):
            page = kept.popleft()
            extra = {**page.extra, "error": tagged.error}
            language = tagged.language or page.language
            yield replace(page, tags=tagged.tags, labelled=True, reviewed=False, language=language, extra=extra)

    def explain(self, page: Pages, tag: Tag) -> dict[str, Any]:
        """Which words moved a tag's score."""
        place = {"field": tag.field, "start": tag.start, "end": tag.end, "label": tag.label}
        return self._ask("POST", "/v1/explain", {"page": page_record(page), "tag": place})

    def keywords(self, page: Pages, *, top: int = 10, method: str = "auto") -> list[dict[str, Any]]:
        """The keywords of a page, best first."""
        found = self._ask("POST", "/v1/keywords", {"page": page_record(page), "top": top, "method": method})
        listed: list[dict[str, Any]] = found["pages"][0]["keywords"]
        return listed

    def explain_terms(self, texts: list[str], *, label: str | None = None, language: str | None = None) -> dict[str, Any]:
        """Canonical form, lexicon entry and category of texts."""
        return self._ask("POST", "/v1/terms/explain", {"texts": texts, "label": label, "language": language})

    def models(self) -> list[dict[str, Any]]:
        """What the service serves: bundle, labels, languages, metrics, limits."""
        found: list[dict[str, Any]] = self._ask("GET", "/v1/models")["models"]
        return found

    def limits(self) -> Limits:
        """What one request may have, asked once."""
        if self._limits is None:
            given = self.models()[0]["limits"]
            self._limits = Limits(given["pages"], given["body_bytes"])
        return self._limits

    def reload(self) -> dict[str, Any]:
        """Let the service load its bundle again; it is not asked twice."""
        return self._ask("POST", "/v1/models/reload", {}, retries=0)

    def is_ready(self) -> bool:
        """Whether an engine of the service has just tagged a page."""
        try:
            return bool(self._ask("GET", "/readyz", retries=0)["ready"])
        except ServiceError:
            return False

    def _tag_batch(self, group: list[bytes], options: dict[str, Any]) -> list[Tagged]:
        flow = tag_batch(group, options)
        body = next(flow)
        while True:
            try:
                body = flow.send(self._sent(body))
            except StopIteration as done:
                found: list[Tagged] = done.value
                return found

    def _sent(self, body: bytes) -> Sent:
        try:
            return 200, self._ask_bytes("POST", "/v1/tag", body)
        except ServiceError as error:
            return error.status, error

    def _ask(self, method: str, path: str, body: Any = None, *, retries: int | None = None) -> dict[str, Any]:
        return self._ask_bytes(method, path, None if body is None else orjson.dumps(body), retries=retries)

    def _ask_bytes(self, method: str, path: str, body: bytes | None, *, retries: int | None = None) -> dict[str, Any]:
        url, tries = self.url + path, (self._retries if retries is None else retries) + 1
        for attempt in range(1, tries + 1):
            asked_for = None
            try:
                answer = self._http.request(method, url, content=body)
                if answer.status_code not in AGAIN or attempt == tries:
                    return read_answer(answer.status_code, answer.content, url=url)
                asked_for = answer.headers.get("retry-after")
            except httpx.TransportError as error:
                if attempt == tries:
                    raise ServiceError(f"no answer ({error or type(error).__name__})", where=url, todo=_UNREACHED) from error
            time.sleep(wait_before(attempt, asked_for))
        raise AssertionError
