"""Conditions and computed arguments of rules: source text in, parsed expressions with three-valued logic out.

The language has numbers, 'strings', true/false, version literals (v0.9.1), facts by name, arithmetic (+ - * / % //),
comparison (== != < <= > >=), `in` with a list, `and`/`or`/`not`, and functions: known(a, …) (all are known), first(a,
b, …) (the first that is known), is_path(text), min, max, abs, floor(x, step), ceil(x, step), floor_to(x, decimals),
ceil_to(x, decimals). A fact that is not known makes everything that depends on it unknown, except where the other side
decides (`false and unknown` is false).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from vllmdoctor.errors import ExpressionError
from vllmdoctor.languages import Message
from vllmdoctor.rules.versions import Release, release_of

VERSION_FACT = "vllm_version"


class Unknown(Enum):
    """The one value of an expression that depends on a fact the inputs do not tell."""

    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        raise TypeError("an unknown condition has no truth value")


UNKNOWN = Unknown.UNKNOWN

Value = bool | int | float | str | Release | Unknown
Lookup = Callable[[str], bool | int | float | str | Unknown]

_TOKEN = re.compile(
    r"\s*(?:(?P<version>v\d+\.\d+(?:\.\d+)?)|(?P<number>\d+(?:\.\d+)?)|(?P<string>'[^']*')"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<operator>//|==|!=|<=|>=|[-+*/%<>()\[\],]))"
)
_SPECIAL = ("known", "first", "is_path")
_PATH = re.compile(r"[/~\\]|\.{1,2}/|[A-Za-z]:[\\/]|[^/]+/[^/]+/")  # a repository has at most one slash
_MAX_DEPTH = 40
_MAX_TOKENS = 400  # a chain of operators is a tree as deep as it is long
_MAX_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Node:
    """A parsed expression: `kind` literal, fact, list, call, unary or binary; `value` the literal, name or operator."""

    kind: str
    value: bool | int | float | str | Release
    parts: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression together with its source."""

    source: str
    root: Node

    def facts(self) -> frozenset[str]:
        """Names of the facts it depends on."""
        return frozenset(_fact_names(self.root))

    def evaluate(self, lookup: Lookup) -> Value:
        """Its value with the facts that `lookup` tells. Division by zero and mixed types count as unknown."""
        return _evaluate(self.root, lookup)

    def holds(self, lookup: Lookup) -> bool | None:
        """True, False, or None when unknown."""
        value = self.evaluate(lookup)
        return None if value is UNKNOWN else bool(value)


def parse_expression(source: str) -> Expression:
    """Raises ExpressionError with the column of the first thing that does not fit."""
    parser = _Parser(source)
    root = parser.disjunction(0)
    parser.expect_end()
    return Expression(source, root)


