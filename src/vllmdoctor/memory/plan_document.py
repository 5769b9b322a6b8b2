"""A plan in, its plain values out: the JSON of `vllmdoctor plan`, and the command line that it stands for."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from vllmdoctor.memory.config import ModelConfig
from vllmdoctor.memory.plan import CHECKPOINT, NO, Change, Plan, PlanRequest, derived_max_model_len
from vllmdoctor.memory.ranges import Range

SCHEMA_VERSION = 1
Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"
_BFLOAT16_CAPABILITY = 8.0


def serve_command(model: str, plan: Plan) -> str:
    """`vllm serve` with the options that differ from the defaults."""
    words = ["vllm", "serve", model]
    for option, value in serve_options(plan).items():
        words += [option] if value == "" else [option, value]
    return " ".join(shlex.quote(word) for word in words)


def change_command(served: str, change: Change) -> str:
    """The command after a change; an AWQ checkpoint brings its quantization with it."""
    if CHECKPOINT not in change.options:
        return serve_command(served, change.plan)
    request = replace(change.plan.request, quantization="")
    return serve_command(f"<AWQ checkpoint of {served}>", replace(change.plan, request=request))


def serve_options(plan: Plan) -> Mapping[str, str]:
    """Options by name, "" for a flag."""
    request = plan.request
    given: dict[str, object] = {
        "--max-model-len": request.max_model_len,
        "--gpu-memory-utilization": request.gpu_memory_utilization,
        "--tensor-parallel-size": request.tensor_parallel if request.tensor_parallel > 1 else None,
        "--pipeline-parallel-size": request.pipeline_parallel if request.pipeline_parallel > 1 else None,
        "--kv-cache-dtype": request.kv_cache_dtype if request.kv_cache_dtype != "auto" else None,
        "--quantization": request.quantization or None,
        "--max-num-seqs": request.max_num_seqs,
        "--max-num-batched-tokens": request.max_num_batched_tokens,
        "--dtype": "half" if needs_half(request) else None,
        "--enforce-eager": "" if request.enforce_eager else None,
    }
    return {name: _option_text(value) for name, value in given.items() if value is not None}


def _option_text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def needs_half(request: PlanRequest) -> bool:
    """GPUs before Ampere have no bfloat16."""
    capability = request.gpu.capability
    return capability is not None and capability < _BFLOAT16_CAPABILITY and _dtype(request.config) == "bfloat16"


def _dtype(config: ModelConfig) -> str:
    for place in (config.fields, config.outer):
        for name in ("torch_dtype", "dtype"):
            value = place.get(name)
            if isinstance(value, str):
                return value
    return ""


def plan_document(model: str, served: str, plan: Plan, changes: Sequence[Change], gpus: int) -> dict[str, Value]:
    """All of the estimate; `served` is what stands behind `vllm serve`, `changes` lead to plans that fit."""
    request = plan.request
    low, high = plan.utilization_interval
    return {
        "schema_version": SCHEMA_VERSION,
        "verdict": plan.verdict.replace(" ", "-"),
        "fits": plan.verdict != NO,
        "model": model,
        "model_type": request.config.model_type,
        "gpu": {
            "name": request.gpu.name,
            "total_gib": plan.total_gib,
            "compute_capability": request.gpu.capability,
            "count": gpus,
            "free_gib": _rounded(plan.free_gib),
        },
        "vllm_version": request.version,
        "era": plan.era.name,
        "options": {
            "max_model_len": plan.max_model_len,
            "derived_max_model_len": derived_max_model_len(request.config),
            "gpu_memory_utilization": plan.utilization,
            "tensor_parallel_size": request.tensor_parallel,
            "pipeline_parallel_size": request.pipeline_parallel,
            "kv_cache_dtype": request.kv_cache_dtype,
            "quantization": request.quantization or None,
            "max_num_seqs": plan.batch.sequences,
            "max_num_batched_tokens": plan.batch.tokens,
        },
        "budget_gib": round(plan.budget_gib, 2),
        "weights_gib": _rounded(plan.weights_gib),
        "weights_source": plan.weights_source,
        "activation_peak_gib": _rounded(plan.activation_gib),
        "non_torch_gib": _rounded(plan.non_torch_gib),
        "cuda_graphs_gib": _rounded(plan.graphs_gib),
        "cuda_graphs_in_budget": plan.era.graphs_inside,
        "kv_available_gib": _rounded(plan.kv_available_gib),
        "kv_needed_gib": round(plan.kv_needed_gib, 2),
        "missing_gib": round(plan.missing_gib, 2),
        "kv_bytes_per_token": plan.cache.bytes_per_token,
        "kv_fixed_bytes_per_request": plan.cache.fixed_bytes,
        "block_tokens": plan.cache.block_tokens,
        "kv_cache_tokens": _rounded(plan.kv_tokens, 0),
        "max_concurrency": _rounded(plan.concurrency),
        "longest_context": _rounded(plan.longest_context, 0),
        "gpu_memory_utilization_interval": {"above": round(low, 4), "up_to": round(high, 4), "empty": low >= high},
        "command": serve_command(served, plan) if plan.verdict != NO else None,
        "would_fit": [
            {
                "options": list(change.options),
                "gpus": change.gpus,
                "command": change_command(served, change),
                "max_model_len": change.plan.max_model_len,
            }
            for change in changes
        ],
    }


def _rounded(amount: Range, digits: int = 2) -> Value:
    if digits == 0:
        return {"low": _whole(amount.low), "best": _whole(amount.best), "high": _whole(amount.high)}
    three = (("low", amount.low), ("best", amount.best), ("high", amount.high))
    return {name: _finite(value, digits) for name, value in three}


def _finite(value: float, digits: int) -> Value:
    return round(value, digits) if math.isfinite(value) else None


def _whole(value: float) -> Value:
    return int(value) if math.isfinite(value) else None
