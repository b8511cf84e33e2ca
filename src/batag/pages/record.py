"""A record (a JSON object, a row of a table) becomes a page, and a page a record again; what is wrong is listed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import orjson

from batag.pages.check import check_tag, settle
from batag.pages.corrections import beside, has_no_place
from batag.pages.given import join_tokens, place_tokens
from batag.pages.languages import known_language
from batag.pages.layout import KEY, layout_of
from batag.pages.mapping import KNOWN_KEYS, STANDARD_FIELDS, meant_columns, renamed
from batag.pages.mentions import find_labels, label_pairs
from batag.pages.page import MODEL, PERSON, SOURCES, Offsets, Page, Tag, without_surrogates
from batag.pages.problems import Problems
from batag.settings import settings

_YES, _NO = (True, "true", "1", "yes", "y", "是", "はい", "✓", "✔"), (False, "false", "0", "no", "n", "否", "いいえ")


class RecordReader:
    """Turns the records of one input into pages."""

    def __init__(
        self,
        *,
        problems: Problems,
        stem: str,
        columns: Mapping[str, str] | None = None,
        language: str | None = None,
        hint: str = "map one with --columns title=NAME",
    ) -> None:
        self.problems, self.stem, self.language = problems, stem, language
        self.columns = dict(columns or {})
        self.hint = "" if self.columns else hint

    def page(self, record: Mapping[str, Any], *, where: str, number: int) -> Page | None:
        """The page of a record, or None if it had to be skipped."""
        there = record.keys()
        columns = self.columns
        if (layout := layout_of(record)) is not None:
            record = {key: value for key, value in record.items() if key != KEY}
            columns = columns or {name: layout.column_of(name, record) for name in layout.columns}
        if columns:
            record = renamed(record, columns)
        page_id = record.get("id")
        page_id = f"{self.stem}-{number}" if page_id is None or page_id == "" else without_surrogates(str(page_id))
        fields = self._fields(record, [*STANDARD_FIELDS, *(name for name in columns if name not in KNOWN_KEYS)], where, page_id)
        if fields is None:
            return None
        tokens = self._tokens(record["tokens"], fields, where, page_id) if record.get("tokens") is not None else None
        if not any(map(str.strip, fields.values())):
            keys = ", ".join(map(str, there)) or "nothing"
            meant = meant_columns(self.columns, map(str, there)).removesuffix(".") or self.hint
            reason = f"no text in any field; the record has {keys[:100]}" + (f" ({meant})" if meant else "")
            self.problems.add("empty-page", where, reason, page=page_id)
            return None
        if len(fields) > settings.max_page_fields:
            limit = f"{settings.max_page_fields:,} fields (BATAG_MAX_PAGE_FIELDS moves the limit)"
            self.problems.add("too-long", where, f"the page has more than {limit}", page=page_id)
            return None
        if sum(map(len, fields.values())) > settings.max_page_characters:
            limit = f"{settings.max_page_characters:,} characters (BATAG_MAX_PAGE_CHARACTERS moves the limit)"
            reason = f"the page has more than {limit}"
            self.problems.add("too-long", where, reason, page=page_id)
            return None
        used = "tags" if record.get("tags") is not None else "labels"
        given = record.get(used)
        tags = None if given is None else self._tags(given, fields, columns, where, page_id)
        language = self._language(record.get("language"), where, page_id)
        extra: dict[str, Any] = {}
        if not KNOWN_KEYS.issuperset(record):
            extra = {key: value for key, value in record.items() if key not in KNOWN_KEYS and key not in fields}
        # What could not be used is kept as it came.
        if given is not None and tags is None:
            extra[used] = given
        if used == "tags" and record.get("labels") is not None:
            extra["labels"] = record["labels"]
        said = record.get("reviewed")
        reviewed = None if tags is None else yes_or_no(said)
        if reviewed is None and said is not None and said != "":
            extra["reviewed"] = said
            if tags is not None:
                reason = f"reviewed says {str(said)[:40]!r}, which is neither true nor false"
                self.problems.add("unknown-reviewed", where, reason, page=page_id)
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
        return page.seen() if reviewed else page

    def _fields(self, record: Mapping[str, Any], names: Sequence[str], where: str, page_id: str) -> dict[str, str] | None:
        values = {name: value for name in names if (value := record.get(name)) is not None}
        if (given := record.get("fields")) is not None:
            if not isinstance(given, Mapping):
                self.problems.add("bad-field", where, "`fields` is not an object of texts", page=page_id)
                return None
            values = {name: value for name, value in values.items() if name not in given} | dict(given)
        fields: dict[str, str] = {}
        for name, value in values.items():
            if isinstance(value, str):
                fields[name] = value
            elif isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300:
                fields[name] = str(value)
                self.problems.add("number-as-text", where, f"{name} is the number {value}", page=page_id)
            elif value is not None:
                self.problems.add("bad-field", where, f"{name} is {_kind(value)}, not text", page=page_id)
                return None
        if not fields and isinstance(tokens := record.get("tokens"), list) and all(isinstance(token, str) for token in tokens):
            # A page of tokens alone: its text is the tokens joined.
            language = self.language or known_language(str(record.get("language") or ""))
            fields["title"], _ = join_tokens(tokens, language=language)
        return fields

    def _tokens(self, value: Any, fields: Mapping[str, str], where: str, page_id: str) -> dict[str, tuple[Offsets, ...]] | None:
        by_field = value if isinstance(value, Mapping) else {next(iter(fields), ""): value}
        placed: dict[str, tuple[Offsets, ...]] = {}
        for name, tokens in by_field.items():
            offsets = place_tokens(fields[name], tokens) if name in fields and isinstance(tokens, list) else None
            if offsets is None:
                self.problems.add("split-token", where, f"the tokens of {name!r} do not follow its text", page=page_id)
            else:
                placed[name] = offsets
        return placed or None

    def _language(self, value: Any, where: str, page_id: str) -> str | None:
        if self.language is not None or value is None or value == "":
            return self.language
        if (language := known_language(str(value))) is None:
            self.problems.add("unknown-language", where, f"language {value!r} is not one of ours", page=page_id)
        return language

    def _tags(
        self, given: Any, fields: Mapping[str, str], columns: Mapping[str, str], where: str, page_id: str
    ) -> tuple[Tag, ...] | None:
        """The tags of a page; None if nothing of what was given can be used, so that the page does not count as labelled."""
        if (pairs := label_pairs(given)) is not None:
            return find_labels(pairs, fields, where=where, page_id=page_id, problems=self.problems)
        if not isinstance(given, list):
            said = f"{_kind(given)} ({str(given)[:40]!r})"
            reason = f"tags are {said}, not a list and not LABEL=TEXT; write them like brand=ACME;goods=shoes"
            self.problems.add("bad-tag", where, reason, page=page_id)
            return None
        theirs = {columns[name]: name for name in reversed(list(fields)) if name in columns}
        tags = []
        texts = [(item["label"], item["text"]) for item in given if has_no_place(item)]
        for item in given if not texts else [item for item in given if not has_no_place(item)]:
            if type(item) is not dict and isinstance(item, Sequence) and len(item) == 3:
                item = dict(zip(("start", "end", "label"), item, strict=True))
            tag = self._tag(item, fields, theirs, where, page_id)
            if tag is not None:
                tags.append(tag)
        if texts:
            people = find_labels(texts, fields, where=where, page_id=page_id, problems=self.problems) or ()
            tags = [*beside(tags, people, where=where, page_id=page_id, problems=self.problems), *people]
        if given and not tags:
            return None
        return settle(tags, fields, where=where, page_id=page_id, problems=self.problems)

    def _tag(self, item: Any, fields: Mapping[str, str], theirs: Mapping[str, str], where: str, page_id: str) -> Tag | None:
        if type(item) is not dict and not isinstance(item, Mapping):
            self.problems.add("bad-tag", where, f"a tag is {_kind(item)}, not an object", page=page_id)
            return None
        field = item.get("field", next(iter(fields)) if len(fields) == 1 else None)
        start, end, label, text = item.get("start"), item.get("end"), item.get("label"), item.get("text")
        if isinstance(field, str):
            # A tag names the column of the file, as it is spelt there, or our field.
            field = theirs.get(field, field)
            field = field if field in fields else field.strip().lower()
        texts = isinstance(label, str) and isinstance(field, str)
        if type(start) is not int or type(end) is not int or not texts or not label or field not in fields:
            reason = f"the tag {str(item)[:120]} lacks a whole start and end, a label or a field of the page"
            self.problems.add("bad-tag", where, reason, page=page_id)
            return None
        normal = item.get("normal")
        tag = Tag(
            field,
            start,
            end,
            label,
            "" if text is None else str(text),
            score_of(item.get("score")),
            normal if isinstance(normal, str) else None,
            self._source(item.get("source"), where, page_id),
        )
        return check_tag(tag, fields[field], where=where, page_id=page_id, problems=self.problems)

    def _source(self, given: Any, where: str, page_id: str) -> str:
        """Who set a tag: a person if it is not said, a model if nobody knows what is said."""
        if given is None or given == "" or given in SOURCES:
            return given or PERSON
        reason = f"the source {str(given)[:40]!r} of a tag is not one of {', '.join(SOURCES)}"
        self.problems.add("unknown-source", where, reason, page=page_id)
        return MODEL


def to_record(page: Page) -> dict[str, Any]:
    """The page as the labelled (or tagged) JSON object of docs/formats.md."""
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
    """JSON of anything that a page can hold; what JSON has no word for becomes text."""
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, RecursionError):
        return json.dumps(plain(value), ensure_ascii=False).encode()


def plain(value: Any) -> Any:
    """The value in JSON's own types, without lone surrogates."""
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


def tag_record(tag: Tag) -> dict[str, Any]:
    """A tag as JSON; text (it is checked when read again) and source always, score and normal form where there are any."""
    record: dict[str, Any] = {"field": tag.field, "start": tag.start, "end": tag.end, "label": tag.label, "text": tag.text}
    if tag.score is not None:
        record["score"] = tag.score
    if tag.normal is not None:
        record["normal"] = tag.normal
    return record | {"source": tag.source}


def score_of(value: Any) -> float | None:
    """The score that a file gives a tag, if it is a number."""
    return float(value) if isinstance(value, (int, float)) and type(value) is not bool and abs(value) < 1e300 else None


def yes_or_no(value: Any) -> bool | None:
    """What a file says with true or false, also in words or numbers; None for anything else."""
    said = value.strip().casefold() if isinstance(value, str) else value
    return True if said in _YES else False if said in _NO else None


def _kind(value: Any) -> str:
    """What a value is, in words."""
    names = {bool: "true or false", dict: "an object", list: "a list", str: "text", int: "a number", float: "a number"}
    return names.get(type(value), "nothing" if value is None else f"a {type(value).__name__}")
