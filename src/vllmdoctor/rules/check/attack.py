"""A regular expression in, texts out that make a careless one slow: long runs of what its own repeats take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from vllmdoctor.rules.literals import sre, sre_parser

SIZE = 16 * 1024
_MIN_REPEAT = 32  # shorter repeats cannot add up
_CANDIDATES = "a0_ -.:/'\"()[]{},=ABZz9~é\x00"
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_CATEGORIES: dict[str, Callable[[str], bool]] = {
    "CATEGORY_DIGIT": str.isdigit,
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_WORD": lambda char: char.isalnum() or char == "_",
}


@dataclass(frozen=True, slots=True)
class Attack:
    """A text that can be made as long as wanted: a beginning, then the same piece over and over."""

    before: str
    piece: str

    def text(self, pieces: int) -> str:
        return self.before + self.piece * pieces

    def pieces_for(self, size: int) -> int:
        """How many pieces make a text of `size` characters."""
        return max(1, (size - len(self.before)) // len(self.piece) + 1)


def attacks_on(pattern: str) -> list[Attack]:
    """The attacks that the pattern's own repeats invite, none twice."""
    tree = sre_parser.parse(pattern)
    whole = _example(tree)
    attacks = [Attack("", whole[:-1] or whole)]
    for before, body in _long_repeats(tree, ""):
        attacks += [Attack("", body), Attack(before, body), Attack("", before + body * 3)]
    return list(dict.fromkeys(attack for attack in attacks if attack.piece))


def _long_repeats(tree: Iterable[Any], before: str) -> Iterator[tuple[str, str]]:
    """Each long repeat as (text that leads to it, one turn of it)."""
    for operator, argument in tree:
        if str(operator) in _REPEATS:
            _least, most, body = argument
            if most >= _MIN_REPEAT:
                yield before, _example(body)
            yield from _long_repeats(body, before)
        else:
            for part in _alternatives(operator, argument):
                yield from _long_repeats(part, before)
        before += _example([(operator, argument)])


def _example(tree: Iterable[Any]) -> str:
    """A short text that the pattern takes (look-arounds and back references left aside)."""
    return "".join(_element(operator, argument) for operator, argument in tree)


def _element(operator: Any, argument: Any) -> str:
    if operator is sre.LITERAL:
        return chr(argument)
    if operator is sre.ANY:
        return "a"
    if operator is sre.NOT_LITERAL:
        return next(char for char in _CANDIDATES if ord(char) != argument)
    if operator is sre.IN:
        return _member(argument)
    if str(operator) in _REPEATS:
        least, _most, body = argument
        return _example(body) * min(int(least), 100)
    parts = _alternatives(operator, argument)
    return _example(parts[0]) if parts else ""


def _alternatives(operator: Any, argument: Any) -> list[Any]:
    if operator is sre.SUBPATTERN:
        return [argument[-1]]
    if operator is sre.BRANCH:
        return list(argument[1])
    return [argument] if str(operator) == "ATOMIC_GROUP" else []


def _member(items: list[Any]) -> str:
    """A character of a class."""
    candidates = _CANDIDATES + "".join(
        chr(argument if operator is sre.LITERAL else argument[0])
        for operator, argument in items
        if operator in (sre.LITERAL, sre.RANGE)
    )
    return next((char for char in candidates if _in_class(char, items)), "")


def _in_class(char: str, items: list[Any]) -> bool:
    negated = bool(items) and items[0][0] is sre.NEGATE
    return any(_fits(char, operator, argument) for operator, argument in items[negated:]) is not negated


def _fits(char: str, operator: Any, argument: Any) -> bool:
    if operator is sre.LITERAL:
        return bool(ord(char) == argument)
    if operator is sre.RANGE:
        low, high = argument
        return bool(low <= ord(char) <= high)
    name = str(argument)
    test = _CATEGORIES.get(name.replace("_NOT_", "_"), str.isprintable)
    return test(char) is not ("_NOT_" in name)
