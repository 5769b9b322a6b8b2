"""The numbers to act on: longest context, utilizations that can work, GiB to free; never one that cannot work."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.facts import facts
from vllmdoctor.memory.advice import UtilizationInterval, advice_for


def test_the_printed_estimate_comes_first() -> None:
    told = facts(estimated_max_model_len=39893, kv_cache_tokens=40000, max_model_len=131072)
    found = advice_for(told).longest_context
    assert found is not None
    assert (found.tokens, found.kind, found.basis) == (39888, "read", "printed estimate")


def test_then_the_tokens_of_the_cache() -> None:
    found = advice_for(facts(kv_cache_tokens=3664, max_model_len=4096)).longest_context
    assert found is not None and found.tokens == 3664


def test_then_the_bytes_of_a_token() -> None:
    """Llama 3.1 8B: 16 GiB for 131072 tokens, so 4.87 GiB hold 39895, rounded down to a block of 16."""
    found = advice_for(facts(available_kv_gib=4.87, required_kv_gib=16.0, max_model_len=131072)).longest_context
    assert found is not None
    assert (found.tokens, found.kind) == (39888, "computed")


@pytest.mark.parametrize(
    "values",
    [{}, {"kv_cache_tokens": 0}, {"available_kv_gib": -1.0, "required_kv_gib": 4.0, "max_model_len": 4096}],
)
def test_no_context_fits_or_nothing_tells_it(values: dict[str, float]) -> None:
    assert advice_for(facts(**values)).longest_context is None


NEARLY = {
    "gpu_total_gib": 24.0, "gpu_memory_utilization": 0.8, "requested_gib": 19.2, "available_kv_gib": 2.5,
    "required_kv_gib": 4.0, "max_model_len": 32768,
}  # fmt: skip


def test_interval() -> None:
    """19.2 - 2.5 = 16.7 that is not KV; + 4.0 = 20.7; ÷ 24 = 0.8625. Free are 23 of 24: 0.958."""
    interval = advice_for(facts(vllm_version="0.11.0", **NEARLY, free_gib=23.0)).utilization
    assert interval.low == pytest.approx(0.8625)
    assert (interval.lowest, interval.highest, interval.empty) == (0.87, 0.95, False)


def test_interval_is_empty_when_too_little_is_free() -> None:
    found = advice_for(facts(vllm_version="0.11.0", **NEARLY, free_gib=20.0))
    assert found.utilization.empty is True
    assert found.to_free_gib == pytest.approx(0.7)  # 20.7 needed, 20.0 free


def test_interval_needs_both_bounds() -> None:
    assert advice_for(facts(**NEARLY)).utilization.empty is None
    assert advice_for(facts(gpu_total_gib=24.0)).utilization == UtilizationInterval(None, None)
    assert UtilizationInterval(1.2, None).empty is True


def test_freeing_others_is_what_lacks_where_they_are_counted() -> None:
    assert advice_for(facts(vllm_version="0.8.5", engine="V1", **NEARLY)).to_free_gib == pytest.approx(1.5)
    assert advice_for(facts(vllm_version="0.8.5", engine="V0", **NEARLY)).to_free_gib is None


def test_what_the_check_of_free_memory_lacks() -> None:
    told = facts(vllm_version="0.11.0", gpu_total_gib=24.0, requested_gib=21.6, free_gib=20.0)
    assert advice_for(told).to_free_gib == pytest.approx(1.6)


def test_after_a_failed_allocation_free_is_another_number() -> None:
    told = facts(**NEARLY, free_gib=0.1, alloc_request_gib=0.25)
    assert advice_for(told).utilization.high is None


sizes = st.floats(0.5, 192.0, allow_nan=False)


@given(sizes, st.floats(0.1, 0.99), st.floats(0.05, 1.0), st.floats(0.01, 40.0), st.floats(0.1, 1.0))
def test_a_value_of_the_interval_really_works(
    total: float, utilization: float, non_kv_share: float, needed: float, free_share: float
) -> None:
    budget = total * utilization
    other = budget * non_kv_share
    told = facts(
        vllm_version="0.11.0", gpu_total_gib=total, requested_gib=budget, gpu_memory_utilization=utilization,
        available_kv_gib=budget - other, required_kv_gib=needed, free_gib=total * free_share,
    )  # fmt: skip
    interval = advice_for(told).utilization
    if interval.lowest is not None and interval.highest is not None and interval.lowest <= interval.highest:
        for share in (interval.lowest, interval.highest):
            assert total * share - other > needed - 1e-6, "the KV cache of one request fits"
            assert share <= free_share + 1e-9, "the check of free memory passes"
