"""Japanese segmentation with SudachiPy and its small dictionary."""

from functools import cache
from threading import local
from typing import Any

from sudachipy import Dictionary
from sudachipy.errors import SudachiError

from batag.segmentation.segmenter import Segmenter


class Japanese(Segmenter):
    """Splits into short units (コットン, 化粧, 水), so that tag borders are token borders."""

    def cut(self, text: str) -> list[int]:
        try:
            # Several words may come from one character (㍿): they end at the same place.
            return list(dict.fromkeys(morpheme.end() for morpheme in tokenizer().tokenize(text)))
        except SudachiError:
            # The library refuses text that its own normalisation makes too long: halves are shorter.
            if len(text) == 1:
                return [1]
            half = len(text) // 2
            return self.cut(text[:half]) + [half + end for end in self.cut(text[half:])]


class _OfThread(local):
    def __init__(self) -> None:
        self.made: dict[tuple[str, ...], Any] = {}


_of_thread = _OfThread()


def tokenizer(*fields: str) -> Any:
    """The tokenizer of this thread; the library does not allow sharing one between threads."""
    made = _of_thread.made
    if fields not in made:
        made[fields] = _dictionary().tokenizer(fields=set(fields))
    return made[fields]


@cache
def _dictionary() -> Dictionary:
    return Dictionary(dict="small")
