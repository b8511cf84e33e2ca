"""The command line: one file per command group; heavy packages are imported inside the commands."""

import functools
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from batag.cli.commands import GROUPS, PANELS
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


def _add(to: typer.Typer, file: str, name: str, *, example: str, panel: str | None = None) -> None:
    module = import_module(f"batag.cli.{file}")
    command = getattr(module, name, None) or getattr(module, f"{name}_")  # some names are Python's own
    decorate = to.command(name, cls=_Command, rich_help_panel=panel, epilog=f"Example: {example}")
    decorate(_until_nobody_reads(with_reading(command)))


for panel, places in PANELS.items():
    for place, example in places.items():
        _add(app, place.rpartition(".")[0] or place, place.rpartition(".")[2], example=example, panel=panel)
for file, (panel, about, examples) in GROUPS.items():
    group_app = typer.Typer(
        name=file.rpartition(".")[2], help=about, no_args_is_help=True, context_settings=app.info.context_settings
    )
    for name, example in examples.items():
        _add(group_app, file, name, example=example)
    app.add_typer(group_app, rich_help_panel=panel)


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
