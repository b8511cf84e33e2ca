"""One spelling of Japanese words for matching: katakana, small letters and long marks."""

import re

_HIRAGANA = "ぁ-ゖゝゞ"
_KATAKANA = "ァ-ヺヽヾ"
_HAN = "\u3400-\u4dbf\u4e00-\u9fff々"
_LOOKALIKE = re.compile(rf"(?<=[{_HIRAGANA}{_KATAKANA}ー])[-‐‑–—―─━−〜~]+(?![0-9a-z])")
_LONG = re.compile("ー{2,}")
_MONTHS = re.compile(r"(?<=[0-9])[ヶケヵカか箇個]月")
# Endings behind Han characters stay as they are: 滑り止め.
_WRITTEN_OUT = re.compile(rf"(?<![{_HAN}{_HIRAGANA}ー])(の(?<=[{_KATAKANA}]の))?([{_HIRAGANA}ー]+)(?=([{_HAN}])?)")
_OF = re.compile("(?<=..)の(?=..)")
_TO_KATAKANA = {code: code + 0x60 for code in [*range(0x3041, 0x3097), 0x309D, 0x309E]}
_TWO_WAYS = re.compile("ヴ[ァィゥェォ]?|[ヂヅ]|ウ[イエオ]|フイ|クオ|グア")
_ONE_WAY = {
    "ヴ": "ブ",
    "ヴァ": "バ",
    "ヴィ": "ビ",
    "ヴゥ": "ブ",
    "ヴェ": "ベ",
    "ヴォ": "ボ",
    "ヂ": "ジ",
    "ヅ": "ズ",
    "ウイ": "ウィ",
    "ウエ": "ウェ",
    "ウオ": "ウォ",
    "フイ": "フィ",
    "クオ": "クォ",
    "グア": "グァ",
}
# Of at least three letters: カバー is no カバ.
_LAST_LONG = re.compile(rf"(?<![{_KATAKANA}ー])([{_KATAKANA}ー]{{2,}}[{_KATAKANA}])ー(?![{_KATAKANA}ー])")
_OTHER_WORD = frozenset({"アンカ", "ローラ"})
"""Words that are another thing than the same word with a long mark at its end."""


def one_kana(text: str) -> str:
    """The lines of a text with one spelling of each word: りんご as リンゴ, プリンター as プリンタ; but ビル is no ビール."""
    text = _LONG.sub("ー", _LOOKALIKE.sub("ー", text))
    text = _WRITTEN_OUT.sub(_katakana, _MONTHS.sub("か月", text))
    return _LAST_LONG.sub(_without_last, _TWO_WAYS.sub(_one_way, text))


def _katakana(match: re.Match[str]) -> str:
    shortest = 3 if match[3] else 2
    pieces = _OF.split(match[2])
    return (match[1] or "") + "の".join(
        each.translate(_TO_KATAKANA) if len(each) >= shortest or len(pieces) > 1 else each for each in pieces
    )


def _one_way(match: re.Match[str]) -> str:
    return _ONE_WAY[match[0]]


def _without_last(match: re.Match[str]) -> str:
    return match[0] if match[1] in _OTHER_WORD else match[1]
