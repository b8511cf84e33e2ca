"""A page costs in proportion to its size: edges, phrases and steps are counted, not seconds."""

from __future__ import annotations

import pytest

from batag.keywords import graph
from batag.keywords.candidate import LONGEST_OTHERWISE, candidates
from batag.keywords.document import Document, documents
from batag.pages.page import Page
from batag.segmentation.segmentation import Segmentation


def document(text: str, *, language: str = "en") -> Document:
    return next(documents([Page("1", {"title": text}, language=language)], Segmentation()))


@pytest.mark.parametrize("window", [2, 10])
@pytest.mark.parametrize("words", [500, 4_000])
def test_the_graph_has_a_bounded_number_of_edges_for_each_word(
    window: int, words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges = []
    pagerank = graph.pagerank
    monkeypatch.setattr(
        graph, "pagerank", lambda ends, weights, nodes: edges.append(len(ends)) or pagerank(ends, weights, nodes=nodes)
    )
    graph.word_importance(document(" ".join(f"word{number}x" for number in range(words))), window=window, weighted=True)
    assert edges[0] <= 2 * (window - 1) * words


@pytest.mark.parametrize("text", ["boot " * 5_000, " ".join(f"word{n}x" for n in range(5_000)), "a" * 50_000])
def test_a_long_run_has_a_bounded_number_of_phrases_for_each_word(text: str) -> None:
    page = document(text)
    found = candidates(page)
    assert sum(len(each.occurrences) for each in found.values()) <= LONGEST_OTHERWISE * max(len(page), 1)


def test_a_title_that_is_one_long_run_has_its_words_and_pairs_as_phrases() -> None:
    found = candidates(document("ACME waterproof hiking boot rubber sole wool lining"))
    alone = {each.key for each in found.values() if each.stands_alone}
    assert {"acme", "hiking boot", "rubber sole"} <= alone
    assert not [each for each in alone if len(each.split()) > 2]
    short = candidates(document("waterproof hiking boot"))
    assert {each.key for each in short.values() if each.stands_alone} == {"waterproof hiking boot"}


def test_power_iteration_ends_after_a_bounded_number_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = []
    bincount = graph.np.bincount
    monkeypatch.setattr(graph.np, "bincount", lambda *given, **named: steps.append(1) or bincount(*given, **named))
    graph.word_importance(document(" ".join(f"word{n % 97}x" for n in range(2_000))), window=10, weighted=True)
    assert len(steps) <= 1 + graph.MOST_STEPS
