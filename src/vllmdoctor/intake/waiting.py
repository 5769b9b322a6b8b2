"""Blocks with their hits in; the blocks old enough, with the hits that are still among the last ones, out."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from vllmdoctor.intake.kept import Limits

_QUEUE_BYTES = 4 << 20

# (offset in the block, literal, number of its lines chosen before)
Chosen = tuple[int, int, int]


@dataclass(slots=True)
class Block:
    """Whole lines, each with its line end. `early` are hits to keep, `late` for each literal its last hits."""

    data: bytes
    first: int  # number of the first line
    lines: int
    early: list[Chosen] = field(default_factory=list)
    late: dict[int, deque[int]] = field(default_factory=dict)  # literal → offsets


class WaitingBlocks:
    """Holds the newest blocks back: when a crash loop fills a log, nearly all hits are out of date by the time a block
    leaves, and nothing has been spent on them."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._blocks: deque[Block] = deque()
        self._bytes = self._lines = 0
        self._newer: Counter[int] = Counter()  # literal → number of late hits in the blocks held back

    def add(self, block: Block) -> Iterator[tuple[Block, list[Chosen]]]:
        """Takes a block; gives those that must leave for it, with the hits to keep."""
        self._blocks.append(block)
        self._bytes += len(block.data)
        self._lines += block.lines
        for literal, offsets in block.late.items():
            self._newer[literal] += len(offsets)
        while self._bytes > _QUEUE_BYTES and len(self._blocks) > 1:
            yield self._leaving()

    def rest(self) -> Iterator[tuple[Block, list[Chosen]]]:
        """At the end: gives all blocks."""
        while self._blocks:
            yield self._leaving()

    def _leaving(self) -> tuple[Block, list[Chosen]]:
        block = self._blocks.popleft()
        self._bytes -= len(block.data)
        self._lines -= block.lines
        for literal, offsets in block.late.items():
            self._newer[literal] -= len(offsets)
        chosen = list(block.early)
        if not self._newer_ones_fill_the_room():
            for literal, offsets in block.late.items():
                still_last = self._limits.last_hits - self._newer[literal]
                if still_last > 0:
                    chosen += [(offset, literal, self._limits.first_hits) for offset in list(offsets)[-still_last:]]
        chosen.sort()
        return block, chosen

    def _newer_ones_fill_the_room(self) -> bool:
        """Whether the late hits held back will push out anything that is kept of this block."""
        hits = sum(min(self._limits.last_hits, count) for count in self._newer.values())
        return bool(self._lines) and hits * (self._bytes // self._lines) > 2 * self._limits.late_bytes
