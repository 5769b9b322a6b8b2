"""Facts: named values with unit, kind and place of origin."""

from __future__ import annotations

from dataclasses import dataclass

Scalar = bool | int | float | str

READ, COMPUTED, DEFAULT = "read", "computed", "default"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a fact was read: index of the input and 1-based line number."""

    input: int
    line: int


@dataclass(frozen=True, slots=True)
class Fact:
    """One value. `kind` is read (printed), computed (an estimate from read ones) or default (of that version)."""

    name: str
    value: Scalar
    unit: str
    kind: str = READ
    origin: Origin | None = None
