"""The table of languages; a new language is a new row (see CONTRIBUTING)."""

import re
from dataclasses import dataclass
from pathlib import Path

from batag.errors import UsageError

CJK = re.compile(
    "[\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff]"
)


@dataclass(frozen=True, kw_only=True)
class Language:
    """The properties of a language."""

    name: str
    """The name in files and options: a BCP 47 tag."""
    title: str
    """The English name, for messages."""
    aliases: str
    """Other names, in lower case, separated by spaces."""
    spaces: bool
    """Whether words are separated by spaces."""
    segmenter: str
    """A name of `batag.segmentation.SEGMENTERS`."""
    stop_words: Path | None = None
    """The file of stop words, one per line."""
    pretrained: str | None = None
    """The pretrained features in `batag.features.shipped` for this language."""
    letters: str = ""
    """Its letters as a regular-expression class, if no other language here uses them; they identify the language. Chinese,
    Japanese and English share letters; `batag.segmentation.detection` distinguishes them."""


_STOP_WORDS = Path(__file__).with_name("stopwords")
LANGUAGES = {
    row.name: row
    for row in (
        Language(
            name="zh-Hant",
            title="Traditional Chinese",
            aliases="zh-tw zh-hk zh-mo zh-hant-tw zh-hant-hk zht",
            spaces=False,
            segmenter="chinese",
            stop_words=_STOP_WORDS / "zh-Hant.txt",
            pretrained="zh",
        ),
        Language(
            name="zh-Hans",
            title="Simplified Chinese",
            aliases="zh zh-cn zh-sg zh-hans-cn zhs",
            spaces=False,
            segmenter="chinese",
            stop_words=_STOP_WORDS / "zh-Hans.txt",
            pretrained="zh",
        ),
        Language(
            name="ja",
            title="Japanese",
            aliases="ja-jp jp jpn",
            spaces=False,
            segmenter="japanese",
            stop_words=_STOP_WORDS / "ja.txt",
            pretrained="ja",
        ),
        Language(
            name="en",
            title="English",
            aliases="en-us en-gb en-au en-ca eng",
            spaces=True,
            segmenter="english",
            stop_words=_STOP_WORDS / "en.txt",
            pretrained="en",
        ),
    )
}


def known_language(name: str) -> str | None:
    """The canonical name of a language in any spelling (zh-TW, zh_CN, jp); None if it is unknown."""
    plain = name.strip().lower().replace("_", "-")
    return next((row.name for row in LANGUAGES.values() if plain in (row.name.lower(), *row.aliases.split())), None)


def check_language(name: str) -> str:
    """The canonical name of a language; an unknown one is an error that lists all."""
    if (known := known_language(name)) is None:
        *most, last = (f"{row.name} ({row.title})" for row in LANGUAGES.values())
        raise UsageError(f"{name!r} is not a known language", todo=f"There are {', '.join(most)} and {last}")
    return known


def joins_without_spaces(language: str | None, text: str) -> bool:
    """Whether words are written without spaces, by the language or, if it is unknown, by the characters."""
    return CJK.search(text) is not None if language is None else not LANGUAGES[language].spaces
