"""Patterns with their literals and a list of texts in, the pairs that can match out; and the confirmation by regex.

A pattern is tried on a text only when one literal of each of its sets occurs in it: texts without any literal of any
rule, nearly all of a healthy log, are never looked at by a regular expression.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache

from vllmdoctor.rules.guarded import GuardedPattern, Searchable

WINDOW_CHARS = 16 * 1024

LiteralSets = tuple[tuple[str, ...], ...]


def compiled(pattern: str) -> Searchable:
    """The compiled pattern; compiled on first use since most patterns are never tried.

    A pattern of a user's own rules comes with a time limit.
    """
    return pattern if isinstance(pattern, GuardedPattern) else _compiled(pattern)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def candidates(sets_by_item: Sequence[LiteralSets], texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """(item, text) pairs, by item and then text, that the literals admit. An item without literals gets every text."""
    whole = "\n".join(texts)
    starts = []
    position = 0
    for text in texts:
        starts.append(position)
        position += len(text) + 1
    literals = {literal for sets in sets_by_item for group in sets for literal in group}
    holders = {literal: _holders(literal, whole, starts) for literal in literals if literal in whole}
    everything = range(len(texts))
    for item, sets in enumerate(sets_by_item):
        admitted = None
        for group in sets:
            found = set().union(*(holders[literal] for literal in group if literal in holders))
            admitted = found if admitted is None else admitted & found
            if not admitted:
                break
        for text_index in everything if admitted is None else sorted(admitted):
            yield item, text_index


def _holders(literal: str, whole: str, starts: Sequence[int]) -> set[int]:
    found = set()
    position = whole.find(literal)
    while position >= 0:
        index = bisect_right(starts, position) - 1
        found.add(index)
        following = starts[index + 1] if index + 1 < len(starts) else len(whole)
        position = whole.find(literal, max(following, position + 1))
    return found


def search(pattern: str, text: str, literals: LiteralSets) -> re.Match[str] | None:
    """The first match. In a text longer than WINDOW_CHARS only windows around its literals are searched."""
    if len(text) <= WINDOW_CHARS:
        return compiled(pattern).search(text)
    expression = compiled(pattern)
    for literal in literals[0] if literals else ("",):
        position = text.find(literal)
        while position >= 0:
            start = max(0, position - WINDOW_CHARS // 2)
            found = expression.search(text, start, start + WINDOW_CHARS)
            if found:
                return found
            position = text.find(literal, start + WINDOW_CHARS) if literal else -1
    return None
