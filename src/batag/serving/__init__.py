"""The HTTP service: one front process that takes requests, and engine processes that tag."""

from __future__ import annotations

from typing import Any


def create_app(*arguments: Any, **options: Any) -> Any:
    """The service as an ASGI application, for other servers; see `batag.serving.app.create_app`."""
    from batag.serving.app import create_app as create

    return create(*arguments, **options)
