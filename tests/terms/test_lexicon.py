"""The tables of the lexicon: their format, one entry per name, the right script in each column, ordinary words marked."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest
from opencc import OpenCC

from batag.errors import InputError
from batag.terms.key import match_key
from batag.terms.lexicon import BRAND, FEATURE, GOODS, PROMO, Entry, lexicon, read_lexicon
from batag.terms.lexicon.lexicon import keys_are_current, make_keys, write_keys

FOLDER = Path(lexicon.__file__).parent
GROUPS = frozenset(
    [
        *("appliances", "electronics", "groceries", "drugstore", "cosmetics", "fashion", "shoes", "bags", "sports", "outdoor"),
        *("baby", "toys", "pets", "furniture", "home", "kitchen", "tools", "automotive", "stationery", "books", "media"),
        *("garden", "jewelry", "watches", "health"),
    ]
)
DEPARTMENTS = [
    *("appliances", "electronics", "groceries", "drugstore", "fashion", "shoes", "sports", "baby", "pets", "furniture", "home"),
    *("tools", "stationery", "media"),
]
FEATURES = frozenset(
    [
        *("colour", "material", "pattern", "size", "fit", "gender", "age", "season", "scent", "flavour", "function", "style"),
        "unit",
    ]
)
IN_BOTH_SCRIPTS = frozenset(
    "云余准几划制升占卷厘只台吃后向周唇回岩峰布干床征志斗曲杯松板栖游灶皂秘粽系群胜致舍范虱表谷采里霉面"
)
"""Characters of Traditional text that OpenCC knows as Simplified forms of others as well."""
CHINESE_FOOD_IN_JAPAN = frozenset("琪糕豉蛳")
"""Characters beside those of Shift JIS that Japanese shops write for Chinese food."""
KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
HAN_OR_KANA = re.compile("[\u3041-\u30ff\u3400-\u9fff]")
to_simplified, to_traditional = OpenCC("t2s"), OpenCC("s2t")


@cache
def entries() -> tuple[Entry, ...]:
    return tuple(read_lexicon().entries)


def names(language: str, *kinds: str) -> list[tuple[str, str]]:
    """The names of a language with the line of each."""
    return [
        (name, entry.where) for entry in entries() if entry.kind in kinds or not kinds for name in entry.names.get(language, ())
    ]


# Their format


def test_each_line_of_the_tables_has_all_columns_and_clean_names() -> None:
    wrong = []
    for path in FOLDER.glob("*.tsv"):
        text = path.read_text(encoding="utf-8")
        assert text.endswith("\n"), path.name
        for number, line in enumerate(text.splitlines(), 1):
            if line.startswith("#"):
                continue
            cells = line.split("\t")
            columns = {"brands": 2, "goods": 5, "features": 6, "promo": 4}[path.stem.partition("-")[0]]
            listed = [name for cell in cells for name in cell.split(" | ")]
            fine = all(name == name.strip() and "|" not in name and "*" not in name[:-1] and name != "*" for name in listed)
            if len(cells) != columns or not fine:
                wrong.append(f"{path.name}:{number}: {line}")
    assert not wrong


def test_each_entry_has_an_id_of_its_own() -> None:
    ids = Counter((entry.kind, entry.id) for entry in entries() if entry.kind in (GOODS, FEATURE))
    assert not [id for id, number in ids.items() if number > 1]
    assert not [id for _, id in ids if not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", id)]


def test_each_entry_is_of_a_known_group() -> None:
    assert not [entry.where for entry in entries() if entry.kind in (BRAND, GOODS) and not GROUPS.issuperset(entry.groups)]
    assert not [entry.where for entry in entries() if entry.kind == FEATURE and not FEATURES.issuperset(entry.groups)]


def test_each_kind_of_goods_has_a_name_in_nearly_every_language() -> None:
    goods = [entry for entry in entries() if entry.kind == GOODS]
    for language in ("zh-Hant", "zh-Hans", "ja", "en"):
        named = sum(language in entry.names for entry in goods)
        assert named >= 0.97 * len(goods), language


@pytest.mark.parametrize(("kind", "least"), [(BRAND, 1_500), (GOODS, 2_500), (FEATURE, 400), (PROMO, 80)])
def test_there_are_as_many_entries_as_promised(kind: str, least: int) -> None:
    assert sum(entry.kind == kind for entry in entries()) >= least


@pytest.mark.parametrize("group", DEPARTMENTS)
def test_every_department_has_kinds_of_goods(group: str) -> None:
    assert sum(entry.kind == GOODS and entry.groups == (group,) for entry in entries()) >= 50


@pytest.mark.parametrize("kind", sorted(FEATURES))
def test_every_kind_of_feature_is_there(kind: str) -> None:
    assert sum(entry.kind == FEATURE and entry.groups == (kind,) for entry in entries()) >= 5


def test_many_brands_have_names_in_more_than_one_script() -> None:
    brands = [entry.names[""] for entry in entries() if entry.kind == BRAND]
    both = [own for own in brands if len({bool(HAN_OR_KANA.search(name)) for name in own}) == 2]
    assert len(both) >= 1_000


# One entry per name


@pytest.mark.parametrize("kind", [GOODS, FEATURE])
@pytest.mark.parametrize("language", ["zh-Hant", "zh-Hans", "ja", "en"])
def test_no_name_stands_twice_in_one_language(kind: str, language: str) -> None:
    found = defaultdict(list)
    for name, where in names(language, kind):
        found[name.casefold()].append(where)
    assert not {name: where for name, where in found.items() if len(where) > 1}


def test_no_form_of_a_brand_stands_twice_unless_both_are_marked() -> None:
    found: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for entry in entries():
        if entry.kind == BRAND:
            for name in entry.names[""]:
                found[name.casefold()].append((entry.where, ("", name) in entry.marked))
    twice = {name: own for name, own in found.items() if len(own) > 1 and not all(marked for _, marked in own)}
    assert not twice


# The right script


def test_names_in_traditional_chinese_have_traditional_characters() -> None:
    def is_simplified(character: str) -> bool:
        here = to_traditional.convert(character) != character and to_simplified.convert(character) == character
        return here and character not in IN_BOTH_SCRIPTS

    listed = names("zh-Hant")
    known = {character: is_simplified(character) for name, _ in listed for character in name}
    assert not [(name, where) for name, where in listed if any(known[each] for each in name) or KANA.search(name)]


def test_names_in_simplified_chinese_have_simplified_characters() -> None:
    listed = names("zh-Hans")
    made = to_simplified.convert("\n".join(name for name, _ in listed)).split("\n")
    assert not [each for each, new in zip(listed, made, strict=True) if each[0] != new or KANA.search(each[0])]


def test_names_in_japanese_have_japanese_characters() -> None:
    def is_foreign(character: str) -> bool:
        return not character.encode("shift_jis", "ignore") and character not in CHINESE_FOOD_IN_JAPAN

    assert not [
        each
        for each in names("ja")
        if any("\u4e00" <= character <= "\u9fff" and is_foreign(character) for character in each[0])
    ]


def test_names_in_english_have_latin_letters() -> None:
    assert not [each for each in names("en") if HAN_OR_KANA.search(each[0])]


# Ordinary words


@pytest.mark.parametrize("name", ["Apple", "蘋果", "苹果", "統一", "统一", "大同", "Champion", "Gap", "LION", "Shell"])
def test_a_brand_that_is_an_ordinary_word_is_marked(name: str) -> None:
    found = [
        each for each in read_lexicon().find(match_key(name), close=match_key(name, plural=False)) if each.entry.kind == BRAND
    ]
    assert found
    assert all(each.marked for each in found)


@pytest.mark.parametrize("name", ["HITACHI", "日立", "Panasonic", "國際牌", "可口可樂", "Levi's", "資生堂"])
def test_a_brand_that_is_nothing_else_is_not_marked(name: str) -> None:
    (found,) = read_lexicon().find(match_key(name), close=match_key(name, plural=False))
    assert (found.entry.kind, found.marked) == (BRAND, False)


# Its keys, and tables that somebody changes


def test_the_stored_keys_are_those_of_the_tables_and_rules() -> None:
    assert keys_are_current(), "run python -m batag.terms.lexicon"
    own = read_lexicon()
    some = list(own.rows)[::37]
    stored = (FOLDER / "keys.txt").read_text(encoding="utf-8").split("\n")[1:]
    assert make_keys(some) == stored[::37]


def test_a_changed_table_counts_at_once(tmp_path: Path) -> None:
    (tmp_path / "brands-own.tsv").write_text("ACME | 艾克米\ttools\n", encoding="utf-8")
    write_keys(tmp_path)
    (tmp_path / "brands-own.tsv").write_text("ACME | 艾克米 | アクメ\ttools\n", encoding="utf-8")
    assert not keys_are_current(tmp_path)
    (found,) = read_lexicon(tmp_path).find("アクメ")
    assert found.entry.id == "ACME"
    write_keys(tmp_path)
    assert keys_are_current(tmp_path)


def test_a_line_of_a_table_without_all_columns_is_named(tmp_path: Path) -> None:
    (tmp_path / "goods-own.tsv").write_text("# a comment\nhat\t帽子\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"goods-own\.tsv:2: has 2 columns instead of 5"):
        read_lexicon(tmp_path)
