"""Count the tokens of each class: N_1 (none), N_2, N_3 ... of the paper, from which class weights are computed."""

from collections import Counter
from collections.abc import Mapping

from batag.labels.scheme import NONE


def class_counts(tokens: Mapping[str, int]) -> dict[str, int]:
    """Tokens by class: none first, then the classes from the most frequent to the rarest."""
    counted = Counter(tokens)
    none = counted.pop(NONE, 0)
    return {NONE: none} | dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def ratio(counts: Mapping[str, int]) -> str:
    """N_1 : N_2 : ... as in the paper, scaled so that the rarest class is 1."""
    rarest = min((number for number in counts.values() if number), default=0)
    return " : ".join(_short(number / rarest) for number in counts.values()) if rarest else "no tokens"


def _short(value: float) -> str:
    """A number with three digits, never in scientific notation."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
