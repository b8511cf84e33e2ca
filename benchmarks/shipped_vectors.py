"""Makes the word vectors that come with batag: chiVe's, as the spaCy model ja_ginza has them, in fewer and smaller numbers.

Run `pip install --no-deps ja-ginza==5.3.0`, then `python benchmarks/shipped_vectors.py`; it writes src/batag/encoders/shipped.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import zstandard
from safetensors.numpy import save_file

from batag.encoders.word_vectors import read_vectors, vector_files

FOLDER = Path(__file__).parent.parent / "src" / "batag" / "encoders" / "shipped"
WORDS, WIDTH = 150_000, 128


def main() -> None:
    vectors = read_vectors(*vector_files("ja_ginza"))
    # The model has its words in order of frequency; one with a line break in it could not be listed.
    words = [word for word in vectors.words[:WORDS] if word.isprintable()]
    wide, row_of = np.unique(vectors.numbers(words), axis=0, return_inverse=True)
    centred = wide - wide.mean(0)
    directions = np.linalg.svd(centred, full_matrices=False)[2][:WIDTH]
    narrow = centred @ directions.T
    # Whoever reads a vector takes its length away, so that each may have a scale of its own.
    whole = np.round(127 * narrow / np.abs(narrow).max(1, keepdims=True)).astype(np.int8)
    save_file({"vectors": whole, "rows": row_of.astype(np.uint16)}, FOLDER / "ja.safetensors")
    (FOLDER / "ja.txt.zst").write_bytes(zstandard.ZstdCompressor(level=19).compress("\n".join(words).encode()))
    kept = float((narrow**2).sum() / (centred**2).sum())
    print(f"{len(words):,} words, {len(whole):,} vectors of {WIDTH} numbers, {kept:.0%} of what tells them apart")


if __name__ == "__main__":
    main()
