"""The records of a job beside its parts: the conditions that it began with, and one record per finished part."""

import hashlib
import json
import re
import uuid
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from batag.bundles.bundle import find_bundle
from batag.bundles.description import DESCRIPTION
from batag.catalogue.output import COMPRESSIONS, SUFFIXES
from batag.catalogue.part import Part
from batag.catalogue.place import FOLDER, LocalPlace, Place
from batag.catalogue.tagged import Options, PartReport
from batag.errors import InputError

JOB, DONE, LOCK = f"{FOLDER}/job.json", f"{FOLDER}/done.json", f"{FOLDER}/lock"
_RECORD = re.compile(r"part-(\d{6,})\.json")
_SEAL = "check"
_HASHED = ("bundle", "stop words")
_MOST_SHOWN = 3


@dataclass(frozen=True)
class Manifest:
    """The records of one job. Only files that a record names are replaced or removed; with `replaces`, the result may also
    replace an older file."""

    place: Place
    options: Options
    job: str
    replaces: bool = False

    def file_of(self, number: int) -> str:
        """The file name of a part."""
        return f"part-{number:06}{self.options.suffix}"

    def finish_part(self, data: bytes, report: PartReport) -> None:
        """Write the record of a part, then move its file into place. A part whose file does not match its record is tagged
        again."""
        if self._current() != self.job:
            raise InputError("another job has started here", where=self.place.name, todo="Use a separate folder for each job")
        name, record = self.file_of(report.number), _record(report.number)
        if self.place.holds(name) and not self.place.holds(record):
            raise _foreign(name, self.place)
        self.place.write(record, _sealed({"job": self.job, "file": name} | asdict(report)))
        self.place.write(name, data)

    def _current(self) -> str | None:
        found = self.place.read(JOB)
        return None if found is None else str(_job_in(found, self.place)["job"])

    def finished(self) -> dict[int, PartReport]:
        """Return the reports of finished parts: those with a record of this job and a file of the recorded size."""
        found = {}
        there = self.place.sizes()
        for number in _recorded(self.place):
            report = _report(self.place.read(_record(number)), self.job, number)
            if report is not None and there.get(self.file_of(number)) == report.bytes:
                found[number] = report
        return found

    def check(self, part: Part, report: PartReport) -> None:
        """Raise an error if the input of a finished part has changed."""
        if part.digest() != report.input or part.rows != report.rows:
            todo = "Use --restart to tag everything again"
            raise InputError("has changed since the job began", where=part.where, todo=todo)

    def is_whole(self, report: PartReport) -> bool:
        """Whether the file of a finished part is unchanged: by its checksum or, in a remote store, by its size."""
        if not isinstance(self.place, LocalPlace):
            return True
        data = self.place.read(self.file_of(report.number))
        return data is not None and hashlib.sha256(data).hexdigest() == report.sha256

    def check_names(self) -> None:
        """Raise an error if the folder has a file named like a part that no job recorded."""
        known = {self.file_of(number) for number in _recorded(self.place)}
        looks = re.compile(rf"part-\d{{6,}}{re.escape(self.options.suffix)}")
        for name in self.place.sizes():
            if looks.fullmatch(name) and name not in known:
                raise _foreign(name, self.place)

    def forget_others(self) -> None:
        """Remove the parts of other jobs and those with unreadable records."""
        for number in _recorded(self.place):
            if _report(data := self.place.read(_record(number)), self.job, number) is None:
                self.place.remove(_file_in(data, number) or self.file_of(number))
                self.place.remove(_record(number))
        if self.done_report() is None:
            self.place.remove(DONE)

    def done(self, report: dict[str, Any]) -> None:
        """Record that all parts are finished, with the totals."""
        self.forget_others()
        self.place.write(DONE, _sealed({"job": self.job} | report))

    def done_report(self) -> dict[str, Any] | None:
        """The totals of the job if all its parts are finished, else None."""
        found = _unsealed(self.place.read(DONE))
        return found if found is not None and found.get("job") == self.job else None


def open_manifest(
    place: Place, conditions: dict[str, Any], *, resumable: bool, options: Options, restart: bool, replaces: bool = False
) -> Manifest:
    """Open the manifest of a new job, or of the same job that was interrupted. A job with other conditions is an error that
    names the differences."""
    wanted = json.loads(json.dumps(conditions))
    found = place.read(JOB)
    if found is not None and not restart:
        before = _job_in(found, place)
        changed = [_change(name, before.get(name), value) for name, value in wanted.items() if before.get(name) != value]
        if changed or not resumable:
            what = f"contains a job with different {', '.join(changed)}" if changed else "standard input cannot be read again"
            raise InputError(what, where=place.name, todo="Use --restart to start again, or name another folder")
        manifest = Manifest(place, options, before["job"], before.get("replaces") is True)
        manifest.check_names()
    else:
        manifest = Manifest(place, options, uuid.uuid4().hex, replaces)
        manifest.check_names()
        # The new job is known before the old parts go: an old worker that still writes finds that the folder is not its own.
        place.write(JOB, json.dumps({"job": manifest.job, "replaces": replaces} | wanted, indent=1).encode())
    manifest.forget_others()
    return manifest


