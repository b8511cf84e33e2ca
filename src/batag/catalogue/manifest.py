"""What a job knows of itself, beside its parts: what it was begun with, and each part that is finished."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from batag.bundles.bundle import find_bundle
from batag.bundles.description import DESCRIPTION
from batag.catalogue.output import COMPRESSIONS, SUFFIXES
from batag.catalogue.part import Part
from batag.catalogue.place import LocalPlace, Place
from batag.catalogue.tagged import Options, PartFacts
from batag.errors import InputError

FOLDER = "_batag"
JOB, DONE, LOCK = f"{FOLDER}/job.json", f"{FOLDER}/done.json", f"{FOLDER}/lock"


@dataclass(frozen=True)
class Manifest:
    """The records of one job in one place."""

    place: Place
    options: Options
    job: str

    def file_of(self, number: int) -> str:
        """The name of a part's file."""
        return f"part-{number:06}{SUFFIXES[self.options.format]}{COMPRESSIONS[self.options.compression]}"

    def finish_part(self, data: bytes, facts: PartFacts) -> None:
        """Put a part where it belongs, then say so: a part without its record is made again."""
        if self._current() != self.job:
            raise InputError("another job has begun here", where=self.place.name, todo="Give each job a folder of its own")
        self.place.write(self.file_of(facts.number), data)
        self.place.write(_record(facts.number), json.dumps({"job": self.job} | asdict(facts)).encode())

    def _current(self) -> str | None:
        found = self.place.read(JOB)
        return None if found is None else _said(found, self.place).get("job")

    def finished(self) -> dict[int, PartFacts]:
        """The parts that have a record of this job, and a file of the size that was recorded."""
        found = {}
        there = self.place.sizes()
        for name in self.place.sizes(FOLDER):
            if name.startswith("part-"):
                facts = _facts(self.place.read(f"{FOLDER}/{name}"), self.job)
                if facts is not None and there.get(self.file_of(facts.number)) == facts.bytes:
                    found[facts.number] = facts
        return found

    def check(self, part: Part, facts: PartFacts) -> None:
        """Whether a part that is finished was made of what the input holds now."""
        if part.digest() != facts.input:
            where = f"{part.source}, rows {part.first} to {part.first + part.rows - 1}"
            raise InputError("has changed since the job began", where=where, todo="Say --restart to tag everything again")

    def is_whole(self, facts: PartFacts) -> bool:
        """Whether a finished part is still what was written; of a store the size has to do."""
        if not isinstance(self.place, LocalPlace):
            return True
        data = self.place.read(self.file_of(facts.number))
        return data is not None and hashlib.sha256(data).hexdigest() == facts.sha256

    def done(self, facts: dict[str, Any], *, parts: int) -> None:
        """All parts are there: whatever else looks like one is of an older job that was cut off as it was replaced."""
        ours = {name for number in range(parts) for name in (self.file_of(number), _record(number))}
        for folder in ("", f"{FOLDER}/"):
            for name in self.place.sizes(folder.rstrip("/")):
                if name.startswith("part-") and f"{folder}{name}" not in ours:
                    self.place.remove(f"{folder}{name}")
        self.place.write(DONE, json.dumps(facts, indent=1).encode())


def open_manifest(
    place: Place, facts: dict[str, Any], *, resumable: bool, options: Options, restart: bool, ours: bool = False
) -> Manifest:
    """The manifest of a new job, or of the same one that was left; what differs is said, and nothing is mixed. A folder that is
    `ours` alone may hold what is left of anything."""
    wanted = json.loads(json.dumps(facts))
    said = place.read(JOB)
    if said is not None and not restart:
        before = _said(said, place)
        changed = [name for name, value in wanted.items() if before.get(name) != value]
        if changed or not resumable:
            what = f"holds a job with other {', '.join(changed)}" if changed else "standard input cannot be read again"
            raise InputError(what, where=place.name, todo="Say --restart to begin anew, or name another folder")
        return Manifest(place, options, before["job"])
    if said is None and not restart and not ours and any(name.startswith("part-") for name in place.sizes()):
        todo = "Say --restart to replace them, or name another folder"
        raise InputError("holds parts of something else", where=place.name, todo=todo)
    manifest = Manifest(place, options, uuid.uuid4().hex)
    # The new job is known before the old parts go: an old worker that still writes finds that it is not its folder any more.
    place.write(JOB, json.dumps({"job": manifest.job} | wanted, indent=1).encode())
    for name in place.sizes(FOLDER):
        if f"{FOLDER}/{name}" not in (JOB, LOCK):
            place.remove(f"{FOLDER}/{name}")
    for name in place.sizes():
        if name.startswith("part-"):
            place.remove(name)
    return manifest


def bundle_hash(folder: Path) -> str:
    """What tells a bundle from another: its description has the hash of every file."""
    return hashlib.sha256((find_bundle(folder) / DESCRIPTION).read_bytes()).hexdigest()


def _record(number: int) -> str:
    return f"{FOLDER}/part-{number:06}.json"


def _said(data: bytes, place: Place) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(data)
        return found | {"job": found["job"]}
    except (ValueError, TypeError, KeyError) as error:
        raise InputError("is damaged", where=f"{place.name}/{JOB}", todo="Say --restart to begin anew") from error


def _facts(data: bytes | None, job: str) -> PartFacts | None:
    """What a record says, if it is whole and of this job."""
    try:
        found = json.loads(data or b"{}")
        return PartFacts(**found) if found.pop("job") == job else None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
