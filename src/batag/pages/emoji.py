"""What an emoji is: one pattern for whole sequences (flags, keycaps, skin tones, joined families)."""

from __future__ import annotations

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
