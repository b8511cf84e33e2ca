from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.tiny import catalogue, tiny_run, typed

from batag.pages.formats import write_pages


@pytest.fixture(scope="module")
def pages(batag, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "train.jsonl"
    assert batag("sample", "--pages", 300, "--out", path).returncode == 0
    return path


def test_the_same_seed_writes_the_same_bytes(batag, pages: Path, tmp_path: Path) -> None:
    batag("sample", "--pages", 300, "--out", tmp_path / "again.jsonl")
    batag("sample", "--pages", 300, "--seed", 1, "--out", tmp_path / "other.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == pages.read_bytes()
    assert (tmp_path / "other.jsonl").read_bytes() != pages.read_bytes()


def test_sample_prints_to_a_pipe_and_a_reader_that_leaves_is_no_error(batag) -> None:
    done = batag("sample", "--pages", 3)
    assert [json.loads(line)["language"] for line in done.stdout.splitlines()] == ["zh-Hant"] * 3


@pytest.mark.parametrize("arguments", [("--language", "fr"), ("--split", "half"), ("--pages", "0"), ("--out", "x.docx")])
def test_sample_names_what_is_wrong_with_a_call(batag, arguments: tuple[str, str], tmp_path: Path) -> None:
    done = batag("sample", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.strip()


def test_inspect_counts_what_is_there(batag, pages: Path) -> None:
    report = json.loads(batag("inspect", pages, "--json").stdout)
    train = report["splits"]["train"]
    written = [json.loads(line) for line in pages.read_text(encoding="utf-8").splitlines()]
    assert train["pages"] == 300
    assert train["classes"]["brand"]["tags"] == sum(tag["label"] == "brand" for page in written for tag in page["tags"])
    assert sum(train["shops"].values()) == 300
    assert report["leaks"]["pages"] == {}


def test_inspect_finds_the_leak_when_train_is_given_as_dev(batag, pages: Path) -> None:
    report = json.loads(batag("inspect", pages, "--dev", pages, "--json").stdout)
    assert report["leaks"]["pages"] == {"dev": 300}
    text = batag("inspect", pages, "--dev", pages).stdout
    assert "pages that are also in an earlier split: 300 (dev 300)" in text
    assert "... and 295 more" in text
    assert "nearly the same" not in text


def test_inspect_tells_near_twins_from_the_same_page(batag, tmp_path: Path) -> None:
    text = "waterproof hiking boots with a warm lining and a very soft sole for long walks in winter and autumn weather"
    for name, message in (("train", text), ("dev", text.replace("warm", "cosy"))):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"title": message, "tags": []}) + "\n", encoding="utf-8")
    message = batag("inspect", "train.jsonl", "dev.jsonl", cwd=tmp_path).stdout
    assert "pages that are nearly the same as one of an earlier split: 1 (dev 1)" in message
    assert "also in" not in message


@pytest.mark.parametrize(("tags", "message"), [("", "no page is labelled"), (', "tags": []', "no tag on 1 labelled page, ")])
def test_inspect_does_not_say_that_tags_fit_where_there_are_none(batag, tmp_path: Path, tags: str, message: str) -> None:
    (tmp_path / "p.jsonl").write_text(f'{{"title": "a red hat"{tags}}}\n', encoding="utf-8")
    text = batag("inspect", tmp_path / "p.jsonl").stdout
    assert "tags fit" not in text
    assert "no leak" not in text
    assert "two splits" not in text
    assert message in text


def test_inspect_names_what_to_do_when_tags_touch(batag, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"title": "hat coat", "labels": "goods=hat;goods=coat"}\n', encoding="utf-8")
    text = batag("inspect", tmp_path / "p.jsonl").stdout
    assert "training keeps them apart, unless pages.scheme is flat" in " ".join(text.split())
    assert "nothing: tags fit the tokens, no disagreement" in text


def test_inspect_takes_the_split_from_the_name_and_tells_new_words(batag, pages: Path, tmp_path: Path) -> None:
    batag("sample", "--pages", 100, "--split", "dev", "--out", tmp_path / "zh.dev.jsonl")
    report = json.loads(batag("inspect", tmp_path / "zh.dev.jsonl", pages, "--json").stdout)
    unknown = report["splits"]["dev"]["unknown_words"]
    assert unknown["unseen_tags"]["brand"] > 0.3
    assert unknown["by_class"]["brand"] > unknown["by_class"]["none"]


