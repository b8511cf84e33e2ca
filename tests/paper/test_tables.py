"""The definitions: the paper's cells, numbers and conditions."""

from __future__ import annotations

from pathlib import Path

import pytest

from batag.errors import UsageError
from batag.objectives import PAPER
from batag.paper.corpus import Corpus
from batag.paper.tables import TABLES, find_table, quick
from batag.training.loop import rate_of
from batag.training.schedule import learning_rate

CORPUS = Corpus("none", Path("train"), Path("dev"), Path("test"))
CELLS = {
    "rates": 7,
    "encoders": 28,
    "encoders-ja": 20,
    "layers": 28,
    "boost": 6,
    "objectives": 16,
    "objectives-long": 16,
    "curves": 4,
    "ablations": 23,
}


@pytest.mark.parametrize("name", TABLES)
def test_every_cell_is_a_training_of_its_own_under_the_papers_conditions(name: str) -> None:
    cells = list(TABLES[name].cells(CORPUS, seeds=2, epochs=3))
    assert len(cells) == 2 * CELLS[name]
    recipes = [cell.recipe for *_, cell in cells]
    assert len({recipe.model_dump_json() for recipe in recipes}) == len(recipes)
    for recipe in recipes:
        assert recipe.input.kind == "word"
        assert (recipe.input.dropout, recipe.input.word_dropout, recipe.encoder.dropout, recipe.training.average) == (
            0,
            0,
            0,
            0,
        )
        assert (recipe.encoder.width, recipe.encoder.heads, recipe.encoder.inner, recipe.training.batch) == (128, 4, 512, 8)
        assert recipe.training.epochs == 3
        assert (recipe.head.chain, recipe.head.window_crf) == (False, 0)


@pytest.mark.parametrize("name", TABLES)
def test_its_own_length_is_the_papers_and_the_base_is_there(name: str) -> None:
    table = TABLES[name]
    assert next(table.cells(CORPUS, seeds=1))[3].recipe.training.epochs == table.epochs in (50, 100)
    assert table.base in [choice.name for choice in (*table.rows, *table.columns)]


@pytest.mark.parametrize("name", TABLES)
def test_the_papers_numbers_stand_at_places_of_the_table(name: str) -> None:
    table = TABLES[name]
    places = {(row.name, column.name) for row in table.rows for column in table.columns}
    for numbers in table.published.values():
        assert set(numbers) <= places
        assert len(numbers) >= len(places) - 1  # v4 has no number in table 1
        assert all(30 < number < 90 for number in numbers.values())


def test_some_of_the_papers_numbers() -> None:
    for name, metric, place, number in (
        ("encoders", "macro_f1", ("CE", "Informer"), 84.6),
        ("encoders", "macro_f2", ("CLA(1,20)", "MUSE"), 87.7),
        ("encoders-ja", "macro_f2", ("PBP(0,8)", "BAT"), 88.6),
        ("layers", "macro_f1", ("24 layers", "Transformer"), 33.9),
        ("rates", "macro_f2", ("v3.1", "BAT"), 88.1),
        ("boost", "macro_f1", ("CLA(1,20)", "BAT"), 85.7),
        ("objectives", "macro_f2_without_none", ("FWCE", "BAT"), 79.3),
        ("objectives-long", "macro_f1_without_none", ("CLA(1,20)", "BAT"), 79.9),
    ):
        assert TABLES[name].published[metric][place] == number


def test_the_sixteen_objectives_are_all_there() -> None:
    assert [row.name for row in TABLES["objectives"].rows] == list(PAPER)


def test_japanese_ce_is_slowed_down_and_cecla_takes_another_strategy() -> None:
    rates = {
        row: rate_of(cell.recipe, 3000, steps_per_epoch=600)
        for row, column, _, cell in TABLES["encoders-ja"].cells(CORPUS, seeds=1)
        if column == "BAT"
    }
    assert rates["CE"] / rates["WCE"] == pytest.approx(0.93)
    assert rates["WCE"] == rates["PBP(0,8)"]
    assert rates["CLA(1,20)"] < rates["WCE"]


