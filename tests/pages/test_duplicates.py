"""Same and near-same texts: found whatever hides them, others left apart, and all in reasonable time."""

from __future__ import annotations

import random
import subprocess
import sys
from itertools import combinations

import pytest

from batag.pages.duplicates import Groups, fingerprint, signature, text_hash
from batag.pages.page import Page

HAN = [chr(code) for code in range(0x4E00, 0x5E00)]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def written(random: random.Random, length: int, alphabet: list[str] | str = HAN) -> str:
    return "".join(random.choice(alphabet) for _ in range(length))


def groups_of(*texts: str) -> list[int]:
    groups = Groups()
    for text in texts:
        groups.add(text)
    return groups.of()


def grams(text: str) -> set[str]:
    return {text[place : place + 3] for place in range(len(text) - 2)} or set(text)


def jaccard(one: str, other: str) -> float:
    return len(grams(one) & grams(other)) / len(grams(one) | grams(other))


def changed(random: random.Random, text: str, wanted: float) -> str:
    """The text with characters changed at its end until the share of common 3-grams falls to what is wanted."""
    other = text
    for place in range(len(text) - 1, -1, -1):
        other = other[:place] + random.choice(HAN) + other[place + 1 :]
        if jaccard(text, other) <= wanted:
            break
    return other


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("NIKE Air Max", "nike air max"),
        ("ＮＩＫＥ　Ａｉｒ", "NIKE Air"),
        ("純棉外套", "<p>純棉<b>外套</b></p>"),
        ("純棉外套", "純棉 外套!!"),
        ("純棉外套", "【免運】純棉外套"),
        ("ｶﾞｰｾﾞ", "ガーゼ"),
        ("Salt & Pepper", "Salt &amp; Pepper"),
        ("保濕面膜", "保\u200b濕面膜"),
        ("純棉外套", "純棉外套 https://x.tw/1"),
        ("snake_case", "snake case"),
    ],
)
def test_what_cleaning_makes_equal_has_one_fingerprint(one: str, other: str) -> None:
    assert fingerprint(Page("1", {"title": one})) == fingerprint(Page("2", {"title": other}))


@pytest.mark.parametrize(
    ("one", "other"), [("純棉外套", "純棉長褲"), ("!!!", "???"), ("😀", "😂"), ("50ml", "60ml"), ("ab", "ba"), ("<", ">")]
)
def test_different_texts_have_different_fingerprints(one: str, other: str) -> None:
    assert fingerprint(Page("1", {"title": one})) != fingerprint(Page("2", {"title": other}))


def test_an_empty_field_says_nothing() -> None:
    one, other = Page("1", {"title": "NIKE"}), Page("2", {"title": "NIKE", "description": ""})
    assert fingerprint(one) == fingerprint(other)


def test_equal_texts_are_one_group_and_the_order_is_kept() -> None:
    one, two, again, three = groups_of("純棉外套一件", "nike air max", "純棉外套一件", "藍牙耳機")
    assert one == again
    assert len({one, two, three}) == 3


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("wanted", [0.95, 0.9, 0.85, 0.82])
def test_near_twins_are_one_group(wanted: float, seed: int) -> None:
    draw = random.Random(f"{wanted}/{seed}")
    text = written(draw, 200)
    one, other = groups_of(text, changed(draw, text, wanted))
    assert one == other


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("wanted", [0.4, 0.3, 0.1])
def test_clearly_different_texts_are_not(wanted: float, seed: int) -> None:
    draw = random.Random(f"{wanted}/{seed}")
    text = written(draw, 200)
    other = changed(draw, text, wanted)
    assert jaccard(text, other) <= wanted
    assert len(set(groups_of(text, other))) == 2


def test_the_signature_estimates_the_share_of_common_grams() -> None:
    draw = random.Random(7)
    errors = []
    for wanted in (0.2, 0.4, 0.6, 0.8) * 10:
        text = written(draw, 150)
        other = changed(draw, text, wanted)
        errors.append(float((signature(text) == signature(other)).mean()) - jaccard(text, other))
    assert abs(sum(errors) / len(errors)) < 0.03
    assert max(map(abs, errors)) < 0.2


def test_numbers_alone_do_not_make_another_product() -> None:
    one, other = groups_of("不鏽鋼保溫杯500ml型號123", "不鏽鋼保溫杯750ml型號9")
    assert one == other


def test_many_different_short_texts_stay_apart() -> None:
    texts = [first + second + third for first, second, third in combinations("abcdefghijkl", 3)]
    assert len(set(groups_of(*texts))) == len(texts)


@pytest.mark.parametrize("text", ["", "a", "ab", "\n", "1", "\U0010ffff\U0010ffff\U0010ffff"], ids=ascii)
def test_the_smallest_texts_have_a_signature(text: str) -> None:
    assert (signature(text) == signature(text)).all()
    assert groups_of(text) == groups_of(text)
    assert len(groups_of(text, text)) == 2


def test_no_text_has_no_group() -> None:
    assert Groups().of() == []


def test_the_hash_is_the_same_on_every_machine() -> None:
    assert text_hash("純棉外套") == text_hash("純棉外套") != text_hash("純棉外衣")
    code = "from batag.pages.duplicates import text_hash; print(text_hash('abc'))"
    hashes = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert hashes == {str(text_hash("abc"))}


# In a process of its own, so that a run away can be stopped.
SLOW = {
    "random": "[''.join(r.choices(han, k=60)) for n in range(20000)]",
    "one product in many sizes": "[f'不鏽鋼保溫杯真空斷熱防漏隨行杯型號{n}' for n in range(10000)]",
    "one template": "['這是一款非常好用的商品歡迎選購全館免運費下單即贈' + r.choice(han) * 2 for n in range(10000)]",
}


@pytest.mark.parametrize("texts", SLOW.values(), ids=SLOW)
def test_many_texts_do_not_take_forever(texts: str) -> None:
    code = f"""
import random
from batag.pages.duplicates import Groups
r = random.Random(1); han = [chr(c) for c in range(0x4E00, 0x5E00)]
groups = Groups()
for text in {texts}: groups.add(text)
print(len(set(groups.of())))
"""
    try:
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60, capture_output=True)
    except subprocess.TimeoutExpired:
        pytest.fail("more than a minute")
