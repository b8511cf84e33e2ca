"""Each formula against the worked example of its paper, or an independent float64 NumPy."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from batag.keywords import build_extractor
from batag.keywords.bm25 import K1, B
from batag.keywords.candidate import candidates
from batag.keywords.document import Document, documents
from batag.keywords.graph import pagerank, word_importance
from batag.keywords.rake import degree_by_frequency
from batag.keywords.statistics import Statistics
from batag.keywords.yake import term_scores
from batag.pages.page import Page
from batag.segmentation.segmentation import Segmentation

TEXT = "Rubber sole boot. The boot has a rubber sole, and NORDVIK made the sole. Lining: wool lining; a NORDVIK boot."
OTHERS = ("A rubber band and a boot.", "Wool lining of a coat.", "A sole trader.")


def document(text: str, *, language: str = "en") -> Document:
    return next(documents([Page("1", {"title": text}, language=language)], Segmentation()))


def corpus() -> Statistics:
    return Statistics().fit(map(document, (TEXT, *OTHERS)))


def score(method: str, text: str = TEXT, *, statistics: Statistics | None = None) -> dict[str, float]:
    found = build_extractor(method, statistics=statistics).rank(document(text), top=100)
    return {each.text.lower(): each.score for each in found}


def test_tfidf_is_the_count_times_the_smoothed_inverse_document_frequency() -> None:
    tf = {"rubber": 2, "sole": 3, "boot": 3, "nordvik": 2, "wool": 1, "lining": 2}
    df = {"rubber": 2, "sole": 2, "boot": 2, "nordvik": 1, "wool": 2, "lining": 2}
    weight = {word: tf[word] * np.log((4 + 1) / (df[word] + 0.5)) for word in tf}
    found = score("tfidf", statistics=corpus())
    assert found["rubber sole boot"] == pytest.approx(weight["rubber"] + weight["sole"] + weight["boot"])
    assert found["wool lining"] == pytest.approx(weight["wool"] + weight["lining"])
    assert found["nordvik boot"] == pytest.approx(weight["nordvik"] + weight["boot"])


def test_bm25_is_equation_3_15_with_an_idf_that_is_never_negative() -> None:
    statistics = corpus()
    lengths = [len(document(text)) for text in (TEXT, *OTHERS)]
    norm = K1 * (1 - B + B * lengths[0] / np.mean(lengths))
    idf = {n: np.log(1 + (4 - n + 0.5) / (n + 0.5)) for n in (1, 2)}
    wool, lining = 1 * (K1 + 1) / (1 + norm) * idf[2], 2 * (K1 + 1) / (2 + norm) * idf[2]
    assert score("bm25", statistics=statistics)["wool lining"] == pytest.approx(wool + lining)


def test_rake_gives_the_scores_of_its_papers_example() -> None:
    # The abstract of figure 1.1 and the phrases of figure 1.2 in Rose et al. 2010; scores of table 1.2.
    phrases = """compatibility|systems|linear constraints|set|natural numbers|criteria|compatibility|system|
    linear diophantine equations|strict inequations|nonstrict inequations|considered|upper bounds|components|minimal set|
    solutions|algorithms|construction|minimal generating sets|solutions|types|systems|criteria|corresponding algorithms|
    constructing|minimal supporting set|solving|systems|systems"""
    words = degree_by_frequency(each.split() for each in phrases.replace("\n", "").split("|"))
    listed = {
        "minimal generating sets": 8.7,
        "linear diophantine equations": 8.5,
        "minimal supporting set": 7.7,
        "minimal set": 4.7,
        "linear constraints": 4.5,
        "natural numbers": 4.0,
        "strict inequations": 4.0,
        "upper bounds": 4.0,
        "corresponding algorithms": 3.5,
        "set": 2.0,
        "systems": 1.0,
    }
    for phrase, expected in listed.items():
        assert sum(words[word] for word in phrase.split()) == pytest.approx(expected, abs=0.05), phrase


def test_pagerank_solves_its_own_equation() -> None:
    rng = np.random.default_rng(0)
    nodes = 12
    matrix = np.triu(rng.integers(0, 4, (nodes, nodes)), 1).astype(float)
    matrix += matrix.T
    matrix[3] = matrix[:, 3] = 0
    ends = np.argwhere(matrix > 0)
    found = pagerank(ends, matrix[ends[:, 0], ends[:, 1]], nodes=nodes)
    out = matrix.sum(1, keepdims=True)
    share = np.divide(matrix, out, out=np.zeros_like(matrix), where=out > 0)
    expected = np.linalg.solve(np.eye(nodes) - 0.85 * share.T, np.full(nodes, 0.15 / nodes))
    assert found == pytest.approx(expected, abs=1e-7)


def test_textrank_joins_neighbours_and_singlerank_counts_a_window_of_ten() -> None:
    text = "alpha beta gamma alpha beta"
    near = word_importance(document(text), window=2, weighted=False)
    assert near["alpha"] == pytest.approx(near["beta"]) == pytest.approx(near["gamma"])
    wide = word_importance(document(text), window=10, weighted=True)
    # alpha-beta four times, alpha-gamma and beta-gamma twice each
    weights = np.array([[0, 4, 2], [4, 0, 2], [2, 2, 0]], dtype=float)
    expected = np.linalg.solve(np.eye(3) - 0.85 * (weights / weights.sum(1, keepdims=True)).T, np.full(3, 0.05))
    assert [wide["alpha"], wide["beta"], wide["gamma"]] == pytest.approx(expected.tolist(), abs=1e-7)


def test_yake_has_the_five_features_of_its_paper() -> None:
    text = "Sole grip. The sole has grip of NORDVIK rubber."
    found = term_scores(document(text))
    # Words: sole grip | the sole has grip of nordvik rubber; content: sole 2, grip 2, nordvik 1, rubber 1.
    mean, deviation = 1.5, 0.5
    # nordvik: upper case once, second sentence, one neighbour on each side, one of two sentences
    case, place, frequency, spread = 1.0, log(log(3 + 1)), 1 / (mean + deviation), 1 / 2
    relatedness = 1 + (1 / 1 + 1 / 1) * 1 / 2
    assert found["nordvik"] == pytest.approx(relatedness * place / (case + frequency / relatedness + spread / relatedness))
    # sole: first in its sentence (no case), sentences 0 and 1; left: the; right: grip, has
    case, place, frequency, spread = 0.0, log(log(3 + 0.5)), 2 / (mean + deviation), 2 / 2
    relatedness = 1 + (1 / 1 + 2 / 2) * 2 / 2
    assert found["sole"] == pytest.approx(relatedness * place / (case + frequency / relatedness + spread / relatedness))


def test_yake_of_a_phrase_is_the_product_by_the_sum_and_its_count() -> None:
    text = "Sole grip. The sole grip of NORDVIK rubber."
    own = term_scores(document(text))
    expected = own["sole"] * own["grip"] / (2 * (1 + own["sole"] + own["grip"]))
    assert score("yake", text)["sole grip"] == pytest.approx(1 / (1 + expected))


def test_embedding_is_the_cosine_with_the_page() -> None:
    given = {"rubber": (1.0, 0.0), "sole": (0.0, 1.0), "boot": (1.0, 1.0)}
    vectors = lambda pages: np.array([[given[word] for word in page] for page in pages], dtype=np.float32)  # noqa: E731
    found = build_extractor("embedding", vectors=vectors).rank(document("rubber sole, boot"), top=5)
    # The page's mean is (2/3, 2/3), and both phrases point there.
    assert {each.text: each.score for each in found} == {"rubber sole": pytest.approx(1), "boot": pytest.approx(1)}


def test_chinese_phrases_are_the_mean_of_their_words_times_their_count() -> None:
    page = document("登山鞋防水，登山鞋透氣", language="zh-Hant")
    found = candidates(page)
    ranked = build_extractor("tfidf").rank(page, top=50)
    by_text = {each.text: each.score for each in ranked}
    words = found[("登山", "鞋")].words if ("登山", "鞋") in found else ("登山鞋",)
    assert by_text["登山鞋"] == pytest.approx(2 * sum(page.keys.count(word) for word in words) / len(words) * log(2))
