"""One script for Chinese words: Traditional characters as in Taiwan. Japanese words stay as they are."""

import re
from functools import cache
from typing import Any

from opencc import OpenCC

_OTHERS = re.compile("[^\u3400-\u4dbf\u4e00-\u9fff]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_SAME = str.maketrans("臺檯枱裏峯羣綫牀着麪溼汙脣喫爲衆盃麽鷄么苧粧", "台台台裡峰群線床著麵濕污唇吃為眾杯麼雞麼薴妝")
"""Two forms of one character that are both used in Traditional text."""
_SHOWN = {"zh-Hans": "t2s", "ja": "t2jp"}


def one_script(text: str) -> str:
    """The lines of a text with Chinese in Traditional characters: 面膜 stays, 面条 is 麵條, 头发 is 頭髮; まくら枕 stays."""
    if text.isascii() or _HAN.search(text) is None:
        return text
    lines = text.split("\n")
    simplified: list[int] = []
    others: list[int] = []
    for number, line in enumerate(lines):
        if not line.isascii() and _KANA.search(line) is None and (han := _OTHERS.sub("", line)):
            # One character may be either, and is what it looks like.
            (simplified if len(han) > 1 and _fits(han, "gb2312") else others).append(number)
    _replace(lines, simplified, _from_simplified)
    _replace(lines, others, _from_both)
    return "\n".join(lines)


def shown_in(text: str, language: str) -> str:
    """A key in the script of a language, for people: Simplified Chinese or Japanese forms instead of Traditional ones."""
    configuration = _SHOWN.get(language)
    if configuration is None or text.isascii() or _KANA.search(text) is not None:
        return text
    return str(_converter(configuration).convert(text))


def _replace(lines: list[str], numbers: list[int], convert: Any) -> None:
    if numbers:
        made = convert("\n".join(lines[number] for number in numbers)).split("\n")
        for number, line in zip(numbers, made, strict=True):
            lines[number] = line


def _from_simplified(text: str) -> str:
    return str(_converter("s2tw").convert(text)).translate(_SAME)


def _from_both(text: str) -> str:
    """Lines with characters that Simplified text does not have: their Simplified characters follow, if none is Japanese."""
    made = text.translate(_unmistakable()).translate(_SAME)
    pairs = zip(text.split("\n"), made.split("\n"), strict=True)
    return "\n".join(new if _fits(_OTHERS.sub("", new), "big5") else old for old, new in pairs)


def _fits(han: str, encoding: str) -> bool:
    return len(han.encode(encoding, "ignore")) == 2 * len(han)


@cache
def _converter(configuration: str) -> Any:
    return OpenCC(configuration)


@cache
def _unmistakable() -> dict[int, str]:
    """Simplified characters that Traditional text never has, and their Traditional form."""
    codes = (bytes((high, low)) for high in range(0xB0, 0xF8) for low in range(0xA1, 0xFF))
    own = [each for each in (code.decode("gb2312", "ignore") for code in codes) if each and not _fits(each, "big5")]
    return {ord(each): new for each, new in zip(own, _converter("s2tw").convert("\n".join(own)).split("\n"), strict=True)}
