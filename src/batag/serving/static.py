"""The files of the web page, read once when the service starts, with the headers of a page that loads nothing else."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from batag.serving.request import Headers, Reply, Request

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
"""The types of files that are served; others are not."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Headers = [
    ("content-security-policy", POLICY),
    ("x-frame-options", "DENY"),
    ("cross-origin-opener-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
    ("vary", "accept-encoding"),
]
_HERE = Path(__file__).parent
_FOLDERS = {"/docs": _HERE / "docs", "": _HERE / "page"}
"""Where the files of a path are: `/docs/x` in `docs/`, everything else in `page/`."""
_SMALL = 1_000


@dataclass(frozen=True, slots=True)
class _File:
    data: bytes
    zipped: bytes | None
    media_type: str
    tag: str


@dataclass(eq=False)
class Files:
    """The files by path; nothing is read while the service runs, and no path of a request is ever a path of the disk."""

    _files: dict[str, _File] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for prefix, folder in _FOLDERS.items():
            for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
                name = path.relative_to(folder).as_posix()
                if path.suffix not in TYPES or not path.is_file() or any(part.startswith(".") for part in path.parts[-2:]):
                    continue
                found = _read(path)
                self._files.setdefault(f"{prefix}/{name}", found)
                if name == "index.html":
                    self._files.setdefault(prefix or "/", found)

    def find(self, request: Request) -> Reply | None:
        """The file of a path."""
        found = self._files.get(request.path)
        if found is None:
            return None
        headers = [*_HEADERS, ("etag", found.tag), ("cache-control", "no-cache")]
        if request.header("if-none-match") == found.tag:
            return Reply(status=304, media_type=found.media_type, headers=headers, cached=True)
        if found.zipped is not None and "gzip" in (request.header("accept-encoding") or ""):
            return Reply(
                found.zipped, media_type=found.media_type, headers=[*headers, ("content-encoding", "gzip")], cached=True
            )
        return Reply(found.data, media_type=found.media_type, headers=headers, cached=True)


def _read(path: Path) -> _File:
    data = path.read_bytes()
    zipped = gzip.compress(data, 9, mtime=0) if len(data) > _SMALL and path.suffix not in (".png", ".woff2") else None
    return _File(data, zipped, TYPES[path.suffix], f'"{hashlib.sha256(data).hexdigest()[:16]}"')
