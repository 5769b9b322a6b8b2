"""The source text of an expression in, the tree of its nodes out."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vllmdoctor.errors import ExpressionError
from vllmdoctor.languages import Message
from vllmdoctor.rules.expression_tree import Node
from vllmdoctor.rules.expression_values import FUNCTIONS
from vllmdoctor.rules.versions import release_of

_TOKEN = re.compile(
    r"\s*(?:(?P<version>v\d+\.\d+(?:\.\d+)?)|(?P<number>\d+(?:\.\d+)?)|(?P<string>'[^']*')"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<operator>//|==|!=|<=|>=|[-+*/%<>()\[\],]))"
)
_SPECIAL = ("known", "first", "is_path")
_MAX_DEPTH = 40
_MAX_TOKENS = 400  # a chain of operators is a tree as deep as it is long
_ARGUMENTS: Mapping[str, tuple[int, int]] = {  # least and most
    "min": (2, _MAX_TOKENS),
    "max": (2, _MAX_TOKENS),
    "floor": (1, 2),
    "ceil": (1, 2),
    "floor_to": (2, 2),
    "ceil_to": (2, 2),
    "abs": (1, 1),
}


def parsed_tree(source: str) -> Node:
    """Raises ExpressionError with the column of the first thing that does not fit."""
    parser = _Parser(source)
    root = parser.disjunction(0)
    parser.expect_end()
    return root


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
        if name not in FUNCTIONS and name not in _SPECIAL:
            self.at -= 2
            raise self.fail(
                Message(
                    "no function {name!r}; there are {names}",
                    name=name,
                    names=", ".join((*_SPECIAL, *sorted(FUNCTIONS))),
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
