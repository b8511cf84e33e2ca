"""Characters, signs and spaces for matching: what is written around and between the words of a tag."""

import re
import unicodedata

from batag.pages.cleaning import SIGNS

CJK = "\u3041-\u3096\u30a1-\u30fa\u30fc-\u30fe\u3400-\u4dbf\u4e00-\u9fff々"
_MARKS = re.compile(f"[{SIGNS}\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufffc\ufffd]")
_BREAKS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_WIDE_DASH = re.compile("(?<=[\u3041-\u30fc])－")
_COMBINING = re.compile("[\u0300-\u036f]")
_NOT_PLAIN = re.compile("[\u00df-\u024f\u0300-\u036f\u1e00-\u1eff]")
_LETTERS = str.maketrans({"ø": "o", "æ": "ae", "œ": "oe", "đ": "d", "ł": "l", "ß": "ss", "ı": "i", "þ": "th", "ð": "d"})
_INCHES = re.compile(r"(?<=[0-9])(?:[“”″]|[’'′]{2})")
_APOSTROPHE = re.compile("[’‘ʼʻ´`′']")
_HYPHENS = re.compile("[‐‑‒–—―−﹣]")
_INITIALS = re.compile(r"(?<![0-9a-z])[a-z](?:\.[a-z])+(?:\.|(?![0-9a-z]))")
_POINT = re.compile(r"\.(?![0-9])|(?<=[a-z])\.(?=[0-9])|(?<=[0-9])\.(?=[0-9]+\.)")
_COMMA = re.compile(r",(?![0-9]{3}(?![0-9]))|(?<![0-9]),")
_TIMES = re.compile(r"[×✕✖╳*](?! ?[0-9])(?<![0-9].)(?<![0-9] .)")
_QUOTE = re.compile(r"(?<![0-9])\"")
_OTHERS = re.compile(r"[^\w\s.,&+×✕✖╳*%/#°$€£¥\"・-]|_")
_SPACES = re.compile("[^\\S\n]+")
_AND = re.compile(r"(?<=[a-z0-9]) and (?=[a-z0-9])")
_TIGHT = re.compile(r" *([&/]) *")
_MIDDLE = re.compile(r" *・+ *")
# A hyphen before a number at the beginning is a minus: -5.
_STRAY_HYPHEN = re.compile(rf"(?<![0-9a-z{CJK}+%° ])(?<!^)-+|-+(?![0-9a-z{CJK}])|(?<= )-+(?![0-9])|^-+(?![0-9])", re.MULTILINE)
_ENDS = re.compile(r"^(?:[ &/*.,・]|-(?![0-9]))+|[ &/*.,・-]+$", re.MULTILINE)
_BETWEEN = re.compile(rf"(?<=[{CJK}]) +(?=[0-9a-z{CJK}])|(?<=[0-9a-z%]) +(?=[{CJK}])")


def one_width(text: str) -> str:
    """Unicode's compatible forms (NFKC): full and half width, ㎏, ①; without ™ and invisible characters."""
    if text.isascii():
        return _BREAKS.sub(" ", text) if not text.isprintable() else text
    return _BREAKS.sub(" ", unicodedata.normalize("NFKC", _WIDE_DASH.sub("ー", _MARKS.sub("", text))))


def one_case(text: str) -> str:
    """Lower case."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text.casefold())


def no_accents(text: str) -> str:
    """Latin letters without accents: é is e, ø is o."""
    return _NOT_PLAIN.sub(_plain, unicodedata.normalize("NFC", text)) if _NOT_PLAIN.search(text) else text


def _plain(match: re.Match[str]) -> str:
    return _COMBINING.sub("", unicodedata.normalize("NFD", match[0])).translate(_LETTERS)


def no_apostrophes(text: str) -> str:
    """Without apostrophes: levi's is levis; two of them behind a number are inches."""
    return _APOSTROPHE.sub("", _INCHES.sub('"', text))


def one_sign(text: str) -> str:
    """Spaces instead of signs that mean nothing; `and` as &; u.s.a. as usa."""
    text = _INITIALS.sub(_joined, _HYPHENS.sub("-", text))
    for pattern in (_OTHERS, _POINT, _COMMA, _TIMES, _QUOTE):
        text = pattern.sub(" ", text)
    text = _AND.sub("&", _SPACES.sub(" ", _STRAY_HYPHEN.sub(" ", text)))
    return _ENDS.sub("", _MIDDLE.sub(" ", _TIGHT.sub(r"\1", text)))


def _joined(match: re.Match[str]) -> str:
    return match[0].replace(".", "")


def one_space(text: str) -> str:
    """No space beside Chinese and Japanese characters, one between other words."""
    return _BETWEEN.sub("", _SPACES.sub(" ", text))
