"""Check `version`: conditions compare versions with version literals, since 'text' never equals one."""

from __future__ import annotations

from collections.abc import Iterator

from vllmdoctor.errors import ExpressionError
from vllmdoctor.languages import Message
from vllmdoctor.rules.check.folder import RuleFolder, entries, issue
from vllmdoctor.rules.check.issue import Issue
from vllmdoctor.rules.expressions import Node, parse_expression
from vllmdoctor.rules.fields import Field

_LISTS = ("signatures", "causes", "fixes", "does_not_help", "verify")
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "in")


class VersionCheck:
    name = "version"

    def issues(self, folder: RuleFolder) -> Iterator[Issue]:
        items = [
            item
            for document in folder.documents.rules.values()
            for group in _LISTS
            for item in entries(document, group)
        ]
        for item in (*items, *folder.fact_entries("derived")):
            condition = item.get("when") if isinstance(item.value, dict) else None
            if condition is not None and isinstance(condition.value, str):
                yield from self._condition(condition)

    def _condition(self, place: Field) -> Iterator[Issue]:
        try:
            root = parse_expression(place.value).root
        except ExpressionError:
            return
        for name in _mistyped(root):
            problem = Message("compare {name} with a version literal such as v0.9.1 (no quotes)", name=name)
            yield issue(place, self.name, problem)


def _mistyped(node: Node) -> Iterator[str]:
    """Names of version facts that are compared with something that is no version."""
    if node.kind == "binary" and node.value in _COMPARISONS:
        left, right = node.parts
        values = right.parts if right.kind == "list" else (right,)
        for fact, others in ((left, values), *((value, (left,)) for value in values)):
            if fact.kind == "fact" and str(fact.value).endswith("_version"):
                if any(other.kind == "literal" and not isinstance(other.value, tuple) for other in others):
                    yield str(fact.value)
    for part in node.parts:
        yield from _mistyped(part)
