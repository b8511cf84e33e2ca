"""The figures of docs/results/paper.md that no published table prints as they stand are what the tables come to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NUMBERS = [f"{moment}_{metric}" for moment in ("end", "best") for metric in ("macro_f1", "macro_f2")]
WITHOUT_NONE = [f"{number}_without_none" for number in NUMBERS]
WEIGHTED = (
    "WCE FWCE PBP(0,s) PBP(0,1) PBPA(0,1) PBP(0,8) PBPA(0,8) CL(0,1) CLA(0,1) CL(0,s) CL(1,1) CLA(1,1) CL(1,20) CLA(1,20)"
)
NEW = WEIGHTED.split()[2:]


@cache
def table(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / f"benchmarks/results/paper/{name}.json").read_text(encoding="utf-8"))
    return found


@cache
def verdicts() -> str:
    return (ROOT / "docs/results/paper.md").read_text(encoding="utf-8")


def line_of(claim: str) -> str:
    """The verdict of a claim (its row of the table) and its evidence (the section of that name), on one line."""
    row = next(line for line in verdicts().splitlines() if line.startswith(f"| {claim}"))
    _, heading, rest = verdicts().partition(f"\n### {claim}")
    return " ".join([row, *(rest.split("\n#", 1)[0] if heading else "").split()])


def differences(name: str, number: str, *, base: str, keep: Callable[[str, str], bool]) -> list[list[float]]:
    """Points, lower and upper end of `base` minus each other place (row, column) that is kept."""
    return [
        each[number]
        for each in table(name)["differences"]
        if base in each["base"] and base not in each["other"] and number in each and keep(*each["other"])
    ]


def ahead(found: Iterable[list[float]]) -> tuple[int, int]:
    values = list(found)
    return sum(points > 0 for points, _, _ in values), sum(low > 0 for _, low, _ in values)


def behind(found: Iterable[list[float]]) -> tuple[int, int]:
    return ahead([-points, -high, -low] for points, low, high in found)


def scores(name: str, row: str, column: str, number: str) -> list[float]:
    moment, _, metric = number.partition("_")
    values: list[float] = next(c[moment][metric] for c in table(name)["cells"] if (c["row"], c["column"]) == (row, column))
    return values


def mean(name: str, row: str, column: str, number: str) -> float:
    values = scores(name, row, column, number)
    return sum(values) / len(values)


def test_muse_leads_or_ties_all_eight_at_the_best_epoch_on_taobao() -> None:
    line = line_of("BAT has the best macro F1 and F2")
    assert (
        "does not hold. On taobao-zh MUSE is about level with BAT after the last epoch, and ahead or level at the best" in line
    )
    of_muse = {
        number: differences("taobao-zh-encoders", number, base="BAT", keep=lambda _, column: column == "MUSE")
        for number in (*NUMBERS, *WITHOUT_NONE)
    }
    assert [ahead(of_muse[number]) for number in NUMBERS[:2]] == [(2, 0), (1, 0)]
    assert max(points for number in NUMBERS[2:] for points, *_ in of_muse[number]) < 0.05
    assert "BAT ahead in 2 of 4 F1 and 1 of 4 F2" in line
    best = [each for number in WITHOUT_NONE[2:] for each in of_muse[number]]
    assert behind(best) == (8, 5)
    assert f"leads all eight by {min(-p for p, *_ in best):.1f} to {max(-p for p, *_ in best):.1f}, five of them clear" in line


def test_the_other_encoders_are_behind_bat() -> None:
    line = line_of("BAT has the best macro F1 and F2")
    others = [
        ahead(differences("taobao-zh-encoders", number, base="BAT", keep=lambda _, column: column != "MUSE"))
        for number in (*NUMBERS, *WITHOUT_NONE)
    ]
    assert others == [(20, 17), (20, 16), (19, 14), (20, 17), (20, 16), (19, 7), (19, 10), (20, 12)]
    total = sum(number for number, _ in others), sum(number for _, number in others)
    assert f"in {total[0]} of 160 numbers on taobao-zh ({total[1]} clear)" in line
    for at, moment in ((0, "after the last epoch"), (2, "at the best epoch")):
        cells = line.split(f"| {moment} |", 1)[1].split("|")[:4]
        for cell, (number, clear) in zip(cells, (*others[at : at + 2], *others[at + 4 : at + 6]), strict=True):
            assert cell.strip().startswith(f"{number} ({clear} clear)")
    for number in (*NUMBERS, *WITHOUT_NONE):
        japanese = differences("wikipedia-ja-encoders-ja", number, base="BAT", keep=lambda _, column: column != "MUSE")
        assert ahead(japanese) == (12, 12)


@pytest.mark.parametrize("objective", ["PBP(0,8)", "CLA(1,20)"])
def test_new_objectives_against_ce_in_both_metrics_at_both_moments(objective: str) -> None:
    line = line_of("the new objectives keep F1 and raise F2")
    evidence = line.split("**Sixteen")[0]
    for numbers in (NUMBERS, WITHOUT_NONE):
        for name in ("taobao-zh-encoders", "wikipedia-ja-encoders-ja"):
            end_f1, end_f2, best_f1, best_f2 = (
                -differences(name, number, base="CE", keep=lambda row, column: (row, column) == (objective, "BAT"))[0][0]
                for number in numbers
            )
            assert f"{end_f1:+.1f} / {end_f2:+.1f}" in evidence
            assert f"{best_f1:+.1f} / {best_f2:+.1f}" in evidence


def test_three_weighted_objectives_gain_f2_without_a_clear_loss_of_f1() -> None:
    line = line_of("the new objectives keep F1 and raise F2")

    def against_ce(row: str, number: str) -> list[float]:
        return differences("taobao-zh-objectives", number, base="CE", keep=lambda other, _: other == row)[0]

    kept = [
        row
        for row in WEIGHTED.split()
        if all(against_ce(row, number)[2] < 0 for number in (NUMBERS[1], NUMBERS[3]))
        and all(against_ce(row, number)[1] <= 0 for number in (NUMBERS[0], NUMBERS[2]))
    ]
    assert kept == ["PBP(0,s)", "CL(1,1)", "CLA(1,1)"]
    for number in NUMBERS:
        assert " | ".join(f"{-against_ce(row, number)[0]:+.1f}" for row in kept) in line
    for number in (WITHOUT_NONE[1], WITHOUT_NONE[3]):
        assert behind(against_ce(row, number) for row in WEIGHTED.split()) == (14, 14)
    apart = scores("taobao-zh-objectives", "PBPA(0,1)", "BAT", "end_macro_f1_without_none")
    assert f"has seeds {max(apart) - min(apart):.1f} apart in F1" in line


def test_what_the_new_objectives_do_to_other_encoders() -> None:
    line = line_of("the new objectives help the other encoders too")

    def others(name: str, number: str) -> list[list[float]]:
        return differences(
            name, number, base="CE", keep=lambda row, column: row in ("PBP(0,8)", "CLA(1,20)") and column != "BAT"
        )

    taobao = {number: others("taobao-zh-encoders", number) for number in (*NUMBERS, *WITHOUT_NONE)}
    assert [ahead(taobao[number]) for number in (NUMBERS[0], NUMBERS[2])] == [(12, 12), (12, 11)]
    assert [behind(taobao[number])[1] for number in (NUMBERS[1], NUMBERS[3])] == [0, 1]
    assert [behind(taobao[number]) for number in (WITHOUT_NONE[1], WITHOUT_NONE[3])] == [(12, 10), (12, 10)]
    assert "F1 lower in all 12, clear in all after the last epoch and in 11 at the best" in line
    japanese = {number: others("wikipedia-ja-encoders-ja", number) for number in (*NUMBERS, *WITHOUT_NONE)}
    assert [ahead(japanese[number]) for number in (NUMBERS[0], NUMBERS[2])] == [(8, 6), (8, 7)]
    clear = [behind(japanese[number])[1] for number in (NUMBERS[1], NUMBERS[3], WITHOUT_NONE[1], WITHOUT_NONE[3])]
    assert clear == [7, 5, 8, 7]
    assert "F1: lower in all 8; clearly in 6 after the last epoch and in 7 at the best." in line
    assert "F2: clearly higher in 7 after the last epoch and in 5 at the best." in line
    assert "F2 without none: clearly higher in 8 after the last epoch and in 7 at the best." in line


def test_the_range_of_the_new_objectives_beside_wce() -> None:
    line = line_of("the new objectives beat WCE")
    for moment in ("end", "best"):
        ranges = []
        for metric in ("macro_f1", "macro_f2"):
            values = [mean("taobao-zh-objectives", row, "BAT", f"{moment}_{metric}") for row in NEW]
            ranges.append(f"{min(values):.1f} to {max(values):.1f}")
        assert " / ".join(ranges) in line


def test_every_verdict_that_hangs_on_one_seed_says_so() -> None:
    one_seed = (
        *(
            "PBP converges fastest",
            "CECLA is best at 40 epochs",
            "at 40 epochs PBP",
            "lambda of 18 to 24",
            "the strategies v2 to v5",
        ),
        *(
            "attention and 3x1",
            "Pre-LN",
            "the FFN needs",
            "dynamic weights",
            "BAT beats the Evolved",
            "it helps to add the position",
        ),
        *("deeper is not better", "Switch profits"),
    )
    for claim in one_seed:
        assert "one seed" in line_of(claim).split("|")[2], claim


def test_when_bat_reached_the_others_best_is_counted_from_the_cells() -> None:
    line = line_of("BAT converges faster")
    sooner = later_in_seconds = comparisons = 0
    cells = {
        (cell["row"], cell["column"]): [
            json.loads((ROOT / f"benchmarks/results/paper/cells/{key}.json").read_bytes())["epochs"] for key in cell["keys"]
        ]
        for cell in table("taobao-zh-encoders")["cells"]
    }
    for (row, column), found in cells.items():
        if column in ("BAT", "MUSE"):
            continue
        for bat, other in zip(cells[row, "BAT"], found, strict=False):
            best = max(other, key=lambda epoch: epoch["macro_f2"])
            reached = next(epoch for epoch in bat if epoch["macro_f2"] >= best["macro_f2"])
            comparisons += 1
            sooner += reached["epoch"] <= best["epoch"]
            later_in_seconds += reached["seconds"] > best["seconds"]
    assert (comparisons, sooner, later_in_seconds) == (36, 36, 8)
    assert "36 comparisons" in line
    assert "in seconds the other is sooner in 8" in line
