"""A parsed expression and a look-up of facts in, its value out: three-valued logic, arithmetic, functions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

from vllmdoctor.rules.expression_tree import UNKNOWN, Lookup, Node, Value
from vllmdoctor.rules.versions import release_of

_PATH = re.compile(r"[/~\\]|\.{1,2}/|[A-Za-z]:[\\/]|[^/]+/[^/]+/")  # a repository has at most one slash
_MAX_DIGITS = 12


def _floor(*values: float) -> float:
    """floor(x) or floor(x, step): the largest multiple of step (default 1) that is not above x."""
    step = values[1] if len(values) > 1 else 1
    return math.floor(values[0] / step) * step


def _ceil(*values: float) -> float:
    step = values[1] if len(values) > 1 else 1
    return math.ceil(values[0] / step) * step


def _floor_to(*values: float) -> float:
    """floor_to(x, digits): x cut (not rounded) to that many decimals; for a limit that must not be exceeded."""
    scale = _scale(values[1])
    return math.floor(values[0] * scale + 1e-9) / scale


def _ceil_to(*values: float) -> float:
    scale = _scale(values[1])
    return math.ceil(values[0] * scale - 1e-9) / scale


def _scale(digits: float) -> int:
    if not 0 <= digits <= _MAX_DIGITS:
        raise ValueError(f"not 0 to {_MAX_DIGITS} digits")
    return int(10 ** int(digits))


FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "min": min,
    "max": max,
    "floor": _floor,
    "ceil": _ceil,
    "floor_to": _floor_to,
    "ceil_to": _ceil_to,
    "abs": abs,
}


def evaluated(node: Node, lookup: Lookup) -> Value:
    """Division by zero and mixed types count as unknown."""
    if node.kind == "literal":
        return node.value
    if node.kind == "fact":
        return _fact(str(node.value), lookup)
    if node.kind == "call":
        return _call(str(node.value), node.parts, lookup)
    if node.kind == "unary":
        return _unary(str(node.value), evaluated(node.parts[0], lookup))
    return _binary(str(node.value), node.parts, lookup)


def _fact(name: str, lookup: Lookup) -> Value:
    value = lookup(name)
    if name.endswith("_version") and isinstance(value, str):
        return release_of(value) or UNKNOWN
    return value


def _call(name: str, parts: tuple[Node, ...], lookup: Lookup) -> Value:
    values = [evaluated(part, lookup) for part in parts]
    if name == "known":
        return all(value is not UNKNOWN for value in values)
    if name == "first":
        return next((value for value in values if value is not UNKNOWN), UNKNOWN)
    if name == "is_path":
        return _PATH.match(values[0]) is not None if isinstance(values[0], str) else UNKNOWN
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if len(numbers) != len(values):
        return UNKNOWN
    try:
        return FUNCTIONS[name](*numbers)
    except (ZeroDivisionError, OverflowError, IndexError, TypeError, ValueError):
        return UNKNOWN


def _unary(operator: str, value: Value) -> Value:
    if value is UNKNOWN:
        return UNKNOWN
    if operator == "not":
        return not value
    return -value if isinstance(value, (int, float)) else UNKNOWN


def _binary(operator: str, parts: tuple[Node, ...], lookup: Lookup) -> Value:
    left = evaluated(parts[0], lookup)
    if operator in ("and", "or"):
        return _logic(operator, left, evaluated(parts[1], lookup))
    if operator == "in":
        return _membership(left, [evaluated(item, lookup) for item in parts[1].parts])
    right = evaluated(parts[1], lookup)
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    return _compute(operator, left, right)


def _logic(operator: str, left: Value, right: Value) -> Value:
    decisive = operator == "or"
    for side in (left, right):
        if side is not UNKNOWN and bool(side) is decisive:
            return decisive
    return UNKNOWN if UNKNOWN in (left, right) else not decisive


def _membership(value: Value, items: list[Value]) -> Value:
    if value is UNKNOWN:
        return UNKNOWN
    if any(item is not UNKNOWN and item == value for item in items):
        return True
    return UNKNOWN if UNKNOWN in items else False


def _compute(operator: str, left: Value, right: Value) -> Value:
    if operator == "==":
        return left == right
    if operator == "!=":
        return left != right
    if isinstance(left, tuple) and isinstance(right, tuple) or isinstance(left, str) and isinstance(right, str):
        return _ordered(operator, left, right)
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return _arithmetic(operator, left, right)
    return UNKNOWN


def _ordered(operator: str, left: object, right: object) -> Value:
    compare: Mapping[str, Callable[[object, object], bool]] = {
        "<": lambda a, b: a < b,  # type: ignore[operator]
        "<=": lambda a, b: a <= b,  # type: ignore[operator]
        ">": lambda a, b: a > b,  # type: ignore[operator]
        ">=": lambda a, b: a >= b,  # type: ignore[operator]
    }
    return compare[operator](left, right) if operator in compare else UNKNOWN


def _arithmetic(operator: str, left: float, right: float) -> Value:
    if operator in ("<", "<=", ">", ">="):
        return _ordered(operator, left, right)
    try:
        results: Mapping[str, Callable[[], float]] = {
            "+": lambda: left + right,
            "-": lambda: left - right,
            "*": lambda: left * right,
            "/": lambda: left / right,
            "//": lambda: left // right,
            "%": lambda: left % right,
        }
        return results[operator]()
    except (ZeroDivisionError, OverflowError):
        return UNKNOWN
