"""All limits in one table; each can be changed with an environment variable `BATAG_<NAME>`."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields

from batag.errors import UsageError


def _limit(default: int, meaning: str) -> int:
    return field(default=default, metadata={"help": meaning})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The limits in force; `docs/settings.md` has the same table (a test compares them)."""

    max_page_characters: int = _limit(1_000_000, "a longer page is an error; pages are never truncated")
    max_page_fields: int = _limit(200, "a page with more fields is an error")
    max_record_bytes: int = _limit(8_000_000, "a longer line or record is skipped and listed, without loading it into memory")
    segment_chunk_characters: int = _limit(8_000, "longer text is segmented in chunks of at most this many characters")
    remembered_ids: int = _limit(5_000_000, "ids remembered to find duplicates; past that the check stops with a note")
    remembered_problems: int = _limit(
        1_000, "problems kept in memory; past that they are only counted (a file named for them gets all)"
    )
    part_pages: int = _limit(10_000, "pages of one part of a catalogue job")
    part_bytes: int = _limit(33_554_432, "bytes of input after which a part ends even with fewer pages")
    start_values: int = _limit(200_000, "different values of a brand or category column that `batag start` counts")
    max_terms_bytes: int = _limit(20_000_000, "a larger file of synonyms or categories is an error")
    shown_problems: int = _limit(10, "problems that a command prints")
    sniff_bytes: int = _limit(262_144, "how many bytes of a file are examined to detect its format, encoding and language")
    threads: int = _limit(
        1,
        "CPU threads of `tag`, `evaluate`, `batag.load` and the comparison in `export`; with matrices this small more are "
        "seldom faster",
    )
    rare_class_tags: int = _limit(50, "a class with fewer tags than this is called rare")
    backbone_cache_bytes: int = _limit(1_000_000_000, "size of the cache of a backbone's hidden states, in bytes")
    keyword_entries: int = _limit(
        1_000_000, "words and phrases that the statistics of keywords count; past that the rarest are dropped"
    )
    few_dev_pages: int = _limit(30, "with fewer dev pages, `train` warns that the choice of the best epoch is mostly chance")
    sheet_rows: int = _limit(1_048_576, "rows of a workbook of `batag start` with its header; further ones go into a next file")
    rare_dev_tags: int = _limit(10, "a class with fewer tags in the dev pages than this cannot be measured")
    serve_body_bytes: int = _limit(2_000_000, "a request to the service with a longer body is refused before it is read (413)")
    serve_pages: int = _limit(32, "pages of one request to the service")
    serve_page_characters: int = _limit(100_000, "characters of a page in a request to the service")
    serve_texts: int = _limit(32, "texts of one request to `/v1/terms/explain`, of 1,000 characters each")
    serve_header_bytes: int = _limit(16_384, "bytes of a request's headers (431); at least 8,192")
    serve_header_seconds: int = _limit(10, "seconds in which a request's headers have to arrive, or the connection is closed")
    serve_body_seconds: int = _limit(10, "seconds in which a request's body has to arrive (408)")
    serve_seconds: int = _limit(30, "seconds after which a request has an answer, if only that it took too long (504)")
    serve_grace_seconds: int = _limit(20, "seconds in which a service that is told to stop finishes what it has accepted")
    serve_connections: int = _limit(1_024, "connections that the service keeps open at once; more wait in the system's queue")
    serve_queue_tokens: int = _limit(8_192, "tokens that may wait for an engine of the service; more are refused (503)")
    serve_batch_tokens: int = _limit(2_048, "tokens that an engine of the service takes at once")
    serve_cache_tokens: int = _limit(100_000, "tokens of pages whose probabilities an engine of the service remembers")
    serve_explain_tokens: int = _limit(64, "tokens that `/v1/explain` replaces in turn, the nearest to the tag")
    serve_key_requests: int = _limit(
        6_000, "requests a minute of one key of the service, unless the key has its own rate (429)"
    )
    serve_session_seconds: int = _limit(43_200, "seconds after which a browser's session ends")

    @classmethod
    def from_environment(cls) -> Settings:
        """The defaults, changed by environment variables."""
        moved: dict[str, int] = {}
        for limit in fields(cls):
            name = f"BATAG_{limit.name.upper()}"
            if (value := os.environ.get(name)) is not None:
                if not value.isdecimal() or int(value) < 1:
                    raise UsageError(f"{value!r} is not a whole number above 0", where=name, todo="Unset it or give a number")
                moved[limit.name] = int(value)
        return cls(**moved)


settings = Settings.from_environment()
