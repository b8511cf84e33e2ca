"""Recipes: every value is in the default one and says what it means; whatever is wrong is one clear line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.strategies import written

from batag.errors import InputError, UsageError
from batag.training.recipe import Recipe, default_text, read_recipe
from batag.training.setting import parse_setting

KEYS = [
    (table, key)
    for table, field in Recipe.model_fields.items()
    for key in field.annotation.model_fields  # type: ignore[union-attr]
]


def value_of(recipe: Recipe, table: str, key: str) -> Any:
    return getattr(getattr(recipe, table), key)


# The default recipe


def test_the_default_recipe_holds_every_key_and_nothing_else() -> None:
    held = tomllib.loads(default_text())
    assert sorted((table, key) for table, values in held.items() for key in values) == sorted(KEYS)
    assert len(KEYS) > 30


@pytest.mark.parametrize(("table", "key"), KEYS)
def test_every_key_of_the_default_recipe_says_what_it_means(table: str, key: str) -> None:
    name = rf"^\[{table}\.{key}\]  # ." if (table, key) == ("encoder", "options") else rf"^{key} = .*  # \w"
    section = re.split(rf"^\[{table}\]$", default_text(), flags=re.MULTILINE)[1].split("\n[" if "options" not in key else "\0")[
        0
    ]
    assert len(re.findall(name, section, flags=re.MULTILINE)) == 1


def test_no_value_has_a_default_outside_the_default_recipe() -> None:
    for table in Recipe.model_fields.values():
        kind = table.annotation
        assert isinstance(kind, type)
        assert issubclass(kind, BaseModel)
        assert all(field.is_required() for field in kind.model_fields.values())


def test_the_default_recipe_is_what_is_resolved_without_changes() -> None:
    assert Recipe.resolve().model_dump() == tomllib.loads(default_text())
    assert read_recipe(None) == Recipe.resolve()


# As text


def test_the_text_of_the_default_recipe_is_its_file() -> None:
    assert Recipe.resolve().text() == default_text()


printable = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=10)
recipes = st.fixed_dictionaries(
    {},
    optional={
        "pages": st.fixed_dictionaries({"dictionary": printable, "scheme": st.sampled_from(["flat", "bio"])}),
        "input": st.fixed_dictionaries(
            {"dropout": st.floats(0, 1, exclude_max=True), "ngram_buckets": st.integers(1, 10_000_000), "min_ngram": st.just(2)}
        ),
        "encoder": st.fixed_dictionaries(
            {"heads": st.sampled_from([1, 2, 8]), "name": st.just("bat")},
            optional={"options": st.fixed_dictionaries({"attention_scale": st.sampled_from(["head", "model"])})},
        ),
        "objective": st.fixed_dictionaries({"name": st.sampled_from(["CE", "CLA(1,20)", "PBP(0,s)"])}),
        "schedule": st.fixed_dictionaries({"scale": st.just("peak") | st.floats(0, exclude_min=True, allow_infinity=False)}),
        "training": st.fixed_dictionaries(
            {"clip": st.floats(0, allow_infinity=False), "seed": st.integers(0, 2**31 - 1), "average": st.just(0)}
        ),
    },
)


@given(change=recipes)
def test_the_text_of_a_recipe_is_a_recipe_with_the_same_values_and_all_comments(change: dict[str, Any]) -> None:
    recipe = Recipe.resolve(change)
    text = recipe.text()
    assert Recipe.resolve(tomllib.loads(text)) == recipe
    comments = [line.partition("  # ")[2] for line in text.split("\n") if "  # " in line]
    for line in default_text().splitlines():
        assert line.partition("  # ")[2] in comments or "  # " not in line


GOOD_VALUES = [
    *(
        "pages.dictionary=詞 典/ü.txt",
        r"pages.dictionary=C:\words\new.txt",
        'pages.dictionary=a "b" # c',
        "pages.dictionary=😀",
    ),
    *("pages.dictionary=a\tb", "pages.dictionary=", "schedule.scale=1e-9", "schedule.scale=1e300", "training.clip=1"),
    "encoder.options.attention_scale=head",
]
ODD_VALUES = [
    *("pages.dictionary=a\x7fb", "pages.dictionary=a\udcffb", "encoder.options.a=true", "encoder.options.a=[1, 2.5]"),
    *("encoder.options.a=😀", "encoder.options.a={b = 1}", "encoder.options.a=2020-01-01", "encoder.options.a=inf"),
    *("encoder.options.a b=1", "schedule.scale=inf", "training.clip=inf"),
]


@pytest.mark.parametrize("setting", GOOD_VALUES)
def test_a_good_value_survives_in_the_text_of_the_recipe(tmp_path: Path, setting: str) -> None:
    recipe = read_recipe(None, settings=[setting])
    assert read_recipe(written(tmp_path / "recipe.toml", recipe.text().encode())) == recipe


@pytest.mark.parametrize("setting", ODD_VALUES)
def test_an_odd_value_is_refused_or_survives_in_the_text_of_the_recipe(tmp_path: Path, setting: str) -> None:
    try:
        recipe = read_recipe(None, settings=[setting])
    except UsageError:
        return
    assert read_recipe(written(tmp_path / "recipe.toml", recipe.text().encode())) == recipe


# What is wrong


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"encoder": {"dept": 3}}, ["encoder.dept", "Did you mean encoder.depth?"]),
        ({"trainig": {"epochs": 3}}, ["trainig", "Did you mean training?"]),
        ({"encoder": {"option": {}}}, ["encoder.option", "Did you mean encoder.options?"]),
        ({"training": {"zzz": 1}}, ["training.zzz", "[training] has", "checkpoint_steps"]),
        ({"epochs": 3}, ["epochs", "a recipe has pages, input, encoder"]),
        ({"encoder": 3}, ["encoder is a table"]),
        ({"encoder": {"name": "bart"}}, ["encoder.name", "'bart'", "Did you mean 'bat'?", "transformer"]),
        ({"encoder": {"name": "zzz"}}, ["encoder.name", "'zzz'", "bat, transformer"]),
        ({"schedule": {"version": "v9"}}, ["schedule.version", "'v9'", "v4.1"]),
        ({"pages": {"segmentation": "englisch"}}, ["pages.segmentation", "Did you mean 'english'?"]),
        ({"objective": {"name": "XE"}}, ["XE", "CE", "PBP(0,8)"]),
        ({"pages": {"rules": "html,foo"}}, ["foo", "rule"]),
        ({"encoder": {"heads": 3}}, ["encoder.heads", "must divide encoder.width"]),
        ({"input": {"max_ngram": 2, "min_ngram": 3}}, ["input.max_ngram", "below input.min_ngram"]),
        ({"training": {"overlap": 256}}, ["training.overlap", "not smaller than training.window"]),
    ],
)
def test_a_recipe_that_cannot_be_names_what_is_wrong_and_what_there_is(change: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        Recipe.resolve(change)
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


BAD_VALUES = [
    *(
        "encoder.depth=0",
        "encoder.depth=1001",
        "encoder.depth=2.5",
        "encoder.depth=true",
        "encoder.depth=six",
        "encoder.depth=",
    ),
    *("encoder.depth=[1]", "encoder.depth.a=1", "encoder.depth=2020-01-01", "encoder.depth=inf", "encoder.depth=1e3"),
    *("encoder.dropout=1", "encoder.dropout=-0.1", "encoder.dropout=nan", "encoder.dropout=false", "encoder.name=3"),
    *(
        "input.kind=rch",
        "input.ngram_buckets=0",
        "input.min_word_count=0",
        "pages.scheme=iob",
        "pages.rules=3",
        "encoder.position=cosine",
    ),
    *("training.epochs=0", "training.seed=-1", "training.seed=2147483648", "training.clip=-1", "training.clip=nan"),
    *("training.clip=inf", "training.window=1", "training.batch=0", "training.selection=f2", "training.threads=0"),
    *(
        "schedule.warmup=0",
        "schedule.scale=0",
        "schedule.scale=-1",
        "schedule.scale=nan",
        "schedule.scale=inf",
        "schedule.scale=top",
    ),
]


@pytest.mark.parametrize("setting", BAD_VALUES)
def test_a_value_of_the_wrong_kind_or_size_names_the_key_and_its_meaning(setting: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_recipe(None, settings=[setting])
    table, key = setting.partition("=")[0].split(".")[:2]
    section = default_text().split(f"[{table}]\n")[1]
    comment = re.search(rf"^{key} = .*?  # (.*)$", section, re.MULTILINE)
    assert comment is not None
    assert f"{table}.{key} = " in str(caught.value)
    assert comment[1] in str(caught.value)
    assert "--set" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("setting", ["schedule.scale=0", "schedule.scale=-1", "schedule.warmup=0"])
def test_a_number_out_of_bounds_is_not_told_to_be_the_one_word_that_may_stand_there(setting: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_recipe(None, settings=[setting])
    assert "greater than" in str(caught.value)


def test_an_option_that_the_encoder_does_not_have_is_refused_with_the_recipe() -> None:
    with pytest.raises(UsageError, match="attention_scale"):
        read_recipe(None, settings=["encoder.options.atention_scale=head"])


# Settings on the command line


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("encoder.depth=6", 6),
        ("encoder.depth = 6 ", 6),
        ("encoder.dropout=0", 0.0),
        ("encoder.dropout=.1", None),
        ("encoder.dropout=0.1", 0.1),
        ("encoder.dropout=1e-1", 0.1),
        ("encoder.name=transformer", "transformer"),
        ('encoder.name="transformer"', "transformer"),
        ("encoder.name='transformer'", "transformer"),
        ("pages.dictionary=", ""),
        ("pages.dictionary=a=b", "a=b"),
        ("pages.dictionary=true story.txt", "true story.txt"),
        ("objective.name=CLA(1,20)", "CLA(1,20)"),
        ("objective.name=PBP(0,s)", "PBP(0,s)"),
        ("schedule.scale=0.5", 0.5),
        ("schedule.scale=peak", "peak"),
        ("schedule.warmup=auto", "auto"),
        ("schedule.warmup=4000", 4000),
        ("schedule.version=v3.1", "v3.1"),
        ("training.window=1_000", 1000),
    ],
)
def test_a_setting_is_read_as_toml_or_as_text(setting: str, value: object) -> None:
    table, key = setting.partition("=")[0].strip().split(".")
    if value is None:
        with pytest.raises(UsageError, match=re.escape(f"{table}.{key}")):
            read_recipe(None, settings=[setting])
        return
    found = value_of(read_recipe(None, settings=[setting]), table, key)
    assert (found, type(found)) == (value, type(value))


def test_an_option_of_the_encoder_is_set_with_all_its_names() -> None:
    assert parse_setting("encoder.options.attention_scale=head") == {"encoder": {"options": {"attention_scale": "head"}}}
    assert parse_setting("encoder.options.x=true") == {"encoder": {"options": {"x": True}}}
    recipe = read_recipe(None, settings=["encoder.options.attention_scale=head"])
    assert recipe.encoder.options == {"attention_scale": "head"}
    assert recipe.encoder.width == 128


@pytest.mark.parametrize("setting", ["encoder", "depth=6", "=6", ".depth=6", "encoder.=6", "encoder..depth=6", ""])
def test_a_setting_that_is_none_says_how_to_write_one(setting: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_recipe(None, settings=[setting])
    assert repr(setting) in str(caught.value)
    assert "--set encoder.depth=6" in str(caught.value)


def test_one_setting_cannot_smuggle_in_another() -> None:
    with pytest.raises(UsageError, match=r"encoder\.depth"):
        read_recipe(None, settings=["encoder.depth=1\nx = 2"])


def test_settings_stand_above_the_file_and_the_last_one_wins(tmp_path: Path) -> None:
    path = written(tmp_path / "a.toml", "[encoder]\ndepth = 2\nheads = 8\n[training]\nepochs = 3\n")
    recipe = read_recipe(path, settings=["encoder.depth=5", "training.epochs=7", "training.epochs=9"])
    assert (recipe.encoder.depth, recipe.encoder.heads, recipe.training.epochs) == (5, 8, 9)
    assert recipe.encoder.inner == 512


# Files


def test_a_file_that_is_not_toml_says_file_and_line(tmp_path: Path) -> None:
    path = written(tmp_path / "a.toml", "[encoder]\ndepth = 2\nheads 8\n")
    with pytest.raises(InputError) as caught:
        read_recipe(path)
    assert str(path) in str(caught.value)
    assert "line 3" in str(caught.value)
    assert "--show-recipe" in str(caught.value)


def test_a_file_that_is_not_text_says_so(tmp_path: Path) -> None:
    path = written(tmp_path / "a.toml", b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not TOML") as caught:
        read_recipe(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("make", [lambda path: None, Path.mkdir])
def test_a_file_that_cannot_be_opened_says_why(tmp_path: Path, make: Any) -> None:
    path = tmp_path / "a.toml"
    make(path)
    with pytest.raises(InputError) as caught:
        read_recipe(path)
    assert str(path) in str(caught.value)
    assert "No such file" in str(caught.value) or "Is a directory" in str(caught.value)


def test_an_unknown_key_in_a_file_names_the_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.toml", "[encoder]\nwidht = 2\n")
    with pytest.raises(UsageError) as caught:
        read_recipe(path, settings=["encoder.depth=1"])
    assert f"{path}: unknown key encoder.widht" in str(caught.value)
    assert "Did you mean encoder.width?" in str(caught.value)


@pytest.mark.parametrize(("steps", "epochs"), [(1, 60), (10, 60), (50, 20), (125, 8), (126, 8), (100_000, 8)])
def test_few_pages_are_seen_more_often(steps: int, epochs: int) -> None:
    assert read_recipe(None, settings=["training.epochs=auto"]).training.epochs_of(steps) == epochs
    assert read_recipe(None, settings=["training.epochs=3"]).training.epochs_of(steps) == 3
