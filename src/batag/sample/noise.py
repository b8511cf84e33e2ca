"""Noise as on real pages: markup, width variants, typos, repeated punctuation, zero-width spaces. Offsets stay right, because
only whole pieces are changed before a field is closed."""

from collections.abc import Callable

from batag.sample.draft import Draft
from batag.sample.knobs import Knobs

WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
ENDINGS = {"！": "！！！", "!": "!!!", "～": "～～～", "?": "??", "。": "。。。", "…": "……", "♪": "♪♪", ".": "..."}
FULL_KANA = (
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲンァィゥェォャュョッー"
    "ガギグゲゴザジズゼゾダヂヅデドバビブベボヴパピプペポ"
)
HALF_KANA = (
    *"ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜｦﾝｧｨｩｪｫｬｭｮｯｰ",
    *(f"{kana}ﾞ" for kana in "ｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾊﾋﾌﾍﾎｳ"),
    *(f"{kana}ﾟ" for kana in "ﾊﾋﾌﾍﾎ"),
)
NARROW = {ord(full): half for full, half in zip(FULL_KANA, HALF_KANA, strict=True)}


class Noise:
    """Changes drafts at the rates of the knobs; `markup` says whether the current page is HTML."""

    def __init__(self, language: str, *, knobs: Knobs, random: Callable[[], float]) -> None:
        self.knobs, self.random = knobs, random
        self.width = NARROW if language == "ja" else WIDE
        self.markup = False

    def brand(self, forms: tuple[str, ...]) -> tuple[str, ...]:
        """A brand's spellings on this page: in capitals, or in another width."""
        chance = self.random()
        if chance < self.knobs.capitals:
            return tuple(form.upper() for form in forms)
        if chance < self.knobs.capitals + self.knobs.width / 3:
            return tuple(form.translate(WIDE if form.isascii() else self.width) for form in forms)
        return forms

    def prose(self, goods: str) -> str:
        """Goods inside a sentence: in English mostly in lower case, except for words such as TV or T-shirt."""
        if self.random() >= self.knobs.lower:
            return goods
        return " ".join(word.lower() if word[1:].islower() and word[1] != "-" else word for word in goods.split(" "))

    def disturb(self, draft: Draft) -> None:
        """Change pieces of the current field; a tag stays one piece."""
        knobs, random, pieces = self.knobs, self.random, draft.pieces
        labels = dict(draft.marks)
        if random() < knobs.typo and (place := self._plain(pieces, labels, 4)) is not None:
            pieces[place] = self._typo(pieces[place])
        if random() < knobs.goods_typo:
            for place, label in draft.marks:
                if label == "goods" and len(pieces[place]) > 4:
                    pieces[place] = self._typo(pieces[place])
                    break
        if random() < knobs.width and (place := self._plain(pieces, labels, 1)) is not None:
            pieces[place] = pieces[place].translate(self.width if random() < 0.5 else WIDE)
        if random() < knobs.repeat:
            for place in range(len(pieces)):
                if place not in labels and pieces[place][-1:] in ENDINGS:
                    pieces[place] = pieces[place][:-1] + ENDINGS[pieces[place][-1]]
                    break
        if random() < knobs.zero_width and (place := self._plain(pieces, labels, 1)) is not None:
            pieces[place] += "\u200b"
        if self.markup and pieces and random() < knobs.bold:
            self._bold(pieces, labels)

    def _plain(self, pieces: list[str], labels: dict[int, str], length: int) -> int | None:
        """The index of a piece that is neither tag nor markup, or None."""
        for _ in range(4):
            place = int(self.random() * len(pieces))
            text = pieces[place]
            if place not in labels and len(text) >= length and not any(mark in text for mark in "<&/"):
                return place
        return None

    def _typo(self, text: str) -> str:
        """Swap two adjacent characters or delete one; never the first."""
        place = 1 + int(self.random() * (len(text) - 2))
        if self.random() < 0.5:
            return text[:place] + text[place + 1] + text[place] + text[place + 2 :]
        return text[:place] + text[place + 1 :]

    def _bold(self, pieces: list[str], labels: dict[int, str]) -> None:
        """Put <b> around a piece; for a tag, on the pieces before and after it."""
        place = int(self.random() * len(pieces))
        if place not in labels:
            if len(pieces[place]) > 2 and "<" not in pieces[place]:
                pieces[place] = f"<b>{pieces[place]}</b>"
        elif 0 < place < len(pieces) - 1 and place - 1 not in labels and place + 1 not in labels:
            pieces[place - 1] += "<b>"
            pieces[place + 1] = "</b>" + pieces[place + 1]
