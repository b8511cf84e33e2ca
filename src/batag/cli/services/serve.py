"""`batag serve`: answer over HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from batag.cli import options
from batag.cli.terminal import console

Keys = Annotated[Path | None, typer.Option("--keys", help="File of keys, made with `batag keys add`; then a key is needed.")]


def serve(
    bundle: options.Bundle,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen to; other machines can be let in with --keys only.")
    ] = ("127.0.0.1"),
    port: Annotated[int, typer.Option("--port", help="Port to listen to; 0 for any free one.", min=0, max=65_535)] = 8080,
    engines: Annotated[int, typer.Option("--engines", help="Number of engine processes; 0 for one per CPU.", min=0)] = 0,
    engine: options.Engine = "auto",
    keys: Keys = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="Name that requests may call the service by, such as tags.example.com; repeatable."),
    ] = None,
    log: Annotated[Path | None, typer.Option("--log", help="File to append the log to (default: standard error).")] = None,
    log_requests: Annotated[
        bool, typer.Option("--log-requests/--no-log-requests", help="Log every request, not only events.")
    ] = True,
    synonyms: options.Synonyms = None,
    taxonomy: options.Taxonomy = None,
    canonical_language: options.CanonicalLanguage = None,
) -> None:
    """Tag over HTTP, with a page to try it; see docs/serving.md for the API."""
    from batag.serving.app import build
    from batag.serving.server import check_address, run

    free = check_address(host, port, has_keys=keys is not None, command=f"batag serve {bundle}")
    app = build(
        bundle,
        engines=engines or len(os.sched_getaffinity(0)),
        engine=engine,
        keys=keys,
        hosts=allow_host,
        log=log,
        log_requests=log_requests,
        terms={
            "synonyms": None if synonyms is None else str(synonyms),
            "taxonomy": None if taxonomy is None else str(taxonomy),
            "language": canonical_language,
        },
    )
    shown = f"[{host}]" if ":" in host else host
    run(
        app, host=host, port=free, announce=lambda: console(error=True).print(f"batag serves {bundle} at http://{shown}:{free}")
    )
