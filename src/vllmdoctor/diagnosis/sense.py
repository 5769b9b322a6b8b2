"""A fix and the facts in, whether its number makes sense out: no knob is turned the wrong way or below zero."""

from __future__ import annotations

from vllmdoctor.rules.expressions import UNKNOWN, Lookup, Unknown, Value
from vllmdoctor.rules.model import Fix


def makes_sense(fix: Fix, lookup: Lookup) -> bool:
    """False when an engine argument would get a negative number, or one that is not `direction` of what is in force.

    A log can contradict itself (numbers retyped, two runs mixed); then the rule's formula may give such a number.
    """
    arguments = argument_values(fix, lookup)

    def inner(name: str) -> bool | int | float | str | Unknown:
        value = arguments[name] if name in arguments else lookup(name)
        return UNKNOWN if isinstance(value, tuple) else value

    for name, text in fix.remedy.changes.arguments.items():
        number = _number(text.render(inner, lambda fact: ""))
        if number is not None and not _possible(number, lookup(name), fix.remedy.direction):
            return False
    return True


def argument_values(fix: Fix, lookup: Lookup) -> dict[str, Value]:
    """The fix's computed arguments; UNKNOWN where facts are missing."""
    return {name: expression.evaluate(lookup) for name, expression in fix.arguments.items()}


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
