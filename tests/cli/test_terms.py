"""`batag terms explain|merge|import|map` as a person meets them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.strategies import written
from tests.terms.categories import CATEGORIES, google_lines, shopify_files, shopify_lines, write
from tests.tiny import typed

Done = subprocess.CompletedProcess[str]


def answer(*arguments: object, stdin: bytes = b"") -> Any:
    done = typed("terms", *arguments, "--json", stdin=stdin)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refused(done: Done, code: int, *says: str) -> None:
    """A command that failed says why in a few lines, and prints nothing else."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert 1 <= len(done.stderr.strip().splitlines()) <= 6, done.stderr
    joined = " ".join(done.stderr.split())
    assert "Traceback" not in joined
    assert all(each in joined for each in says), done.stderr


@pytest.fixture
def taxonomy(tmp_path: Path) -> Path:
    out = tmp_path / "ours.tsv"
    assert typed("terms", "import", *shopify_files(tmp_path), "--out", out).returncode == 0
    return out


@pytest.fixture
def tagged(tmp_path: Path) -> Path:
    rows = []
    for number in range(6):
        brand = "艾克米" if number % 2 else "Akmee"
        title = f"{brand} 冰箱"
        tags = [
            {"field": "title", "start": 0, "end": len(brand), "label": "brand", "text": brand},
            {"field": "title", "start": len(brand) + 1, "end": len(title), "label": "goods", "text": "冰箱"},
        ]
        rows.append({"id": str(number), "title": title, "brand": "AKMEE", "tags": tags})
    tag = {"field": "title", "start": 0, "end": 2, "label": "goods", "text": "香蕉"}
    rows.append({"id": "6", "title": "香蕉", "tags": [tag]})
    return written(tmp_path / "tagged.jsonl", "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in rows))


# Help and wrong usage


@pytest.mark.parametrize("command", ["explain", "merge", "import", "map"])
def test_each_command_explains_itself_and_offers_json(command: str) -> None:
    done = typed("terms", command, "--help")
    assert done.returncode == 0
    assert "--json" in done.stdout
    assert command in typed("terms", "--help").stdout


def test_the_group_is_listed_and_explains_itself() -> None:
    assert " terms " in typed("--help").stdout
    done = typed("terms")
    assert "import" in done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain",),
        ("merge",),
        ("import",),
        ("import", "x.txt"),
        ("map", "x.jsonl"),
        ("explian", "x"),
        ("explain", "x", "--language", "klingon"),
        ("explain", "x", "--canonical-language", "klingon"),
        ("explain", "x", "--colour"),
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_2(arguments: tuple[str, ...]) -> None:
    refused(typed("terms", *arguments), 2)


# explain


def test_explain_says_which_rule_did_what_and_where_it_leads() -> None:
    done = typed("terms", "explain", "Levi’s")
    assert done.returncode == 0
    assert all(each in done.stdout for each in ("case", "apostrophes", "levis", "lexicon", "brand", "Levi's"))
    found = answer("explain", "Levi’s")
    assert set(found) == {"text", "steps", "key", "canonical", "by", "entry", "others", "category"}
    assert (found["key"], found["category"]) == ("levis", None)


def test_explain_says_whether_texts_are_the_same() -> None:
    assert "\nthe same" in typed("terms", "explain", "日立", "HITACHI").stdout
    assert "not the same" in typed("terms", "explain", "日立", "Sony").stdout
    found = answer("explain", "RG-599", "RG 599", "rg599")
    assert (found["same"], len(found["terms"])) == (True, 3)
    assert answer("explain", "RG-599", "RG-598")["same"] is False


def test_explain_uses_label_language_synonyms_and_taxonomy(tmp_path: Path, taxonomy: Path) -> None:
    assert answer("explain", "蘋果", "--label", "brand")["entry"]["id"] == "Apple"
    assert answer("explain", "蘋果", "--label", "goods")["entry"]["kind"] == "goods"
    assert answer("explain", "冰箱", "--canonical-language", "ja")["canonical"] == "冷蔵庫"
    synonyms = written(tmp_path / "synonyms.txt", "Acme = 艾克米\n")
    assert answer("explain", "艾克米", "--synonyms", synonyms)["by"] == "synonyms"
    found = answer("explain", "防水登山鞋", "--label", "goods", "--taxonomy", taxonomy)["category"]
    assert (found["id"], found["by"]) == ("aa-1-2", "suffix")
    assert found["path"] == "Apparel & Accessories > Shoes > Hiking Boots"
    assert "aa-1-2" in typed("terms", "explain", "防水登山鞋", "--taxonomy", taxonomy).stdout


@pytest.mark.parametrize("text", ["", "!!!", "[red]x[/red]", "\x1b[31m", "免運", "a" * 100_000, "\ud800"])
def test_explain_takes_any_text(text: str) -> None:
    done = typed("terms", "explain", text)
    assert done.returncode == 0, done.stderr
    assert "\x1b[31m" not in done.stdout
    answer("explain", text)


# import


def test_import_writes_one_file_and_says_what_is_in_it(tmp_path: Path) -> None:
    files = shopify_files(tmp_path)
    out = tmp_path / "ours.tsv"
    found = answer("import", *files, "--out", out)
    assert found == {
        "source": "shopify",
        "version": "2026-02",
        "languages": ["en", "zh-Hant", "zh-Hans", "ja"],
        "categories": len(CATEGORIES),
        "out": str(out),
    }
    done = typed("terms", "import", write(tmp_path / "google.txt", google_lines(ids=True)), "--out", tmp_path / "g.tsv")
    assert "12 categories of google 2021-09-21 in en" in " ".join(done.stdout.split())


def test_import_refuses_a_damaged_file_and_leaves_nothing(tmp_path: Path) -> None:
    bad = write(tmp_path / "bad.txt", [*shopify_lines()[:6], "gid://shop"])
    refused(typed("terms", "import", bad, "--out", tmp_path / "ours.tsv"), 1, "bad.txt:7", "cut")
    assert not (tmp_path / "ours.tsv").exists()
    (first,) = shopify_files(tmp_path, "en")
    before = first.read_bytes()
    refused(typed("terms", "import", first, "--out", first), 2, "both input and output")
    assert first.read_bytes() == before
    refused(
        typed("terms", "import", first, first, "--out", tmp_path / "o.tsv", "--language", "en"), 2, "--language is for one file"
    )


# merge


def test_merge_writes_a_proposal_that_a_person_accepts_by_renaming_it(tmp_path: Path, tagged: Path) -> None:
    out = tmp_path / "synonyms.proposed"
    done = typed("terms", "merge", tagged, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "1 proposal" in done.stdout
    before = answer("explain", "艾克米", "Akmee")
    assert before["same"] is False
    accepted = out.rename(tmp_path / "synonyms.txt")
    assert answer("explain", "艾克米", "Akmee", "--synonyms", accepted)["same"] is True
    done = typed("terms", "merge", tagged, "--out", out, "--synonyms", accepted)
    assert "nothing was written" in " ".join(done.stdout.split())
    assert not out.exists()


def test_merge_gives_its_evidence_as_json(tmp_path: Path, tagged: Path) -> None:
    found = answer("merge", tagged, "--out", tmp_path / "s.proposed")
    (proposal,) = found["proposals"]
    assert (proposal["label"], set(proposal["texts"]), proposal["tags"]) == ("brand", {"艾克米", "Akmee"}, [3, 3])
    assert proposal["evidence"][0]["kind"] == "column"


def test_merge_never_writes_over_a_file_or_under_another_name(tmp_path: Path, tagged: Path) -> None:
    refused(typed("terms", "merge", tagged, "--out", tmp_path / "synonyms.txt"), 2, ".proposed")
    assert not (tmp_path / "synonyms.txt").exists()
    there = written(tmp_path / "s.proposed", "mine\n")
    refused(typed("terms", "merge", tagged, "--out", there), 1, "is there already")
    assert there.read_text(encoding="utf-8") == "mine\n"


def test_merge_reads_standard_input(tmp_path: Path, tagged: Path) -> None:
    found = answer("merge", "-", "--out", tmp_path / "s.proposed", stdin=tagged.read_bytes())
    assert len(found["proposals"]) == 1


# map


def test_map_prints_the_share_mapped_and_the_unmapped_by_count(tagged: Path, taxonomy: Path) -> None:
    found = answer("map", tagged, "--taxonomy", taxonomy)
    assert (found["tags"], found["forms"]) == ({"all": 7, "mapped": 6}, {"all": 2, "mapped": 1})
    assert found["unmapped"] == [{"text": "香蕉", "tags": 1}]
    text = " ".join(typed("terms", "map", tagged, "--taxonomy", taxonomy).stdout.split())
    assert "85.7 % of 7 tags and 50.0 % of 2 forms have a category" in text
    assert "香蕉" in text


def test_map_takes_a_label_and_refuses_one_that_is_not_there(tagged: Path, taxonomy: Path) -> None:
    assert answer("map", tagged, "--taxonomy", taxonomy, "--label", "brand")["tags"]["mapped"] == 0
    refused(
        typed("terms", "map", tagged, "--taxonomy", taxonomy, "--label", "colour"), 2, "no tag with the label 'colour'", "goods"
    )


# Bad files


@pytest.mark.parametrize("command", ["merge", "map"])
def test_pages_without_tags_are_said(tmp_path: Path, taxonomy: Path, command: str) -> None:
    pages = written(tmp_path / "p.jsonl", '{"title": "冰箱"}\n')
    more = ["--out", tmp_path / "s.proposed"] if command == "merge" else []
    refused(typed("terms", command, pages, "--taxonomy", taxonomy, *more), 1, "has no tags", "batag tag")
    refused(typed("terms", command, tmp_path / "none.jsonl", "--taxonomy", taxonomy, *more), 1, "none.jsonl")


def test_bad_synonyms_and_taxonomies_are_one_clear_line(tmp_path: Path, taxonomy: Path) -> None:
    cycle = written(tmp_path / "cycle.txt", "aa = bb\nbb = aa\n")
    refused(typed("terms", "explain", "x", "--synonyms", cycle), 1, "cycle.txt:1", "cycle", "lines 1, 2")
    text = taxonomy.read_text(encoding="utf-8")
    old = written(tmp_path / "old.tsv", text.replace('"format": 1', '"format": 0'))
    refused(typed("terms", "explain", "x", "--taxonomy", old), 1, "another version", "batag terms import")
    cut = written(tmp_path / "cut.tsv", text[: len(text) // 2])
    refused(typed("terms", "explain", "x", "--taxonomy", cut), 1, "whole lines and a part of one instead of")


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    huge = tmp_path / "huge.txt"
    with huge.open("wb") as stream:
        stream.truncate(1_000_000_000)
    refused(typed("terms", "explain", "x", "--synonyms", huge), 1, "too large", "BATAG_MAX_TERMS_BYTES")
    refused(typed("terms", "explain", "x", "--taxonomy", huge), 1, "too large")
    refused(typed("terms", "import", huge, "--out", tmp_path / "o.tsv"), 1, "too large")


# Odd and bad files


@pytest.mark.parametrize(
    ("text", "note"), [("", "own.txt: has no synonyms"), ("Acme = Aa1\nAcme = Aa1\n", "own.txt:2: 'Aa1' is listed")]
)
def test_odd_synonyms_work_with_a_note_apart_from_the_answer(tmp_path: Path, text: str, note: str) -> None:
    path = written(tmp_path / "own.txt", text)
    done = typed("terms", "explain", "日立", "--synonyms", path, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["canonical"] == "HITACHI"
    assert note in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_list_without_paths_is_imported_with_a_note(tmp_path: Path) -> None:
    done = typed("terms", "import", write(tmp_path / "flat.csv", ["path", "Shoes", "Hats"]), "--out", tmp_path / "o.tsv")
    assert done.returncode == 0
    assert "all 2 categories are at the top" in done.stderr
    assert "2 categories of shop" in done.stdout


@pytest.mark.parametrize("data", [b"", b"\xff\xfea\0", b"\0\1\2", b"x" * 300_000], ids=["empty", "utf-16", "binary", "long"])
def test_a_file_that_has_no_tagged_pages_is_refused(tmp_path: Path, taxonomy: Path, data: bytes) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes(data)
    refused(typed("terms", "merge", bad, "--out", tmp_path / "a.proposed"), 1, "bad.txt")
    refused(typed("terms", "map", bad, "--taxonomy", taxonomy), 1, "bad.txt")
    assert not (tmp_path / "a.proposed").exists()


def test_a_folder_is_refused_wherever_a_file_is_meant(tmp_path: Path, tagged: Path, taxonomy: Path) -> None:
    out = tmp_path / "a.proposed"
    refused(typed("terms", "merge", tmp_path, "--out", out), 1, "is a folder")
    refused(typed("terms", "map", tmp_path, "--taxonomy", taxonomy), 1, "is a folder")
    refused(typed("terms", "map", tagged, "--taxonomy", tmp_path), 1, "Is a directory")
    refused(typed("terms", "import", tmp_path, "--out", tmp_path / "o.tsv"), 1, "Is a directory")
    refused(typed("terms", "explain", "x", "--synonyms", tmp_path), 1, "Is a directory")
