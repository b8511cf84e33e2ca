"""The files of the web page: small, complete, in three languages, with colours that everybody tells apart."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import batag

PAGE = Path(__file__).parents[2] / "src" / "batag" / "serving" / "page"
SCRIPTS = sorted(PAGE.rglob("*.js"))
OWN = [path for path in SCRIPTS if path.parent.name != "vendor"]
CATALOGUES = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted((PAGE / "catalogues").glob("*.json"))}
LIT_HTML = "3.3.3", "b878e7f95dec8a9b6e9b217faca6b6a11bad82ebc44c0caa77419ed83edd81f2"
Colour = npt.NDArray[np.float64]
# Chosen at run time: `say(`label.${name}`)` and the like.
FAMILIES = ("label.", "source.", "theme.", "problem.", "view.")
# What each kind of eye makes of linear RGB (Machado, Oliveira and Fernandes 2009, severity 1).
EYES = {
    "usual": np.eye(3),
    "without red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "without green": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]),
    "without blue": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]]),
}


def test_the_page_is_at_most_100_kb_gzipped() -> None:
    sent = [path for path in PAGE.rglob("*") if path.is_file() and path.suffix != ".txt"]
    assert sum(len(gzip.compress(path.read_bytes(), 9)) for path in sent) <= 100_000


def test_catalogues_have_the_same_keys_with_the_same_places_to_fill_and_no_text_is_empty() -> None:
    assert set(CATALOGUES) == {"en", "zh-Hant", "ja"}
    places = [
        {key: sorted(re.findall(r"\{\w+\}", text)) for key, text in words.items() if not key.endswith(".one")}
        for words in CATALOGUES.values()
    ]
    assert places[0] == places[1] == places[2]
    assert len({tuple(words) for words in CATALOGUES.values()}) == 1, "the same keys in the same order"
    assert all(text.strip() for words in CATALOGUES.values() for text in words.values())


def test_every_key_is_used_and_every_used_key_exists() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in OWN)
    keys = {re.sub(r"\.(one|other)$", "", key) for key in CATALOGUES["en"] if key != "problem.other"}
    named = set(re.findall(r"'([a-z-]+(?:\.[a-z-]+)+)'", code)) - {"batag.theme", "batag.language"}
    assert named <= keys | {"problem.other"}
    assert {key for key in keys - named if not key.startswith(FAMILIES)} == set()


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_a_script_says_what_it_is_for_and_is_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith(("/** ", "// "))
    assert len(text.splitlines()) <= 300


def test_the_first_page_names_every_script_so_that_none_waits_for_another() -> None:
    index = (PAGE / "index.html").read_text(encoding="utf-8")
    named = re.findall(r'(?:href|src)="([\w/.-]+\.js)"', index)
    assert sorted(named) == sorted(path.relative_to(PAGE).as_posix() for path in SCRIPTS)


def test_nothing_on_the_page_comes_from_elsewhere_or_is_written_as_markup() -> None:
    bad = re.compile(r"https?://(?!www\.w3\.org)|(inner|outer|unsafe|Adjacent)HTML|document\.write|\bstyle=")
    for path in (*OWN, *PAGE.rglob("*.css"), PAGE / "index.html"):
        assert not bad.search(path.read_text(encoding="utf-8")), path


def test_lit_html_is_the_file_of_its_package_and_its_licence_goes_with_it() -> None:
    version, digest = LIT_HTML
    folder = PAGE / "vendor"
    assert hashlib.sha256((folder / "lit-html.js").read_bytes()).hexdigest() == digest
    assert "BSD" in (folder / "lit-html-LICENSE.txt").read_text(encoding="utf-8")
    notice = (Path(__file__).parents[2] / "NOTICE").read_text(encoding="utf-8")
    assert f"lit-html {version}" in notice


def test_every_example_has_a_brand_goods_and_a_feature_with_the_starter() -> None:
    text = (PAGE / "try" / "examples.js").read_text(encoding="utf-8")
    fields = re.findall(r"(title|description): (['\"])(.*)\2,\n", text)
    texts = [said.replace("\\n", "\n") for _, _, said in fields]
    assert len(texts) == 12
    tagger = batag.load("starter")
    for title, description in zip(texts[::2], texts[1::2], strict=True):
        tags = tagger.tag({"title": title, "description": description})
        assert {tag.label for tag in tags} == {"brand", "goods", "feature"}, title


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("eye", EYES)
def test_labels_differ_in_colour_to_every_eye(eye: str, theme: int) -> None:
    text = (PAGE / "theme.css").read_text(encoding="utf-8")
    pairs = re.findall(r"--label-\d: light-dark\((#\w{6}), (#\w{6})\)", text)
    seen = [lab(EYES[eye] @ linear(pair[theme])) for pair in pairs]
    assert len(seen) == 8
    # The usual three labels are far apart; the marks help where a shop has more.
    assert closest(seen[:3]) > 25
    assert closest(seen) > 14


def closest(colours: list[Colour]) -> float:
    """The smallest distance between two of them."""
    return min(float(np.linalg.norm(one - other)) for one, other in combinations(colours, 2))


def linear(colour: str) -> Colour:
    """Linear RGB of a colour as it is written in CSS."""
    values = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb: Colour) -> Colour:
    """CIE L*a*b* (D65), in which distances are what people see."""
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ rgb.clip(0, 1)
    x, y, z = np.cbrt((xyz / [0.9505, 1.0, 1.089]).clip(1e-6))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])
