"""Facts of the failing rank in, numbers to act on out: longest context, utilizations that can work, GiB to free.

All of it follows from printed numbers; what cannot be computed is None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from vllmdoctor.facts.model import COMPUTED, READ
from vllmdoctor.memory.receipt import BUDGET, KV_AVAILABLE, KV_NEEDED, TOTAL, Facts, Receipt, number_in, receipt_of

BLOCK_TOKENS = 16  # CUDA's default in all versions
_HIGHEST_USEFUL = 0.97  # above it the CUDA context and peaks while serving do not fit beside the budget


@dataclass(frozen=True, slots=True)
class LongestContext:
    """The largest max_model_len that fits. `kind`: read when vLLM printed it, else computed; `basis`: from what."""

    tokens: int
    kind: str
    basis: str


@dataclass(frozen=True, slots=True)
class UtilizationInterval:
    """The utilizations that can work: above `low` (exclusive), up to `high`. None where a bound is not known."""

    low: float | None
    high: float | None

    @property
    def empty(self) -> bool | None:
        """True: no value can work; None: a bound is not known."""
        if self.low is not None and self.low >= 1:
            return True
        if self.low is None or self.high is None:
            return None
        return self.low >= self.high

    @property
    def lowest(self) -> float | None:
        """The lowest value with two decimals that works."""
        return None if self.low is None else _up(self.low)

    @property
    def highest(self) -> float | None:
        """The highest value with two decimals that works."""
        return None if self.high is None else _down(min(self.high, _HIGHEST_USEFUL))


@dataclass(frozen=True, slots=True)
class Advice:
    """`to_free_gib`: what other programs would have to give back for the start to go through as it is configured."""

    longest_context: LongestContext | None
    utilization: UtilizationInterval
    to_free_gib: float | None


def advice_for(facts: Facts, *, block_tokens: int = BLOCK_TOKENS) -> Advice:
    receipt = receipt_of(facts)
    return Advice(
        longest_context(facts, receipt, block_tokens=block_tokens),
        utilization_interval(facts, receipt),
        gib_to_free(facts, receipt),
    )


def longest_context(facts: Facts, receipt: Receipt, *, block_tokens: int = BLOCK_TOKENS) -> LongestContext | None:
    """vLLM's own estimate (printed since 0.9.1), else the tokens of the cache, else M × available ÷ needed.

    Rounded down to a block; None when nothing tells it or not even one block fits.
    """
    printed = number_in(facts, "estimated_max_model_len")
    tokens = number_in(facts, "kv_cache_tokens")
    length, available, needed = number_in(facts, "max_model_len"), receipt.gib(KV_AVAILABLE), receipt.gib(KV_NEEDED)
    if printed is not None:
        found = LongestContext(_blocks(printed, block_tokens), READ, "printed estimate")
    elif tokens is not None:
        found = LongestContext(_blocks(tokens, block_tokens), facts["kv_cache_tokens"].kind, "tokens in the KV cache")
    elif length is not None and available is not None and needed:
        found = LongestContext(_blocks(length * available / needed, block_tokens), COMPUTED, "KV bytes per token")
    else:
        return None
    return found if found.tokens >= block_tokens else None


def utilization_interval(facts: Facts, receipt: Receipt) -> UtilizationInterval:
    """((own non-KV + KV needed) ÷ total, free ÷ total].

    The lower bound holds in every era: what is not KV does not grow with the budget, all that is added goes to KV. The
    upper one is the check of `request_memory` (V1, 0.9.1+); before it nothing checks, but more than is free cannot
    be allocated either.
    """
    total = receipt.gib(TOTAL)
    if not total:
        return UtilizationInterval(None, None)
    budget, available, needed = receipt.gib(BUDGET), receipt.gib(KV_AVAILABLE), receipt.gib(KV_NEEDED)
    low = None
    if budget is not None and available is not None and "kv_cache_memory_bytes" not in facts:
        low = (budget - available + max(needed or 0.0, 0.0)) / total
    free = free_at_start_gib(facts)
    return UtilizationInterval(low, None if free is None else min(free / total, 1.0))


def gib_to_free(facts: Facts, receipt: Receipt) -> float | None:
    """Free memory that the budget lacks at the start; in eras that count other processes what the KV cache lacks.

    Where neither is the matter, what lacks so that a higher utilization can make room for the KV cache; None: nothing,
    or not known.
    """
    free, budget = free_at_start_gib(facts), receipt.gib(BUDGET)
    available, needed = receipt.gib(KV_AVAILABLE), receipt.gib(KV_NEEDED)
    if available is None:
        return _positive(budget - free) if budget is not None and free is not None else None
    lacking = max(needed or 0.0, 0.0) - available
    if lacking <= 0:
        return None
    if receipt.era is not None and receipt.era.counts_others:
        return lacking
    if budget is None or free is None:
        return None
    return _positive(budget + lacking - free)


def free_at_start_gib(facts: Facts) -> float | None:
    """Free memory when the worker started; after a failed allocation the printed number is another one."""
    return None if "alloc_request_gib" in facts else number_in(facts, "free_gib")


def _positive(gib: float) -> float | None:
    return gib if gib > 0 else None


def _blocks(tokens: float, block_tokens: int) -> int:
    return math.floor(tokens / block_tokens) * block_tokens


def _up(share: float) -> float:
    """The next two-decimal number above `share`, which itself is not enough."""
    return (math.floor(share * 100 + 1e-9) + 1) / 100


def _down(share: float) -> float:
    return math.floor(share * 100 + 1e-9) / 100
