"""Which late hits of a block are still worth keeping when it leaves the queue."""

from __future__ import annotations

from collections import deque

from vllmdoctor.intake.kept import Limits
from vllmdoctor.intake.waiting import Block, WaitingBlocks

MIB = 1 << 20


def block(number: int, late: dict[int, list[int]], early: list[tuple[int, int, int]] | None = None) -> Block:
    """A MiB of 10,000 lines."""
    offsets = {literal: deque(places) for literal, places in late.items()}
    return Block(b"." * MIB, 1 + number * 10_000, 10_000, early or [], offsets)


def leaving(blocks: list[Block], limits: Limits) -> list[list[tuple[int, int, int]]]:
    waiting = WaitingBlocks(limits)
    left = [pair for one in blocks for pair in waiting.add(one)]
    left += waiting.rest()
    assert [gone.first for gone, _ in left] == [one.first for one in blocks]
    return [chosen for _, chosen in left]


def test_only_the_last_hits_of_a_literal_are_kept() -> None:
    limits = Limits(first_hits=200, last_hits=3)
    blocks = [block(0, {7: [1, 2, 3]}), block(1, {7: [4, 5]}), block(2, {}), block(3, {8: [6]})]
    assert leaving(blocks, limits) == [[(3, 7, 200)], [(4, 7, 200), (5, 7, 200)], [], [(6, 8, 200)]]


def test_a_block_leaves_with_early_hits_only_when_newer_hits_take_all_the_room() -> None:
    limits = Limits(first_hits=200, last_hits=50)
    # 1,000 literals with 10 hits in each block: 50 MiB of lines wanted in the last 5 blocks, 1.5 MiB kept.
    crowded = {literal: list(range(10)) for literal in range(1000)}
    blocks = [block(0, {1000: [5]}, early=[(9, 3, 0)]), *(block(number, crowded) for number in range(1, 8))]
    first, second, *_, last = leaving(blocks, limits)
    assert first == [(9, 3, 0)]
    assert second == []
    assert len(last) == 10_000


def test_a_rare_late_hit_is_kept_however_long_ago_it_was() -> None:
    blocks = [block(0, {5: [77]}), *(block(number, {}) for number in range(1, 30))]
    assert leaving(blocks, Limits())[0] == [(77, 5, 200)]
