"""The exceptions of batag: every message says what is wrong, where, and what to do."""

from collections.abc import Iterable

_LONGEST = 600
TRAIN_EXTRA = "pip install 'batag[train]'"
EXTRAS = {
    "train": ("torch", "onnx", "onnxscript", "matplotlib"),
    "backbone": ("transformers",),
    "vectors": ("spacy",),
    "ray": ("ray", "fsspec"),
    "serve": ("granian", "prometheus-client", "uvloop"),
    "client": ("httpx",),
}
"""The optional packages of each extra in pyproject.toml."""


class BatagError(ValueError):
    """A mistake that the user can correct; the command line prints it without a traceback."""

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", todo: str = "", python: str = "") -> None:
        """`todo` is advice for the command line, `python` the advice for a Python caller where it differs."""
        self.what, self.where, self.todo, self.python = map(_shown, (what, where, todo, python or todo))
        super().__init__(self.what)

    def __str__(self) -> str:
        return self._with(self.python)

    def for_command_line(self) -> str:
        """The message with the advice for the command line."""
        return self._with(self.todo)

    def _with(self, advice: str) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}. {advice}" if advice else head


class InputError(BatagError):
    """The input is wrong: an unreadable file, or a bad record with strict reading."""


class EmptyTableError(InputError):
    """A file has no row at all, not even the names of its columns; among other files it is a problem, not an error."""


class UsageError(BatagError):
    """The call is wrong: an unknown name, or options that do not go together."""

    exit_code = 2


def missing_package(error: ModuleNotFoundError) -> UsageError | None:
    """The error for a missing package of an extra, with how to install it; None for any other module."""
    name = (error.name or "").partition(".")[0]
    for extra, packages in EXTRAS.items():
        if name in (each.replace("-", "_") for each in packages):
            return UsageError(f"this needs {name}, which is not installed", todo=f"pip install 'batag[{extra}]'")
    return None


def unknown_name(name: str, known: Iterable[str], what: str, *, where: str = "", more: str = "") -> UsageError:
    """The error for an unknown name: `'bta' is not an encoder. Did you mean 'bat'? There are ...`"""
    names = list(known)
    near = nearest(name, names)
    hint = "" if near is None else f"Did you mean {near!r}? "
    return UsageError(f"{name!r} is not {what}", where=where, todo=f"{hint}There are {', '.join(names)}{more}")


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known name that is most similar to a wrong one, ignoring case; None if none is similar."""
    from difflib import get_close_matches

    lower = {each.lower(): each for each in reversed(list(known))}
    near = get_close_matches(name.lower(), lower, n=1, cutoff=cutoff)
    return lower[near[0]] if near else None


def _shown(text: str) -> str:
    """Text of a file for a message, shortened and without control characters."""
    if not text.isprintable():
        text = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
