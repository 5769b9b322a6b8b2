"""A pattern in, one out that also takes a placeholder's mark wherever it takes a value (a number, a name, a path)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from vllmdoctor.rules.literals import sre, sre_parser

# Stands for whatever a placeholder may hold. A letter, so that \w and \S take it; no message has it.
MARK = "ꙮ"
FILLING = MARK * 3  # long enough for patterns such as \d+\.\d+

_IN_VALUES = "./-:,"
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}
_PLACES = {
    "AT_BEGINNING": "^",
    "AT_BEGINNING_STRING": r"\A",
    "AT_END": "$",
    "AT_END_STRING": r"\Z",
    # Whether a value begins or ends with a letter is not known.
    "AT_BOUNDARY": "",
    "AT_NON_BOUNDARY": "",
}


@cache
def relaxed_pattern(pattern: str) -> re.Pattern[str]:
    """Looking around is dropped: what stands beside a value is not known. A pattern with back references stays."""
    try:
        return re.compile(_sequence(sre_parser.parse(pattern)))
    except (_Unrelaxable, re.error):
        return re.compile(pattern)


class _Unrelaxable(Exception):
    """A construct that has no relaxed form."""


def _sequence(tree: Iterable[Any]) -> str:
    return "".join(_item(operator, argument) for operator, argument in tree)


def _item(operator: Any, argument: Any) -> str:
    if operator is sre.LITERAL:
        character = chr(argument)
        return f"[{re.escape(character)}{MARK}]" if character in _IN_VALUES else re.escape(character)
    if operator in (sre.IN, sre.NOT_LITERAL, sre.ANY):
        return f"{_class(operator, argument)}{MARK}*"
    if operator is sre.MAX_REPEAT or operator is sre.MIN_REPEAT or str(operator) == "POSSESSIVE_REPEAT":
        return _repeat(argument, lazy=operator is sre.MIN_REPEAT)
    if operator is sre.SUBPATTERN:
        _number, added, _dropped, body = argument
        return f"(?{'i' if added & re.IGNORECASE else ''}:{_sequence(body)})"
    if operator is sre.BRANCH:
        return "(?:" + "|".join(_sequence(branch) for branch in argument[1]) + ")"
    if operator is sre.AT:
        return _PLACES[str(argument)]
    if operator in (sre.ASSERT, sre.ASSERT_NOT):
        return ""
    if str(operator) == "ATOMIC_GROUP":
        return f"(?:{_sequence(argument)})"
    raise _Unrelaxable(str(operator))


def _repeat(argument: Any, *, lazy: bool) -> str:
    least, most, body = argument
    single = len(body) == 1 and body[0][0] in (sre.IN, sre.NOT_LITERAL, sre.ANY)
    upper = "" if most is sre.MAXREPEAT or most == sre.MAXREPEAT else str(most)
    if not single:
        return f"(?:{_sequence(body)}){{{least},{upper}}}" + ("?" if lazy else "")
    return f"{_class(*body[0])}{{{min(least, 1)},{upper}}}" + ("?" if lazy else "") + f"{MARK}*"


def _class(operator: Any, argument: Any) -> str:
    if operator is sre.ANY:
        return "."
    if operator is sre.NOT_LITERAL:
        return f"[^{re.escape(chr(argument))}]"
    negated = argument[0][0] is sre.NEGATE
    members = "".join(_member(kind, value) for kind, value in argument if kind is not sre.NEGATE)
    return f"[^{members}]" if negated else f"[{members}{MARK}]"


def _member(kind: Any, value: Any) -> str:
    if kind is sre.LITERAL:
        return re.escape(chr(value))
    if kind is sre.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    return _CATEGORIES[str(value)]
