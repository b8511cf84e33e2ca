"""The bundle in use of a shop's folder: `CURRENT` names it."""

import json
from pathlib import Path

from batag.errors import InputError

SHOP, CURRENT = "shop.json", "CURRENT"


def is_shop(folder: Path) -> bool:
    """Whether a folder is that of a shop."""
    return (folder / SHOP).is_file()


def current_bundle(folder: Path) -> Path:
    """The folder of the bundle in use; an error if there is none yet."""
    path = folder / CURRENT
    todo = "Run batag start again: it goes on where it stopped"
    if not path.is_file():
        raise InputError("is a shop without a bundle", where=str(folder), todo=todo)
    try:
        name: str = json.loads(path.read_bytes())["bundle"]
        found = folder / name
        if not isinstance(name, str) or ".." in Path(name).parts or Path(name).is_absolute():
            raise ValueError("it names no bundle of this shop")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"is damaged ({error})", where=str(path), todo=todo) from error
    if not found.is_dir():
        raise InputError(f"names {name}, which is not there", where=str(path), todo=todo)
    return found
