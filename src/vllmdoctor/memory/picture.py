"""A receipt in, the parts of a bar as long as the GPU's memory out, in order, so that every renderer draws the same."""

from __future__ import annotations

from dataclasses import dataclass

from vllmdoctor.memory.receipt import (
    ACTIVATION,
    BUDGET,
    CUDA_GRAPHS,
    KV_AVAILABLE,
    NON_TORCH,
    OTHERS,
    TOTAL,
    WEIGHTS,
    Receipt,
)

UNTOLD, OUTSIDE = "untold", "outside"
_LEAST_GIB = 0.02


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the memory. `untold`: in the budget, the log does not say for what; `outside`: beyond the budget."""

    name: str
    gib: float


@dataclass(frozen=True, slots=True)
class Picture:
    """The bar's length in GiB, where the budget ends on it (None: not known), and its parts."""

    length_gib: float
    budget_gib: float | None
    segments: tuple[Segment, ...]


def picture_of(receipt: Receipt) -> Picture | None:
    """None when the receipt is not drawable. Longer than the GPU when the weights alone do not fit on it."""
    total, budget = receipt.gib(TOTAL), receipt.gib(BUDGET)
    if total is None or not receipt.drawable:
        return None
    graphs_inside = receipt.graphs_inside is True
    inside = [WEIGHTS, ACTIVATION, NON_TORCH, *([CUDA_GRAPHS] if graphs_inside else []), KV_AVAILABLE]
    parts = [Segment(name, max(receipt.gib(name) or 0.0, 0.0)) for name in inside]
    told = sum(part.gib for part in parts)
    if budget is not None and budget > told:
        parts.insert(len(parts) - 1, Segment(UNTOLD, budget - told))
    outside = [] if graphs_inside else [CUDA_GRAPHS]
    parts += [Segment(name, receipt.gib(name) or 0.0) for name in (*outside, OTHERS)]
    used = sum(part.gib for part in parts)
    parts.append(Segment(OUTSIDE, max(total - used, 0.0)))
    return Picture(max(total, used), budget, tuple(part for part in parts if part.gib >= _LEAST_GIB))


def cells(picture: Picture, width: int) -> tuple[int, ...]:
    """How many of `width` cells each segment gets. Ends are rounded, so that they line up with the budget's; a part
    too small for a cell gets one of the largest."""
    counts, end, told = [], 0, 0.0
    for segment in picture.segments:
        told += segment.gib
        following = round(told / picture.length_gib * width)
        counts.append(following - end)
        end = following
    if counts:
        counts[-1] += width - end
    while 0 in counts and max(counts) > 1:
        counts[counts.index(max(counts))] -= 1
        counts[counts.index(0)] = 1
    return tuple(counts)
