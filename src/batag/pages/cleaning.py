"""Clean text by named rules that can be switched on and off; each rule is a list of edits, so offsets map back to the original
exactly.

Removed text leaves a space, so that a token never spans removed markup; only invisible characters (controls, zero width) are
removed without one.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache, partial

from batag.errors import unknown_name
from batag.pages.offsets import Cleaned, Edit

_PICTOGRAPH = (
    "[\u203c\u2049\u2139\u2194-\u21aa\u2300-\u23ff\u25aa-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001f1e5\U0001f200-\U0001faff]"
)
_TONE = "[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]"
_TAGS = "[\U000e0020-\U000e007f]{2,8}"

EMOJI = (
    "(?:[\U0001f1e6-\U0001f1ff]{2}"
    "|[0-9#*]\ufe0f?\u20e3"
    f"|{_PICTOGRAPH}{_TONE}{{0,2}}(?:{_TAGS})?(?:\u200d{_PICTOGRAPH}{_TONE}{{0,2}}){{0,7}})"
)
"""A pattern for whole emoji sequences: flags, keycaps, skin tones, joined families."""

_ENTITY = re.compile(r"&(?:amp;)*(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ESCAPED_AGAIN = re.compile(r"&(?:amp;)+(?=[#A-Za-z])")
_ELEMENTS = (
    "a abbr address article aside audio b base big blockquote body br button canvas caption center cite code col "
    "colgroup dd del details div dl dt em embed fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 head "
    "header hr html i iframe img input ins label legend li link main map mark meta nav noscript object ol optgroup "
    "option p picture pre q s samp script section select small source span strike strong style sub summary sup svg "
    "table tbody td template textarea tfoot th thead time title tr tt u ul var video wbr"
)
_TAG = rf"/?(?:{'|'.join(_ELEMENTS.split())})(?:\s+[A-Za-z/][^<>]*|\s*)/?>"
_MARKUP = re.compile(rf"<(?:!--|(?P<raw>script|style)\b[^<>]*>|{_TAG}|!doctype[^<>]*>)", re.IGNORECASE)
_RAW_END = {name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in ("script", "style")}
_URL = re.compile(r"(?<![A-Za-z])(?:https?://|www\.(?=[A-Za-z0-9]))[!-;=?-~]+", re.IGNORECASE)
_UNSEEN = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\u3164\ufe00-\ufe0f\ufeff\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff"
)
_ANY_UNSEEN = re.compile(f"[{_UNSEEN}]")
_EMOJI_OR_UNSEEN = re.compile(f"{EMOJI}|(?P<unseen>[{_UNSEEN}]+)")
_LEFT = re.compile("[\u115f\u1160\ufe0e\ufe0f]")
_EMOJI_OR_LEFT = re.compile(f"{EMOJI}|(?P<left>[\u115f\u1160\ufe0e\ufe0f]+)")
_EMOJI = re.compile(f"{EMOJI}(?:\\s*{EMOJI})*")
_WIDE = re.compile("[\uff01-\uff5e\u3000]")
_ASCII_OF_WIDE = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {"\u3000": " "}
_MARK = "[!-/:-@\\[-`{-~\u00a1-\u00bf\u2010-\u2bff\u3001-\u303f\u30fb\ufe0e\ufe0f\uff01-\uff65\U0001f000-\U0001faff]"
SIGNS = "™℠®©"
"""Signs behind a name that are no part of it; NFKC would make letters of some."""
# The first two characters of a repetition: a cheap test that avoids the long pattern on most text.
_MARK_TWICE = re.compile(rf"({_MARK})(?:\1|(?<=[!?])[!?]|(?<=[\ufe0f\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff]){_MARK})")
_BOUND = "[\ufe0f\U0001f3fb-\U0001f3ff]"
_REPEATED = re.compile(rf"[!?]{{2,}}|((?>{EMOJI})|(?![()\[\]{{}}<>+\U0001f1e6-\U0001f1ff]){_MARK})(?:\1(?!{_BOUND}))+")
_BOUND_TWICE = re.compile(rf"({_BOUND})\1+")
_PROMO_WORDS = """
    限時 限量 限定 優惠 特價 特惠 特賣 促銷 折扣 免運費 免運 免郵 現貨 預購 熱銷 熱賣 新品 新上市 新款 上市 買一送一 買二送一
    贈品 加購 滿額 清倉 出清 破盤 下殺 領券 現折 回饋 點數 全館 獨家 週年慶 雙11 雙12
    限时 优惠 特价 特卖 促销 免运费 免运 包邮 现货 预售 热销 热卖 买一送一 赠品 清仓 秒杀 领券
    送料無料 送料込み 送料込 ポイント セール 半額 割引 クーポン 期間限定 数量限定 新作 新商品 即納 即日発送 あす楽
    タイムセール お買い得 特別価格 在庫処分 本日限り 公式 正規品
    free shipping sale off arrival deal deals seller limited offer special clearance save"""
_PROMO_FILLERS = "折 買 送 贈 滿 元 件 买 赠 满 倍 割 円 最大 new hot best time buy get one flash today only up to"
_ANY_PROMO = sorted(f"{_PROMO_WORDS} {_PROMO_FILLERS}".split(), key=len, reverse=True)
_FILL = r"[\s\d%!~,.&+*:|\-★☆♪◆■●※]{0,10}+"
_OPENING = re.compile(r"[【\[(《＼\\]")
_PROMO = re.compile(
    "|".join(
        f"{left}{_FILL}(?>(?:{'|'.join(_ANY_PROMO)}){_FILL}){{1,8}}+{right}"
        for left, right in ("【】", (r"\[", r"\]"), (r"\(", r"\)"), "《》", (r"[＼\\]", "[／/]"))
    ),
    re.IGNORECASE,
)
# Looked for last: there are far more brackets than promotions.
_PROMO_WORD_NEAR = re.compile(rf".{{0,40}}?(?:{'|'.join(_PROMO_WORDS.split())})", re.IGNORECASE)
_LETTERS = "A-Za-z0-9\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fff"
# Words with single marks between them, which no rule changes: a cheap look that spares all of them on most titles.
_PLAIN = re.compile(rf"[{_LETTERS}]++(?:(?:[ ,;:'\"/*+|~%#=_-]|(?<![Ww])\.)[{_LETTERS}]++)*+")
_SPACES = re.compile(r"\s(?:\s+|(?<! ))")


def _entities(text: str) -> list[Edit]:
    if "&" not in text:
        return []
    edits = []
    for match in _ENTITY.finditer(text):
        # "&amp;nbsp;" is an entity that somebody escaped twice.
        piece = html.unescape(_ESCAPED_AGAIN.sub("&", match[0]))
        if piece != match[0]:
            edits.append((match.start(), match.end(), piece))
    return edits


def _markup(text: str) -> list[Edit]:
    if "<" not in text:
        return []
    # Ends that were not found once are not looked for again, so that hostile text costs no more than its length.
    lost: set[str] = set()
    edits, place = [], 0
    while match := _MARKUP.search(text, place):
        start, place = match.span()
        if match[0] == "<!--":
            end = -1 if "comment" in lost else text.find("-->", place)
            if end < 0:
                lost.add("comment")
                continue
            place = end + 3
        elif (raw := (match["raw"] or "").lower()) and raw not in lost:
            if close := _RAW_END[raw].search(text, place):
                place = close.end()
            else:
                lost.add(raw)
        edits.append((start, place, " "))
    return edits


def _urls(text: str) -> list[Edit]:
    if "://" not in text and "ww." not in text and "WW." not in text:
        return []
    return _spaced(_URL, text)


def _controls(text: str) -> list[Edit]:
    if not _ANY_UNSEEN.search(text):
        return []
    return [(match.start(), match.end(), "") for match in _EMOJI_OR_UNSEEN.finditer(text) if match["unseen"]]


@cache
def _compatible() -> re.Pattern[str]:
    """A pattern for text that NFKC may change: a compatibility character, or any character with combining marks."""
    codes = (*range(0x80, 0x4E00), *range(0xA000, 0xAC00), *range(0xF900, 0x20000), *range(0x2F800, 0x2FA20))
    # Voicing marks and the Hangul letters that join into syllables, in all their widths.
    marks = {0xFF9E, 0xFF9F, *range(0x1100, 0x1200), *range(0x3131, 0x3164), *range(0xFFA1, 0xFFDD)}
    compatible = set()
    for code in codes:
        character = chr(code)
        if unicodedata.combining(character):
            marks.add(code)
        if parts := unicodedata.decomposition(character):
            pair = parts.split()
            if len(pair) == 2 and not parts.startswith("<"):
                marks.add(int(pair[1], 16))
            if unicodedata.normalize("NFKC", character) != character and character not in SIGNS:
                compatible.add(code)
    # At most 30 marks at a time, as Unicode's stream-safe format: sorting endless ones takes quadratic time.
    joins = _class(marks)
    return re.compile(f"{_class(compatible)}{joins}{{0,30}}|[^{SIGNS}]{joins}{{1,30}}")


def _class(codes: Iterable[int]) -> str:
    """A regular-expression character class of code points."""
    ranges: list[list[int]] = []
    for code in sorted(codes):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "[" + "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges) + "]"


def _width(text: str) -> list[Edit]:
    if unicodedata.is_normalized("NFKC", text):
        return []
    pieces = ((match, unicodedata.normalize("NFKC", match[0])) for match in _compatible().finditer(text))
    found = []
    for match, folded in pieces:
        # White space before a character that may combine with what precedes it stays outside of the edit, and of tags.
        same = int(match[0][0].isspace() and folded[0] == match[0][0])
        if folded != match[0]:
            found.append((match.start() + same, match.end(), folded[same:]))
    return found


def _bare(text: str) -> list[Edit]:
    """Remove variation selectors and fillers that remain after the character before them was folded (㊙️)."""
    if not _LEFT.search(text):
        return []
    return [(match.start(), match.end(), "") for match in _EMOJI_OR_LEFT.finditer(text) if match["left"]]


def _bound(text: str) -> list[Edit]:
    """The same skin tone or variation selector repeated becomes one, before whole emoji are compared."""
    return [(match.start(), match.end(), match[1]) for match in _BOUND_TWICE.finditer(text)]


def _punctuation(text: str) -> list[Edit]:
    if not _MARK_TWICE.search(text):
        return []
    return [(match.start(), match.end(), match[1] or match[0][0]) for match in _REPEATED.finditer(text)]


def _promo(text: str) -> list[Edit]:
    edits: list[Edit] = []
    for opening in _OPENING.finditer(text):
        match = _PROMO.match(text, opening.start())
        if match and (not edits or edits[-1][1] <= match.start()) and _PROMO_WORD_NEAR.match(text, opening.end()):
            edits.append((match.start(), match.end(), " "))
    return edits


def _spaced(pattern: re.Pattern[str], text: str) -> list[Edit]:
    """Replace each match by a space."""
    return [(match.start(), match.end(), " ") for match in pattern.finditer(text)]


RULES: dict[str, tuple[str, tuple[Callable[[str], list[Edit]], ...]]] = {
    "html": ("HTML entities become characters; tags, comments, scripts and styles become a space", (_entities, _markup)),
    "urls": ("web addresses become a space", (_urls,)),
    "controls": ("control, zero-width and direction characters vanish (not inside an emoji)", (_controls,)),
    "width": ("full and half width, ligatures, circled and composed forms as NFKC has them; ™ stays", (_width,)),
    "promo": ("brackets that hold promotion words only become a space", (_promo,)),
    "punctuation": ("the same mark or emoji repeated becomes one", (_bound, _punctuation)),
    "emoji": ("emoji become a space (off by default: they are kept)", (partial(_spaced, _EMOJI),)),
    "spaces": ("a run of white space becomes one space", (partial(_spaced, _SPACES),)),
}
DEFAULT_RULES = tuple(name for name in RULES if name != "emoji")


class Cleaner:
    """Applies the named rules, always in the order of `RULES`."""

    def __init__(self, rules: Iterable[str] = DEFAULT_RULES) -> None:
        chosen = set(rules)
        for name in sorted(chosen - RULES.keys()):
            raise unknown_name(name, RULES, "a cleaning rule")
        self.rules = tuple(name for name in RULES if name in chosen)
        self._steps = [step for name in self.rules for step in RULES[name][1]]

    def __call__(self, text: str) -> Cleaned:
        cleaned = Cleaned(text, text)
        if _PLAIN.fullmatch(text):
            return cleaned
        for step in self._steps:
            if step is _width:
                # One character for one: the bulk of all width changes, and no offset moves.
                cleaned.text = _WIDE.sub(lambda match: _ASCII_OF_WIDE[match[0]], cleaned.text)
            if edits := step(cleaned.text):
                cleaned.apply(edits)
                if step is _width and "controls" in self.rules:
                    cleaned.apply(_bare(cleaned.text))
        return cleaned


def parse_rules(text: str | None) -> tuple[str, ...]:
    """Parse a list of rules: `html,width` is exactly these two, `+emoji,-promo` changes the default, empty is the default."""
    parts = [part.strip() for part in (text or "").split(",") if part.strip()]
    if not parts:
        return DEFAULT_RULES
    if not all(part[0] in "+-" for part in parts):
        return tuple(part.lstrip("+") for part in parts)
    added = [part[1:] for part in parts if part[0] == "+"]
    taken = {part[1:] for part in parts if part[0] == "-"}
    return tuple(rule for rule in (*DEFAULT_RULES, *added) if rule not in taken)
