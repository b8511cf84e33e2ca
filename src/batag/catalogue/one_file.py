"""The parts of a job as one file: where they lie until then, and whether the file may get its name."""

import os
from pathlib import Path
from typing import Any

from batag.catalogue.manifest import JOB, Manifest, remove_job
from batag.catalogue.place import FOLDER, LocalPlace, is_remote, local
from batag.errors import InputError, UsageError
from batag.pages.file import open_output, sync_folder
from batag.pages.formats.writing import join_parts


class OneFile:
    """A file to be made of parts, which lie in a hidden folder beside it until it is there."""

    def __init__(self, out: str) -> None:
        if is_remote(out):
            raise UsageError("one file can be written on this machine only", todo="Name a folder")
        self.out = out
        self.path = Path(local(out)).resolve()
        if self.path.is_dir():
            raise InputError("is a folder", where=out, todo="Name a file")
        if not self.path.parent.is_dir():
            raise InputError("cannot be written (No such file or directory)", where=out, todo="Check the folder")
        self.folder = self.path.with_name(f".{self.path.name}.parts")
        self._made = self.folder / FOLDER / f"whole-{self.path.name}"

    def check_free(self, *, restart: bool) -> None:
        """Refuse, before anything is made, what would take the place of a file that no job is at."""
        if self.path.exists() and not restart and not (self.folder / JOB).is_file():
            raise self._taken()

    def check_ours(self, manifest: Manifest) -> None:
        """Refuse a file that has come since the job began and is not what it made."""
        if self.path.exists() and not manifest.replaces and not self._in_place(manifest):
            raise self._taken()

    def before(self, manifest: Manifest) -> dict[str, Any] | None:
        """The totals of the job if the file is in place and only its parts were not taken away yet."""
        return manifest.done_report() if self._in_place(manifest) else None

    def put_in_place(self, manifest: Manifest, *, parts: int, report: dict[str, Any]) -> None:
        """Join the parts, say that it is done, and only then give the file its name: whatever cuts this off, a file of that
        name that is not ours can be recognised."""
        place = manifest.place
        with open_output(self._made) as stream:
            names = [manifest.file_of(number) for number in range(parts)]
            join_parts((place.read(name) or b"" for name in names), stream, format=manifest.options.format)
        manifest.done(report)
        if self.path.exists() and not manifest.replaces:
            raise self._taken()
        os.replace(self._made, self.path)
        sync_folder(self.path.parent)
        self.remove()

    def remove(self) -> None:
        """Take away the parts and their records."""
        self._made.unlink(missing_ok=True)
        remove_job(LocalPlace(self.folder), folder=True)

    def _in_place(self, manifest: Manifest) -> bool:
        return self.path.exists() and not self._made.exists() and manifest.done_report() is not None

    def _taken(self) -> InputError:
        return InputError("is there already", where=self.out, todo="Say --restart to replace it, or name another file")
