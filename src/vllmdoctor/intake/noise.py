"""Blocks of whole lines in; every hit of the rare literals and the last hits of those that are everywhere out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vllmdoctor.intake.literals import LiteralFinder

# Each hit costs about half a microsecond: at this rate one literal adds a tenth to the cost of the whole search.
_NOISY_HITS_PER_MIB = 400
_PERIOD_BYTES = 4 << 20


class NoiseFilter:
    """Searches for all literals until some prove to be in every other line; of those only the last hits are looked up.

    A literal that becomes rare again is searched for again. `ever_noisy` are those whose hits were not all counted.
    """

    def __init__(self, finder: LiteralFinder) -> None:
        self._all = finder
        self._rare = finder
        self._ids: Sequence[int] = range(len(finder.literals))
        self._noisy: set[int] = set()
        self.ever_noisy: set[int] = set()
        self._period_bytes = 0
        self._before = [0] * len(finder.literals)

    def hits(self, data: bytes) -> Iterator[tuple[int, int]]:
        """(literal, offset) of each hit of a literal that is not noisy; those of one literal in order."""
        ids = self._ids
        for begin, matches in self._rare.matches(data):
            for literal, start, _ in matches:
                yield ids[literal], begin + start

    def noisy_hits(self, data: bytes, most: int) -> dict[int, list[int]]:
        """For each noisy literal the offsets of its last hits, at most `most`, in order."""
        found = {literal: self._last_offsets(literal, data, most) for literal in self._noisy}
        rare_again = {literal for literal, offsets in found.items() if len(offsets) < most}
        # A short block tells nothing about how frequent a literal is.
        if rare_again and len(data) >= 1 << 16:
            self._noisy -= rare_again
            self._search_for_rare()
        return {literal: offsets for literal, offsets in found.items() if offsets}

    def _last_offsets(self, literal: int, data: bytes, most: int) -> list[int]:
        offsets: list[int] = []
        end = len(data)
        needle = self._all.literals[literal]
        while len(offsets) < most and (place := data.rfind(needle, 0, end)) >= 0:
            offsets.append(place)
            end = place + len(needle) - 1
        offsets.reverse()
        return offsets

    def learn(self, size: int, counts: Sequence[int], satisfied: Sequence[bool]) -> None:
        """After a block of `size` bytes: looks, every few MiB, which literals have become noise.

        Only a literal whose first hits have all been chosen (`satisfied`) may be treated as noise.
        """
        self._period_bytes += size
        if self._period_bytes < _PERIOD_BYTES:
            return
        limit = _NOISY_HITS_PER_MIB * (self._period_bytes >> 20)
        found = {
            literal for literal in self._ids if satisfied[literal] and counts[literal] - self._before[literal] > limit
        }
        self._period_bytes, self._before = 0, list(counts)
        if found:
            self._noisy |= found
            self.ever_noisy |= found
            self._search_for_rare()

    def _search_for_rare(self) -> None:
        self._ids = [literal for literal in range(len(self._all.literals)) if literal not in self._noisy]
        literals = [self._all.literals[literal] for literal in self._ids]
        self._rare = LiteralFinder(literals, use_accelerator=self._all.accelerated, large=True)
