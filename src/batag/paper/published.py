"""The numbers printed in the paper, by row and column of its tables."""

from collections.abc import Mapping, Sequence

Published = Mapping[str, Mapping[tuple[str, str], float]]

FOUR = ("CE", "WCE", "PBP(0,8)", "CLA(1,20)")
SEVEN = ("BAT", "Admin", "Switch", "MUSE", "Transformer", "Performer", "Informer")
FIVE = ("BAT", "Admin", "MUSE", "Transformer", "Performer")
DEPTHS = ("4 layers", "6 layers", "12 layers", "24 layers")


def _grid(rows: Sequence[str], columns: Sequence[str], numbers: str) -> dict[tuple[str, str], float]:
    """Parse numbers in the order in which the paper prints them, line by line."""
    values = [[float(value) for value in line.split()] for line in numbers.strip().splitlines()]
    return {
        (row, column): value
        for row, line in zip(rows, values, strict=True)
        for column, value in zip(columns, line, strict=True)
    }


CHINESE: Published = {
    "macro_f1": _grid(
        FOUR,
        SEVEN,
        """
        85.7 84.5 82.1 84.2 84.0 83.9 84.6
        85.5 84.5 79.6 81.2 82.9 83.0 80.8
        85.6 84.0 79.1 84.0 82.9 82.7 81.2
        85.3 84.3 75.0 83.7 82.4 82.1 80.9""",
    ),
    "macro_f2": _grid(
        FOUR,
        SEVEN,
        """
        85.7 83.7 81.8 83.4 83.8 82.8 84.0
        87.9 86.2 84.6 87.2 85.5 86.4 85.6
        87.7 86.4 84.5 87.6 85.5 86.4 86.0
        87.8 86.0 82.5 87.7 85.3 86.2 86.2""",
    ),
}

JAPANESE: Published = {
    "macro_f1": _grid(
        FOUR,
        FIVE,
        """
        85.8 84.8 84.7 84.4 84.8
        85.4 84.6 84.8 83.4 81.2
        85.6 83.4 82.5 83.6 80.3
        85.6 83.9 82.6 82.1 80.9""",
    ),
    "macro_f2": _grid(
        FOUR,
        FIVE,
        """
        86.1 84.2 85.1 84.4 85.6
        88.3 87.7 87.3 87.5 86.5
        88.6 87.3 87.6 87.2 87.2
        88.3 87.5 87.5 86.7 86.3""",
    ),
}

LAYERS: Published = {
    "macro_f1": _grid(
        DEPTHS,
        SEVEN,
        """
        85.7 83.9 79.1 84.4 83.0 82.7 82.8
        85.4 82.9 76.1 84.2 82.9 83.7 83.6
        85.5 83.6 80.2 85.4 82.1 82.9 83.4
        85.1 83.4 71.0 85.2 33.9 84.3 82.3""",
    ),
    "macro_f2": _grid(
        DEPTHS,
        SEVEN,
        """
        87.2 85.5 84.1 86.9 85.3 85.3 86.5
        87.1 85.5 82.7 86.7 84.2 85.3 86.4
        86.9 85.5 85.1 86.7 85.3 86.0 86.3
        87.4 86.2 78.3 86.2 37.1 87.0 86.5""",
    ),
}


def _columns(numbers: str) -> dict[int, dict[tuple[str, str], float]]:
    """Parse lines of a row's name and its numbers for BAT, by column."""
    lines = [line.split() for line in numbers.strip().splitlines()]
    return {at: {(name, "BAT"): float(values[at]) for name, *values in lines} for at in range(len(lines[0]) - 1)}


_RATES = _columns("""
    v1 85.3 87.8
    v2 85.5 87.7
    v3 85.6 87.6
    v3.1 85.3 88.1
    v4.1 85.4 87.9
    v5 85.0 87.3""")
RATES: Published = {"macro_f1": _RATES[0], "macro_f2": _RATES[1]}

_BOOST = _columns("""
    CLA(1,1) 85.1 86.7
    CLA(1,12) 84.8 86.8
    CLA(1,18) 85.2 86.8
    CLA(1,20) 85.7 87.2
    CLA(1,22) 85.3 86.9
    CLA(1,24) 85.5 86.7""")
BOOST: Published = {"macro_f1": _BOOST[0], "macro_f2": _BOOST[1]}

# Macro F1 and F2 without none after 50 epochs, then after 100; predicted tokens of its categories 2 and 3, the same way.
_SIXTEEN = _columns("""
    CE 79.9 79.8 79.8 80.1 7156 3887 7352 3915
    WCE 79.8 83.6 79.9 82.3 8631 4426 8352 4071
    FCE 79.8 80.3 79.7 79.4 7198 4039 7371 3735
    FWCE 79.8 79.3 79.5 81.2 9161 4570 8031 4111
    PBP(0,s) 79.4 81.5 79.3 80.6 7610 4386 8035 3894
    PBP(0,1) 79.1 82.3 79.1 81.4 8248 4459 8049 4133
    PBPA(0,1) 78.7 82.5 79.0 81.3 8171 4647 8421 4133
    PBP(0,8) 79.9 83.3 79.4 81.9 8375 4406 8495 4065
    PBPA(0,8) 79.5 82.8 79.3 81.3 8218 4458 8022 4240
    CL(0,1) 79.5 82.6 79.2 80.7 8733 4386 7715 4112
    CLA(0,1) 79.4 83.3 78.8 82.0 8164 4407 7995 4138
    CL(0,s) 79.3 81.9 79.3 82.0 7974 4234 8111 4287
    CL(1,1) 78.6 82.5 78.9 82.4 8405 4575 8655 4301
    CLA(1,1) 79.4 83.7 79.2 81.8 8626 4578 8148 4296
    CL(1,20) 79.1 83.7 79.0 82.2 8885 4572 8618 4258
    CLA(1,20) 79.4 83.5 79.9 82.5 8564 4568 8446 4124""")
OBJECTIVES: Published = {"macro_f1_without_none": _SIXTEEN[0], "macro_f2_without_none": _SIXTEEN[1]}
OBJECTIVES_LONG: Published = {"macro_f1_without_none": _SIXTEEN[2], "macro_f2_without_none": _SIXTEEN[3]}


def _amounts(first: int) -> dict[str, dict[str, int]]:
    return {
        row: {"category 2": int(amount), "category 3": int(_SIXTEEN[first + 1][row, column])}
        for (row, column), amount in _SIXTEEN[first].items()
    }


AMOUNTS, AMOUNTS_LONG = _amounts(4), _amounts(6)
