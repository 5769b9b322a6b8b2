"""Receipts add up by the arithmetic of their era, say where each number comes from, and leave open what is not told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.facts import PLACE, facts
from vllmdoctor.facts.model import COMPUTED, DEFAULT, READ, Fact
from vllmdoctor.memory import receipt as r
from vllmdoctor.memory.receipt import receipt_of


def test_numbers_read_and_computed_of_a_v0_log() -> None:
    """5.60 - 5.20 - 0.03 - 1.42 = -1.05, as vLLM prints it: all of it is read, the deficit follows."""
    receipt = receipt_of(
        facts(
            vllm_version="0.7.3", engine="V0", gpu_total_gib=8.0, gpu_memory_utilization=0.7, requested_gib=5.6,
            weights_gib=5.2, non_torch_gib=0.03, activation_peak_gib=1.42, available_kv_gib=-1.05,
        )
    )  # fmt: skip
    assert receipt.gib(r.BUDGET) == 5.6
    assert receipt.line(r.WEIGHTS) == r.ReceiptLine(r.WEIGHTS, 5.2, READ, PLACE)
    assert receipt.line(r.DEFICIT) == r.ReceiptLine(r.DEFICIT, 1.05, COMPUTED)
    assert receipt.gib(r.CUDA_GRAPHS) is None
    assert receipt.graphs_inside is False
    assert receipt.drawable


def test_one_torch_peak_with_the_weights_in_it() -> None:
    """0.6.4 prints the peak with the weights: 23.58 × 0.90 - 17.98 - 0.35 = 2.89. Its initial use is the own weights."""
    receipt = receipt_of(
        facts(
            gpu_total_gib=23.58, gpu_memory_utilization=0.9, weights_gib=14.9888, activation_peak_gib=17.98,
            non_torch_gib=0.35, available_kv_gib=2.89, other_processes_gib=15.34, kv_cache_tokens=23648, max_model_len=29000,
        )
    )  # fmt: skip
    assert receipt.gib(r.ACTIVATION) == pytest.approx(17.98 - 14.9888)
    assert receipt.gib(r.OTHERS) is None
    assert receipt.gib(r.KV_NEEDED) == pytest.approx(2.89 * 29000 / 23648, abs=1e-4)
    assert receipt.gib(r.DEFICIT) == pytest.approx(0.654, abs=0.001)


@pytest.mark.parametrize("version, inside, kv", [("0.19.0", False, 5.0), ("0.20.0", True, 4.5)])
def test_what_is_left_for_the_cache_by_era(version: str, inside: bool, kv: float) -> None:
    """24 × 0.9 = 21.6; less 15 of weights, 1.5 of activations, 0.1 of non-torch, and since 0.20 the 0.5 of graphs."""
    receipt = receipt_of(
        facts(
            vllm_version=version, gpu_total_gib=24.0, gpu_memory_utilization=0.9, weights_gib=15.0,
            activation_peak_gib=1.5, non_torch_gib=0.1, cuda_graph_gib=0.5,
        )
    )  # fmt: skip
    assert receipt.graphs_inside is inside
    assert receipt.line(r.KV_AVAILABLE) == r.ReceiptLine(r.KV_AVAILABLE, kv, COMPUTED)


def test_unknown_stays_unknown() -> None:
    receipt = receipt_of(facts(weights_gib=15.0))
    assert [line.name for line in receipt.lines if line.known] == [r.WEIGHTS]
    assert receipt.era is None and receipt.graphs_inside is None and not receipt.drawable


def test_nothing_is_computed_when_a_part_is_missing() -> None:
    told = facts(vllm_version="0.20.0", gpu_total_gib=24.0, gpu_memory_utilization=0.9, weights_gib=15.0,
                 activation_peak_gib=1.5, non_torch_gib=0.1)  # fmt: skip
    assert receipt_of(told).gib(r.KV_AVAILABLE) is None, "the graphs are part of the budget and not told"


def test_a_budget_from_the_default_is_called_so() -> None:
    told = {
        **facts(vllm_version="0.9.2", gpu_total_gib=24.0),
        "gpu_memory_utilization": Fact("gpu_memory_utilization", 0.9, "", DEFAULT),
    }
    assert receipt_of(told).line(r.BUDGET) == r.ReceiptLine(r.BUDGET, 21.6, DEFAULT)


def test_a_fixed_cache_size_leaves_no_budget() -> None:
    told = facts(vllm_version="0.11.0", gpu_total_gib=24.0, gpu_memory_utilization=0.9, requested_gib=21.6,
                 kv_cache_memory_bytes=4 * 2**30)  # fmt: skip
    receipt = receipt_of(told)
    assert receipt.gib(r.BUDGET) is None
    assert receipt.gib(r.KV_AVAILABLE) == 4.0


def test_eager_has_no_graphs_and_a_negative_estimate_is_none() -> None:
    assert receipt_of(facts(enforce_eager=True, cuda_graph_gib=0.5)).gib(r.CUDA_GRAPHS) == 0.0
    assert receipt_of(facts(cuda_graph_gib=-4.74)).gib(r.CUDA_GRAPHS) is None


def test_missing_free_memory_but_not_after_a_failed_allocation() -> None:
    told = {"gpu_total_gib": 24.0, "gpu_memory_utilization": 0.9, "free_gib": 15.0}
    assert receipt_of(facts(**told)).gib(r.DEFICIT) == pytest.approx(6.6)
    assert receipt_of(facts(**told, alloc_request_gib=0.25)).gib(r.DEFICIT) is None


amounts = st.floats(0.0, 200.0, allow_nan=False).map(lambda value: round(value, 2))


@given(
    st.dictionaries(
        st.sampled_from(
            ["gpu_total_gib", "requested_gib", "weights_gib", "activation_peak_gib", "non_torch_gib", "cuda_graph_gib",
             "available_kv_gib", "required_kv_gib", "free_gib", "other_processes_gib", "kv_cache_tokens", "max_model_len"]
        ),
        amounts,
    )
)  # fmt: skip
def test_read_numbers_are_never_changed_and_never_invented(values: dict[str, float]) -> None:
    receipt = receipt_of(facts(**values))
    for line in receipt.lines:
        assert (line.gib is None) == (line.kind == "")
        if line.kind == READ:
            assert line.gib in values.values()
