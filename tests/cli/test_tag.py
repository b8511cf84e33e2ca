"""`batag tag` as a person meets it: files in and out, texts, pipes, and every way it can go wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.strategies import read_all, read_with_problems, written
from tests.tiny import catalogue, make_bundle, tiny_run, tiny_tagger, typed

from batag.pages.formats import write_pages
from batag.pages.page import Page, Tag
from batag.tagging.tagger import distinct

Done = subprocess.CompletedProcess[str]
TEXT = "NOTEL Smart Rice Cooker"


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    return [Page(page.id, page.fields, language=page.language, shop=page.shop) for page in catalogue(4, split="test")]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, pages: list[Page]) -> Path:
    folder = tmp_path_factory.mktemp("files")
    for name in ("p.jsonl", "p.csv", "p.tsv", "p.parquet", "p.jsonl.gz", "p.jsonl.zst", "p.csv.gz"):
        write_pages(pages, folder / name)
    (folder / "empty.jsonl").write_bytes(b"")
    lines = (f'{{"title": "{TEXT}"}}', "not json", '{"title": 5}', '{"x": 1}', '{"title": "b"}')
    (folder / "bad.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "only-bad.jsonl").write_text("not json\n", encoding="utf-8")
    (folder / "folder").mkdir()
    return folder


def records(done: Done) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def message(done: Done, code: int, *says: str) -> str:
    """The message of a command that failed: its code, at most five lines, nothing on standard output."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert 1 <= len(lines) <= 5, done.stderr
    for each in says:
        assert each in done.stderr, done.stderr
    return lines[-1]


def seen(tags: Any) -> list[tuple[Any, ...]]:
    return [(tag.field, tag.start, tag.end, tag.label, tag.text, pytest.approx(tag.score, abs=1e-4)) for tag in tags]


def expected(pages: list[Page]) -> list[list[tuple[Any, ...]]]:
    return [seen(tags) for tags in tiny_tagger().tag_many(pages)]


# What works


@pytest.mark.parametrize("name", ["p.jsonl", "p.csv", "p.tsv", "p.parquet", "p.jsonl.gz", "p.jsonl.zst", "p.csv.gz"])
def test_a_file_of_any_format_is_tagged_and_its_tagged_file_is_read_again(
    files: Path, pages: list[Page], name: str, tmp_path: Path
) -> None:
    out = tmp_path / f"tagged.{name.removeprefix('p.')}"
    done = typed("tag", tiny_run(), files / name, "--out", out)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "12 pages tagged" in done.stderr
    tagged, problems = read_with_problems(out)
    assert not len(problems)
    assert [page.id for page in tagged] == [page.id for page in pages]
    assert [dict(page.fields) for page in tagged] == [dict(page.fields) for page in pages]
    assert [seen(page.tags) for page in tagged] == expected(pages)
    assert all(page.labelled and page.shop for page in tagged)
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


def test_a_tagged_file_can_be_tagged_again_and_stays_the_same(files: Path, tmp_path: Path) -> None:
    once, twice = tmp_path / "once.jsonl", tmp_path / "twice.jsonl"
    assert typed("tag", tiny_run(), files / "p.jsonl", "--out", once).returncode == 0
    assert typed("tag", tiny_run(), once, "--out", twice).returncode == 0
    assert once.read_bytes() == twice.read_bytes()


def test_a_tagged_page_has_text_score_and_error(files: Path, pages: list[Page]) -> None:
    found = records(typed("tag", tiny_run(), files / "p.jsonl", "--json"))
    for record, page in zip(found, pages, strict=True):
        assert record["error"] is None
        assert record["language"] == page.language
        for tag in record["tags"]:
            assert tag["text"] == record[tag["field"]][tag["start"] : tag["end"]]
            assert 0 <= tag["score"] <= 1
    assert sum(len(record["tags"]) for record in found) > 12


def test_column_formats_get_tokens_cut_at_the_tags(files: Path, tmp_path: Path) -> None:
    for name in ("tagged.conll", "tagged.words"):
        assert typed("tag", tiny_run(), files / "p.jsonl", "--out", tmp_path / name).returncode == 0
        tagged = read_all(tmp_path / name)
        assert sum(len(page.tags) for page in tagged) > 12


