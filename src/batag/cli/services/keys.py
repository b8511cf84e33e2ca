"""`batag keys`: the keys of a service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from batag.cli import options
from batag.cli.terminal import cell, console, print_json

Keys = Annotated[Path, typer.Option("--keys", help="File of the keys; it has their hashes only.")]
_FILE = Path("keys.json")


def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who uses the key, such as checkout or anna.")],
    keys: Keys = _FILE,
    scope: Annotated[
        list[str] | None, typer.Option("--scope", help="What it may do: tag, or admin (which may reload); repeatable.")
    ] = None,
    rate: Annotated[
        int | None, typer.Option("--rate", help="Requests a minute that it may send (default: as in the settings).", min=1)
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Make a key and print it, once: the file keeps a hash of it."""
    from batag.serving.access.keys import add_key

    key, secret = add_key(keys, name, scope or ["tag"], rate=rate)
    if as_json:
        print_json({"id": key.id, "name": key.name, "scopes": list(key.scopes), "key": secret})
        return
    console(error=True).print(f"key {key.id} for {name} ({', '.join(key.scopes)}) in {keys}; keep it, it is not shown again:")
    typer.echo(secret)


def list_(keys: Keys = _FILE, as_json: options.Json = False) -> None:
    """List the keys: names, scopes and dates, never the keys themselves."""
    from batag.serving.access.keys import read_keys

    found = read_keys(keys)
    if as_json:
        rows = [
            {"id": each.id, "name": each.name, "scopes": list(each.scopes), "rate": each.rate}
            | {"created": each.created, "revoked": each.revoked}
            for each in found
        ]
        print_json(rows)
        return
    from rich.table import Table

    table = Table("id", "name", "scopes", "rate", "created", "revoked")
    for each in found:
        rate = "" if each.rate is None else f"{each.rate:,}/min"
        table.add_row(each.id, cell(each.name), ", ".join(each.scopes), rate, each.created, each.revoked or "")
    console().print(table)


def revoke(
    which: Annotated[str, typer.Argument(metavar="ID_OR_NAME", help="Id or name of the key.")],
    keys: Keys = _FILE,
    as_json: options.Json = False,
) -> None:
    """Revoke a key; a service that runs refuses it a second later."""
    from batag.serving.access.keys import revoke_key

    key = revoke_key(keys, which)
    if as_json:
        print_json({"id": key.id, "name": key.name, "revoked": key.revoked})
        return
    console(error=True).print(f"key {key.id} of {key.name} is revoked")
