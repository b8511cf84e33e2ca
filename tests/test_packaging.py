"""What a package says of itself: licences of all that it ships, and bounds of all that it needs."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NOTICE = (ROOT / "NOTICE").read_text(encoding="utf-8")
NEEDED = [*PROJECT["dependencies"], *(each for extra in PROJECT["optional-dependencies"].values() for each in extra)]


@pytest.mark.parametrize("needed", sorted(set(NEEDED)))
def test_everything_that_is_needed_has_a_lower_and_an_upper_bound(needed: str) -> None:
    assert re.fullmatch(r"[\w.-]+(==[\d.]+|>=[\d.]+,<[\d.]+)", needed)


def test_the_constraints_say_which_version_of_each_is_installed() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.lower().replace("_", "-").split("==") for line in lines if not line.startswith("#"))
    optional = PROJECT["optional-dependencies"]
    for needed in [*PROJECT["dependencies"], *optional["train"], *optional["dev"]]:
        requirement = Requirement(needed)
        assert requirement.specifier.contains(pinned[requirement.name.lower().replace("_", "-")]), needed


def test_what_tags_needs_neither_torch_nor_what_learns() -> None:
    names = {Requirement(needed).name for needed in PROJECT["dependencies"]}
    assert "onnxruntime" in names
    assert not names & {Requirement(needed).name for needed in PROJECT["optional-dependencies"]["train"]}


def test_licence_and_notice_go_into_every_package() -> None:
    assert PROJECT["license-files"] == ["LICENSE", "NOTICE"]
    assert all((ROOT / name).is_file() for name in PROJECT["license-files"])


def test_the_licence_says_whose_work_it_is() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert not re.search(r"Copyright \[", text)
    (holder,) = re.findall(r"^ +Copyright (\d{4} .+)$", text, flags=re.MULTILINE)
    assert f"Copyright {holder}\n" in NOTICE


def test_every_shipped_file_of_data_stands_in_the_notice() -> None:
    folder = resources.files("batag.features").joinpath("shipped")
    data = [path.name for path in folder.iterdir() if path.is_file() and not path.name.endswith((".py", ".md"))]
    assert len(data) >= 6
    assert [name for name in data if name not in NOTICE] == []


@pytest.mark.parametrize(
    "asked",
    [
        "chiVe v1.1 mc90",
        "Copyright (c) 2020 National Institute for Japanese Language and Linguistics and\n  Works Applications Co., Ltd.",
        "Copyright (c) 2019 Megagon Labs",
        "Public Domain Dedication and License v1.0",
        "Copyright (c) 2024 GRAYPE Systems Private Limited",
        "Copyright 2020 Baidu, Inc.",
        "Copyright (c) 2013 Sun Junyi",
        "Permission is hereby granted, free of charge",
        "The above copyright notice and this permission notice shall be included",
    ],
)
def test_the_notice_carries_what_the_makers_of_the_data_ask_for(asked: str) -> None:
    assert asked in NOTICE
