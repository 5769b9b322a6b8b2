"""Literals and a block of bytes in, the places of the literals that occur in it out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Protocol

# The accelerator returns all matches of one call as a list; small slices keep that list small when every line matches.
_SLICE_BYTES = 1 << 16
# Below this a table-driven automaton costs more to build than it saves.
_DFA_FROM_BYTES = 4 << 20

Hit = tuple[int, int]
Match = tuple[int, int, int]
_Search = Callable[[bytes | memoryview], list[Match]]


class _Automaton(Protocol):
    def find_matches_as_indexes(
        self, haystack: bytes | memoryview, overlapping: bool = ...
    ) -> list[tuple[int, int, int]]: ...


def accelerator_wanted(use_accelerator: bool | None = None) -> bool:
    """Whether the compiled search is to be used: as told, else unless VLLMDOCTOR_PURE=1, and only if installed."""
    if use_accelerator is None:
        use_accelerator = os.environ.get("VLLMDOCTOR_PURE", "") not in ("1", "true", "yes")
    return use_accelerator and _accelerator_installed()


def _accelerator_installed() -> bool:
    try:
        import ahocorasick_rs  # noqa: F401
    except ImportError:
        return False
    return True


class LiteralFinder:
    """Finds every occurrence of many byte literals, overlapping ones included.

    Hits come ordered by offset, then by the literal's index, whether or not the compiled search is installed.
    """

    def __init__(self, literals: Sequence[bytes], *, use_accelerator: bool | None = None, large: bool = False) -> None:
        """`large`: it is known that megabytes will be searched."""
        if any(not literal for literal in literals):
            raise ValueError("an empty literal would occur everywhere")
        self.literals = tuple(literals)
        self.longest = max((len(literal) for literal in self.literals), default=1)
        self.accelerated = bool(self.literals) and accelerator_wanted(use_accelerator)
        self._automaton: _Automaton | None = None
        self._is_dfa = False
        self._seen_bytes = _DFA_FROM_BYTES if large else 0

    def find(self, block: bytes) -> Iterator[Hit]:
        """(index of the literal, offset in the block) of every occurrence."""
        for begin, matches in self.matches(block):
            yield from sorted(((index, begin + start) for index, start, _ in matches), key=_by_offset)

    def matches(self, block: bytes) -> Iterator[tuple[int, Sequence[Match]]]:
        """For each stretch of the block with hits: its offset, and (literal, start, end) from there of each hit.

        The hits of one literal come in order, those of different literals need not: half the cost of `find`.
        """
        if not self.literals:
            return
        self._seen_bytes += len(block)
        search = self._accelerated_search() if self.accelerated else self._pure_search
        view = memoryview(block) if self.accelerated else block
        overlap = self.longest - 1
        for begin in range(0, len(block), _SLICE_BYTES):
            matches = search(view[begin : begin + _SLICE_BYTES + overlap])
            if matches:
                if matches[-1][2] > _SLICE_BYTES:
                    # What begins in the overlap belongs to the next slice.
                    matches = [match for match in matches if match[1] < _SLICE_BYTES]
                yield begin, matches

    def _accelerated_search(self) -> _Search:
        return partial(self._automaton_for(self._seen_bytes).find_matches_as_indexes, overlapping=True)

    def _pure_search(self, block: bytes | memoryview) -> list[Match]:
        assert isinstance(block, bytes)
        found: list[Match] = []
        for index, literal in enumerate(self.literals):
            offset = block.find(literal)
            while offset >= 0:
                found.append((index, offset, offset + len(literal)))
                offset = block.find(literal, offset + 1)
        found.sort(key=_by_end)
        return found

    def _automaton_for(self, seen_bytes: int) -> _Automaton:
        want_dfa = seen_bytes > _DFA_FROM_BYTES
        if self._automaton is None or (want_dfa and not self._is_dfa):
            from ahocorasick_rs import BytesAhoCorasick, Implementation

            kind = Implementation.DFA if want_dfa else Implementation.ContiguousNFA
            self._automaton = BytesAhoCorasick(list(self.literals), implementation=kind)
            self._is_dfa = want_dfa
        return self._automaton


def _by_offset(hit: Hit) -> Hit:
    return hit[1], hit[0]


def _by_end(match: Match) -> int:
    return match[2]
