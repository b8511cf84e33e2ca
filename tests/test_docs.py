"""What the code knows, the documentation says: a row of either without the other fails."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import fields
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement

from batag.cli.commands import COMMANDS
from batag.errors import EXTRAS, missing_package
from batag.pages.cleaning import RULES
from batag.pages.formats import FORMATS
from batag.pages.problems import KINDS
from batag.segmentation import SEGMENTATIONS
from batag.settings import Settings
from batag.training.recipe import read_recipe

ROOT = Path(__file__).parent.parent


def rows(page: str, heading: str) -> dict[str, list[str]]:
    """The table under a heading: first cell (without backticks) to the other cells."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line.startswith("| `")]
    return {row[0].strip("|` "): [cell.strip(" |") for cell in row[1:]] for row in cells}


def test_every_setting_is_documented_with_its_default_and_meaning() -> None:
    documented = rows("settings.md", "Limits")
    assert documented == {f"{s.name}": [f"{s.default:,}", str(s.metadata["help"])] for s in fields(Settings)}


def test_every_kind_of_problem_is_documented() -> None:
    assert rows("formats.md", "Problems") == {kind: [effect, meaning] for kind, (effect, meaning) in KINDS.items()}


def test_every_format_is_documented() -> None:
    assert set(rows("formats.md", "Formats")) == set(FORMATS)


def test_every_cleaning_rule_is_documented() -> None:
    assert rows("cleaning.md", "Rules") == {name: [meaning] for name, (meaning, _) in RULES.items()}


def test_every_segmentation_is_documented() -> None:
    assert set(rows("segmentation.md", "Segmentations")) == set(SEGMENTATIONS)


def test_every_command_and_option_is_documented(batag) -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in [*ROOT.glob("docs/*.md"), ROOT / "README.md"])
    for command in (name.rpartition(".")[2] for name in COMMANDS):
        assert f"batag {command}" in text
        options = set(re.findall(r"(--[a-z][a-z-]+)", batag(command, "--help", COLUMNS="200").stdout)) - {"--help"}
        missing = {option for option in options if option not in text}
        assert not missing, f"batag {command}: {missing}"


def test_every_dependency_has_a_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = chain(project["dependencies"], *project["optional-dependencies"].values())
    names = {Requirement(each).name for each in needed}
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert not names - {*re.findall(r"^\| `([\w-]+)` \| \S", contributing, re.MULTILINE)}


def test_a_missing_package_of_any_extra_is_an_error_that_names_the_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    needed = {extra: {Requirement(each).name for each in packages} for extra, packages in extras.items()}
    assert {extra: {*packages} for extra, packages in EXTRAS.items()} == {
        extra: packages for extra, packages in needed.items() if extra not in ("dev", "bench")
    }
    error = missing_package(ModuleNotFoundError("No module named 'fsspec'", name="fsspec.core"))
    assert str(error) == "this needs fsspec, which is not installed. pip install 'batag[ray]'"
    assert missing_package(ModuleNotFoundError("No module named 'batag.x'", name="batag.x")) is None


def test_no_folder_has_more_than_20_files() -> None:
    folders = Counter(path.parent for path in (ROOT / "src").rglob("*.py"))
    assert not {str(folder): files for folder, files in folders.items() if files > 20}


def test_no_file_is_a_room_without_a_name_or_too_long() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        assert path.stem not in {"utils", "util", "common", "core", "helpers", "misc", "base"}
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 300, path


def test_every_recipe_can_be_trained_and_says_what_to_expect() -> None:
    recipes = sorted((ROOT / "recipes").glob("*.toml"))
    assert len(recipes) >= 5
    for path in recipes:
        head = path.read_text(encoding="utf-8").split("\n\n", 1)[0]
        assert head.startswith("# ")
        assert all(word in head for word in ("Expect", "torch", "python benchmarks/"))
        read_recipe(path)


def test_every_relative_link_leads_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/**/*.md")]:
        for link in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            assert "://" in link or (page.parent / link).exists(), f"{page}: {link}"


def test_no_line_of_prose_is_over_160_characters() -> None:
    pages = [*ROOT.glob("README*.md"), *(ROOT / f"{name}.md" for name in ("CONTRIBUTING", "SECURITY", "CHANGELOG"))]
    long = []
    for page in [*pages, *ROOT.glob("docs/**/*.md")]:
        code = False
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            code ^= line.lstrip().startswith("```")
            if not code and not line.lstrip().startswith("|") and len(line) > 160:
                long.append(f"{page.relative_to(ROOT)}:{number}")
    assert not long


LONGEST_SENTENCE = 30


def sentences(markdown: str) -> list[str]:
    """The sentences of the prose, without code blocks, tables and headings; inline code is one word, a link is its text."""
    blocks, code = [""], False
    for line in markdown.splitlines():
        fence = line.lstrip().startswith("```")
        code ^= fence
        if fence or code or line.startswith(("    ", "#")) or line.lstrip().startswith("|") or not line.strip():
            blocks.append("")
        elif re.match(r" *([-*]|\d+\.) ", line):
            blocks.append(re.sub(r"^ *([-*]|\d+\.) ", "", line))
        else:
            blocks[-1] += f" {line.strip()}"
    prose = [re.sub(r"`+[^`]+`+", "code", re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", block)) for block in blocks]
    return [sentence for block in prose for sentence in re.split(r"""(?<=[.!?:;])[)"'*_]*\s""", block) if sentence.strip()]


def test_sentences_are_cut_where_a_reader_pauses() -> None:
    prose = "Tags: `a b c` has 0.5. See [a b](c.md).\n\n- **One** of\n  two; three\n- four!\n"
    text = f"# Not this one\n\n{prose}\n```sh\nno\n```\n| no |\n\n    no\n"
    assert [each.split() for each in sentences(text)] == [
        ["Tags:"],
        ["code", "has", "0.5."],
        ["See", "a", "b."],
        ["**One**", "of", "two;"],
        ["three"],
        ["four!"],
    ]


def test_no_sentence_of_the_docs_is_over_30_words() -> None:
    long = [
        f"{page.name}: {sentence.strip()}"
        for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
        for sentence in sentences(page.read_text(encoding="utf-8"))
        if len(sentence.split()) > LONGEST_SENTENCE
    ]
    assert not long, "\n".join(long)
