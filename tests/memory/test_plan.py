"""Plans: what fits, what does not, what would; calibrated against start-ups whose logs print the sizes."""

from __future__ import annotations

import pytest

from tests.memory.facts import config
from vllmdoctor.errors import UsageError
from vllmdoctor.memory import receipt as r
from vllmdoctor.memory.gpus import GpuKind
from vllmdoctor.memory.plan import FITS, NO, Plan, PlanRequest, alternatives, derived_max_model_len, plan_for
from vllmdoctor.memory.plan_document import change_command, plan_document, serve_command
from vllmdoctor.memory.plan_receipt import receipt_of_plan

RTX_3090 = GpuKind("RTX 3090", 23.58, 8.6)
H100 = GpuKind("H100", 79.1, 9.0)


def planned(name: str, gpu: GpuKind = RTX_3090, **options: object) -> Plan:
    return plan_for(PlanRequest(config(name), None, gpu, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name, gib, version, engine, utilization, length, printed_gib",
    [  # "kv_cache_size=" and "the rest of the memory reserved for KV Cache is" of public logs
        ("llama-3.1-8b", 23.58, "0.6.4", "V0", 0.9, 29_000, 2.89),
        ("qwen2.5-7b-awq", 8.0, "0.7.3", "V0", 0.7, 4096, -1.05),
        ("llama-2-7b", 79.19, "0.8.1", "V0", 0.9, 4096, 56.18),
    ],
)
def test_kv_memory_against_what_vllm_printed(
    name: str, gib: float, version: str, engine: str, utilization: float, length: int, printed_gib: float
) -> None:
    plan = planned(
        name,
        GpuKind("GPU", gib),
        version=version,
        engine=engine,
        gpu_memory_utilization=utilization,
        max_model_len=length,
    )
    assert abs(plan.kv_available_gib.best - printed_gib) <= 0.03 * plan.budget_gib
    assert plan.kv_available_gib.low <= printed_gib <= plan.kv_available_gib.high


@pytest.mark.parametrize(
    "name, tensor_parallel, gib, tokens",
    [  # "Available KV cache memory" or its V0 wording, and the tokens of "GPU KV cache size" or blocks × 16
        ("llama-2-7b", 1, 56.18, 7191 * 16),
        ("llama-3.1-8b", 1, 2.89, 1478 * 16),
        ("tinyllama-1.1b", 1, 33.31, 1_587_648),
        ("qwen3-0.6b", 1, 8.03, 75_152),
        ("qwen3-vl-235b-a22b", 8, 35.68, 796_000),
    ],
)
def test_tokens_against_what_vllm_printed(name: str, tensor_parallel: int, gib: float, tokens: int) -> None:
    cache = planned(name, H100, tensor_parallel=tensor_parallel).cache
    assert gib * 2**30 / cache.bytes_per_token == pytest.approx(tokens, rel=0.003)


def test_small_context_fits_and_the_full_one_does_not() -> None:
    assert planned("llama-3.1-8b", max_model_len=8192).verdict == FITS
    plan = planned("llama-3.1-8b")
    assert plan.max_model_len == 131_072
    assert plan.verdict == NO
    assert plan.missing_gib == pytest.approx(16 - plan.kv_available_gib.best)
    assert 20_000 < plan.longest_context.best < 60_000


def test_what_would_fit_does_fit() -> None:
    plan = planned("llama-3.1-8b")
    changes = alternatives(plan, 1)
    assert changes[0].options == ("--max-model-len",)
    for change in changes:
        assert change.plan.verdict != NO
        assert change.plan.kv_needed_gib <= change.plan.kv_available_gib.best


def test_a_70b_model_on_two_small_gpus_needs_a_4_bit_checkpoint_or_more_gpus() -> None:
    plan = planned("llama-3.1-70b", GpuKind("RTX 4090", 23.52, 8.9), max_model_len=8192, tensor_parallel=2)
    assert plan.kv_available_gib.best < 0
    assert plan.longest_context.best == 0
    changes = alternatives(plan, 2)
    assert {change.gpus for change in changes} == {2, 8}
    commands = [change_command("acme/70b", change) for change in changes]
    assert any("<AWQ checkpoint of acme/70b>" in command and "--quantization" not in command for command in commands)


def test_another_program_on_the_gpu() -> None:
    """With 3 GiB taken, 0.92 × 23.58 is not free: the start is refused; a lower utilization passes."""
    plan = planned("llama-3.1-8b", max_model_len=4096, free_gib=20.5, others_gib=3.0)
    assert not plan.start_allowed and plan.verdict == NO
    low, high = plan.utilization_interval
    assert low < 0.85 <= high < 0.92
    change = next(c for c in alternatives(plan, 1) if c.options == ("--gpu-memory-utilization",))
    assert change.plan.request.gpu_memory_utilization == pytest.approx(0.85)


def test_where_others_are_part_of_the_budget() -> None:
    alone = planned("llama-3.1-8b", version="0.8.5", max_model_len=4096)
    shared = planned("llama-3.1-8b", version="0.8.5", max_model_len=4096, others_gib=3.0)
    assert alone.kv_available_gib.best - shared.kv_available_gib.best == pytest.approx(3.0)
    newer = planned("llama-3.1-8b", version="0.11.0", max_model_len=4096, others_gib=3.0)
    assert newer.kv_available_gib.best == pytest.approx(planned("llama-3.1-8b", version="0.11.0", max_model_len=4096).kv_available_gib.best)  # fmt: skip


def test_graphs_move_into_the_budget_at_0_20() -> None:
    """Same utilization: what the graphs take is missing from the cache, unless they are left out."""
    old, new = (planned("llama-3.1-8b", version=v, gpu_memory_utilization=0.9) for v in ("0.19.0", "0.20.0"))
    assert old.kv_available_gib.best - new.kv_available_gib.best == pytest.approx(new.graphs_gib.best)
    eager = planned("llama-3.1-8b", version="0.20.0", gpu_memory_utilization=0.9, enforce_eager=True)
    assert eager.kv_available_gib.best == pytest.approx(old.kv_available_gib.best)
    assert (planned("llama-3.1-8b", version="0.19.0").utilization, planned("llama-3.1-8b").utilization) == (0.9, 0.92)


def test_fp8_cache_doubles_the_tokens() -> None:
    plain, small = planned("llama-3.1-8b", H100), planned("llama-3.1-8b", H100, kv_cache_dtype="fp8")
    assert small.kv_tokens.best == pytest.approx(2 * plain.kv_tokens.best, rel=0.01)


@pytest.mark.parametrize(
    "name, length",
    [
        ("llama-3.1-8b", 131_072),  # llama3 scaling leaves max_position_embeddings as it is
        ("deepseek-v3", 163_840),  # yarn: 40 × 4096
        ("gpt-oss-120b", 131_072),  # yarn: 32 × 4096
        ("gemma-3-27b", 131_072),
        ("qwen2.5-14b", 32_768),
        ("phi-3-mini-4k", 4096),
    ],
)
def test_context_length_of_the_config(name: str, length: int) -> None:
    assert derived_max_model_len(config(name)) == length


def test_linear_scaling_multiplies() -> None:
    scaled = config("mistral-7b-v0.3", rope_scaling={"type": "linear", "factor": 2.0})
    assert derived_max_model_len(scaled) == 65_536


@pytest.mark.parametrize(
    "options, words",
    [
        ({"version": "newest"}, "no version"),
        ({"gpu_memory_utilization": 1.5}, "not between 0 and 1"),
        ({"kv_cache_dtype": "int3"}, "none of auto"),
        ({"tensor_parallel": 3}, "does not divide the 32 attention heads"),
        ({"pipeline_parallel": 64}, "more than the 32 layers"),
    ],
)
def test_wrong_options(options: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        planned("llama-3.1-8b", **options)


def test_the_command_holds_what_was_asked_for() -> None:
    plan = planned(
        "llama-3.1-8b",
        GpuKind("T4", 14.56, 7.5),
        max_model_len=4096,
        tensor_parallel=2,
        gpu_memory_utilization=0.9,
        max_num_seqs=64,
    )
    assert serve_command("acme/my model", plan) == (
        "vllm serve 'acme/my model' --max-model-len 4096 --gpu-memory-utilization 0.9 --tensor-parallel-size 2 "
        "--max-num-seqs 64 --dtype half"
    )


def test_the_receipt_of_a_plan_adds_up() -> None:
    plan = planned("llama-3.1-8b")
    receipt = receipt_of_plan(plan)
    inside = (r.WEIGHTS, r.ACTIVATION, r.NON_TORCH, r.CUDA_GRAPHS, r.KV_AVAILABLE)
    assert sum(receipt.gib(name) or 0.0 for name in inside) == pytest.approx(receipt.gib(r.BUDGET))
    assert receipt.line(r.BUDGET).kind == "default"
    assert receipt.drawable


def test_the_document_is_plain_and_complete() -> None:
    import json

    plan = planned("nemotron-h-8b", H100)
    document = plan_document("acme/nemotron", "acme/nemotron", plan, [], 1)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["fits"] is True
    assert document["kv_bytes_per_token"] == 16_384


def test_an_attention_free_model_has_no_limit_of_requests_in_tokens() -> None:
    from vllmdoctor.memory.config import read_config

    mamba = {"model_type": "mamba2", "num_hidden_layers": 64, "hidden_size": 4096, "num_heads": 128, "head_dim": 64,
             "state_size": 128, "n_groups": 8, "vocab_size": 32768, "max_position_embeddings": 4096}  # fmt: skip
    plan = plan_for(PlanRequest(read_config(mamba, "config.json"), None, RTX_3090))
    assert plan.longest_context.best == 4096
    assert plan.concurrency.best > 1
