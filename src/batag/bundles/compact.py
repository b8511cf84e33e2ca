"""Write a small copy of a bundle: large tables in int8 with a scale for each row, the rest in float16; pretrained features that
come with batag are only named."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

from batag.bundles.bundle import Bundle
from batag.bundles.description import DESCRIPTION, GRAPH, KNOWN, MODEL
from batag.bundles.digest import with_digest
from batag.bundles.weights import SCALE, Floats
from batag.features.shipped import SHIPPED, shipped_digest
from batag.pages.file import open_output

_LARGE = 256


def write_compact(bundle: Bundle, folder: Path) -> None:
    """Write a compact copy of a bundle to a new folder, without its engines: they must be exported from the rounded weights."""
    described: dict[str, Any] = json.loads((bundle.folder / DESCRIPTION).read_bytes())
    contents = {name: (bundle.folder / name).read_bytes() for name in described["files"] if name not in (GRAPH, KNOWN, MODEL)}
    contents[MODEL] = save(_rounded(bundle.arrays))
    for feature in described["features"]:
        if _is_shipped(feature, described["files"]):
            feature["shipped"] = shipped_digest(feature["language"])
            for name in feature["files"]:
                del contents[name]
            feature["files"] = []
    described["engines"] = {}
    described["files"] = {
        name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for name, data in contents.items()
    }
    making = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    for name, data in (contents | {DESCRIPTION: with_digest(described)}).items():
        with open_output(making / name) as stream:
            stream.write(data)
    making.rename(folder)


def _rounded(arrays: Mapping[str, Floats]) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for name, value in arrays.items():
        if value.ndim == 2 and len(value) >= _LARGE:
            scale = (np.abs(value).max(1) / 127).astype(np.float16)
            # A row of zeros, or of next to nothing, needs a scale too.
            scale[scale == 0] = 1
            found[name] = np.clip(np.rint(value / scale[:, None].astype(np.float32)), -127, 127).astype(np.int8)
            found[f"{name}{SCALE}"] = scale
        else:
            found[name] = value.astype(np.float16) if value.ndim else value
    return found


def _is_shipped(feature: Mapping[str, Any], files: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether pretrained features are exactly those that come with batag."""
    if feature["language"] not in SHIPPED:
        return False
    own = SHIPPED[feature["language"]]().files()
    return {name: hashlib.sha256(data).hexdigest() for name, data in own.items()} == {
        name: files[name]["sha256"] for name in feature["files"]
    }
