"""Convert records (JSON objects, rows of tables) to pages and back; problems are listed."""

import json
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

import orjson

from batag.errors import UsageError
from batag.pages.fields import KNOWN_KEYS, MAIN_FIELD, STANDARD_FIELDS, columns_in, meant_columns, renamed
from batag.pages.given import join_tokens, place_tokens
from batag.pages.languages import known_language
from batag.pages.layout import KEY, layout_of
from batag.pages.page import Offsets, Page, without_surrogates
from batag.pages.problems import Note, Problems
from batag.pages.tags import kind_of, read_tags, tag_record
from batag.settings import settings

_REMEMBERED = 100


class RecordReader:
    """Converts the records of one input to pages. Without `tags`, as before tagging, the tags of records are ignored."""

    def __init__(
        self,
        *,
        problems: Problems,
        stem: str,
        columns: Mapping[str, str] | None = None,
        language: str | None = None,
        tags: bool = True,
        hint: str = f"map one with --columns {MAIN_FIELD}=NAME",
    ) -> None:
        self.problems, self.stem, self.language, self.tags = problems, stem, language, tags
        self.columns = dict(columns or {})
        self._languages: dict[str, str] = {}
        self.hint = "" if self.columns else hint

    def page(
        self, record: Mapping[str, Any], *, where: str, number: int, columns: Mapping[str, str] | None = None
    ) -> Page | None:
        """The page of a record, or None if it had to be skipped; `columns` overrides the reader's own mapping."""
        keys = record.keys()
        columns = self.columns if columns is None else columns
        if (layout := layout_of(record)) is not None:
            record = {key: value for key, value in record.items() if key != KEY}
            columns = columns_in(record, columns=columns, usual=layout.columns_of(record))
        if columns:
            record = renamed(record, columns)
        page_id = record.get("id")
        page_id = f"{self.stem}-{number}" if page_id is None or page_id == "" else without_surrogates(str(page_id))
        note = self.problems.at(where, page_id)
        fields = self._fields(record, [*STANDARD_FIELDS, *(name for name in columns if name not in KNOWN_KEYS)], note)
        if fields is None:
            return None
        tokens = _tokens(record["tokens"], fields, note) if record.get("tokens") is not None else None
        if not any(map(str.strip, fields.values())):
            found = ", ".join(map(str, keys)) or "nothing"
            meant = meant_columns(self.columns, map(str, keys)).removesuffix(".") or self.hint
            note("empty-page", f"no text in any field; the record has {found[:100]}" + (f" ({meant})" if meant else ""))
            return None
        if (excess := _excess(fields)) is not None:
            note("too-long", f"the page has more than {excess}")
            return None
        extra: dict[str, Any] = {}
        if not KNOWN_KEYS.issuperset(record):
            extra = {key: value for key, value in record.items() if key not in KNOWN_KEYS and key not in fields}
        tags = reviewed = None
        if self.tags:
            tags, reviewed = read_tags(record, fields, columns, extra, note)
        else:
            extra.pop("error", None)
            if record.get("labels") is not None:
                extra["labels"] = record["labels"]
        language = self._language(record.get("language"), note)
        if language is None and record.get("language"):
            extra["language"] = record["language"]
        shop = record.get("shop")
        page = Page(
            id=page_id,
            fields=fields,
            language=language,
            shop=None if shop is None or shop == "" else without_surrogates(str(shop)),
            tags=tags or (),
            labelled=tags is not None,
            tokens=tokens,
            extra=extra,
            where=where,
            reviewed=reviewed,
        )
        return page.reviewed_by_person() if reviewed else page

    def _fields(self, record: Mapping[str, Any], names: Sequence[str], note: Note) -> dict[str, str] | None:
        values = {name: value for name in names if (value := record.get(name)) is not None}
        if (given := record.get("fields")) is not None:
            if not isinstance(given, Mapping):
                note("bad-field", "`fields` is not an object of texts")
                return None
            values = {name: value for name, value in values.items() if name not in given} | dict(given)
        fields: dict[str, str] = {}
        for name, value in values.items():
            if isinstance(value, str):
                fields[name] = value
            elif isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300:
                fields[name] = str(value)
                note("number-as-text", f"{name} is the number {value}")
            elif value is not None:
                note("bad-field", f"{name} is {kind_of(value)}, not text")
                return None
        if not fields and isinstance(tokens := record.get("tokens"), list) and all(isinstance(token, str) for token in tokens):
            # A page of tokens alone: its text is the tokens joined.
            language = self.language or known_language(str(record.get("language") or ""))
            fields[MAIN_FIELD], _ = join_tokens(tokens, language=language)
        return fields

    def _language(self, value: Any, note: Note) -> str | None:
        if self.language is not None or value is None or value == "":
            return self.language
        name = str(value)
        if (language := self._languages.get(name)) is not None:
            return language
        if (language := known_language(name)) is None:
            note("unknown-language", f"language {value!r} is unknown")
        elif len(self._languages) < _REMEMBERED:
            self._languages[name] = language
        return language


