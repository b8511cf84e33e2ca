"""The graph of the words of a page that stand near each other, and the importance of its nodes (PageRank)."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from batag.keywords.document import Document
from batag.keywords.kind import Kind

DAMPING = 0.85
_CLOSE_ENOUGH = 1e-8
MOST_STEPS = 200


def word_importance(document: Document, *, window: int, weighted: bool) -> dict[str, float]:
    """PageRank of the words that may be in a phrase. Two words are joined if they stand within `window` words of each other,
    with the number of times as weight if `weighted`. A word has at most 2 (window - 1) edges for each occurrence."""
    places = [place for place, kind in enumerate(document.kinds) if kind >= Kind.FRONT]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(document.keys[place] for place in places))}
    nodes = [numbers[document.keys[place]] for place in places]
    edges: Counter[tuple[int, int]] = Counter()
    for later, place in enumerate(places):
        for earlier in range(later - 1, -1, -1):
            if place - places[earlier] >= window:
                break
            a, b = nodes[earlier], nodes[later]
            if a != b:
                edges[a, b] += 1
                edges[b, a] += 1
    weights = np.array([count if weighted else 1 for count in edges.values()], dtype=np.float64)
    ends = np.array(list(edges), dtype=np.int64).reshape(-1, 2)
    return dict(zip(numbers, pagerank(ends, weights, nodes=len(numbers)).tolist(), strict=True))


def pagerank(ends: NDArray[np.int64], weights: NDArray[np.float64], *, nodes: int) -> NDArray[np.float64]:
    """WS(i) = (1 - d) + d Σ_j w_ji / Σ_k w_jk · WS(j) (Mihalcea and Tarau 2004, equation 2), divided by the number of nodes so
    that it is a probability; by power iteration. A node without edges keeps (1 - d) / n."""
    ranks = np.full(nodes, 1 / max(nodes, 1))
    source, target = ends[:, 0], ends[:, 1]
    out = np.bincount(source, weights, minlength=nodes)
    share = weights / out[source]
    for _ in range(MOST_STEPS):
        flow = np.bincount(target, share * ranks[source], minlength=nodes)
        moved = np.asarray((1 - DAMPING) / max(nodes, 1) + DAMPING * flow, dtype=np.float64)
        if np.abs(moved - ranks).sum() < _CLOSE_ENOUGH:
            return moved
        ranks = moved
    return ranks
