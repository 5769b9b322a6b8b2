"""A fix and the facts in, whether its number makes sense out: no knob is turned the wrong way or below zero."""

from __future__ import annotations

from collections.abc import Mapping

from vllmdoctor.rules.expressions import UNKNOWN, Lookup, Unknown, Value
from vllmdoctor.rules.model import Fix
from vllmdoctor.rules.texts import format_value

Plain = bool | int | float | str | Unknown


def makes_sense(fix: Fix, lookup: Lookup) -> bool:
    """False when an engine argument would get a negative number, or one that is not `direction` of what is in force.

    A log can contradict itself (numbers retyped, two runs mixed); then the rule's formula may give such a number.
    """
    inner = shadowed(lookup, plain_arguments(fix, lookup))
    for name, text in fix.remedy.changes.arguments.items():
        number = _number(text.render(inner, lambda fact: ""))
        if number is not None and not _possible(number, lookup(name), fix.remedy.direction):
            return False
    return True


def argument_values(fix: Fix, lookup: Lookup) -> dict[str, Value]:
    """The fix's computed arguments; UNKNOWN where facts are missing."""
    return {name: expression.evaluate(lookup) for name, expression in fix.arguments.items()}


def plain_arguments(fix: Fix, lookup: Lookup) -> dict[str, Plain]:
    """The fix's computed arguments as its texts show them: whole numbers without a point, releases as text."""
    return {name: _plain(value) for name, value in argument_values(fix, lookup).items()}


def shadowed(lookup: Lookup, values: Mapping[str, Plain]) -> Lookup:
    """`lookup` with `values` in front of it; one that is unknown there hides what the log says."""
    return lambda name: values[name] if name in values else lookup(name)


def _plain(value: Value) -> Plain:
    if value is UNKNOWN or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) >= 2 else value
    return format_value(value, "raw")


def _possible(number: float, now: object, direction: str) -> bool:
    if number < 0:
        return False
    if isinstance(now, bool) or not isinstance(now, (int, float)):
        return True
    return {"up": number > now, "down": number < now}.get(direction, True)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
