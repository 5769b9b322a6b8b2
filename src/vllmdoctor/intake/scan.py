"""Blocks of a large text and literals in; the lines worth keeping and exact counts of the literals out."""

from __future__ import annotations

from collections import deque
from operator import add

from vllmdoctor.intake.kept import EARLY, FIRST, LAST, LATE, RARE, KeptLines, Limits
from vllmdoctor.intake.literals import LiteralFinder
from vllmdoctor.intake.longline import LongLine
from vllmdoctor.intake.noise import NoiseFilter
from vllmdoctor.intake.waiting import Block, Chosen, WaitingBlocks

_NEWLINE = b"\n"
_TAIL_BYTES = 2 << 20


class Scan:
    """Reads a text block by block without splitting or decoding the lines that are not kept."""

    def __init__(self, finder: LiteralFinder, block_literals: frozenset[int], limits: Limits) -> None:
        self._finder = finder
        self._noise = NoiseFilter(finder)
        self._limits = limits
        self._after = [
            limits.block_lines_after if index in block_literals else limits.lines_after
            for index in range(len(finder.literals))
        ]
        self.kept = KeptLines(limits, finder)
        self.counts = [0] * len(finder.literals)
        self.total_lines = 0
        self._taken = [0] * len(finder.literals)
        self._rest = b""
        self._long: LongLine | None = None
        self._waiting = WaitingBlocks(limits)
        self._tail: deque[Block] = deque()
        self._tail_lines = self._tail_bytes = 0
        self._context: list[tuple[int, bytes]] = []  # the lines just before the block at hand
        self._follow = {FIRST: limits.edge_lines}  # reason → the line up to which lines are kept

    def feed(self, chunk: bytes) -> None:
        """Takes the next block of the text, cut anywhere."""
        if self._long is not None:
            end = chunk.find(_NEWLINE)
            if end < 0:
                self._long.feed(chunk)
                return
            self._long.feed(chunk[:end])
            self._end_long_line()
            chunk = chunk[end + 1 :]
        cut = chunk.rfind(_NEWLINE) + 1
        if cut:
            data = b"".join((self._rest, memoryview(chunk)[:cut]))
            self._rest = chunk[cut:]
            self._take(data)
        else:
            self._rest += chunk
        if len(self._rest) > self._limits.long_line_bytes:
            self._long = LongLine(self._finder)
            self._long.feed(self._rest)
            self._rest = b""

    @property
    def uncounted(self) -> set[int]:
        """The literals that were so frequent that `counts` is only a lower bound for them."""
        return self._noise.ever_noisy

    def finish(self) -> dict[int, str]:
        """Ends the text; the kept lines by number."""
        if self._long is not None:
            self._end_long_line()
        elif self._rest:
            self._take(self._rest + _NEWLINE)
        self._rest = b""
        for old, chosen in self._waiting.rest():
            self._keep_hits(old, chosen)
        self._keep_tail()
        return self.kept.finished()

    def _end_long_line(self) -> None:
        assert self._long is not None
        long_line, self._long = self._long, None
        text = long_line.finish()
        self.kept.cut += 1
        counts = list(map(add, self.counts, long_line.counts))
        self._take(text + _NEWLINE)
        # Windows leave hits out; the line itself has counted them all.
        self.counts = counts

    def _take(self, data: bytes) -> None:
        block = Block(data, self.total_lines + 1, data.count(_NEWLINE))
        self.total_lines += block.lines
        self._choose(block)
        self._remember_tail(block)
        for old, chosen in self._waiting.add(block):
            self._keep_hits(old, chosen)

    def _choose(self, block: Block) -> None:
        """Counts the hits of the block and picks those that may be kept: the first of each literal, and the last."""
        counts, taken, late = self.counts, self._taken, block.late
        first_hits, last_hits = self._limits.first_hits, self._limits.last_hits
        line_ends: dict[int, int] = {}
        for literal, offset in self._noise.hits(block.data):
            counts[literal] += 1
            if taken[literal] >= first_hits:
                offsets = late.get(literal)
                if offsets is None:
                    offsets = late[literal] = deque(maxlen=last_hits)
                offsets.append(offset)
            elif offset > line_ends.get(literal, -1):
                block.early.append((offset, literal, taken[literal]))
                taken[literal] += 1
                line_ends[literal] = block.data.find(_NEWLINE, offset)
        for literal, places in self._noise.noisy_hits(block.data, last_hits).items():
            late[literal] = deque(places)
            counts[literal] += len(places)
        self._noise.learn(len(block.data), counts, [number >= first_hits for number in taken])

    def _keep_hits(self, block: Block, chosen: list[Chosen]) -> None:
        _BlockKeeper(block, self.kept, self._limits, self._after, self._context, self._follow).keep(chosen)
        self._context = self._lines_before_next(block)

    def _lines_before_next(self, block: Block) -> list[tuple[int, bytes]]:
        lines: list[tuple[int, bytes]] = []
        end, number = len(block.data) - 1, block.first + block.lines - 1
        while end >= 0 and len(lines) < self._limits.lines_before:
            begin = block.data.rfind(_NEWLINE, 0, end) + 1
            lines.append((number, block.data[begin:end]))
            end, number = begin - 1, number - 1
        lines.reverse()
        missing = self._limits.lines_before - len(lines)
        return (self._context[-missing:] if missing else []) + lines

    def _remember_tail(self, block: Block) -> None:
        self._tail.append(block)
        self._tail_lines += block.lines
        self._tail_bytes += len(block.data)
        while len(self._tail) > 1 and (
            self._tail_lines - self._tail[0].lines >= self._limits.edge_lines or self._tail_bytes > _TAIL_BYTES
        ):
            gone = self._tail.popleft()
            self._tail_lines -= gone.lines
            self._tail_bytes -= len(gone.data)

    def _keep_tail(self) -> None:
        """Keeps the last lines, the very last first: they have priority when room is short."""
        left = self._limits.edge_lines
        while self._tail and left:
            block = self._tail.pop()
            end, number = len(block.data) - 1, block.first + block.lines - 1
            while end >= 0 and left:
                begin = block.data.rfind(_NEWLINE, 0, end) + 1
                self.kept.add(LAST, number, block.data[begin:end])
                end, number, left = begin - 1, number - 1, left - 1


