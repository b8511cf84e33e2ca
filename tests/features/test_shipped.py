from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from batag.errors import InputError
from batag.features import shipped
from batag.features.pretrained import PretrainedWords
from batag.features.shipped import chinese_characters, english_vectors, japanese_vectors, words_for
from batag.features.word_vectors import WordVectors


def closeness(known: PretrainedWords, one: str, other: str) -> float:
    a, b = known.look_up([one, other])[0]
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


@pytest.mark.parametrize(("word", "like", "unlike"), [("ソニー", "パナソニック", "味噌"), ("味噌", "醤油", "ソニー")])
def test_japanese_words_of_one_kind_lie_near_each_other(word: str, like: str, unlike: str) -> None:
    known = japanese_vectors()
    assert closeness(known, word, like) > closeness(known, word, unlike) + 0.3


@pytest.mark.parametrize(("word", "like", "unlike"), [("海尔集团", "美的集团", "防水"), ("连衣裙", "运动鞋", "安踏")])
def test_chinese_words_of_one_kind_lie_near_each_other(word: str, like: str, unlike: str) -> None:
    known = chinese_characters()
    assert closeness(known, word, like) > closeness(known, word, unlike) + 0.2


@pytest.mark.parametrize(("word", "like", "unlike"), [("Sony", "Panasonic", "leather"), ("sneakers", "boots", "Toshiba")])
def test_english_words_of_one_kind_lie_near_each_other_and_in_one_group(word: str, like: str, unlike: str) -> None:
    known = english_vectors()
    assert closeness(known, word, like) > closeness(known, word, unlike) + 0.3
    own, same, other = known.look_up([word, like, unlike])[1]
    assert [division.partition("=")[0] for division in own] == ["like0", "like1"]
    assert own[0] == same[0] != other[0]
    assert known.look_up(["SONY", "zzzqqq", "\ud800", ""])[1] == [known.look_up(["sony"])[1][0], (), (), ()]


def test_a_fine_group_of_english_words_is_part_of_a_coarse_one() -> None:
    known = english_vectors()
    clusters = known.look_up(known.words[:50_000])[1]
    assert len(set(clusters)) == len({fine for _, fine in clusters}) > 500


def test_a_japanese_word_is_found_however_it_is_written() -> None:
    vectors = japanese_vectors()
    rows = vectors.look_up(["林檎", "りんご", "リンゴ", "SONY", "sony"])[0]
    assert rows[0].any()
    assert (rows[1:3] == rows[0]).all()
    assert (rows[3] == rows[4]).all()
    assert not vectors.look_up(["zzzqqq", "\ud800", ""])[0].any()


def test_a_chinese_word_is_read_alike_in_both_scripts_and_widths() -> None:
    rows = chinese_characters().look_up(["運動鞋", "运动鞋", "ＳＯＮＹ", "sony"])[0]
    assert (rows[0] == rows[1]).all()
    assert (rows[2] == rows[3]).all()


@pytest.mark.parametrize("read", [japanese_vectors, english_vectors])
def test_every_word_has_a_row_of_numbers(read: Callable[[], WordVectors]) -> None:
    vectors = read()
    assert len(set(vectors.words)) == len(vectors.words) > 100_000
    assert np.abs(vectors.look_up(vectors.words)[0]).max(1).min() == 127


@pytest.mark.parametrize(
    ("pages", "languages"),
    [
        ({"ja": 100}, ["ja"]),
        ({"zh-Hant": 450, "ja": 50}, ["ja", "zh"]),
        ({"zh-Hant": 30, "zh-Hans": 30, "en": 500}, ["en", "zh"]),
        ({"en": 50, "ja": 50, "zh-Hans": 50}, ["ja", "en", "zh"]),
        ({"en": 460, "ja": 40}, ["en"]),
        ({"en": 40, "ja": 460}, ["ja"]),
        ({"fr": 9}, []),
        ({}, []),
    ],
)
def test_what_is_known_is_taken_where_enough_pages_are_in_its_language(pages: dict[str, int], languages: list[str]) -> None:
    found = words_for(pages)
    assert ([] if found is None else [part.language for part in found.parts]) == languages


def test_chinese_words_look_like_what_they_are() -> None:
    word_classes = chinese_characters().look_up(["海尔集团", "连衣裙", "北京市"])[1]
    assert [first for first, _ in word_classes] == ["looks=ORG-B", "looks=n-B", "looks=LOC-B"]


@pytest.mark.parametrize("load", [japanese_vectors, english_vectors, chinese_characters])
@pytest.mark.parametrize("kind", ["txt.zst", "safetensors"])
def test_a_shipped_file_that_is_damaged_or_missing_is_a_clear_error(
    load: Callable[[], PretrainedWords], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in Path(shipped.__file__).parent.iterdir():
        if path.suffix in (".zst", ".safetensors"):
            shutil.copy(path, tmp_path)
    monkeypatch.setattr(shipped.resources, "files", lambda _: tmp_path)
    load()
    for path in tmp_path.glob(f"*.{kind}"):
        data = bytearray(path.read_bytes())
        data[-9] ^= 1
        path.write_bytes(data)
    with pytest.raises(InputError, match=rf"{kind}: is not the file that came with batag.* Install batag again"):
        load()
    for path in tmp_path.glob(f"*.{kind}"):
        path.unlink()
    with pytest.raises(InputError, match=rf"{kind}: cannot be read"):
        load()
