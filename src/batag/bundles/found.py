"""Find the folder of a bundle by what the user names: a folder, a run, or `starter`, the bundle that comes with batag."""

from contextlib import suppress
from pathlib import Path

from batag.bundles.description import DESCRIPTION
from batag.bundles.shop import current_bundle, is_shop
from batag.errors import InputError, UsageError, nearest

STARTER = "starter"
ALWAYS_STARTER = "batag:starter"
"""The starter even where a folder has its name."""
STARTER_FOLDER = Path(__file__).with_name(STARTER)


def find_bundle(folder: Path) -> Path:
    """Return the folder of the bundle: this folder, `bundle` in the folder of a run, that of the starter, or the one in
    use of a shop."""
    if str(folder) == ALWAYS_STARTER or (str(folder) == STARTER and not folder.is_dir()):
        folder = STARTER_FOLDER
    if is_shop(folder):
        folder = current_bundle(folder)
    for each in (folder, folder / "bundle"):
        if (each / DESCRIPTION).is_file():
            return each
    if (folder / "last.safetensors").is_file() or (folder / "recipe.toml").is_file():
        todo = f"Its training is not finished: batag train --resume {folder}"
        raise InputError("is a run without a bundle", where=str(folder), todo=todo)
    what = f"has no {DESCRIPTION}" if folder.is_dir() else "is not there" if not folder.exists() else "is not a folder"
    own = ALWAYS_STARTER if str(folder) == STARTER else STARTER
    todo = f"Name the folder of a bundle, a finished run or a shop, or {own} for the bundle that comes with batag"
    if near := _nearest(folder):
        todo = f"Did you mean {near}? {todo}"
    raise InputError(what, where=str(folder), todo=todo)


def _nearest(folder: Path) -> str | None:
    """The bundle, run or shop beside it, or the starter, whose name is most similar."""
    beside = {STARTER: STARTER} if folder.parent == Path() else {}
    with suppress(OSError):
        for path in folder.parent.iterdir():
            if is_shop(path) or any((each / DESCRIPTION).is_file() for each in (path, path / "bundle")):
                beside[path.name] = str(path)
    near = nearest(folder.name, (name for name in beside if name != folder.name))
    return None if near is None else beside[near]


def hides_starter(folder: Path) -> bool:
    """Whether the name is that of the starter, but means a folder here."""
    return str(folder) == STARTER and folder.is_dir()


def check_own(folder: Path) -> None:
    """Raise an error for the starter, which belongs to batag and is not changed."""
    if folder.resolve() == STARTER_FOLDER.resolve():
        raise UsageError("the starter comes with batag and is not changed", todo=f"Copy it first: cp -r {folder} MY_BUNDLE")
