"""Readings of facts in, the value that stands for each name out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from vllmdoctor.facts.model import COMPUTED, DEFAULT, READ, Fact, Origin, Scalar
from vllmdoctor.rules.expressions import UNKNOWN, Unknown
from vllmdoctor.rules.model import FactBook, FactName

_ROUNDS = 2  # a derived fact may rest on another one that is declared after it

FactMap = Mapping[str, Fact]


@dataclass(frozen=True, slots=True)
class Reading:
    """A value as one line tells it. `kind` is computed when it was counted or added up rather than printed."""

    name: str
    value: Scalar
    origin: Origin
    kind: str = READ


def combined(readings: Iterable[Reading], book: FactBook) -> dict[str, Fact]:
    """One fact for each name, chosen among its readings as the declaration says (first, last, min, max)."""
    chosen: dict[str, Reading] = {}
    for reading in readings:
        declared = book.names.get(reading.name)
        if declared and (reading.name not in chosen or _wins(reading, chosen[reading.name], declared)):
            chosen[reading.name] = reading
    return {name: Fact(name, r.value, book.unit_of(name), r.kind, r.origin) for name, r in sorted(chosen.items())}


def _wins(new: Reading, old: Reading, declared: FactName) -> bool:
    if new.kind != old.kind:
        return new.kind == READ
    if declared.combine in ("first", "last"):
        return declared.combine == "last"
    if isinstance(new.value, str) or isinstance(old.value, str):
        return False
    return new.value < old.value if declared.combine == "min" else new.value > old.value


def completed(facts: FactMap, book: FactBook) -> dict[str, Fact]:
    """The facts with the derived ones added: computed from others, or defaults of the version. Read ones stay."""
    result = dict(facts)
    for derived in book.derived * _ROUNDS:
        if derived.fact in result or (derived.when and derived.when.holds(lookup_in(result)) is not True):
            continue
        value = derived.value.evaluate(lookup_in(result))
        if isinstance(value, (tuple, Unknown)):
            continue
        declared = book.names[derived.fact]
        if isinstance(value, float):
            value = round(value) if declared.type == "integer" else round(value, 4)
        kind = DEFAULT if derived.default else COMPUTED
        result[derived.fact] = Fact(derived.fact, value, declared.unit, kind)
    return dict(sorted(result.items()))


def lookup_in(facts: FactMap) -> Callable[[str], Scalar | Unknown]:
    """How an expression asks for facts: the value, or UNKNOWN."""

    def lookup(name: str) -> Scalar | Unknown:
        fact = facts.get(name)
        return UNKNOWN if fact is None else fact.value

    return lookup
