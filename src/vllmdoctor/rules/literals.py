"""A regular expression in, sets of literals out of which one must occur in every text that it matches."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

# Python's own parser of patterns; it moved in 3.11.
_MODULES = ("re._constants", "re._parser") if sys.version_info >= (3, 11) else ("sre_constants", "sre_parse")
sre: Any = importlib.import_module(_MODULES[0])
sre_parser: Any = importlib.import_module(_MODULES[1])

MIN_LENGTH = 4
MIN_RAW_LENGTH = 5  # `vllm` stands in every prefix of a container
_MAX_LENGTH = 48
_MAX_ALTERNATIVES = 24
_MAX_SETS = 2

# Characters that travel changed in JSON and HTML; no literal for raw bytes spans them.
_ESCAPED = re.compile(r"[^ -~]+|[\"'<>&\\\\]+")

LiteralSets = tuple[tuple[str, ...], ...]


def required_literals(pattern: str) -> LiteralSets:
    """The two best any-of sets (one of each must occur), or () when none has only members of MIN_LENGTH characters.

    Raises re.error for a pattern that does not parse.
    """
    tree = sre_parser.parse(pattern)
    if tree.state.flags & (re.IGNORECASE | re.VERBOSE):
        return ()  # the text may spell the literal in other letters
    sets = [s for s in _sets(tree) if s and min(map(len, s)) >= MIN_LENGTH]
    ranked = sorted(sets, key=lambda s: (-min(map(len, s)), len(s), sorted(s)))
    return tuple(dict.fromkeys(tuple(sorted({_cut(literal) for literal in s})) for s in ranked[:_MAX_SETS]))


def _cut(literal: str) -> str:
    return literal[:_MAX_LENGTH].strip() or literal


def raw_literals(sets: LiteralSets, common: str = "") -> tuple[str, ...]:
    """Literals to search a large input for before it is decoded: a matching line has one of them.

    Of every literal the longest part is taken that survives escaping and does not occur in `common` (lines
    that a healthy server prints all the time). Empty when no set has such parts for all its members.
    """
    found = []
    for group in sets:
        parts = [_rarest(literal, common) for literal in group]
        if all(parts):
            found.append(tuple(sorted(set(parts))))
    return max(found, key=lambda parts: min(map(len, parts)), default=())


def _rarest(literal: str, common: str) -> str:
    """Spaces stay inside: words that are common one by one ("error", "must") are rare together."""
    runs = (run.strip() for run in _ESCAPED.split(literal))
    return max((run for run in runs if len(run) >= MIN_RAW_LENGTH and run not in common), key=len, default="")


def _sets(tree: Iterable[Any]) -> list[set[str]]:
    """Any-of sets required by a sequence, in no order."""
    found: list[set[str]] = []
    run = ""
    for operator, argument in tree:
        if operator is sre.LITERAL:
            run += chr(argument)
            continue
        inner, joins = _inner(operator, argument)
        if joins is not None:  # a group that is exactly a literal text continues the run
            run += joins
            continue
        found.extend(_ended(run))
        run = ""
        found.extend(inner)
    found.extend(_ended(run))
    return found


def _ended(run: str) -> list[set[str]]:
    return [{run}] if run else []


def _inner(operator: Any, argument: Any) -> tuple[list[set[str]], str | None]:
    if operator is sre.SUBPATTERN:
        _number, added_flags, _dropped_flags, body = argument
        return ([], None) if added_flags & re.IGNORECASE else _group(body)
    if operator in (sre.MAX_REPEAT, sre.MIN_REPEAT) or str(operator) == "POSSESSIVE_REPEAT":
        least, _most, body = argument
        return (_sets(body) if least >= 1 else []), None
    if str(operator) == "ATOMIC_GROUP":
        return _group(argument)
    if operator is sre.BRANCH:
        return _branches(argument[1]), None
    if operator is sre.IN and len(argument) == 1 and argument[0][0] is sre.LITERAL:
        return [], chr(argument[0][1])
    return [], None


def _group(body: Sequence[Any]) -> tuple[list[set[str]], str | None]:
    if all(operator is sre.LITERAL for operator, _ in body):
        return [], "".join(chr(argument) for _, argument in body)
    return _sets(body), None


def _branches(branches: Sequence[Any]) -> list[set[str]]:
    union: set[str] = set()
    for branch in branches:
        sets = [s for s in _sets(branch) if s]
        if not sets:
            return []
        union |= max(sets, key=lambda s: min(map(len, s)))
    return [union] if len(union) <= _MAX_ALTERNATIVES else []
