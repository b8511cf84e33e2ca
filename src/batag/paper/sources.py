"""The sources that a training runs, as one hash: comments, docstrings and layout do not count."""

from __future__ import annotations

import ast
import hashlib
import subprocess
from collections.abc import Iterable
from functools import cache
from importlib import resources
from importlib.util import find_spec

FOLDERS = ("features", "encoders", "heads", "objectives", "training", "evaluation")
"""Whose code decides a cell's numbers."""


def sources_digest(modules: Iterable[str]) -> str:
    """The hash of these modules and of all that they import from those folders."""
    found: dict[str, str] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in found and name.split(".")[:1] == ["batag"] and name.split(".")[1:2] in [[each] for each in FOLDERS]:
            found[name], imported = _read(name)
            # Importing a module also runs its package's __init__.
            waiting += [*imported, name.rpartition(".")[0]]
    return hashlib.sha256("\n".join(f"{name} {found[name]}" for name in sorted(found)).encode()).hexdigest()


def commit() -> str | None:
    """The last commit of the sources, with `-dirty` if they have changed since; None where they are in no repository."""
    folder = str(resources.files("batag"))
    said = []
    for call in (("log", "-1", "--format=%h", "--abbrev=12"), ("status", "--porcelain")):
        try:
            done = subprocess.run(["git", "-C", folder, *call, "--", folder], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        said.append(done.stdout.strip())
    return f"{said[0]}{'-dirty' if said[1] else ''}" if said[0] else None


def forget_read_sources() -> None:
    """Read them again when next asked."""
    _read.cache_clear()


@cache
def _read(name: str) -> tuple[str, tuple[str, ...]]:
    """The hash of one module's code, and what it may import."""
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    with open(spec.origin, encoding="utf-8") as stream:
        tree = ast.parse(stream.read())
    imported: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported += [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            node.body = [each for each in node.body if not _is_text(each)] or [ast.Pass()]
    known = tuple(each for each in imported if each.startswith("batag.") and _is_module(each))
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), known


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@cache
def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # a name inside a module
        return False
