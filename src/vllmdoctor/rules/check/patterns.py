"""Check `pattern`: every regular expression compiles, fits folded text, and keeps to the parts that stay fast."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import regex

from vllmdoctor.languages import Message
from vllmdoctor.rules.check.folder import RuleFolder, at, entries, issue
from vllmdoctor.rules.check.issue import Issue
from vllmdoctor.rules.fields import Field
from vllmdoctor.rules.literals import MIN_LENGTH, required_literals, sre, sre_parser

_KEYS = ("pattern", "unless", "frames")
_GROUPS = ("lines", "marks", "noise")
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_WHITE_SPACE = Message("has a tab or line end; text has single spaces, so it can never match")
_NEW_IN_PYTHON_3_11 = ("POSSESSIVE_REPEAT", "ATOMIC_GROUP")


def pattern_places(folder: RuleFolder) -> Iterator[tuple[Field, bool]]:
    """The place of every regular expression in the folder, and whether it sees several lines (scope traceback)."""
    items = [item for document in folder.documents.rules.values() for item in entries(document, "signatures")]
    items += [item for group in _GROUPS for item in folder.fact_entries(group)]
    for item in items:
        if isinstance(item.value, dict):
            lines = item.value.get("scope") == "traceback"
            yield from ((at(item, key), lines) for key in _KEYS if isinstance(item.value.get(key), str))


class PatternCheck:
    name = "pattern"

    def issues(self, folder: RuleFolder) -> Iterator[Issue]:
        for place, lines in pattern_places(folder):
            for problem in pattern_problems(place.value, lines=lines):
                yield issue(place, self.name, problem)
        yield from self._without_literal(folder)

    def _without_literal(self, folder: RuleFolder) -> Iterator[Issue]:
        items = [place for _, _, place in folder.signatures()]
        items += [item for group in _GROUPS for item in folder.fact_entries(group)]
        for item in items:
            pattern = item.value.get("pattern")
            if item.value.get("where") == "frame" or not isinstance(pattern, str) or not _compiles(pattern):
                continue
            if not _has_long_set(item.value.get("literals") or required_literals(pattern)):
                problem = Message(
                    "no literal of {count} characters must occur; add `literals:` or make it more exact",
                    count=MIN_LENGTH,
                )
                yield issue(at(item, "pattern"), self.name, problem)


def pattern_problems(pattern: str, *, lines: bool = False) -> list[Message]:
    """What is wrong with a pattern, empty when nothing is. `lines`: the text it sees has several lines."""
    if "\n" in pattern:
        return [Message("holds a line end; text is matched on one line")]
    for engine in (re, regex):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                engine.compile(pattern)
        except (re.error, regex.error, OverflowError, RecursionError, Warning) as problem:
            return [Message("does not compile with {engine}: {reason}", engine=engine.__name__, reason=problem)]
    tree = sre_parser.parse(pattern)
    problems = list(_walk(tree, inside_repeat=False))
    if lines:
        problems = [problem for problem in problems if problem != _WHITE_SPACE]
    if tree.state.flags & ~re.UNICODE or _scoped_flags(tree):
        problems.append(Message("has inline flags such as (?i); write [Ee]rror instead"))
    return list(dict.fromkeys(problems))


def _has_long_set(sets: Iterable[Any]) -> bool:
    return any(group and min(len(str(literal)) for literal in group) >= MIN_LENGTH for group in sets)


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _walk(tree: Iterable[Any], *, inside_repeat: bool) -> Iterator[Message]:
    after_space = False
    for operator, argument in tree:
        is_space = operator is sre.LITERAL and argument == ord(" ")
        if after_space and is_space:
            yield Message("has two spaces in a row; text has single spaces, so it can never match")
        after_space = is_space
        if operator is sre.LITERAL and chr(argument) in "\t\n\r\f\v":
            yield _WHITE_SPACE
        if str(operator) in _NEW_IN_PYTHON_3_11:
            yield Message("has a possessive repeat or an atomic group, which Python 3.10 does not know")
        if str(operator) in _REPEATS:
            yield from _repeat(argument, inside_repeat=inside_repeat)
        else:
            yield from (
                problem for part in _parts(operator, argument) for problem in _walk(part, inside_repeat=inside_repeat)
            )


def _repeat(argument: Any, *, inside_repeat: bool) -> Iterator[Message]:
    _least, most, body = argument
    unbounded = most is sre.MAXREPEAT
    if unbounded and inside_repeat:
        yield Message("has an unbounded repeat inside another; bound one of them, for example {bound}", bound="{1,20}")
    if unbounded and any(operator is sre.ANY for operator, _ in body):
        yield Message(
            "has an unbounded .* or .+; write {bounded} or exclude the character that ends it ({excluding})",
            bounded=".{0,200}?",
            excluding="[^)]{0,200}",
        )
    yield from _walk(body, inside_repeat=inside_repeat or unbounded)


def _parts(operator: Any, argument: Any) -> list[Any]:
    """The sub-patterns of an element that is no repeat."""
    if operator is sre.SUBPATTERN:
        return [argument[-1]]
    if operator is sre.BRANCH:
        return list(argument[1])
    if operator in (sre.ASSERT, sre.ASSERT_NOT):
        return [argument[1]]
    if operator is sre.GROUPREF_EXISTS:
        return [part for part in argument[1:] if part]
    return [argument] if str(operator) == "ATOMIC_GROUP" else []


def _scoped_flags(tree: Iterable[Any]) -> bool:
    """True when some group switches flags for itself, such as (?i:error)."""
    for operator, argument in tree:
        if operator is sre.SUBPATTERN and (argument[1] or argument[2]):
            return True
        parts = [argument[2]] if str(operator) in _REPEATS else _parts(operator, argument)
        if any(_scoped_flags(part) for part in parts):
            return True
    return False
