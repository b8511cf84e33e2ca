"""Which Han characters are Traditional, Simplified or Japanese forms, from OpenCC's tables."""

from functools import cache

from opencc import OpenCC

_BLOCKS = ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, 0x2FA20))
_HAN = [chr(code) for low, high in _BLOCKS for code in range(low, high)]


def _changed(configuration: str) -> dict[str, str]:
    """What an OpenCC conversion makes of single characters: changed character to its new form."""
    # Each on its own line, so that no phrase is matched.
    converted = OpenCC(configuration).convert("\n".join(_HAN)).split("\n")
    assert len(converted) == len(_HAN)
    return {before: after for before, after in zip(_HAN, converted, strict=True) if before != after and len(after) == 1}


@cache
def simplified_of() -> dict[str, str]:
    """The Simplified form of Traditional characters."""
    return _changed("t2s")


@cache
def looked_up_as() -> dict[str, str]:
    """The form in which characters are looked up in Chinese dictionaries and lists: Simplified, and 粧 as 妝."""
    return simplified_of() | {"粧": "妆"}


@cache
def traditional_only() -> frozenset[str]:
    """Characters that do not occur in Simplified text."""
    return frozenset(simplified_of())


@cache
def simplified_only() -> frozenset[str]:
    """Characters that do not occur in Traditional text."""
    return frozenset(_changed("s2t")) - traditional_only()


@cache
def japanese_only() -> frozenset[str]:
    """Characters of the Japanese reform that occur in neither Chinese script."""
    return frozenset(_changed("jp2t")) - traditional_only() - simplified_only()


@cache
def not_japanese() -> frozenset[str]:
    """Traditional characters that Japanese writes in another form."""
    return frozenset(_changed("t2jp"))


@cache
def simplified_also_japanese() -> frozenset[str]:
    """Simplified characters that are Japanese forms too (国, 学)."""
    return simplified_only() & frozenset(_changed("t2jp").values())
