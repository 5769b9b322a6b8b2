"""Blocks of whole lines in; the hits of the rare literals one by one, those of frequent literals as counts out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vllmdoctor.intake.literals import LiteralFinder

# Measured: listing a hit costs about 0.6 µs, counting one literal in 1 MiB about 250 µs.
_NOISY_HITS_PER_MIB = 600
_PERIOD_BYTES = 4 << 20


class NoiseFilter:
    """Searches for all literals until some prove to be in every other line; those are only counted from then on."""

    def __init__(self, finder: LiteralFinder) -> None:
        self._all = finder
        self._rare = finder
        self._ids: Sequence[int] = range(len(finder.literals))
        self.noisy: list[int] = []
        self._period_bytes = 0
        self._before = [0] * len(finder.literals)

    def hits(self, data: bytes) -> Iterator[tuple[int, int]]:
        """(literal, offset) of each hit of a literal that is not noisy; those of one literal in order."""
        ids = self._ids
        for begin, matches in self._rare.matches(data):
            for literal, start, _ in matches:
                yield ids[literal], begin + start

    def noisy_counts(self, data: bytes) -> dict[int, int]:
        """How often each noisy literal occurs."""
        return {literal: data.count(self._all.literals[literal]) for literal in self.noisy}

    def last_offsets(self, literal: int, data: bytes, most: int) -> list[int]:
        """Where the literal occurs last, at most `most` places."""
        offsets: list[int] = []
        end = len(data)
        while len(offsets) < most and (end := data.rfind(self._all.literals[literal], 0, end)) >= 0:
            offsets.append(end)
        return offsets

    def learn(self, size: int, counts: Sequence[int], satisfied: Sequence[bool]) -> None:
        """After a block of `size` bytes: looks, every few MiB, which literals have become noise.

        Only a literal whose first hits have all been kept (`satisfied`) may be treated as noise.
        """
        self._period_bytes += size
        if self._period_bytes < _PERIOD_BYTES:
            return
        limit = _NOISY_HITS_PER_MIB * self._period_bytes >> 20
        found = [
            literal
            for literal in self._ids
            if counts[literal] - self._before[literal] > limit
            and satisfied[literal]
            and not _overlaps_itself(self._all.literals[literal])
        ]
        self._period_bytes, self._before = 0, list(counts)
        if found:
            self.noisy += found
            self._ids = [literal for literal in self._ids if literal not in found]
            self._rare = LiteralFinder(
                [self._all.literals[literal] for literal in self._ids], use_accelerator=self._all.accelerated
            )


def _overlaps_itself(literal: bytes) -> bool:
    """Whether two occurrences can overlap; `bytes.count` would miss one."""
    return any(literal.startswith(literal[begin:]) for begin in range(1, len(literal)))
