"""Captured texts in, typed values in the declared unit out."""

from __future__ import annotations

from math import isfinite

from vllmdoctor.facts.model import Scalar
from vllmdoctor.rules.model import FactName

# vLLM and torch print binary sizes; the decimal-looking names (GB, MB) hold bytes / 2**30 and so on all the same.
_GIB_PER = {"b": 2**-30, "bytes": 2**-30, "k": 2**-20, "m": 2**-10, "g": 1.0, "t": 2.0**10}
_TRUE = {"true", "yes", "1", "on"}
_FALSE = {"false", "no", "0", "off"}


def typed_value(name: FactName, text: str, unit: str = "") -> Scalar | None:
    """The value of a fact from its text (thousands commas allowed); None when the text does not hold one."""
    text = text.strip().rstrip(".,;")
    if not text or text == "None":
        return None
    if name.type == "text" or name.type == "list":
        return text
    if name.type == "flag":
        lowered = text.lower()
        return True if lowered in _TRUE else False if lowered in _FALSE else None
    try:
        number = float(text.replace(",", "").replace("_", ""))
    except ValueError:
        return None
    if unit:
        number *= _factor(unit, name.unit)
    if not isfinite(number):  # "nan" and "inf" are words before they are numbers
        return None
    return round(number) if name.type == "integer" else round(number, 4)


def _factor(unit: str, into: str) -> float:
    gib = _GIB_PER.get(unit.lower(), _GIB_PER.get(unit[:1].lower(), 1.0))
    return {"GiB": gib, "MiB": gib * 2**10, "bytes": gib * 2**30}.get(into, 1.0)
