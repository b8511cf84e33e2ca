"""Where a benchmark writes: made, and tried, before anything is measured."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path


def new_folder(name: str) -> Path:
    """A folder of the command line that can be written into."""
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{name}: cannot be written into ({error.strerror})") from error
    return folder


def new_file(name: str) -> Path:
    """A file of the command line whose folder can be written into."""
    path = Path(name)
    new_folder(str(path.parent))
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{name}: is a folder")
    return path
