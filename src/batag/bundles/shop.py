"""The bundle in use of a shop's folder: `CURRENT` names it."""

import json
from contextlib import suppress
from pathlib import Path

from batag.errors import InputError

SHOP, CURRENT = "shop.json", "CURRENT"
_NO_TEXTS = ("brand", "category")


def is_shop(folder: Path) -> bool:
    """Whether a folder is that of a shop."""
    return (folder / SHOP).is_file()


def export_reading(folder: Path) -> tuple[dict[str, str], str | None]:
    """The columns of a shop's export by field, and its encoding if it was not UTF-8; nothing for a folder that is no shop's."""
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        found = json.loads((folder / SHOP).read_bytes())
        columns = {field: column for field, column in found["columns"].items() if field not in _NO_TEXTS}
        return columns, found["reading"]["encoding"]
    return {}, None


def shop_of(bundle: Path) -> Path | None:
    """The folder of the shop that a bundle belongs to, or None."""
    folder = bundle.resolve().parent
    return folder.parent if folder.name == "bundles" and is_shop(folder.parent) else None


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
