"""Where a job reads and writes: a local folder, or any location that fsspec supports (s3://, gs://, memory://)."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from batag.errors import InputError, UsageError
from batag.pages.file import open_output

FOLDER = "_batag"
"""Folder of a job's records and temporary files."""
_LOCAL = "file://"


class LocalPlace:
    """A local folder; files are written atomically."""

    def __init__(self, path: Path) -> None:
        # Workers of a cluster have a folder of their own to start from.
        self.path, self.name = path.absolute(), str(path)

    def write(self, name: str, data: bytes) -> None:
        path = self.path / name
        for folder in (path.parent, self.path / FOLDER):
            folder.mkdir(parents=True, exist_ok=True)
        # What is left of it by a crash lies among our own things, where nobody else's is swept away with it.
        with open_output(path, plain=True, making=self.path / FOLDER) as stream:
            stream.write(data)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file, or None if it does not exist."""
        try:
            return (self.path / name).read_bytes()
        except FileNotFoundError:
            return None

    def sizes(self, folder: str = "") -> dict[str, int]:
        """Return the sizes of the files in it, sorted by name."""
        inside = self.path / folder
        there = sorted(path for path in inside.iterdir() if path.is_file()) if inside.is_dir() else []
        return {path.name: path.stat().st_size for path in there}

    def holds(self, name: str) -> bool:
        """Whether a file or folder of that name exists."""
        return os.path.lexists(self.path / name)

    def remove(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)


class RemotePlace:
    """A folder of a remote store, in which files appear only when they are complete."""

    def __init__(self, url: str) -> None:
        self.name = url
        self._files, self._root = filesystem(url)

    def write(self, name: str, data: bytes) -> None:
        path = f"{self._root}/{name}"
        with suppress(NotImplementedError):
            self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._files.pipe_file(path, data)

    def read(self, name: str) -> bytes | None:
        try:
            found: bytes = self._files.cat_file(f"{self._root}/{name}")
        except FileNotFoundError:
            return None
        return found

    def sizes(self, folder: str = "") -> dict[str, int]:
        try:
            listed = self._files.ls(f"{self._root}/{folder}".rstrip("/"), detail=True, refresh=True)
        except FileNotFoundError:
            return {}
        return dict(sorted((each["name"].rpartition("/")[2], each["size"]) for each in listed if each["type"] == "file"))

    def holds(self, name: str) -> bool:
        return bool(self._files.exists(f"{self._root}/{name}"))

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            self._files.rm_file(f"{self._root}/{name}")


Place = LocalPlace | RemotePlace


def is_remote(path: str) -> bool:
    """Whether a path is a URL such as s3://shop/pages."""
    return "://" in path[:20] and not path.startswith(_LOCAL)


def local(path: str) -> str:
    """A local path without a leading file:// scheme."""
    return path.removeprefix(_LOCAL)


def whole_name(path: str) -> str:
    """The canonical form of a path or URL, for comparisons."""
    return path.rstrip("/") if is_remote(path) else str(Path(local(path)).resolve())


def place_of(path: str) -> Place:
    """The local or remote folder at a path."""
    return RemotePlace(path) if is_remote(path) else LocalPlace(Path(local(path)))


def filesystem(url: str) -> tuple[Any, str]:
    """The fsspec file system of a URL, and the path in it."""
    import fsspec

    try:
        files, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        todo = "Install what fsspec needs for it, for example s3fs"
        raise UsageError(f"{url} cannot be reached ({error})", todo=todo) from error
    return files, path.rstrip("/")


def names_under(path: str) -> list[str] | None:
    """The files in a folder and its subfolders without hidden ones; None if it is not a folder."""
    if is_remote(path):
        files, root = filesystem(path)
        if not files.isdir(root):
            return None
        return [files.unstrip_protocol(name) for name in sorted(files.find(root)) if _shown(name[len(root) :])]
    folder = Path(path)
    if path == "-" or not folder.is_dir():
        return None
    try:
        inside = sorted(each for each in folder.rglob("*") if each.is_file())
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path, todo="Check its rights") from error
    return [str(each) for each in inside if _shown(str(each.relative_to(folder)))]


def _shown(name: str) -> bool:
    return not any(piece.startswith((".", "_")) for piece in name.split("/") if piece)