def _fact_names(node: Node) -> Iterator[str]:
    if node.kind == "fact":
        yield str(node.value)
    for part in node.parts:
        yield from _fact_names(part)


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens: list[tuple[str, str, int]] = []
        position = 0
        while position < len(source.rstrip()):
            found = _TOKEN.match(source, position)
            if not found or found.lastgroup is None:
                at = len(source) - len(source[position:].lstrip())
                raise ExpressionError(source, at + 1, Message("unexpected {value!r}", value=source[at]))
            self.tokens.append((found.lastgroup, found[found.lastgroup], found.start(found.lastgroup) + 1))
            position = found.end()
            if len(self.tokens) > _MAX_TOKENS:
                raise ExpressionError(
                    source, position, Message("longer than {count} words and operators", count=_MAX_TOKENS)
                )
        self.tokens.append(("end", "", len(source) + 1))
        self.at = 0

    def fail(self, problem: str) -> ExpressionError:
        return ExpressionError(self.source, self.tokens[self.at][2], problem)

    def take(self, *texts: str) -> str | None:
        kind, text, _ = self.tokens[self.at]
        if kind in ("operator", "name") and text in texts:
            self.at += 1
            return text
        return None

    def expect_end(self) -> None:
        if self.tokens[self.at][0] != "end":
            raise self.fail(Message("unexpected {value!r}", value=self.tokens[self.at][1]))

    def disjunction(self, depth: int) -> Node:
        if depth > _MAX_DEPTH:
            raise self.fail(Message("nested too deeply"))
        node = self.conjunction(depth + 1)
        while self.take("or"):
            node = Node("binary", "or", (node, self.conjunction(depth + 1)))
        return node

    def conjunction(self, depth: int) -> Node:
        node = self.negation(depth)
        while self.take("and"):
            node = Node("binary", "and", (node, self.negation(depth)))
        return node

    def negation(self, depth: int) -> Node:
        if depth > _MAX_DEPTH:
            raise self.fail(Message("nested too deeply"))
        if self.take("not"):
            return Node("unary", "not", (self.negation(depth + 1),))
        return self.comparison(depth)

    def comparison(self, depth: int) -> Node:
        node = self.sum(depth)
        operator = self.take("==", "!=", "<", "<=", ">", ">=", "in")
        if operator == "in":
            return Node("binary", "in", (node, self.list(depth)))
        return Node("binary", operator, (node, self.sum(depth))) if operator else node

    def list(self, depth: int) -> Node:
        if not self.take("["):
            raise self.fail(Message("`in` needs a list such as [1, 2]"))
        items = []
        while not self.take("]"):
            items.append(self.sum(depth))
            if not self.take(","):
                if not self.take("]"):
                    raise self.fail(Message("expected , or ]"))
                break
        return Node("list", "", tuple(items))

    def sum(self, depth: int) -> Node:
        node = self.product(depth)
        while operator := self.take("+", "-"):
            node = Node("binary", operator, (node, self.product(depth)))
        return node

    def product(self, depth: int) -> Node:
        node = self.sign(depth)
        while operator := self.take("*", "/", "//", "%"):
            node = Node("binary", operator, (node, self.sign(depth)))
        return node

    def sign(self, depth: int) -> Node:
        if depth > _MAX_DEPTH:
            raise self.fail(Message("nested too deeply"))
        if self.take("-"):
            return Node("unary", "-", (self.sign(depth + 1),))
        return self.atom(depth)

    def atom(self, depth: int) -> Node:
        kind, text, _ = self.tokens[self.at]
        if self.take("("):
            node = self.disjunction(depth + 1)
            if not self.take(")"):
                raise self.fail(Message("expected )"))
            return node
        if kind in ("end", "operator") or text in ("and", "or", "not", "in"):
            raise self.fail(
                Message("expected a value") if kind == "end" else Message("expected a value, got {text!r}", text=text)
            )
        self.at += 1
        if kind == "number":
            return Node("literal", float(text) if "." in text else int(text))
        if kind == "string":
            return Node("literal", text[1:-1])
        if kind == "version":
            release = release_of(text)
            assert release is not None  # the token's own pattern
            return Node("literal", release)
        if text in ("true", "false"):
            return Node("literal", text == "true")
        if self.take("("):
            return self.call(text, depth)
        return Node("fact", text)

    def call(self, name: str, depth: int) -> Node:
        if name not in _FUNCTIONS and name not in _SPECIAL:
            self.at -= 2
            raise self.fail(
                Message(
                    "no function {name!r}; there are {names}",
                    name=name,
                    names=", ".join((*_SPECIAL, *sorted(_FUNCTIONS))),
                )
            )
        arguments = []
        while not self.take(")"):
            arguments.append(self.disjunction(depth + 1))
            if not self.take(","):
                if not self.take(")"):
                    raise self.fail(Message("expected , or )"))
                break
        least, most = _ARGUMENTS.get(name, (1, _MAX_TOKENS))
        if not least <= len(arguments) <= most:
            wanted = str(least) if least == most else f"{least}+" if most == _MAX_TOKENS else f"{least}-{most}"
            self.at -= 1
            raise self.fail(
                Message(
                    "{name}() takes {wanted} arguments, not {count}", name=name, wanted=wanted, count=len(arguments)
                )
            )
        return Node("call", name, tuple(arguments))


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


_FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "min": min,
    "max": max,
    "floor": _floor,
    "ceil": _ceil,
    "floor_to": _floor_to,
    "ceil_to": _ceil_to,
    "abs": abs,
}

_ARGUMENTS: Mapping[str, tuple[int, int]] = {  # least and most
    "min": (2, _MAX_TOKENS),
    "max": (2, _MAX_TOKENS),
    "floor": (1, 2),
    "ceil": (1, 2),
    "floor_to": (2, 2),
    "ceil_to": (2, 2),
    "abs": (1, 1),
}


def _evaluate(node: Node, lookup: Lookup) -> Value:
    if node.kind == "literal":
        return node.value
    if node.kind == "fact":
        return _fact(str(node.value), lookup)
    if node.kind == "call":
        return _call(str(node.value), node.parts, lookup)
    if node.kind == "unary":
        return _unary(str(node.value), _evaluate(node.parts[0], lookup))
    return _binary(str(node.value), node.parts, lookup)


def _fact(name: str, lookup: Lookup) -> Value:
    value = lookup(name)
    if name.endswith("_version") and isinstance(value, str):
        return release_of(value) or UNKNOWN
    return value


def _call(name: str, parts: tuple[Node, ...], lookup: Lookup) -> Value:
    values = [_evaluate(part, lookup) for part in parts]
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
        return _FUNCTIONS[name](*numbers)
    except (ZeroDivisionError, OverflowError, IndexError, TypeError, ValueError):
        return UNKNOWN


def _unary(operator: str, value: Value) -> Value:
    if value is UNKNOWN:
        return UNKNOWN
    if operator == "not":
        return not value
    return -value if isinstance(value, (int, float)) else UNKNOWN


def _binary(operator: str, parts: tuple[Node, ...], lookup: Lookup) -> Value:
    left = _evaluate(parts[0], lookup)
    if operator in ("and", "or"):
        return _logic(operator, left, _evaluate(parts[1], lookup))
    if operator == "in":
        return _membership(left, [_evaluate(item, lookup) for item in parts[1].parts])
    right = _evaluate(parts[1], lookup)
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
