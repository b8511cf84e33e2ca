"""Read files of words that people made, unless they are far too large to be that."""

from pathlib import Path

from batag.errors import InputError
from batag.settings import settings


def read_limited(path: Path, *, what: str) -> bytes:
    """The bytes of a file of words, unless it is far too large to be one."""
    try:
        size = path.stat().st_size
        if size > settings.max_terms_bytes:
            limit = f"{settings.max_terms_bytes:,} bytes (BATAG_MAX_TERMS_BYTES changes the limit)"
            raise InputError(
                f"is too large for {what}: {size:,} bytes, more than {limit}", where=str(path), todo="Name another file"
            )
        with path.open("rb") as stream:
            data = stream.read(settings.max_terms_bytes + 1)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=str(path), todo=f"Name {what}") from error
    if len(data) > settings.max_terms_bytes:
        raise InputError(f"is too large for {what}", where=str(path), todo="Name another file")
    return data


def lines_of(text: str) -> list[str]:
    """The lines of a text, whatever system wrote it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
