"""Join the parts of a job into one file. Until then the parts are kept in a hidden folder beside it."""

import os
from pathlib import Path
from typing import Any

from batag.catalogue.manifest import JOB, Manifest, remove_job
from batag.catalogue.place import FOLDER, LocalPlace, is_remote, local
from batag.errors import InputError, UsageError
from batag.pages.file import open_output, sync_folder
from batag.pages.formats.writing import join_parts


class OneFile:
    """An output file that is joined from parts, which are kept in a hidden folder beside it until the file is complete."""

    def __init__(self, out: str) -> None:
        if is_remote(out):
            raise UsageError("a single output file must be on this machine", todo="Name a folder")
        self.out = out
        self.path = Path(local(out)).resolve()
        if self.path.is_dir():
            raise InputError("is a folder", where=out, todo="Name a file")
        if not self.path.parent.is_dir():
            raise InputError("cannot be written (No such file or directory)", where=out, todo="Check the folder")
        self.folder = self.path.with_name(f".{self.path.name}.parts")
        self._made = self.folder / FOLDER / f"whole-{self.path.name}"

    def check_free(self, *, restart: bool) -> None:
        """Raise an error if the output would replace an existing file that does not belong to a job, unless `restart`."""
        if self.path.exists() and not restart and not (self.folder / JOB).is_file():
            raise self._taken()

    def check_ours(self, manifest: Manifest) -> None:
        """Raise an error if a file with the name of the output has appeared since the job began and is not its result."""
        if self.path.exists() and not manifest.replaces and not self._in_place(manifest):
            raise self._taken()

    def finished_totals(self, manifest: Manifest) -> dict[str, Any] | None:
        """Return the totals of a job whose file is complete but whose parts were not removed yet, else None."""
        return manifest.done_report() if self._in_place(manifest) else None

    def put_in_place(self, manifest: Manifest, *, parts: int, report: dict[str, Any]) -> None:
        """Join the parts, record that the job is finished, and only then rename the file. After a crash a foreign file of that
        name can thus be told from the result."""
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
        """Remove the parts and their records."""
        self._made.unlink(missing_ok=True)
        remove_job(LocalPlace(self.folder), folder=True)

    def _in_place(self, manifest: Manifest) -> bool:
        return self.path.exists() and not self._made.exists() and manifest.done_report() is not None

    def _taken(self) -> InputError:
        return InputError("is there already", where=self.out, todo="Use --restart to replace it, or name another file")
