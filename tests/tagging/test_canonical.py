"""Tagged output says the canonical form of each tag, and its category if there is a taxonomy, in every format and in Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.strategies import read_all, written
from tests.terms.categories import shopify_files
from tests.tiny import ScriptedEngine, make_bundle, scripted_tagger, tiny_run, typed

import batag
from batag.bundles.bundle import read_bundle
from batag.errors import InputError
from batag.pages.page import Page
from batag.tagging.tagger import Tagger
from batag.terms.sources import import_taxonomy
from batag.terms.taxonomy import write_taxonomy
from batag.terms.terms import Terms

LABELS = {"日立": "brand", "hitachi": "brand", "冰箱": "goods", "refrigerators": "goods", "防水": "feature", "現貨": "goods"}
TITLES = ["HITACHI x 冰箱", "日立 x 防水", "refrigerators of Hitachi", "nothing"]
NAMED = [
    [("HITACHI", "HITACHI", None), ("冰箱", "refrigerator", "ha-1")],
    [("日立", "HITACHI", None), ("防水", "waterproof", None)],
    [("refrigerators", "refrigerator", "ha-1"), ("Hitachi", "HITACHI", None)],
    [],
]
FORMATS = ["jsonl", "csv", "tsv", "parquet", "xlsx"]


def label(word: str) -> str | None:
    return LABELS.get(word.lower())


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bundle whose tagger knows these words."""
    folder = make_bundle(tmp_path / "bundle")
    made = read_bundle(folder)

    def load(*_: Any, terms: Terms | None = None, **__: Any) -> Tagger:
        return Tagger(made, engine=ScriptedEngine(made.scheme, label), terms=terms)

    monkeypatch.setattr("batag.tagging.tagger.Tagger.load", load)
    return folder


@pytest.fixture
def taxonomy(tmp_path: Path) -> Path:
    path = tmp_path / "ours.tsv"
    write_taxonomy(import_taxonomy(shopify_files(tmp_path)), path)
    return path


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    lines = [json.dumps({"id": str(number), "title": title}) for number, title in enumerate(TITLES)]
    return written(tmp_path / "pages.jsonl", "\n".join(lines) + "\n")


def named(pages: list[Page]) -> list[list[tuple[str, str | None, str | None]]]:
    return [[(tag.text, tag.canonical, tag.category) for tag in page.tags] for page in pages]


def without_category(rows: list[list[tuple[str, str, Any]]]) -> list[list[tuple[str, str, None]]]:
    return [[(text, canonical, None) for text, canonical, _ in row] for row in rows]


@pytest.mark.parametrize("format", FORMATS)
def test_a_tagged_file_has_canonical_forms_and_categories(
    bundle: Path, pages: Path, taxonomy: Path, tmp_path: Path, format: str
) -> None:
    for more, expected in (([], without_category(NAMED)), (["--taxonomy", taxonomy], NAMED)):
        out = tmp_path / f"tagged{len(more)}.{format}"
        done = typed("tag", bundle, pages, "--out", out, "--workers", "1", *more)
        assert done.returncode == 0, done.stderr
        assert named(read_all(out)) == expected


def test_json_lines_on_standard_output_have_them_too_and_leave_out_what_is_not_set(
    bundle: Path, pages: Path, taxonomy: Path
) -> None:
    rows = [
        json.loads(line)["tags"] for line in typed("tag", bundle, pages, "--json", "--taxonomy", taxonomy).stdout.splitlines()
    ]
    assert [[(tag["text"], tag["canonical"], tag.get("category")) for tag in row] for row in rows] == NAMED
    assert all(("category" in tag) == (tag["label"] == "goods") for row in rows for tag in row)


def test_the_column_of_a_parquet_file_has_both_fields_even_if_empty(bundle: Path, pages: Path, tmp_path: Path) -> None:
    assert typed("tag", bundle, pages, "--out", tmp_path / "t.parquet", "--workers", "1").returncode == 0
    names = {field.name for field in pq.read_schema(tmp_path / "t.parquet").field("tags").type.value_type}
    assert {"canonical", "category"} <= names


def test_a_text_on_the_command_line_is_named_by_synonyms_and_language(bundle: Path, tmp_path: Path) -> None:
    synonyms = written(tmp_path / "synonyms.txt", "Hitachi Taiwan = 日立\n")
    done = typed("tag", bundle, "日立 x 冰箱", "--json", "--synonyms", synonyms, "--canonical-language", "ja")
    assert [tag["canonical"] for tag in json.loads(done.stdout)["tags"]] == ["Hitachi Taiwan", "冷蔵庫"]


def test_python_gives_them_beside_the_text() -> None:
    tagger = scripted_tagger(label)
    assert [(tag.text, tag.canonical) for tag in tagger.tag({"title": "日立 x 冰箱"})] == [
        ("日立", "HITACHI"),
        ("冰箱", "refrigerator"),
    ]
    assert [[tag.canonical for tag in tags] for tags in tagger.tag_many([{"title": title} for title in TITLES])] == [
        [canonical for _, canonical, _ in row] for row in NAMED
    ]


def test_load_takes_synonyms_taxonomy_and_language(tmp_path: Path, taxonomy: Path) -> None:
    synonyms = written(tmp_path / "synonyms.txt", "Acme = 艾克米\n")
    tagger = batag.load(tiny_run(), synonyms=synonyms, taxonomy=taxonomy, canonical_language="zh-Hant")
    assert tagger.terms.meaning("艾克米").canonical == "Acme"
    found = tagger.terms.meaning("refrigerator", label="goods")
    assert found.category is not None
    assert (found.canonical, found.category.id) == ("冰箱", "ha-1")
    with pytest.raises(InputError, match="cannot be read"):
        batag.load(tiny_run(), synonyms=tmp_path / "none.txt")


def test_words_of_advertising_have_no_canonical_form() -> None:
    tags = scripted_tagger(label).tag({"title": "現貨 x 冰箱"})
    assert {tag.text: tag.canonical for tag in tags}.get("現貨") is None
    assert "canonical" not in next((tag.as_dict() for tag in tags if tag.text == "現貨"), {})


def test_a_job_with_other_synonyms_is_said_and_not_mixed(bundle: Path, pages: Path, tmp_path: Path) -> None:
    synonyms = written(tmp_path / "synonyms.txt", "Hitachi Taiwan = 日立\n")
    out = tmp_path / "out"
    assert typed("tag", bundle, pages, "--out", f"{out}/", "--to", "jsonl", "--workers", "1").returncode == 0
    done = typed("tag", bundle, pages, "--out", f"{out}/", "--to", "jsonl", "--workers", "1", "--synonyms", synonyms)
    assert done.returncode == 1
    assert "different terms" in done.stderr
    done = typed(
        "tag", bundle, pages, "--out", f"{out}/", "--to", "jsonl", "--workers", "1", "--synonyms", synonyms, "--restart"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("option", ["--synonyms", "--taxonomy"])
def test_the_output_never_takes_the_place_of_the_files_of_terms(
    bundle: Path, pages: Path, taxonomy: Path, tmp_path: Path, option: str
) -> None:
    own = {"--taxonomy": taxonomy, "--synonyms": written(tmp_path / "synonyms.txt", "Acme = 艾克米\n")}[option]
    target = own.with_suffix(".jsonl")
    own.rename(target)
    before = target.read_bytes()
    for extra in ([], ["--restart"]):
        done = typed("tag", bundle, pages, "--out", target, option, target, "--workers", "1", *extra)
        assert done.returncode != 0
        assert len(done.stderr.strip().splitlines()) <= 3
        assert target.read_bytes() == before
