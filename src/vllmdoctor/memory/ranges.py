"""Estimates that know their own uncertainty: low, best and high of a quantity, added and scaled together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

GIB = 2**30


@dataclass(frozen=True, slots=True)
class Range:
    """A quantity of which `best` is the likely value; `low` and `high` are bounds that hold in practice."""

    low: float
    best: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> Range:
        return cls(value, value, value)

    @classmethod
    def about(cls, value: float, fewer: float, more: float) -> Range:
        """`value`, at least `fewer` × and at most `more` × it."""
        return cls(value * fewer, value, value * more)

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.best + other.best, self.high + other.high)

    def minus(self, other: Range) -> Range:
        """The difference, with its widest bounds."""
        return Range(self.low - other.high, self.best - other.best, self.high - other.low)

    def times(self, factor: float) -> Range:
        return Range(self.low * factor, self.best * factor, self.high * factor)

    def map(self, function: Callable[[float], float]) -> Range:
        """A rising function of each of the three."""
        return Range(function(self.low), function(self.best), function(self.high))