@pytest.mark.parametrize(
    ("row", "column", "warmup", "scale"),
    [
        ("4 layers", "BAT", 4000, 1),
        ("6 layers", "Switch", 4000, 1),
        ("12 layers", "MUSE", 8000, 1 / 3),
        ("24 layers", "BAT", 8000, 1 / 5),
        ("24 layers", "Transformer", 12000, 1 / 10),
        ("24 layers", "Switch", 8000, 1 / 10),
        ("24 layers", "Admin", 8000, 1 / 3),
    ],
)
def test_deeper_encoders_have_the_appendix_schedule(row: str, column: str, warmup: int, scale: float) -> None:
    found = {(r, c): cell.recipe.schedule for r, c, _, cell in TABLES["layers"].cells(CORPUS, seeds=1)}
    assert found[row, column].warmup == warmup
    assert found[row, column].scale == pytest.approx(scale, abs=1e-6)


def test_some_rows_and_columns_can_be_had_alone() -> None:
    some = find_table("encoders").only("ce; CLA(1,20)", "Transformer")
    assert [(row, column) for row, column, *_ in some.cells(CORPUS, seeds=1)] == [
        ("CE", "Transformer"),
        ("CLA(1,20)", "Transformer"),
    ]
    with pytest.raises(UsageError, match="'BERT' is not a column"):
        find_table("encoders").only(None, "BERT")


def test_a_name_said_twice_counts_once_and_no_name_is_a_mistake() -> None:
    assert len(find_table("encoders").only("CE;ce;CE", None).rows) == 1
    with pytest.raises(UsageError, match="'' is not a row"):
        find_table("encoders").only("", None)


@pytest.mark.parametrize(
    ("table", "setting"),
    [
        ("encoders", "objective.name=CE"),
        ("encoders", "encoder.name=bat"),
        ("encoders", "training.seed=5"),
        ("encoders", "training.epochs = 5"),
        ("layers", "objective.name=CE"),
        ("layers", "encoder.depth=2"),
        ("encoders-ja", "schedule.scale=1"),
    ],
)
def test_what_the_table_is_about_cannot_be_set_for_all(table: str, setting: str) -> None:
    with pytest.raises(UsageError, match=f"the table {table} itself sets"):
        list(find_table(table).cells(CORPUS, seeds=1, more=[setting]))


def test_the_users_settings_have_the_last_word() -> None:
    cell = next(find_table("boost").cells(CORPUS, seeds=1, more=["training.batch=4"]))[3]
    assert cell.recipe.training.batch == 4


@pytest.mark.parametrize("table", ["layers", "encoders-ja"])
def test_a_warm_up_that_is_set_has_the_last_word_where_the_table_has_its_own(table: str) -> None:
    cells = find_table(table).cells(CORPUS, seeds=1, more=["schedule.warmup=700"])
    assert {cell.recipe.schedule.warmup for *_, cell in cells} == {700}


def test_warm_ups_are_scaled_to_the_length_of_the_run_at_the_same_highest_rate() -> None:
    table = find_table("layers")
    whole = {(row, column): cell.recipe.schedule for row, column, _, cell in table.cells(CORPUS, seeds=1)}
    for row, column, _, cell in table.with_scaled_warmup(15).cells(CORPUS, seeds=1, epochs=15):
        paper, ours = whole[row, column], cell.recipe.schedule
        assert ours.warmup == round(0.15 * int(paper.warmup))
        highest = [float(each.scale) * learning_rate(int(each.warmup), warmup=int(each.warmup)) for each in (paper, ours)]
        assert highest[1] == pytest.approx(highest[0], rel=1e-5)


def test_warm_ups_of_the_papers_own_length_are_the_papers() -> None:
    table = find_table("layers")
    schedules = [
        [cell.recipe.schedule for *_, cell in each.cells(CORPUS, seeds=1)] for each in (table, table.with_scaled_warmup(100))
    ]
    assert schedules[0] == schedules[1]


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_a_quick_form(name: str) -> None:
    small = quick(TABLES[name])
    cells = list(small.cells(CORPUS, seeds=1))
    assert 2 <= len(cells) <= 6
    assert all(cell.recipe.encoder.width == 64 and cell.recipe.training.epochs == 12 for *_, cell in cells)
    assert all(cell.recipe.schedule.warmup == "auto" for *_, cell in cells)


def test_an_unknown_table_says_what_there_is() -> None:
    with pytest.raises(UsageError, match="'encoder' is not a table") as caught:
        find_table("encoder")
    assert "encoders, encoders-ja" in caught.value.todo