def _change(name: str, old: Any, new: Any) -> str:
    """Describe a difference by its old and new value, or only by its name where the values are hashes."""
    if name in _HASHED:
        return name
    if name == "inputs":
        # What was written before may have been changed by anybody.
        there = [each for each in old if isinstance(each, dict)] if isinstance(old, list) else []
        old, new = ({str(each.get("name")): each.get("bytes") for each in files} for files in (there, new))
    if not isinstance(old, dict) or not isinstance(new, dict):
        return f"{name} ({old} before, {new} now)"
    changes = [
        f"{key}: {_value(old, key)} before, {_value(new, key)} now"
        for key in {**old, **new}
        if old.get(key, ...) != new.get(key, ...)
    ]
    more = f"; and {len(changes) - _MOST_SHOWN:,} more" if len(changes) > _MOST_SHOWN else ""
    return f"{name} ({'; '.join(changes[:_MOST_SHOWN])}{more})"


def _value(values: dict[str, Any], key: str) -> str:
    if key not in values:
        return "not there"
    return "nothing" if values[key] in (None, "", [], {}) else json.dumps(values[key], ensure_ascii=False)


def remove_job(place: LocalPlace, *, folder: bool) -> None:
    """Remove the recorded parts and the records of jobs and, with `folder`, the folder if it is empty then."""
    for number in _recorded(place):
        record = _record(number)
        if (name := _file_in(place.read(record), number)) is not None:
            place.remove(name)
        place.remove(record)
    # The job itself last: what is cut off here is gone on with.
    for name in (DONE, JOB, LOCK):
        place.remove(name)
    for path in (place.path / FOLDER, *([place.path] if folder else [])):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def has_parts(place: Place) -> bool:
    """Whether a part is recorded here."""
    return bool(_recorded(place))


def bundle_hash(folder: Path) -> str:
    """Return a hash that identifies a bundle; its description contains the hash of every file."""
    return hashlib.sha256((find_bundle(folder) / DESCRIPTION).read_bytes()).hexdigest()


def _foreign(name: str, place: Place) -> InputError:
    what = f"contains a file with the name of a part ({name}), which no job here has written"
    return InputError(what, where=place.name, todo="Move it away, or name another folder")


def _record(number: int) -> str:
    return f"{FOLDER}/part-{number:06}.json"


def _recorded(place: Place) -> list[int]:
    """The numbers of the parts with a record."""
    found = map(_RECORD.fullmatch, place.sizes(FOLDER))
    return sorted(int(each[1]) for each in found if each and each[0] == f"part-{int(each[1]):06}.json")


def _file_in(data: bytes | None, number: int) -> str | None:
    """The file name in a record, or None unless it is that of a part with this number."""
    name = (_unsealed(data) or {}).get("file")
    ends = {f"{suffix}{packed}" for suffix in SUFFIXES.values() for packed in COMPRESSIONS.values()}
    return name if isinstance(name, str) and name in {f"part-{number:06}{each}" for each in ends} else None


def _sealed(record: dict[str, Any]) -> bytes:
    """Serialise a record together with its checksum."""
    return json.dumps(record | {_SEAL: _digest(record)}).encode()


def _unsealed(data: bytes | None) -> dict[str, Any] | None:
    """Parse a record; None if its checksum does not match."""
    try:
        found = json.loads(data or b"null")
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.pop(_SEAL, None) != _digest(found):
        return None
    return found


def _digest(record: dict[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(record, sort_keys=True).encode(), digest_size=16).hexdigest()


def _job_in(data: bytes, place: Place) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("job"), str):
        raise InputError("is damaged", where=f"{place.name}/{JOB}", todo="Use --restart to start again")
    return found


def _report(data: bytes | None, job: str, number: int) -> PartReport | None:
    """The report in a record, or None unless it is undamaged and of this job and part."""
    found = _unsealed(data)
    if found is None or found.pop("job", None) != job or found.pop("file", None) is None:
        return None
    try:
        report: PartReport = _kinds().validate_json(json.dumps(found), strict=True)
    except ValueError:
        return None
    return report if report.number == number else None


@cache
def _kinds() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(PartReport)
