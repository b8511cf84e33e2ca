"""Model numbers and hyphens for matching: RG-599 and RG 599 are RG599, but 1-2 is not 12."""

import re

_CODE = re.compile(r"(?<![0-9a-z])[0-9a-z]+(?:-[0-9a-z]+)+(?![0-9a-z])")
_JOINT = re.compile(r"(?<=[a-z])-(?=[0-9])|(?<=[0-9])-(?=[a-z])")
_SHORT = re.compile(r"^([a-z]{1,3})-(?=[a-z]{0,3}[0-9])")
_NUMBERED = re.compile(r"(?<![0-9a-z])([a-z]+) (?=[0-9])")
_PREFIX = re.compile(r"(?<![0-9a-z&])([a-z])[- ](?=[a-z]{3,})|(?<![0-9a-z])(anti|non|multi|semi)[- ](?=[a-z]{3,})")
_BETWEEN = re.compile(r"(?<=[a-z])-(?=[a-z])")
_NO_NAMES = frozenset(
    ["of", "in", "on", "at", "to", "for", "and", "or", "with", "by", "from", "the", "a", "an", "x", "per", "up"]
)


def one_model(text: str) -> str:
    """Model numbers in one piece (wh-1000xm4 as wh1000xm4), t-shirt as tshirt, other hyphens between words as spaces."""
    text = _PREFIX.sub(_prefix, _CODE.sub(_joined, text))
    return _BETWEEN.sub(" ", _NUMBERED.sub(_numbered, text))


def _joined(match: re.Match[str]) -> str:
    code = match[0]
    if not any(map(str.isdigit, code)):
        return code
    return _SHORT.sub(r"\1", _JOINT.sub("", code))


def _prefix(match: re.Match[str]) -> str:
    # "a" is an article, not a prefix.
    return match[0] if match[0] == "a " else match[1] or match[2]


def _numbered(match: re.Match[str]) -> str:
    return match[0] if match[1] in _NO_NAMES else match[1]
