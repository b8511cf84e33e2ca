from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.start.out.tagged_shop import WORDS, tagged_shop

from batag.errors import UsageError
from batag.start.out import BrandCheck, ColumnUse, Command, Facts, Missing
from batag.start.out.report import words
from batag.start.out.report.words import LANGUAGES, read_words

EVIL = '<script>alert(1)</script><img src="https://evil.example/x.png" onerror=alert(2)>'
FACTS = Facts(
    shop=f"好物 {EVIL}",
    bundle="0001-3fa9c2",
    date="2026-11-18",
    language="zh-Hant",
    columns=[ColumnUse("title", f"名 {EVIL}", (EVIL,))],
    listed=["日立", "HITACHI"],
    terms=300,
    not_found=[Missing(f"{EVIL} {number}", "brand", "column") for number in range(250)],
    learned_from={"column": 12, "terms": 3, EVIL: 1},
    new_brands=BrandCheck(24, 310, 0.62, 0.81),
    scores={"brand": 0.9},
    commands=[Command("batag tag shop '日立'", "tag"), Command(EVIL, "unknown")],
)


class Elements(HTMLParser):
    """All elements with their attributes, and the text of the page outside of the style."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data if self.found[-1:] and self.found[-1][0] != "style" else ""


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    rows = [[str(n), f"日立冰箱 {n} melra {EVIL}", f"耳機 \u202eevil\x07 {EVIL}"] for n in range(3)]
    rows += [[f"{EVIL} {n}", f"melra 冰箱 {'甲乙丙丁戊己庚辛'[n] * 30}", ""] for n in range(8)] + [["x", "", ""]]
    shop = tagged_shop(tmp_path_factory.mktemp("shop"), rows, words=WORDS | {"melra": ("brand", EVIL, 0.6)})
    shop.write(facts=FACTS)
    return (shop.out / "report.html").read_text(encoding="utf-8")


def test_markup_and_scripts_of_a_stranger_are_shown_as_text(html: str) -> None:
    found = Elements(html)
    kinds = {tag for tag, _ in found.found}
    assert not kinds & {"script", "img", "iframe", "object", "embed", "link", "form", "base", "a"}
    assert not [name for _, attributes in found.found for name in attributes if name.startswith("on")]
    assert "<script>alert(1)</script>" in found.text  # as text
    assert "\u202e" not in html
    assert "\x07" not in html


def test_no_request_leaves_the_file(html: str) -> None:
    for tag, attributes in Elements(html).found:
        assert not {"src", "href", "srcset", "action", "data", "background", "poster"} & attributes.keys(), tag
        assert "url(" not in (attributes.get("style") or "")
    style = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert len(style) == 1
    assert "url(" not in style[0]
    assert "@import" not in style[0]
    assert "http" not in style[0]
    assert "default-src 'none'" in html


def test_the_three_languages_have_the_same_keys_and_places() -> None:
    assert {path.stem for path in words._FOLDER.glob("*.json")} == LANGUAGES.keys()
    english = read_words("en")
    for language in LANGUAGES:
        own = read_words(language)
        assert own.keys() == english.keys(), language
        for key, text in own.items():
            assert text.strip(), f"{language} {key}"
            assert {*re.findall(r"{\w+}", text)} == {*re.findall(r"{\w+}", english[key])}, f"{language} {key}"


def test_every_sentence_is_used_and_filled_in_all_languages(html: str) -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in words._FOLDER.parent.glob("*.py"))
    for key in read_words("en"):
        assert f'"{key}"' in source or f"'{key}'" in source or f"{key.split('.')[0]}.{{" in source, key
    shown = re.findall(r'<span class="w (en|zh-Hant|ja)" lang="(?:en|zh-Hant|ja)">([^<]*)', html)
    counts = [sum(language == each for each, _ in shown) for language in LANGUAGES]
    assert len({*counts}) == 1
    assert counts[0] > 40
    assert not [text for _, text in shown if re.search(r"{\w+}", text)]


def test_it_is_readable_without_a_script_and_opens_in_the_shops_language(html: str) -> None:
    found = Elements(html).found
    choices = {attributes["id"]: "checked" in attributes for tag, attributes in found if tag == "input"}
    assert choices == {"in-en": False, "in-zh-Hant": True, "in-ja": False}
    assert [attributes["for"] for tag, attributes in found if tag == "label"] == [*choices]
    assert '<html lang="zh-Hant">' in html
    for language in LANGUAGES:  # what shows one language and hides the others is style
        assert f"#in-{language}:checked ~ .sheet .w.{language}" in html


def test_every_part_of_the_report_is_there(html: str) -> None:
    found = {attributes["id"] for tag, attributes in Elements(html).found if tag == "section"}
    assert found == {
        *("coverage", "lengths", "top", "new", "pages", "review", "missing", "problems", "notes", "made", "next"),
    }
    assert "62%" in html
    assert "0001-3fa9c2" in html
    assert len(re.findall(r"<mark ", html)) > 10


def test_the_report_opens_in_a_language_that_is_asked_for_and_an_unknown_one_is_an_error(tmp_path: Path) -> None:
    shop = tagged_shop(tmp_path, [["1", "日立冰箱", ""]])
    shop.write(report_language="ja")
    assert '<html lang="ja">' in (shop.out / "report.html").read_text(encoding="utf-8")
    with pytest.raises(UsageError, match="language of the report"):
        shop.write(report_language="jp")


def test_a_shop_without_facts_and_pages_without_tags_make_a_report(tmp_path: Path) -> None:
    shop = tagged_shop(tmp_path, [["1", "甲", ""]], words={})
    written = shop.write(facts=Facts(shop="x"), labels=("brand", "colour"))
    html = (shop.out / "report.html").read_text(encoding="utf-8")
    assert '<html lang="en">' in html
    assert "colour" in html
    assert written.survey.to_dict()["pages_without_tags"] == 1


def test_the_pages_shown_are_drawn_from_the_whole_file(tmp_path: Path) -> None:
    rows = [[f"id-{number:04}", f"日立 {chr(0x4E00 + 37 * number) * 12}", ""] for number in range(120)]
    shop = tagged_shop(tmp_path, rows)
    shop.write()
    html = (shop.out / "report.html").read_text(encoding="utf-8")
    cards = html[html.index('<section id="pages"') : html.index('<section id="review"')]
    shown = sorted(int(number) for number in re.findall(r"id-(\d{4})", cards))
    assert len(shown) == 20
    assert shown[-1] > 60
    assert shown[10] > 20