def not_a_page(given: Any) -> str:
    """What to say of something that is neither a page nor a dict."""
    return f"{type(given).__name__} is not a page: give a Page, or a dict with {' and/or '.join(STANDARD_FIELDS)}"


def check_many(pages: Any) -> None:
    """Raise an error for one page or text where many pages are expected: its letters or keys are no pages."""
    if isinstance(pages, (str, bytes, Mapping, Page)) or not isinstance(pages, Iterable):
        todo = 'Give a list, as in [{"title": "..."}]; `tag` takes one page'
        raise UsageError(f"{type(pages).__name__} is not a list of pages", todo=todo)


def _excess(fields: Mapping[str, str]) -> str | None:
    """The limit that a page exceeds, in words, or None."""
    if len(fields) > settings.max_page_fields:
        return f"{settings.max_page_fields:,} fields (BATAG_MAX_PAGE_FIELDS changes the limit)"
    return too_many_characters(sum(map(len, fields.values())))


def too_many_characters(number: int) -> str | None:
    """The limit that this number of characters exceeds, in words, or None."""
    if number <= settings.max_page_characters:
        return None
    return f"{settings.max_page_characters:,} characters (BATAG_MAX_PAGE_CHARACTERS changes the limit)"


def _tokens(value: Any, fields: Mapping[str, str], note: Note) -> dict[str, tuple[Offsets, ...]] | None:
    by_field = value if isinstance(value, Mapping) else {next(iter(fields), ""): value}
    placed: dict[str, tuple[Offsets, ...]] = {}
    for name, tokens in by_field.items():
        offsets = place_tokens(fields[name], tokens) if name in fields and isinstance(tokens, list) else None
        if offsets is None:
            note("split-token", f"the tokens of {name!r} do not match its text")
        else:
            placed[name] = offsets
    return placed or None


def to_record(page: Page) -> dict[str, Any]:
    """The page as the JSON object of docs/formats.md."""
    record: dict[str, Any] = {"id": page.id}
    if page.language is not None:
        record["language"] = page.language
    if page.shop is not None:
        record["shop"] = page.shop
    record |= own_fields(page)
    if page.tokens is not None:
        record["tokens"] = {name: [list(token) for token in tokens] for name, tokens in page.tokens.items()}
    if page.labelled:
        record["tags"] = [tag_record(tag) for tag in page.tags]
        if not page.reviewed:
            record["reviewed"] = False
    return record | {key: value for key, value in page.extra.items() if key not in record}


def dump(value: Any) -> bytes:
    """Serialise anything that a page can contain as JSON; values without a JSON type become text."""
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, RecursionError):
        return json.dumps(plain(value), ensure_ascii=False).encode()


def plain(value: Any) -> Any:
    """The value in JSON's types, without lone surrogates."""
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, Mapping):
        return {without_surrogates(str(key)): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def own_fields(page: Page) -> dict[str, Any]:
    """Title and description by name; any other set of fields under `fields`."""
    standard = [name for name in STANDARD_FIELDS if name in page.fields]
    return dict(page.fields) if list(page.fields) == standard else {"fields": dict(page.fields)}
