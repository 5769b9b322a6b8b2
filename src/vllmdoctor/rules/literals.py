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
_MAX_LENGTH = 48
_MAX_ALTERNATIVES = 24

# Characters that travel changed (JSON and HTML escapes, quotes, wrapped lines): no literal for raw bytes spans them.
_FRAGILE = re.compile(r"[^A-Za-z0-9_./:=()*,;#%+@!?\[\]-]+")

LiteralSets = tuple[tuple[str, ...], ...]


def required_literals(pattern: str) -> LiteralSets:
    """The best any-of set (one inner tuple), or () when the pattern has none of at least MIN_LENGTH characters.

    Raises re.error for a pattern that does not parse.
    """
    tree = sre_parser.parse(pattern)
    if tree.state.flags & (re.IGNORECASE | re.VERBOSE):
        return ()  # the text may spell the literal in other letters
    trimmed = (sorted({literal[:_MAX_LENGTH].strip() for literal in found}) for found in _sets(tree))
    sets = [s for s in trimmed if s and min(map(len, s)) >= MIN_LENGTH]
    if not sets:
        return ()
    best = max(sets, key=lambda s: (min(map(len, s)), -len(s)))
    return (tuple(best),)


def raw_literals(sets: LiteralSets) -> tuple[str, ...]:
    """For every literal its longest part that survives escaping and wrapping; those without one are left out."""
    parts = (max(_FRAGILE.split(literal), key=len) for group in sets for literal in group)
    return tuple(sorted({part for part in parts if len(part) >= MIN_LENGTH}))


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
