"""The command line: one file per command group; heavy packages are imported inside the commands."""

import functools
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from batag.cli.options import with_reading
from batag.errors import BatagError, InputError, missing_package


def _until_nobody_reads(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command end quietly when the reader of its output goes away (`| head`)."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing to flush at exit
            raise typer.Exit from None

    return run


def _plain_flags(parameters: list[Any]) -> list[Any]:
    """Options of a command; help names no type for those that take no value."""
    for each in parameters:
        if getattr(each, "is_flag", False):
            each.metavar = ""
    return parameters


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return _plain_flags(super().get_params(ctx))


class _Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return _plain_flags(super().get_params(ctx))


app = typer.Typer(
    name="batag",
    cls=_Group,
    help="Tag product pages: find goods, brands and features in titles and descriptions.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    *("shops.start.start", "demo", "data.sample", "inspect", "data.split", "data.convert", "data.segment"),
    *("words.keywords.keywords", "weak", "train", "distil", "curve", "evaluate", "show", "export", "tag"),
    *("services.serve.serve", "paper"),
)
"""The commands; one that lives in a file of another name is written with it."""
GROUPS = {
    "words.terms": ("What words mean to a shop: canonical forms, synonyms, categories.", ("explain", "merge", "import", "map")),
    "services.keys": ("Keys of the service: who may ask, and for what.", ("add", "list", "revoke")),
}
"""Groups of commands by the file that all of a group live in: what they are about, and their names."""


def _add(to: typer.Typer, file: str, name: str) -> None:
    module = import_module(f"batag.cli.{file}")
    command = getattr(module, name, None) or getattr(module, f"{name}_")  # some names are Python's own
    to.command(name, cls=_Command)(_until_nobody_reads(with_reading(command)))


for command in COMMANDS:
    _add(app, command.rpartition(".")[0] or command, command.rpartition(".")[2])
for file, (about, commands) in GROUPS.items():
    group_app = typer.Typer(
        name=file.rpartition(".")[2], help=about, no_args_is_help=True, context_settings=app.info.context_settings
    )
    for command in commands:
        _add(group_app, file, command)
    app.add_typer(group_app)


def _version(asked: bool) -> None:
    if asked:
        from batag import __version__

        typer.echo(f"batag {__version__}")
        raise typer.Exit


@app.callback()
def _batag(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)] = False,
) -> None:
    """Tag product pages: find goods, brands and features in titles and descriptions."""


def main() -> None:
    """Run a command. A user's mistake is printed in one line with exit code 1 (wrong input) or 2 (wrong usage)."""
    try:
        app()
    except BatagError as error:
        typer.echo(f"batag: {error.for_command_line()}", err=True)
        sys.exit(error.exit_code)
    except ModuleNotFoundError as error:
        if (missing := missing_package(error)) is None:
            raise
        typer.echo(f"batag: {missing}", err=True)
        sys.exit(missing.exit_code)
    except OSError as error:
        typer.echo(f"batag: {InputError(error.strerror or str(error), where=str(error.filename or 'a file'))}", err=True)
        sys.exit(1)
