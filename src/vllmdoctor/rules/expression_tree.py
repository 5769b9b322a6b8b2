"""What expressions are made of: nodes, the values they have, and the one value that means not known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from vllmdoctor.rules.versions import Release


class Unknown(Enum):
    """The one value of an expression that depends on a fact the inputs do not tell."""

    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        raise TypeError("an unknown condition has no truth value")


UNKNOWN = Unknown.UNKNOWN

Value = bool | int | float | str | Release | Unknown
Lookup = Callable[[str], bool | int | float | str | Unknown]


@dataclass(frozen=True, slots=True)
class Node:
    """A parsed expression: `kind` literal, fact, list, call, unary or binary; `value` the literal, name or operator."""

    kind: str
    value: bool | int | float | str | Release
    parts: tuple[Node, ...] = ()
