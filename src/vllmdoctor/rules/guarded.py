"""A pattern of a user's own rule in, the same pattern out, searched with a limit on the time that it may take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Protocol

from vllmdoctor.rules.model import FactBook, FactLine, Mark, Noise, Rule

LIMIT_S = 0.05  # for one text
TOTAL_S = 5.0  # for all texts of an analysis


class Searchable(Protocol):
    """What is used of a compiled pattern."""

    def search(self, text: str, start: int = ..., end: int = ..., /) -> re.Match[str] | None: ...


@dataclass(slots=True)
class Guard:
    """Watches the patterns of one rule. Once one of them took too long, none of them matches any more."""

    rule: str
    exceeded: bool = False
    spent_s: float = 0.0


class GuardedPattern(str):
    """The pattern's text, which carries its guard to wherever it is searched."""

    guard: Guard
    _expression: Any = None

    def __new__(cls, pattern: str, guard: Guard) -> GuardedPattern:
        made = super().__new__(cls, pattern)
        made.guard = guard
        return made

    def search(self, text: str, start: int = 0, end: int | None = None, /) -> re.Match[str] | None:
        """The first match; None for good once the time is up."""
        if self.guard.exceeded:
            return None
        if self._expression is None:
            import regex  # unlike `re` it can be told to stop; only users' rules need it

            self._expression = regex.compile(str(self))
        began = perf_counter()
        try:
            found: re.Match[str] | None = self._expression.search(text, start, end, timeout=LIMIT_S)
        except TimeoutError:
            self.guard.exceeded = True
            return None
        self.guard.spent_s += perf_counter() - began
        self.guard.exceeded = self.guard.spent_s > TOTAL_S
        return found


def guarded_rule(rule: Rule) -> tuple[Rule, Guard]:
    """The rule with every pattern under one guard."""
    guard = Guard(rule.id)
    signatures = tuple(
        replace(
            signature,
            pattern=GuardedPattern(signature.pattern, guard),
            frames=_guarded(signature.frames, guard),
            unless=_guarded(signature.unless, guard),
        )
        for signature in rule.signatures
    )
    return replace(rule, signatures=signatures), guard


def guarded_facts(book: FactBook, name: str) -> tuple[FactBook, Guard]:
    """The fact lines, marks and noise of a user's folder under one guard."""
    guard = Guard(name)
    return replace(
        book,
        lines=_all_guarded(book.lines, guard),
        marks=_all_guarded(book.marks, guard),
        noise=_all_guarded(book.noise, guard),
    ), guard


def too_slow(guards: Sequence[Guard]) -> tuple[str, ...]:
    """The rules that were given up."""
    return tuple(guard.rule for guard in guards if guard.exceeded)


def _guarded(pattern: str, guard: Guard) -> str:
    return GuardedPattern(pattern, guard) if pattern else ""


def _all_guarded(items: Sequence[Any], guard: Guard) -> tuple[Any, ...]:
    declared: Sequence[FactLine | Mark | Noise] = items
    return tuple(replace(item, pattern=GuardedPattern(item.pattern, guard)) for item in declared)
