"""How good tags are: token level (the paper's macro F1 and F2) and tag level (exact spans)."""

from batag.evaluation.fscore import macro_fbeta

__all__ = ["macro_fbeta"]
