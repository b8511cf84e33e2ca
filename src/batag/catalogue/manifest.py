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
from batag.catalogue.place import Place
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
        self.place.write(_record(facts.number), json.dumps(asdict(facts), ensure_ascii=False).encode(errors="replace"))

    def _current(self) -> str | None:
        found = self.place.read(JOB)
        return None if found is None else json.loads(found).get("job")

    def finished(self) -> dict[int, PartFacts]:
        """The parts that have a record, and whose file is the one that was recorded."""
        found = {}
        there = set(self.place.names())
        for name in self.place.names(FOLDER):
            if name.startswith("part-"):
                facts = _facts(self.place.read(f"{FOLDER}/{name}"))
                if facts is not None and self.file_of(facts.number) in there:
                    found[facts.number] = facts
        return found

    def check(self, part: Part, facts: PartFacts) -> None:
        """Whether a part that is finished was made of what the input holds now."""
        if part.digest() != facts.input:
            where = f"{part.source}, rows {part.first} to {part.first + part.rows - 1}"
            raise InputError("has changed since the job began", where=where, todo="Say --restart to tag everything again")

    def done(self, facts: dict[str, Any]) -> None:
        self.place.write(DONE, json.dumps(facts, ensure_ascii=False, indent=1).encode())


def open_manifest(place: Place, facts: dict[str, Any], *, resumable: bool, options: Options, restart: bool) -> Manifest:
    """The manifest of a new job, or of the same one that was left; what differs is said, and nothing is mixed."""
    wanted = json.loads(json.dumps(facts))
    said = place.read(JOB)
    if said is not None and not restart:
        before = json.loads(said)
        changed = [name for name, value in wanted.items() if before.get(name) != value]
        if changed or not resumable:
            what = f"holds a job with other {', '.join(changed)}" if changed else "standard input cannot be read again"
            raise InputError(what, where=place.name, todo="Say --restart to begin anew, or name another folder")
        return Manifest(place, options, before["job"])
    if said is None and any(name.startswith("part-") for name in place.names()):
        todo = "Say --restart to replace them, or name another folder"
        raise InputError("holds parts of something else", where=place.name, todo=todo)
    manifest = Manifest(place, options, uuid.uuid4().hex)
    # The new job is known before the old parts go: an old worker that still writes finds that it is not its folder any more.
    place.write(JOB, json.dumps({"job": manifest.job} | wanted, ensure_ascii=False, indent=1).encode())
    for name in place.names(FOLDER):
        if f"{FOLDER}/{name}" not in (JOB, LOCK):
            place.remove(f"{FOLDER}/{name}")
    for name in place.names():
        if name.startswith("part-"):
            place.remove(name)
    return manifest


def bundle_hash(folder: Path) -> str:
    """What tells a bundle from another: its description has the hash of every file."""
    return hashlib.sha256((find_bundle(folder) / DESCRIPTION).read_bytes()).hexdigest()


def _record(number: int) -> str:
    return f"{FOLDER}/part-{number:06}.json"


def _facts(data: bytes | None) -> PartFacts | None:
    try:
        return None if data is None else PartFacts(**json.loads(data))
    except (ValueError, TypeError):
        return None