def test_inspect_draws_a_chart(batag, pages: Path, tmp_path: Path) -> None:
    assert batag("inspect", pages, "--chart", tmp_path / "classes.png").returncode == 0
    assert (tmp_path / "classes.png").read_bytes().startswith(b"\x89PNG")
    done = batag("inspect", pages, "--chart", tmp_path / "classes.docx")
    assert (done.returncode, "neither .png nor .svg" in done.stderr) == (2, True)


def test_split_writes_three_files_that_hold_every_page_once(batag, pages: Path, tmp_path: Path) -> None:
    done = batag("split", pages, "--out", tmp_path / "splits", "--json")
    statistics = json.loads(done.stdout)
    lines = [
        (tmp_path / "splits" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines() for name in ("train", "dev", "test")
    ]
    assert [len(part) for part in lines] == list(statistics["splits"].values())
    assert sorted(line for part in lines for line in part) == sorted(pages.read_text(encoding="utf-8").splitlines())
    report = json.loads(batag("inspect", *sorted((tmp_path / "splits").glob("*.jsonl")), "--json").stdout)
    assert report["leaks"]["pages"] == {}


def test_split_refuses_shares_that_are_not_three(batag, pages: Path, tmp_path: Path) -> None:
    done = batag("split", pages, "--out", tmp_path, "--shares", "9:1")
    assert (done.returncode, "three sizes" in done.stderr) == (2, True)


def test_segment_cuts_text_arguments_files_and_standard_input(batag, tmp_path: Path) -> None:
    assert batag("segment", "型號 ABC-123").stdout.split() == ["型號", "ABC-123"]
    assert batag("segment", stdin="50ml 100%コットン\n").stdout.split() == ["50ml", "100%", "コットン"]
    (tmp_path / "p.csv").write_text("title\nrunning shoes\n", encoding="utf-8")
    assert batag("segment", tmp_path / "p.csv").stdout.split() == ["running", "shoes"]


def test_segment_gives_offsets_into_the_original(batag) -> None:
    line = json.loads(batag("segment", "<b>ＡＢＣ</b> 鞋", "--json").stdout)
    assert [(token["text"], token["start"], token["end"]) for token in line["tokens"]] == [("ABC", 3, 6), ("鞋", 11, 12)]


def test_segment_takes_a_dictionary_and_rules(batag, tmp_path: Path) -> None:
    (tmp_path / "brands.txt").write_text("# ours\r\nAir Zoom\r\n", encoding="utf-8")
    assert (
        batag("segment", "nike air zoom", "--dictionary", tmp_path / "brands.txt", "--separator", "|").stdout
        == "nike|air zoom\n"
    )
    assert batag("segment", "ok 😀", "--rules", "+emoji").stdout == "ok\n"
    done = batag("segment", "x", "--rules", "htlm")
    assert (done.returncode, "Did you mean 'html'?" in done.stderr) == (2, True)


@pytest.mark.parametrize("command", [("inspect",), ("split", "--out", "o"), ("segment", "--language", "xx")])
def test_a_missing_file_or_wrong_option_is_one_line(batag, command: tuple[str, ...], tmp_path: Path) -> None:
    done = batag(*command, "nothing.jsonl", cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_file_without_a_readable_page_is_an_error(batag, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("not json\n", encoding="utf-8")
    done = batag("inspect", tmp_path / "bad.jsonl")
    assert done.returncode == 1
    assert "bad.jsonl:1" in done.stderr
    assert "no page could be read" in done.stderr


def test_split_refuses_what_can_be_read_only_once(batag, tmp_path: Path) -> None:
    done = batag("split", "-", "--out", tmp_path, stdin='{"title": "a"}\n')
    assert (done.returncode, "only once" in done.stderr) == (2, True)


def test_split_says_when_a_part_stays_empty(batag, tmp_path: Path) -> None:
    line = '{"title": "the very same text on every page of the shop, only number %d differs"}\n'
    (tmp_path / "p.jsonl").write_text("".join(line % number for number in range(10)), encoding="utf-8")
    statistics = json.loads(batag("split", tmp_path / "p.jsonl", "--out", tmp_path / "s", "--json").stdout)
    assert "no page for dev and test" in statistics["warning"]


def test_a_convert_without_a_page_replaces_nothing(batag, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")
    (tmp_path / "good.jsonl").write_text("keep", encoding="utf-8")
    done = batag("convert", tmp_path / "empty.jsonl", tmp_path / "good.jsonl")
    assert (done.returncode, (tmp_path / "good.jsonl").read_text(encoding="utf-8")) == (1, "keep")


def test_segment_takes_a_mistyped_file_for_a_mistake_and_not_for_text(batag) -> None:
    done = batag("segment", "pgaes.jsonl")
    assert (done.returncode, "pgaes.jsonl" in done.stderr) == (1, True)


def test_inspect_says_how_many_pages_are_read_in_the_language_of_their_file(batag, tmp_path: Path) -> None:
    titles = ["红色连衣裙", "男士运动鞋", "外套", "NIKE"]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps({"title": each}) + "\n" for each in titles), encoding="utf-8")
    statistics = json.loads(batag("inspect", tmp_path / "p.jsonl", "--json").stdout)["splits"]["train"]
    assert (statistics["languages"], statistics["languages_by_file"]) == ({"zh-Hans": 4}, {"zh-Hans": 2})
    assert "zh-Hans 2 (short pages" in batag("inspect", tmp_path / "p.jsonl").stdout


# Words that a person reads


@pytest.mark.parametrize("command", ["inspect", "split", "curve", "evaluate", "distil", "train", "tag", "segment"])
def test_the_usage_line_names_each_argument_once(batag, command: str) -> None:
    usage = batag(command, "--help", COLUMNS="200").stdout.strip().splitlines()[0]
    assert usage.count("...") == 1, usage


def test_curve_says_which_sizes_it_takes_by_itself(batag) -> None:
    assert "50,100,250,500,1000,2000 and all" in batag("curve", "--help", COLUMNS="200").stdout


def test_a_file_of_one_page_that_nobody_labelled_is_shown_in_plain_words(batag, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"title": "a red hat"}\n', encoding="utf-8")
    text = batag("inspect", tmp_path / "p.jsonl").stdout
    assert "train: 1 page " in text
    assert "no tokens" not in text
    assert "class" not in text
    assert "1 page from" in batag("convert", tmp_path / "p.jsonl", tmp_path / "q.jsonl").stderr


@pytest.mark.parametrize(("message", "meant"), [("titel=name", "title=name"), ("descripton=body", "description=body")])
def test_a_misspelt_field_is_not_taken_for_one_of_ones_own(batag, tmp_path: Path, message: str, meant: str) -> None:
    (tmp_path / "p.csv").write_text("name,body\na hat,red\n", encoding="utf-8")
    done = batag("inspect", tmp_path / "p.csv", "--columns", message)
    assert (done.returncode, f"Did you mean {meant}?" in done.stderr) == (2, True)


def test_a_list_of_terms_the_wrong_way_round_is_told_what_was_meant(batag, tmp_path: Path) -> None:
    (tmp_path / "brands.txt").write_text("ACME\n", encoding="utf-8")
    (tmp_path / "p.jsonl").write_text('{"title": "ACME hat"}\n', encoding="utf-8")
    done = batag("weak", "p.jsonl", "--terms", "brand=brands.txt", cwd=tmp_path)
    assert (done.returncode, "Did you mean --terms brands.txt=brand?" in done.stderr) == (2, True)


@pytest.mark.parametrize("command", [("segment", "x"), ("inspect", "p.jsonl"), ("convert", "p.jsonl", "q.jsonl")])
def test_a_language_that_is_not_ours_is_told_ours_in_words(batag, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "p.jsonl").write_text('{"title": "ACME hat"}\n', encoding="utf-8")
    done = batag(*command, "--language", "chinese", cwd=tmp_path)
    assert (done.returncode, "zh-Hans (Simplified Chinese)" in done.stderr) == (2, True)


@pytest.mark.parametrize("command", ["evaluate", "inspect"])
def test_an_empty_table_among_other_files_does_not_stop_them(tmp_path: Path, command: str) -> None:
    write_pages(catalogue(2, split="test"), tmp_path / "pages.csv")
    (tmp_path / "empty.csv").write_bytes(b"")
    bundle = (tiny_run(),) if command == "evaluate" else ()
    done = typed(command, *bundle, tmp_path / "pages.csv", tmp_path / "empty.csv", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["problems"] == {"empty-table": 1}
    done = typed(command, *bundle, tmp_path / "empty.csv")
    assert (done.returncode, "is empty" in done.stderr) == (1, True)
