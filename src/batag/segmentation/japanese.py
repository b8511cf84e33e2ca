"""Japanese by SudachiPy with its small dictionary: kept up to date, true code-point offsets."""

from functools import cache
from threading import local
from typing import Any

from sudachipy import Dictionary
from sudachipy.errors import SudachiError

from batag.segmentation.segmenter import Segmenter


class Japanese(Segmenter):
    """Short units (コットン, 化粧, 水), so that the borders of tags are borders of tokens."""

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
    """One per thread: the library refuses a tokenizer that another thread is using."""
    made = _of_thread.made
    if fields not in made:
        made[fields] = _dictionary().tokenizer(fields=set(fields))
    return made[fields]


@cache
def _dictionary() -> Dictionary:
    return Dictionary(dict="small")
