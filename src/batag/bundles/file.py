"""Read the files of a bundle: a wrong place, size or checksum is one clear error."""

import hashlib
from pathlib import Path

from batag.bundles.description import AGAIN, Description, FileName
from batag.errors import InputError

LONGEST_WORDS = 1 << 28
LONGEST_MODEL = 8 << 30


def checked_bytes(folder: Path, description: Description, name: FileName) -> bytes:
    """Return the bytes of a small file (such as the vocabulary) after verifying its checksum."""
    check_file(folder, description, name, limit=LONGEST_WORDS)
    return read_bytes(folder / name, limit=LONGEST_WORDS)


def check_file(folder: Path, description: Description, name: FileName, *, limit: int = LONGEST_MODEL) -> None:
    """Raise an error unless a file is in its place with the recorded size (at most `limit`) and checksum."""
    path, expected = folder / name, description.files[name]
    if expected.bytes > limit:
        what = f"has {expected.bytes:,} bytes where at most {limit:,} are expected"
        raise InputError(what, where=str(path), todo=AGAIN)
    try:
        if (path.is_symlink() or path.parent != folder) and folder.resolve() not in path.resolve(strict=True).parents:
            raise InputError("is a link to a file outside the bundle", where=str(path), todo="Put the file itself there")
        _check_there(path)
        if (size := path.stat().st_size) != expected.bytes:
            raise InputError(f"has {size:,} bytes where {expected.bytes:,} were written", where=str(path), todo=AGAIN)
        with open(path, "rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=str(path), todo="Check its rights") from error
    except RuntimeError as error:
        raise InputError("is a link to itself", where=str(path), todo="Put the file itself there") from error
    if digest != expected.sha256:
        raise InputError("is not the original file (its SHA-256 differs)", where=str(path), todo=AGAIN)


def read_bytes(path: Path, *, limit: int) -> bytes:
    """Return the bytes of a file; more than `limit` bytes are an error."""
    try:
        _check_there(path)
        size = path.stat().st_size
        if size > limit:
            raise InputError(f"has {size:,} bytes where at most {limit:,} are expected", where=str(path), todo=AGAIN)
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=str(path), todo="Check its rights") from error


def _check_there(path: Path) -> None:
    if not path.is_file():
        raise InputError("is missing" if not path.exists() else "is not a file", where=str(path), todo=AGAIN)
