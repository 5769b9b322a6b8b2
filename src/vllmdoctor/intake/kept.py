"""Numbered lines with a reason to be kept in, the lines that fit the memory set aside for that reason out."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from vllmdoctor.intake.literals import LiteralFinder
from vllmdoctor.intake.longline import shortened

# Reasons to keep a line, by priority. RARE is for the first hits of a literal when EARLY is used up by another one.
FIRST, EARLY, RARE, LATE, LAST = "first", "early", "rare", "late", "last"

_EDGE_LINE_BYTES = 1 << 10


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a large input is kept."""

    whole_bytes: int = 2 << 20  # an input up to this size is kept whole
    whole_lines: int = 200_000  # … and of no more lines: each costs memory of its own
    edge_lines: int = 400  # at the start, and at the end
    first_hits: int = 200  # of each literal
    last_hits: int = 50
    rare_hits: int = 10
    lines_before: int = 3
    lines_after: int = 1
    block_lines_after: int = 150
    long_line_bytes: int = 64 << 10
    # Together 6 MiB.
    edge_bytes: int = 1 << 20  # at the start, and at the end
    early_bytes: int = 1792 << 10
    rare_bytes: int = 768 << 10
    late_bytes: int = 1536 << 10

    def shrunk(self, factor: int) -> Limits:
        """Limits for one of very many inputs."""
        return replace(
            self,
            whole_bytes=self.whole_bytes // factor,
            edge_lines=max(5, self.edge_lines // factor),
            first_hits=max(2, self.first_hits // factor),
            last_hits=max(2, self.last_hits // factor),
            edge_bytes=self.edge_bytes // factor,
            early_bytes=self.early_bytes // factor,
            rare_bytes=self.rare_bytes // factor,
            late_bytes=self.late_bytes // factor,
        )


def decoded(raw: bytes) -> str:
    """The text of a line; what is not UTF-8 is replaced."""
    return raw.decode("utf-8", "replace")


class KeptLines:
    """The lines kept so far. FIRST, EARLY, RARE and LAST lines stay; LATE ones go when newer ones need their room."""

    def __init__(self, limits: Limits, finder: LiteralFinder) -> None:
        self._limits = limits
        self._finder = finder
        self._lines: dict[int, str] = {}
        self._room = {
            FIRST: limits.edge_bytes,
            EARLY: limits.early_bytes,
            RARE: limits.rare_bytes,
            LAST: limits.edge_bytes,
        }
        self._late: dict[int, str] = {}
        self._late_cost = 0
        # For each literal the ranges of lines around its last hits.
        self._ranges: dict[int, deque[tuple[int, int]]] = {}
        self.cut = 0

    def has_room(self, reason: str) -> bool:
        """Whether another line fits."""
        return reason == LATE or self._room[reason] > 0

    def add(self, reason: str, number: int, raw: bytes) -> bool:
        """Keeps the line if there is room; True when it is kept."""
        if number in self._lines:
            return True
        if reason == LATE:
            return self._add_late(number, raw)
        if self._room[reason] <= 0:
            if reason not in (FIRST, LAST):
                return False
            raw = raw[:_EDGE_LINE_BYTES]
        text = self._text(raw)
        self._lines[number] = text
        # What a line costs is its string object: one emoji makes it four times as large.
        self._room[reason] -= sys.getsizeof(text)
        return True

    def add_late_range(self, literal: int, first: int, last: int) -> None:
        """These lines are around one of the last hits of the literal (until newer ones push it out)."""
        ranges = self._ranges.get(literal)
        if ranges is None:
            ranges = self._ranges[literal] = deque(maxlen=self._limits.last_hits)
        ranges.append((first, last))

    def _add_late(self, number: int, raw: bytes) -> bool:
        if number not in self._late:
            self._late[number] = text = self._text(raw)
            self._late_cost += sys.getsizeof(text)
            if self._late_cost > 2 * self._limits.late_bytes:
                self._drop_old()
        return True

    def _drop_old(self) -> None:
        """Lets go of LATE lines that no last hit needs, then of the earliest beyond the limit."""
        wanted = _merged(span for ranges in self._ranges.values() for span in ranges)
        starts = [first for first, _ in wanted]
        cost = 0
        kept: list[tuple[int, str]] = []
        for number in sorted(self._late, reverse=True):
            place = bisect_right(starts, number) - 1
            # Lines after the newest range belong to the hit that is being added.
            if place >= 0 and (number <= wanted[place][1] or place == len(wanted) - 1):
                cost += sys.getsizeof(self._late[number])
                if cost > self._limits.late_bytes:
                    break
                kept.append((number, self._late[number]))
        self._late = dict(reversed(kept))
        self._late_cost = sum(sys.getsizeof(text) for text in self._late.values())

    def _text(self, raw: bytes) -> str:
        if len(raw) > self._limits.long_line_bytes:
            raw = shortened(raw, self._finder)
            self.cut += 1
        return decoded(raw)

    def finished(self) -> dict[int, str]:
        """All kept lines by number. The collection is empty afterwards."""
        self._drop_old()
        lines, self._lines = self._lines, {}
        for number, text in self._late.items():
            lines.setdefault(number, text)
        self._late = {}
        return lines


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges in order, overlapping and touching ones joined."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1] + 1:
            if last > joined[-1][1]:
                joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return joined
