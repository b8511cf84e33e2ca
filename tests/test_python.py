"""The Python surface as a newcomer uses it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Run
from tests.tiny import QUICK, as_dict, catalogue, tiny_exported, tiny_run, tiny_tagger

import batag
from batag import BatagError, Page, Tag

DOCS = Path(__file__).parent.parent / "docs"
SMALL = as_dict(*QUICK, "training.epochs=1")


def test_the_surface_is_what_the_page_says() -> None:
    text = DOCS.joinpath("python.md").read_text(encoding="utf-8")
    assert {name for name in batag.__all__ if f"batag.{name}" not in text} == {"__version__"}
    for name in batag.__all__:
        assert getattr(batag, name) is not None


@pytest.mark.parametrize("name", [name for name in batag.__all__ if not name.startswith("_") and name[0].islower()])
def test_every_argument_is_typed_and_named_on_the_page(name: str) -> None:
    text = DOCS.joinpath("python.md").read_text(encoding="utf-8")
    for argument in inspect.signature(getattr(batag, name)).parameters.values():
        assert argument.kind is not argument.VAR_KEYWORD
        assert argument.annotation not in (argument.empty, "Any")
        assert re.search(rf"\b{argument.name}\b", text), argument.name


@pytest.mark.long
def test_the_page_can_be_pasted(batag: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import batag as package

    monkeypatch.chdir(tmp_path)
    text = DOCS.joinpath("python.md").read_text(encoding="utf-8")
    train = package.train

    def quick(*pages: Any, settings: Any, base: Any = None, **more: Any) -> Any:
        return train(*pages, settings=settings if base else SMALL | settings | {"training.epochs": 1}, base=base, **more)

    monkeypatch.setattr(package, "train", quick)
    for kind, code in re.findall(r"```(sh|python)\n(.*?)```", text, re.DOTALL):
        if kind == "sh":
            for line in code.splitlines():
                done = batag(*line.split()[1:], cwd=tmp_path)
                assert done.returncode == 0, done.stderr
        else:
            exec(code, {})
    assert (tmp_path / "tagged.xlsx").exists()


def test_a_tagger_says_what_it_is() -> None:
    tagger = tiny_tagger()
    assert repr(tagger).startswith("<Tagger ")
    for label in tagger.labels:
        assert label in repr(tagger)
    assert tagger.engine.name in repr(tagger)


def test_a_tag_becomes_a_dict_and_a_page_with_it_can_be_read_again(tmp_path: Path) -> None:
    tag = Tag("title", 0, 4, "brand", "ACME", 0.5, "acme", "model")
    expected = {"field": "title", "start": 0, "end": 4, "label": "brand", "text": "ACME"}
    assert tag.to_dict() == expected | {"score": 0.5, "normal": "acme", "source": "model"}
    assert Tag("title", 0, 4, "brand", "ACME").to_dict() == expected | {"source": "person"}
    batag.write_pages([Page("1", {"title": "ACME shoes"}, tags=(tag,))], tmp_path / "pages.jsonl")
    (page,) = batag.read_pages(tmp_path / "pages.jsonl")
    assert page.tags == (tag,)


@pytest.mark.parametrize(
    "page", [{"title": ""}, {"title": None}, {"title": " ", "description": ""}, {"fields": {}}, Page("1", {}), {"tokens": []}]
)
def test_an_empty_page_has_no_tags_and_is_no_error(page: Any) -> None:
    assert tiny_tagger().tag(page) == []
    (tags,) = tiny_tagger().tag_many([page])
    assert tags.error is None


def test_answers_come_before_many_pages_are_drawn() -> None:
    drawn = 0

    def pages() -> Iterator[dict[str, str]]:
        nonlocal drawn
        for number in range(600):
            drawn += 1
            yield {"title": f"ACME shoes {number}"}

    for answered, _ in enumerate(tiny_tagger().tag_many(pages()), 1):
        assert drawn <= 2 * answered
        assert drawn - answered < 256
    drawn = 0
    for answered, _ in enumerate(tiny_tagger().tag_many(pages(), batch=1), 1):
        assert drawn == answered


def test_settings_are_a_dict_flat_or_nested_and_progress_is_told(tmp_path: Path) -> None:
    seen: list[Any] = []
    tagger = batag.train(
        catalogue(10), dev=catalogue(3, split="dev"), out=tmp_path / "run", settings=SMALL, device="cpu", progress=seen.append
    )
    assert [type(each).__name__ for each in seen].count("EpochDone") == 1
    assert type(seen[0]).__name__ == "StepDone"
    nested = {"training": {"epochs": 1}, "encoder": {"depth": 1}}
    more = batag.train(catalogue(4), out=tmp_path / "more", settings=nested, base=tmp_path / "run", device="cpu")
    assert more.labels == tagger.labels


def test_columns_are_mapped_when_training_and_evaluating(tmp_path: Path) -> None:
    lines = ["name,labels", *(f"ACME shoes {number},brand=ACME" for number in range(12))]
    (tmp_path / "shop.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    columns = {"title": "name"}
    tagger = batag.train(
        [tmp_path / "shop.csv"], dev=tmp_path / "shop.csv", out=tmp_path / "run", settings=SMALL, columns=columns, device="cpu"
    )
    assert tagger.labels == ("brand",)
    assert batag.evaluate(tagger, tmp_path / "shop.csv", columns=columns)["pages"] == 12


def test_evaluating_is_what_the_command_prints(batag: Run, tmp_path: Path) -> None:
    import json

    import batag as package

    package.write_pages(catalogue(5, split="test"), tmp_path / "test.jsonl")
    done = batag("evaluate", tiny_run(), tmp_path / "test.jsonl", "--json")
    printed = json.loads(done.stdout)
    found = package.evaluate(tiny_run(), tmp_path / "test.jsonl")
    assert found["tags"] == printed["tags"]
    assert found["tokens"] == printed["tokens"]
    assert package.evaluate(tiny_tagger(), catalogue(5, split="test"))["pages"] == found["pages"]


MISTAKES = {
    "a folder that is none": lambda tmp: batag.load(tmp / "nothing"),
    "an engine that is none": lambda tmp: batag.load(tiny_run(), engine="tensorflow"),
    "a device that is none": lambda tmp: batag.load(tiny_run(), engine="torch", device="cuda:99"),
    "an engine on another device": lambda tmp: batag.load(tiny_exported(), engine="onnx", device="cuda"),
    "threads that are none": lambda tmp: batag.load(tiny_run(), threads=0),
    "a richness that is none": lambda tmp: tiny_tagger().tag({"title": "a"}, richness="fat"),
    "a batch that is none": lambda tmp: tiny_tagger().tag_many([], batch=0),
    "a page that is none": lambda tmp: tiny_tagger().tag({"heading": "a"}),
    "settings that are no dict": lambda tmp: batag.train(catalogue(2), out=tmp / "run", settings=["training.epochs=1"]),
    "a setting that is none": lambda tmp: batag.train(catalogue(2), out=tmp / "run", settings={"training.epoch": 1}),
    "a value that does not fit": lambda tmp: batag.train(catalogue(2), out=tmp / "run", settings={"training.epochs": "many"}),
    "no dev page": lambda tmp: batag.train(catalogue(1)[:1], out=tmp / "run", settings=SMALL),
    "a file that is none": lambda tmp: list(batag.read_pages(tmp / "nothing.csv")),
    "a table without a title": lambda tmp: list(batag.read_pages(written(tmp / "a.csv", "name,price\na,1\n"))),
    "a column that is none": lambda tmp: list(batag.read_pages(written(tmp / "a.csv", "nam\na\n"), columns={"title": "name"})),
    "a mapping the wrong way round": lambda tmp: list(
        batag.read_pages(written(tmp / "a.csv", "nam\na\n"), columns={"nam": "title"})
    ),
    "pairs in one text": lambda tmp: list(
        batag.read_pages(written(tmp / "a.csv", "name,body\na,b\n"), columns={"title": "name;description=body"})
    ),
    "one page for many": lambda tmp: tiny_tagger().tag_many("a"),
    "a format that cannot be detected": lambda tmp: list(batag.read_pages(written(tmp / "a.txt", "just a text\n"))),
    "a name without a format": lambda tmp: batag.write_pages([], tmp / "pages.docx"),
    "a format that is none": lambda tmp: batag.write_pages([], tmp / "pages", format="docx"),
    "an encoding that is none": lambda tmp: list(batag.read_pages(written(tmp / "a.csv", "title\na\n"), encoding="utf-9")),
    "nothing to score": lambda tmp: batag.evaluate(tiny_tagger(), []),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_errors_raised_in_python_give_python_advice(mistake: str, tmp_path: Path) -> None:
    with pytest.raises(BatagError) as caught:
        MISTAKES[mistake](tmp_path)
    assert re.search(r"(^|\s)--?\w", str(caught.value)) is None, str(caught.value)


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_pages_that_cannot_be_learnt_leave_nothing_behind(tmp_path: Path) -> None:
    without_labels = [Page("1", {"title": "shoes"}), Page("2", {"title": "bags"})]
    for pages in (without_labels, [*catalogue(1), "no page"]):
        with pytest.raises(BatagError):
            batag.train(pages, out=tmp_path / "run", settings=SMALL)
        assert list(tmp_path.iterdir()) == []
    mine = tmp_path / "run.pages" / "mine.txt"
    mine.parent.mkdir()
    mine.write_text("mine", encoding="utf-8")
    with pytest.raises(BatagError):
        batag.train(without_labels, out=tmp_path / "run", settings=SMALL)
    assert mine.read_text(encoding="utf-8") == "mine"
