"""Conditions and computed arguments of rules: source text in, parsed expressions with three-valued logic out.

The language has numbers, 'strings', true/false, version literals (v0.9.1), facts by name, arithmetic (+ - * / % //),
comparison (== != < <= > >=), `in` with a list, `and`/`or`/`not`, and functions: known(a, …) (all are known), first(a,
b, …) (the first that is known), is_path(text), min, max, abs, floor(x, step), ceil(x, step), floor_to(x, decimals),
ceil_to(x, decimals). A fact that is not known makes everything that depends on it unknown, except where the other side
decides (`false and unknown` is false).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vllmdoctor.rules.expression_parser import parsed_tree
from vllmdoctor.rules.expression_tree import UNKNOWN, Lookup, Node, Unknown, Value
from vllmdoctor.rules.expression_values import evaluated

__all__ = ["UNKNOWN", "VERSION_FACT", "Expression", "Lookup", "Node", "Unknown", "Value", "parse_expression"]

VERSION_FACT = "vllm_version"


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
        return evaluated(self.root, lookup)

    def holds(self, lookup: Lookup) -> bool | None:
        """True, False, or None when unknown."""
        value = self.evaluate(lookup)
        return None if value is UNKNOWN else bool(value)


def parse_expression(source: str) -> Expression:
    """Raises ExpressionError with the column of the first thing that does not fit."""
    return Expression(source, parsed_tree(source))


def _fact_names(node: Node) -> Iterator[str]:
    if node.kind == "fact":
        yield str(node.value)
    for part in node.parts:
        yield from _fact_names(part)
