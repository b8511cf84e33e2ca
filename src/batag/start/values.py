"""Values of a shop's brand and category columns, taken apart: "HITACHI 日立" is two names of one brand, 其他 is none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from batag.pages.cleaning import SIGNS

_NO_BRANDS = """
    其他 其它 其他品牌 其它品牌 無 无 無品牌 无品牌 無牌 无牌 沒有 没有 未分類 未分类 未指定 未知 不明 一般 通用
    通用品牌 綜合 综合 自有品牌 白牌 副廠 原廠 進口 国产 國產 品牌 各品牌 多品牌 全部 所有商品 所有分類 全部商品 新品
    新品上市 熱銷 熱銷商品 特價 特價商品 優惠 首頁 館長推薦 その他 ノーブランド ノーブランド品 ブランドなし なし 無し
    メーカー不明 不明 指定なし 未設定 その他ブランド 全商品 新着 おすすめ セール none null nil na n/a n.a. no nobrand
    no-brand unbranded generic unknown other others misc miscellaneous various default uncategorized uncategorised all
    sale new newin home noname oem tbd test brand vendor manufacturer - -- . / ? x
"""
_COUNTRIES = """
    日本 台灣 臺灣 台湾 中國 中国 韓國 韩国 美國 美国 德國 德国 法國 法国 英國 英国 義大利 意大利 瑞士 瑞典 荷蘭 荷兰
    泰國 泰国 香港 澳洲 加拿大 西班牙 越南 日系 韓系 歐美 japan taiwan china korea usa germany france italy uk
"""
_NONE, _PLACES = frozenset(_NO_BRANDS.split()), frozenset(_COUNTRIES.split())
_OUTSIDE = re.compile(r"\s*[/／|｜、，,;；]\s*|\s+[-–—×x+＋]\s+|\s*[·・]\s*(?=[A-Za-z])")
_PLUS = re.compile(r"[+＋]")
_FITS = re.compile(
    r"^(?:for|fits|compatible with|適用於?|适用于?|相容於?|對應|対応)\s*[:：]?\s*(?=\S)"
    r"|\s*(?:[- ](?:compatible|compat\.?|replacement)|適用|适用|相容|副廠|専用|対応|互換品?)$",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"[(（\[【〔「『<＜]([^)）\]】〕」』>＞]*)[)）\]】〕」』>＞]")
_COMPANY = re.compile(
    r"(?:\s*(?:官方旗艦店|官方旗舰店|旗艦店|旗舰店|旗艦館|專賣店|专卖店|專營店|官方直營|官方|股份有限公司|有限公司|企業社|実業|株式会社|公式ショップ|公式ストア|公式|ストア))+$"
    r"|^(?:株式会社|有限会社|（株）|\(株\)|㈱)\s*"
    r"|(?:,?\s+(?:co\.?,?\s*ltd\.?|inc\.?|ltd\.?|corp\.?|corporation|company|gmbh|llc|official(?: store| shop)?|store))+$",
    re.IGNORECASE,
)
_CJK = r"\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff々"
_SCRIPTS = re.compile(rf"[{_CJK}][{_CJK}・ー\s]*|[^{_CJK}]+")
_LEVEL = re.compile(r"\s*(?:>|＞|›|»|\||｜|\\|/|／|::)\s*")
_TOGETHER = re.compile(r"\s*(?:/|／|、|,|，|;|；|・|\+|＋|與|和|及|\band\b|&|＆)\s*")
_LONGEST = 60
_EDGES = f" \t\r\n　-–—_.,，。:：'\"“”‘’*★☆◆●■{SIGNS}"


def is_none(value: str) -> bool:
    """Whether a value says that there is no brand or category."""
    folded = unicodedata.normalize("NFKC", value).strip().casefold()
    return not folded or folded in _NONE or folded.replace(" ", "") in _NONE or not any(map(str.isalpha, folded))


def brand_names(value: str, *, known: Callable[[str], bool] = lambda name: False) -> tuple[str, ...]:
    """The names in a value of the brand column, each script its own: HITACHI 日立, 無印良品(MUJI), A / B. `known` tells names
    that are a brand's by themselves: with 日立 among them, HITACHI日立 is two names, and OB嚴選 is one."""
    found: dict[str, None] = {}
    inside = [part for each in _BRACKETS.findall(value) for part in _OUTSIDE.split(each)]
    for part in (*_OUTSIDE.split(_BRACKETS.sub(" / ", value)), *inside):
        name = _COMPANY.sub("", _FITS.sub("", part.strip(_EDGES)).strip(_EDGES)).strip(_EDGES)
        if (is_none(part) or is_none(name)) and not known(name):
            continue
        for piece in (name,) if known(name) else _by_script(name, known):
            # Black+Decker is one name; SONY+BOSE are two where both are brands.
            halves = _PLUS.split(piece)
            for each in halves if len(halves) > 1 and not known(piece) and all(map(known, halves)) else (piece,):
                if _is_name(each) or (known(each) and len(each) > 1):
                    found.setdefault(each, None)
    return tuple(found)


def _by_script(name: str, known: Callable[[str], bool]) -> list[str]:
    """A name that is written in Latin letters and again in Chinese or Japanese, as two, and so are two such names
    with a space between; 3M膠帶 and Dr.Wu as they are."""
    runs = [run for run in _SCRIPTS.findall(name) if run.strip(_EDGES)]
    pieces = [piece for run in runs for piece in _pieces(run, known)]
    whole = [piece for piece in pieces if len(piece) > 1 and any(map(str.isalpha, piece))]
    if not 1 < len(pieces) <= 4 or len(whole) < len(pieces):
        return [name]
    if len(runs) > 1 and not any(map(str.isspace, name)) and not any(map(known, pieces)):
        # Written without a space it is one name; its Latin part may stand alone.
        return [name, *(piece for piece in pieces if piece.isascii() and len(piece) > 2)]
    return pieces


def _pieces(run: str, known: Callable[[str], bool]) -> list[str]:
    """A run of one script: names of Chinese or Japanese letters have no space inside; Latin ones may, unless both parts are
    brands (Philips Sonicare)."""
    plain = run.strip(_EDGES)
    words = plain.split()
    if re.match(f"[{_CJK}]", plain):
        return words
    halves = ((" ".join(words[:place]), " ".join(words[place:])) for place in range(1, min(len(words), 5)))
    return next((list(pair) for pair in halves if all(map(known, pair))), [plain])


def _is_name(name: str) -> bool:
    folded = unicodedata.normalize("NFKC", name).casefold()
    return 1 < len(name) <= _LONGEST and not is_none(name) and folded not in _PLACES


def category_names(value: str) -> tuple[str, ...]:
    """The last names of the paths in a value of the category column; 冰箱、冷凍櫃 are two."""
    found: dict[str, None] = {}
    for path in re.split(r"\s*[;；\n]\s*", value):
        # Several paths may stand in one cell with commas between, as in WooCommerce's.
        for one in path.split(",") if ">" in path else (path,):
            levels = [level for level in _LEVEL.split(one) if level.strip()]
            for name in _TOGETHER.split(levels[-1]) if levels else ():
                plain = _BRACKETS.sub("", name).strip(_EDGES)
                if 1 < len(plain) <= 30 and not is_none(plain):
                    found.setdefault(plain, None)
    return tuple(found)
