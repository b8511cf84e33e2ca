"""Parse the paper's names of objectives: CE WCE FCE FWCE, CECL, CL(g,l) CLA(g,l), PBP(g,l) PBPA(g,l); s: standard weights."""

import re
from dataclasses import dataclass

from batag.errors import UsageError, unknown_name

_FORM = re.compile(r"(FWCE|FCE|WCE|CECL|CLA|CL|PBPA|PBP|CE)(?:\(([^,()]*)(?:,([^,()]*))?\))?")
_FAMILIES = {"CE": "CE", "WCE": "CE", "FCE": "CE", "FWCE": "CE", "CECL": "CECL", "CL": "CECL", "CLA": "CECL"}
_EXAMPLES = ("CE", "WCE", "FCE", "FWCE", "CECL", "CL(1,20)", "CLA(1,20)", "PBP(0,8)", "PBPA(0,8)", "PBP(0,s)")


@dataclass(frozen=True)
class Notation:
    """A parsed name: `weighting` is none, positive (N / N_k on the true class only), ee, standard or array."""

    name: str
    family: str
    weighting: str
    focus: float = 0.0
    boost: float = 1.0


def parse_objective(name: str) -> Notation:
    """Parse the name of an objective; spaces and case are ignored."""
    form = _FORM.fullmatch(re.sub(r"\s", "", name).upper())
    if form is None:
        raise _unknown(name)
    head, first, second = form.groups()
    plain = form[0].replace(",S)", ",s)")
    family = _FAMILIES.get(head, "PBP")
    if family == "CE" or head == "CECL":
        if second is not None or (first is not None and not head.startswith("F")):
            raise _unknown(name)
        # The paper does not say the gamma of its focal runs; 1 is the reading of the specification.
        focus = 0.0 if not head.startswith("F") else 1.0 if first is None else _number(first, name)
        return Notation(plain, family, "positive" if "W" in head else "none", focus)
    if first is None or second is None:
        raise UsageError(f"{name!r} lacks its two numbers", todo=f"Write gamma and lambda, for example {head}(0,8)")
    focus = _number(first, name)
    if second == "S":
        if head.endswith("A"):
            raise UsageError(
                f"{name!r}: array weights and standard weights exclude each other", todo=f"Write {head[:-1]}({first},s)"
            )
        return Notation(plain, family, "standard", focus)
    return Notation(plain, family, "array" if head.endswith("A") else "ee", focus, _number(second, name))


def _number(text: str, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e6:
        raise UsageError(f"{text!r} in {name!r} is not a number of at least 0", todo="Write it like CLA(1,20)")
    return value


def _unknown(name: str) -> UsageError:
    return unknown_name(name, _EXAMPLES, "an objective", more=" and other numbers in them")
