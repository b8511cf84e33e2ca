"""The memory of words: the label that a word had most often, none for a new word."""

from __future__ import annotations

from batag.tagging.memory import WordMemory


def test_a_word_has_the_label_it_had_most_often_whatever_its_case() -> None:
    memory = WordMemory([(["Nike", "shoe", "nike", "NIKE"], [2, 1, 2, 0]), (["shoe"], [-1])], labels=3)
    found = memory.probabilities([["nike", "SHOE", "new"], []])
    assert found[0].tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert found[1].shape == (0, 3)
