"""Amounts for matching: one spelling of a number and of its unit, and one unit for each quantity."""

import re
from decimal import Decimal

_UNITS = {
    "ml": "ml 毫升 公撮 ミリリットル milliliter milliliters millilitre millilitres",
    "l": "l 公升 升 リットル liter liters litre litres ltr",
    "mg": "mg 毫克 ミリグラム milligram milligrams",
    "g": "g 公克 克 グラム gram grams gm",
    "kg": "kg 公斤 千克 キログラム キロ kilogram kilograms kilo kilos kgs",
    "mm": "mm 公釐 公厘 毫米 ミリメートル ミリ millimeter millimeters millimetre millimetres",
    "cm": "cm 公分 厘米 センチメートル センチ centimeter centimeters centimetre centimetres",
    "m": "m 公尺 米 メートル meter meters metre metres",
    "km": "km 公里 キロメートル kilometer kilometers",
    "in": '" 吋 英吋 英寸 インチ inch inches',
    "ft": "ft 英呎 英尺 フィート foot feet",
    "oz": "oz 盎司 オンス ounce ounces",
    "lb": "lb lbs 磅 ポンド pound pounds",
    "ct": "ct 克拉 カラット carat carats",
    "w": "w 瓦 瓦特 ワット watt watts",
    "v": "v 伏 伏特 ボルト volt volts",
    "mah": "mah 毫安 毫安時 毫安时",
    "hz": "hz 赫茲 赫兹 ヘルツ hertz",
    "gb": "gb",
    "tb": "tb",
    "mb": "mb",
    "%": "%",
    "pcs": "pcs pc piece pieces 個 个 個入 个装 個裝 個セット 入",
}
_NAME = {name: unit for unit, names in _UNITS.items() for name in names.split()}
_AS_SMALLER = {"l": ("ml", 1000), "kg": ("g", 1000), "m": ("cm", 100)}
_AS_LARGER = {"ml": ("l", 1000, 1000), "g": ("kg", 1000, 1000), "cm": ("m", 100, 301)}
"""The larger unit, how many make one, and from how many on it is written."""
_BRANDS = frozenset({"3m"})
_DIGITS = r"[0-9]{1,12}"
_THOUSANDS = re.compile(r"(?<![0-9.,])([0-9]{1,3}(?:,[0-9]{3}){1,4})(?![0-9]|,[0-9])")
_TIMES = re.compile(
    r" ?[×✕✖╳*] ?(?=[0-9])|(?<=[0-9]) ?[×✕✖╳*] ?|(?:(?<=[0-9])|(?<=[0-9][a-z])|(?<=[0-9][a-z][a-z])) x (?=[0-9])"
)
_IN_ONE = re.compile(r"(?<![0-9a-z.])([0-9]{1,2})(?:[- ]?in[- ]?|合)([0-9]{1,2})(?![0-9a-z.])")
_latin = "|".join(sorted((re.escape(name) for name in _NAME if name.isascii()), key=len, reverse=True))
_others = "|".join(sorted((name for name in _NAME if not name.isascii()), key=len, reverse=True))
_AMOUNT = re.compile(
    rf"(?<![0-9.,a-z/-])({_DIGITS}(?:\.{_DIGITS})?|\.{_DIGITS})[ -]?"
    rf"(?:({_latin})(?![a-z0-9])|({_others})(?![\u3041-\u30ff\u3400-\u9fff])|({_others})(?=[裝装入組组瓶包盒袋罐桶杯の用]))"
)


def one_amount(text: str) -> str:
    """The lines of a text with each amount in one form: 50 ML, 50毫升 and 0.05 l are 50ml; 5.0 and 1-2 stay."""
    text = _IN_ONE.sub(r"\1in\2", _THOUSANDS.sub(_without_commas, text))
    return _TIMES.sub("x", _AMOUNT.sub(_amount, text))


def _without_commas(match: re.Match[str]) -> str:
    return match[1].replace(",", "")


def _amount(match: re.Match[str]) -> str:
    if match[0] in _BRANDS:
        return match[0]
    number, unit = Decimal(match[1]), _NAME[match[2] or match[3] or match[4]]
    if unit in _AS_SMALLER:
        unit, times = _AS_SMALLER[unit]
        number *= times
    if unit in _AS_LARGER and number >= _AS_LARGER[unit][2]:
        unit, many, _ = _AS_LARGER[unit]
        number /= many
    return f"{number.normalize():f}{unit}"
