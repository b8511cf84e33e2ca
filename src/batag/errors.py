"""One exception family: every message says what is wrong, where, and what to do."""

from collections.abc import Iterable

_LONGEST = 600
TRAIN_EXTRA = "pip install 'batag[train]'"
_TRAIN = frozenset({"torch", "onnx", "onnxscript", "matplotlib"})


class BatagError(ValueError):
    """A mistake of the user's that a message can put right; the command line prints it without a traceback."""

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", todo: str = "", python: str = "") -> None:
        """`todo` advises somebody at the command line, `python` a caller in Python where that is something else."""
        self.what, self.where, self.todo, self.python = map(_shown, (what, where, todo, python or todo))
        super().__init__(self.what)

    def __str__(self) -> str:
        return self._with(self.python)

    def for_command_line(self) -> str:
        """The message with options instead of arguments."""
        return self._with(self.todo)

    def _with(self, advice: str) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}. {advice}" if advice else head


class InputError(BatagError):
    """The input is wrong: a file that cannot be read, a record that strict reading refuses."""


class UsageError(BatagError):
    """The call is wrong: an unknown name, an option that does not fit."""

    exit_code = 2


def missing_package(error: ModuleNotFoundError) -> UsageError | None:
    """What to install if a package of the extra `train` is missing; None if it is any other module."""
    name = (error.name or "").partition(".")[0]
    return UsageError(f"this needs {name}, which is not installed", todo=TRAIN_EXTRA) if name in _TRAIN else None


def unknown_name(name: str, known: Iterable[str], what: str, *, where: str = "", more: str = "") -> UsageError:
    """The error for a name that is none of the known ones: `'bta' is not an encoder. Did you mean 'bat'? There are ...`"""
    names = list(known)
    near = nearest(name, names)
    hint = "" if near is None else f"Did you mean {near!r}? "
    return UsageError(f"{name!r} is not {what}", where=where, todo=f"{hint}There are {', '.join(names)}{more}")


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known name that is most like a wrong one, in upper or lower case; None if none is near."""
    from difflib import get_close_matches

    lower = {each.lower(): each for each in reversed(list(known))}
    near = get_close_matches(name.lower(), lower, n=1, cutoff=cutoff)
    return lower[near[0]] if near else None


def _shown(text: str) -> str:
    """Text of a file in a message: nothing that moves a terminal, and not without end."""
    if not text.isprintable():
        text = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
