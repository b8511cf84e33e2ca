"""The singular of English words, for matching; a plural that is another thing than its singular stays."""

import re

_WORD = re.compile(r"(?<![a-z0-9])[a-z]{3,}(?![a-z0-9])")
_OTHER_THING = frozenset(
    [
        "news",
        "goods",
        "shorts",
        "jeans",
        "tights",
        "briefs",
        "boxers",
        "slacks",
        "overalls",
        "dungarees",
        "customs",
        "means",
        "clothes",
        "braces",
        "suspenders",
        "sunglasses",
        "eyeglasses",
        "arts",
    ]
)
"""Plurals that are another thing than their singular (news, shorts), and words without one."""
_OTHER_THING_ALONE = frozenset(["pumps", "flats", "spirits", "greens", "sweats", "works"])
"""The same, but only if the word is the whole tag: pumps are shoes, water pumps are not."""
_VESSELS = frozenset(
    [
        "wine",
        "shot",
        "beer",
        "cocktail",
        "champagne",
        "drinking",
        "whiskey",
        "whisky",
        "martini",
        "water",
        "highball",
        "juice",
        "sake",
        "tea",
        "pint",
        "magnifying",
        "stained",
    ]
)
"""Words before `glasses` that are not worn."""
_NO_PLURAL = frozenset(
    [
        "always",
        "atlas",
        "bias",
        "canvas",
        "chaos",
        "christmas",
        "cosmos",
        "gas",
        "iris",
        "lens",
        "perhaps",
        "series",
        "species",
        "texas",
        "this",
        "towards",
    ]
)
_IRREGULAR = {
    **dict.fromkeys(("men", "mens", "mans"), "man"),
    **dict.fromkeys(("women", "womens", "womans"), "woman"),
    **dict.fromkeys(("children", "childrens", "childs"), "child"),
    "feet": "foot",
    "teeth": "tooth",
    "mice": "mouse",
    "geese": "goose",
    "oxen": "ox",
    "dice": "die",
    "axes": "axe",
    "lenses": "lens",
    "gases": "gas",
    "buses": "bus",
    "irises": "iris",
    "quizzes": "quiz",
    "canvases": "canvas",
    **{f"{stem}ves": f"{stem}fe" for stem in ("kni", "wi", "li", "midwi", "penkni")},
    **{
        f"{stem}ves": f"{stem}f"
        for stem in ["shel", "bookshel", "scar", "wol", "lea", "loa", "hal", "cal", "thie", "hoo", "el"]
    },
}
_IN_IE = frozenset(
    [
        "beanie",
        "birdie",
        "bootie",
        "bowtie",
        "brownie",
        "budgie",
        "calorie",
        "collie",
        "cookie",
        "cutie",
        "doggie",
        "foodie",
        "freebie",
        "genie",
        "goalie",
        "hankie",
        "hippie",
        "hoodie",
        "lingerie",
        "magpie",
        "movie",
        "necktie",
        "newbie",
        "nightie",
        "onesie",
        "oldie",
        "pixie",
        "potpie",
        "prairie",
        "rookie",
        "scrunchie",
        "selfie",
        "smoothie",
        "talkie",
        "techie",
        "townie",
        "veggie",
        "walkie",
        "wheelie",
        "zombie",
        "barbie",
    ]
)
_IN_O = frozenset(
    ["potatoes", "tomatoes", "heroes", "mangoes", "mosquitoes", "volcanoes", "torpedoes", "echoes", "avocadoes", "tornadoes"]
)
_IN_CHE = frozenset(
    ["caches", "headaches", "aches", "toothaches", "quiches", "brioches", "moustaches", "niches", "cloches", "ganaches"]
)
_IN_I_OR_U = frozenset(
    [
        "skis",
        "taxis",
        "bikinis",
        "tankinis",
        "kiwis",
        "safaris",
        "minis",
        "midis",
        "maxis",
        "saris",
        "zucchinis",
        "paninis",
        "emojis",
        "martinis",
        "obis",
        "menus",
        "emus",
        "gurus",
        "tutus",
        "haikus",
    ]
)
_IN_USE = frozenset(["fuses", "muses", "uses", "ruses", "causes", "pauses", "excuses"])


def singular(text: str) -> str:
    """The lines of a text, in lower case, with their English words in the singular."""
    return _WORD.sub(_word, text)


def _word(match: re.Match[str]) -> str:
    word = match[0]
    if word[-1] == "s" and word not in _IRREGULAR:
        if word == "glasses":
            before = match.string[max(0, match.start() - 20) : match.start()].rpartition("\n")[2].split()[-1:]
            return "glass" if before and before[0] in _VESSELS else word
        if word in _OTHER_THING or (word in _OTHER_THING_ALONE and _is_alone(match)):
            return word
        word = _regular(word)
    return _IRREGULAR.get(word, word)


def _is_alone(match: re.Match[str]) -> bool:
    start, end, text = match.start(), match.end(), match.string
    return (start == 0 or text[start - 1] == "\n") and (end == len(text) or text[end] == "\n")


def _regular(word: str) -> str:
    if len(word) < 4 or word in _NO_PLURAL or word.endswith("ss"):
        return word
    if word.endswith("ies"):
        return word[:-1] if len(word) < 5 or word[:-1] in _IN_IE else f"{word[:-3]}y"
    if word.endswith(("us", "is")):
        return word[:-1] if word in _IN_I_OR_U else word
    if word.endswith(("shes", "sses", "xes", "tzes")) or word in _IN_O:
        return word[:-2]
    if word.endswith("ches"):
        return word[:-1] if word in _IN_CHE else word[:-2]
    if word.endswith("uses") and not word.endswith("ouses") and word not in _IN_USE:
        return word[:-2]
    return word[:-1]
