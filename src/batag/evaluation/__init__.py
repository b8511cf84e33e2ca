"""Evaluate tags: by tokens (the paper's macro F1 and F2) and by tags (exact spans)."""

from batag.evaluation.fscore import macro_fbeta

__all__ = ["macro_fbeta"]