def test_what_stands_beside_title_and_description_is_kept(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(f'{{"id": 7, "title": "{TEXT}", "price": 5.5, "url": "x"}}\n', encoding="utf-8")
    (record,) = records(typed("tag", tiny_run(), tmp_path / "p.jsonl"))
    assert (record["id"], record["price"], record["url"]) == ("7", 5.5, "x")


def test_tags_and_an_error_of_the_input_do_not_leak_into_the_output(tmp_path: Path) -> None:
    line = {"title": TEXT, "tags": [{"start": 0, "end": 3, "label": "old"}], "error": "old", "labels": {"old": "Rice"}}
    (tmp_path / "p.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    (record,) = records(typed("tag", tiny_run(), tmp_path / "p.jsonl"))
    assert "old" not in {tag["label"] for tag in record["tags"]}
    assert [tag["text"] for tag in record["tags"]] == [tag.text for tag in tiny_tagger().tag({"title": TEXT})]
    assert record["error"] is None


def test_texts_are_tagged_as_titles() -> None:
    found = records(typed("tag", tiny_run(), TEXT, "ACME 跑鞋", "x.y z"))
    assert [record["title"] for record in found] == [TEXT, "ACME 跑鞋", "x.y z"]
    assert [(tag["start"], tag["label"]) for tag in found[0]["tags"]] == [
        (tag.start, tag.label) for tag in tiny_tagger().tag({"title": TEXT})
    ]


def test_lines_of_standard_input_are_pages_and_a_dash_is_a_file(files: Path) -> None:
    lines = [TEXT, "", "全新 ACME 跑鞋", "last line without an end"]
    found = records(typed("tag", tiny_run(), stdin="\r\n".join(lines).encode()))
    assert [record["title"] for record in found] == lines
    assert found[1]["tags"] == []
    piped = records(typed("tag", tiny_run(), "-", stdin=(files / "p.jsonl").read_bytes()))
    assert len(piped) == 12
    assert records(typed("tag", tiny_run(), stdin=b"")) == []
    assert records(typed("tag", tiny_run(), stdin=b"\xff\xfe shoes \x00\n"))[0]["title"] == "\ufffd\ufffd shoes \0"


def test_distinct_keeps_one_tag_a_text_and_label(files: Path, pages: list[Page], tmp_path: Path) -> None:
    found = records(typed("tag", tiny_run(), files / "p.jsonl", "--distinct"))
    views = [distinct(tags) for tags in tiny_tagger().tag_many(pages)]
    assert [[(tag["label"], tag["text"]) for tag in record["tags"]] for record in found] == [
        [(tag.label, tag.text) for tag in view] for view in views
    ]
    assert typed("tag", tiny_run(), files / "p.jsonl", "--distinct", "--out", tmp_path / "t.jsonl").returncode == 0
    tagged, problems = read_with_problems(tmp_path / "t.jsonl")
    assert not len(problems)
    assert sum(len(page.tags) for page in tagged) == sum(map(len, views))


def test_more_stop_words_are_no_tags(tmp_path: Path) -> None:
    every = {tag.text for tag in tiny_tagger().tag({"title": TEXT})}
    assert every
    (tmp_path / "stop.txt").write_text("\n".join(every), encoding="utf-8")
    (record,) = records(typed("tag", tiny_run(), TEXT, "--stop-words", tmp_path / "stop.txt"))
    assert record["tags"] == []


def test_columns_language_format_and_encoding_of_the_input_may_be_said(tmp_path: Path) -> None:
    (tmp_path / "shop.txt").write_bytes("name;body\n跑鞋 ACME;全新\n".encode("big5"))
    arguments = ("--format", "csv", "--columns", "title=name,description=body", "--encoding", "big5", "--language", "zh-TW")
    (record,) = records(typed("tag", tiny_run(), tmp_path / "shop.txt", *arguments))
    assert (record["title"], record["description"], record["language"]) == ("跑鞋 ACME", "全新", "zh-Hant")


def test_an_output_of_any_name_is_written_in_the_format_that_is_said(files: Path, tmp_path: Path) -> None:
    assert typed("tag", tiny_run(), files / "p.jsonl", "--out", tmp_path / "out", "--to", "csv").returncode == 0
    assert len(read_all(tmp_path / "out", format="csv")) == 12
    found = records(typed("tag", tiny_run(), files / "p.jsonl", "--out", "-"))
    assert len(found) == 12


@pytest.mark.parametrize("out", [("--out", "-"), ()])
def test_standard_output_has_the_format_that_is_said(files: Path, tmp_path: Path, out: tuple[str, ...]) -> None:
    done = typed("tag", tiny_run(), files / "p.jsonl", *out, "--to", "csv", "--bom")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("\ufeffid,")
    assert "12 pages tagged in standard output" in done.stderr
    again = read_all(written(tmp_path / "again.csv", done.stdout))
    assert len(again) == 12
    assert {tag.source for page in again for tag in page.tags} == {"model"}


def test_one_page_is_said_in_the_singular() -> None:
    assert "1 page tagged in standard output" in typed("tag", tiny_run(), "NORDVIK shoes", "--to", "csv").stderr


# As a process


def test_a_process_tags_a_file_and_says_how_many(batag: Any, files: Path, pages: list[Page], tmp_path: Path) -> None:
    done = batag("tag", tiny_run(), files / "p.jsonl.gz", "--out", tmp_path / "t.jsonl.gz")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "12 pages tagged" in done.stderr
    assert [seen(page.tags) for page in read_all(tmp_path / "t.jsonl.gz")] == expected(pages)


def test_a_reader_that_leaves_early_ends_the_command_quietly(tmp_path: Path) -> None:
    many = [Page(f"{page.id}-{number}", page.fields) for page in catalogue(12) for number in range(20)]
    write_pages(many, tmp_path / "p.jsonl")
    script = Path(sys.executable).with_name("batag")
    with subprocess.Popen(
        [script, "tag", tiny_run(), tmp_path / "p.jsonl"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["tags"] is not None
        process.stdout.close()
        messages = process.stderr.read().decode()
        assert process.wait(timeout=60) == 0
    assert messages == ""


def test_a_line_of_standard_input_over_the_limit_is_no_page(batag: Any) -> None:
    done = batag("tag", tiny_run(), stdin=f"{TEXT}\n{'shoes ' * 100}\n{TEXT}\n", BATAG_MAX_PAGE_CHARACTERS="100")
    found = records(done)
    assert sum(bool(record["tags"]) for record in found if len(record["title"]) <= 100) == 2
    assert not any(record["tags"] for record in found if len(record["title"]) > 100)
    assert "100" in done.stderr or any(record["error"] for record in found)


# What goes wrong


def test_a_bad_record_never_stops_the_job_and_is_counted(files: Path, tmp_path: Path) -> None:
    done = typed("tag", tiny_run(), files / "bad.jsonl", "--problems", tmp_path / "problems.jsonl")
    assert [record["title"] for record in records(done)] == [TEXT, "5", "b"]
    assert "bad.jsonl:2" in done.stderr
    assert "3 problems: 2 page skipped, 1 repaired" in done.stderr
    listed = [json.loads(line) for line in (tmp_path / "problems.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [problem["kind"] for problem in listed] == ["bad-json", "number-as-text", "empty-page"]


WRONG: dict[str, tuple[tuple[str, ...], int, tuple[str, ...]]] = {
    "a missing file": (("nothing.jsonl",), 1, ("nothing.jsonl", "cannot be opened")),
    "a missing compressed file": (("nothing.csv.gz",), 1, ("nothing.csv.gz", "cannot be opened")),
    "a missing file among others": (("p.jsonl", "nothing.parquet", "--out", "t.jsonl"), 1, ("nothing.parquet",)),
    "a missing file of JSON": (("nothing.json", "--out", "t.jsonl"), 1, ("nothing.json",)),
    "an empty file": (("empty.jsonl", "--out", "t.jsonl"), 1, ("empty.jsonl", "no page could be read")),
    "a file without a page": (("only-bad.jsonl", "--out", "t.jsonl"), 1, ("only-bad.jsonl:1", "no page could be read")),
    "a bad record read strictly": (("bad.jsonl", "--strict", "--out", "t.jsonl"), 1, ("bad.jsonl:2", "--strict")),
    "an output of no format": (("p.jsonl", "--out", "t.docx"), 2, ("t.docx", "--to")),
    "an output that is not written": (("p.jsonl", "--out", "t.xls"), 2, ("t.xls", "--to")),
    "an output compressed twice": (("p.jsonl", "--out", "t.parquet.gz"), 2, ("t.parquet.gz", ".parquet")),
    "an output in a folder that is not there": (("p.jsonl", "--out", "no/t.jsonl"), 1, ("no/t.jsonl", "cannot be written")),
    "an unknown format to write": (("p.jsonl", "--out", "t", "--to", "jsnol"), 2, ("jsnol", "jsonl")),
    "an unknown format to read": (("p.jsonl", "--format", "jsnol"), 2, ("jsnol", "jsonl")),
    "a device that is not there": (("p.jsonl", "--device", "cuda"), 2, ("cuda", "--device cpu")),
    "a device that does not exist": (("p.jsonl", "--device", "gpu"), 2, ("gpu", "auto, cpu")),
    "a language that is not ours": (("p.jsonl", "--language", "xx"), 2, ("xx", "zh-Hant")),
    "columns that are none": (("p.jsonl", "--columns", "name"), 2, ("name", "FIELD=COLUMN")),
    "stop words that are not there": (("p.jsonl", "--stop-words", "no.txt"), 1, ("no.txt",)),
    "stop words that are a folder": (("p.jsonl", "--stop-words", "folder"), 1, ("folder",)),
    "stop words for a text that has no tag": (("zzz", "--stop-words", "no.txt"), 1, ("no.txt",)),
}


@pytest.mark.parametrize(("arguments", "code", "says"), WRONG.values(), ids=WRONG.keys())
def test_a_job_that_cannot_be_says_why_and_leaves_nothing_behind(
    files: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, says: tuple[str, ...]
) -> None:
    monkeypatch.chdir(files)
    before = sorted(path.name for path in files.rglob("*"))
    message(typed("tag", tiny_run(), *arguments), code, *says)
    assert sorted(path.name for path in files.rglob("*")) == before


@pytest.mark.parametrize("arguments", [("folder",), ("./folder/", "--out", "t.jsonl")], ids=["bare", "with a slash"])
def test_a_folder_is_taken_for_a_mistake_and_not_for_text(
    files: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(files)
    done = typed("tag", tiny_run(), *arguments)
    message(done, 2 if done.returncode == 2 else 1, "folder")
    assert not (files / "t.jsonl").exists()


def test_a_job_that_fails_leaves_the_old_output_as_it_was(files: Path, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text("keep", encoding="utf-8")
    for name in ("empty.jsonl", "only-bad.jsonl"):
        assert typed("tag", tiny_run(), files / name, "--out", tmp_path / "t.jsonl", "--restart").returncode == 1
    messages = ("--strict", "--restart", "--out", tmp_path / "t.jsonl")
    assert "--strict" in typed("tag", tiny_run(), files / "bad.jsonl", *messages).stderr
    assert (tmp_path / "t.jsonl").read_text(encoding="utf-8") == "keep"
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]


def test_a_bundle_that_has_learnt_nothing_tags_all_the_same(tmp_path: Path, files: Path) -> None:
    found = records(typed("tag", make_bundle(tmp_path / "b"), files / "p.jsonl"))
    assert len(found) == 12


# In a terminal


def test_tags_are_highlighted_where_they_stand() -> None:
    from batag.cli.tag import highlighted

    tags = (Tag("title", 0, 4, "brand", "ACME", 0.5), Tag("title", 9, 14, "goods", "shoes", 0.25))
    page = Page("1", {"title": "ACME [b] shoes", "description": "[/red] 鞋"}, tags=tags)
    title, description, found = highlighted(page, ("goods", "brand"))
    assert (title.plain, description.plain) == ("ACME [b] shoes", "[/red] 鞋")
    assert sorted((span.start, span.end) for span in title.spans) == [(0, 4), (9, 14)]
    assert len({str(span.style) for span in title.spans}) == 2
    assert all(word in found.plain for word in ("brand", "ACME", "0.50", "goods", "shoes", "0.25"))
    *_, nothing = highlighted(Page("1", {"title": "x"}), ("goods",))
    assert "no tag" in nothing.plain


def test_a_page_cannot_write_to_the_terminal_by_itself() -> None:
    """Control characters of a page (colours, titles, bells) are its text, not orders."""
    import io

    from rich.console import Console

    from batag.cli.tag import highlighted

    out = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    page = Page("1", {"title": "\x1b]0;owned\x07 \x1b[31mred \x9b2J shoes"})
    for line in highlighted(page, ("goods",)):
        out.print(line)
    assert not set(out.file.getvalue()) & {"\x1b", "\x07", "\x9b"}  # type: ignore[attr-defined]


# Words


@pytest.mark.parametrize(
    "call",
    [
        ("tag", "B", "IN", "-o", "t.jsonl"),
        ("tag", "B", "IN", "-o", "t/"),
        ("tag", "B", "IN", "-o", "t.conll"),
        ("convert", "IN", "t.csv"),
        ("weak", "IN", "--terms", "list.txt=brand", "-o", "t.jsonl"),
        ("split", "IN", "-o", "t"),
        ("inspect", "IN"),
        ("train", "IN", "-o", "t"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("name", ["empty.jsonl", "only-bad.jsonl"])
def test_problems_are_pointed_to_only_where_there_are_some(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: tuple[str, ...], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.txt").write_text("ACME\n", encoding="utf-8")
    put = {"B": tiny_run(), "IN": files / name}
    done = typed(*(put.get(each, each) for each in call))
    assert done.returncode == 1, done.stderr
    assert "See the problems above" not in done.stderr or "only-bad.jsonl:1" in done.stderr
    assert ("only-bad.jsonl:1" in done.stderr) == (name == "only-bad.jsonl")
    if call[0] != "train":
        assert ("The file is empty" in done.stderr) == (name == "empty.jsonl")


@pytest.mark.parametrize("name", ["pages.jsnl", "./nothing", "folder/nothing", "nothing.json", "/no/where"])
def test_a_name_of_no_file_is_not_taken_for_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    write_pages(catalogue(1, split="test"), tmp_path / "pages.jsonl")
    message(typed("tag", tiny_run(), name), 1, name, "cannot be opened")
    message(typed("tag", tiny_run(), "pages.jsnl"), 1, "Did you mean pages.jsonl?")


@pytest.mark.parametrize("text", ["shoes/boots", "ACME", "v1.5 boots", "登山鞋" * 100, "9.5/10", "a.b"])
def test_a_text_with_dots_or_slashes_is_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.chdir(tmp_path)
    done = typed("tag", tiny_run(), text, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["title"] == text


@pytest.mark.parametrize("text", ["missing/pages", "shoes.jsonlx", "catalogue.export"])
def test_a_text_that_looks_like_the_name_of_a_file_is_tagged_with_a_note(text: str) -> None:
    done = typed("tag", tiny_run(), text)
    assert [each["title"] for each in records(done)] == [text]
    assert f"{text}: there is no such file; it is taken for a text" in done.stderr


@pytest.mark.parametrize("text", [TEXT, "防水/透氣登山鞋", "USB3.0", "AC/DC cable", "no.5", "3.5mm"])
def test_a_text_that_looks_like_none_is_tagged_without_a_word(text: str) -> None:
    assert "no such file" not in typed("tag", tiny_run(), text).stderr


def test_an_empty_table_among_other_files_is_a_problem_and_the_rest_is_tagged(files: Path, tmp_path: Path) -> None:
    for name in ("a.csv", "z.csv"):
        (tmp_path / name).write_bytes(b"")
    given = (tmp_path / "a.csv", files / "p.csv", tmp_path / "z.csv")
    for out in (f"{tmp_path}/parts/", tmp_path / "one.csv", tmp_path / "one.jsonl", "-"):
        done = typed("tag", tiny_run(), *given, "-o", out, "--workers", 1)
        assert done.returncode == 0, done.stderr
        assert f"{tmp_path}/a.csv: is empty: a table begins with the names of its columns" in done.stderr
        assert "2 problems: 2 noted (2 empty-table)" in done.stderr
    assert len(read_all(tmp_path / "one.jsonl")) == len(read_all(files / "p.csv")) == len(read_all(tmp_path / "one.csv"))
    again = typed("tag", tiny_run(), *given, "-o", f"{tmp_path}/parts/", "--workers", 1, "--json")
    assert "2 empty-table" in again.stderr
    assert json.loads(again.stdout)["problems"] == {"empty-table": 2}


def test_nothing_but_empty_tables_is_an_error_and_so_is_one_when_asked_to_be_strict(files: Path, tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_bytes(b"")
    message(typed("tag", tiny_run(), tmp_path / "a.csv", "-o", tmp_path / "out.csv"), 1, "a.csv: is empty")
    message(
        typed("tag", tiny_run(), tmp_path / "a.csv", tmp_path / "b.csv", "-o", tmp_path / "out.csv"), 1, "no page could be read"
    )
    message(
        typed("tag", tiny_run(), tmp_path / "a.csv", files / "p.csv", "-o", tmp_path / "out.csv", "--strict"), 1, "is empty"
    )
    assert not (tmp_path / "out.csv").exists()
    with_column = ("--columns", "title=name")
    message(typed("tag", tiny_run(), tmp_path / "a.csv", "-o", tmp_path / "out.csv", *with_column), 1, "a.csv: is empty")