class _BlockKeeper:
    """Walks once through a block and keeps the lines around the chosen hits."""

    def __init__(
        self,
        block: Block,
        kept: KeptLines,
        limits: Limits,
        after: list[int],
        context: list[tuple[int, bytes]],
        follow: dict[str, int],
    ) -> None:
        self._data = block.data
        self._block = block
        self._kept = kept
        self._limits = limits
        self._after = after
        self._context = context
        self._follow = follow
        self._covered = (block.first, 0)  # the lines before this one have been handled
        self._covered_reason = ""

    def keep(self, chosen: list[Chosen]) -> None:
        for reason, last in list(self._follow.items()):
            if last >= self._block.first:
                self._keep_range(reason, self._block.first, 0, last)
        place, number = 0, self._block.first
        for offset, literal, rank in chosen:
            start = self._data.rfind(_NEWLINE, place, offset) + 1 or place
            number += self._data.count(_NEWLINE, place, start)
            place = start
            reason = self._reason(rank)
            last = number + self._after[literal]
            if reason == LATE:
                self._kept.add_late_range(literal, number - self._limits.lines_before, last)
            self._keep_around(reason, number, place, last)

    def _reason(self, rank: int) -> str:
        if rank < self._limits.first_hits:
            if self._kept.has_room(EARLY):
                return EARLY
            if rank < self._limits.rare_hits and self._kept.has_room(RARE):
                return RARE
        return LATE

    def _keep_around(self, reason: str, number: int, place: int, last: int) -> None:
        first, begin = number, place
        while first > number - self._limits.lines_before and begin > 0:
            begin = self._data.rfind(_NEWLINE, 0, begin - 1) + 1
            first -= 1
        if begin == 0:
            for earlier, raw in self._context:
                if number - self._limits.lines_before <= earlier < first:
                    self._kept.add(reason, earlier, raw)
        self._keep_range(reason, first, begin, last)

    def _keep_range(self, reason: str, number: int, begin: int, last: int) -> None:
        """Keeps lines from `number` (at `begin`) to `last`; what lies in the next block is left to it."""
        if reason == self._covered_reason and self._covered[0] > number:
            number, begin = self._covered
        data, size = self._data, len(self._data)
        while number <= last and begin < size:
            end = data.find(_NEWLINE, begin)
            if not self._kept.add(reason, number, data[begin:end]):
                return
            number, begin = number + 1, end + 1
        self._covered, self._covered_reason = (number, begin), reason
        if number <= last:
            self._follow[reason] = max(last, self._follow.get(reason, 0))
