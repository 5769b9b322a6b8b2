"""What vLLM itself would compute with a proposed value; written from its source, without the package's own formulas.

`objections` lists why a fix cannot be right. Numbers of a log are rounded to 0.01 GiB, so every comparison allows for
that, in the direction that is against the fix.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from vllmdoctor.facts.model import Fact
from vllmdoctor.report.model import FixReport

ROUNDED = 0.005
BLOCK = 16
_RAISED = {  # failures of a KV cache that is too small
    "max-model-len-exceeds-kv-cache", "no-cache-blocks", "auto-fit-max-model-len-failed", "kv-cache-preemption",
    "cpu-swap-space-exhausted", "mamba-cache-too-small",
}  # fmt: skip
GIB = 2**30

# Bytes of KV cache per token for all GPUs together, and attention heads: 2 × layers × KV heads × head size × 2 bytes.
KV_BYTES = {
    "Llama-3.1-8B": 2 * 32 * 8 * 128 * 2,
    "llama-3.3-70b": 2 * 80 * 8 * 128 * 2,
    "Qwen2.5-7B": 2 * 28 * 4 * 128 * 2,
    "Qwen2.5-3B": 2 * 36 * 2 * 128 * 2,
}
HEADS = {"Llama-3.1-8B": 32, "70b": 64, "Qwen2.5-7B": 28, "Qwen2.5-3B": 16, "Qwen2.5-14B": 40, "Mistral-Small-24B": 32}


@dataclass(frozen=True)
class Told:
    """The numbers of a log; a missing one is None."""

    facts: Mapping[str, Fact]

    def __call__(self, name: str) -> float | None:
        fact = self.facts.get(name)
        return None if fact is None or isinstance(fact.value, (str, bool)) else float(fact.value)

    def text(self, name: str) -> str:
        return str(self.facts[name].value) if name in self.facts else ""

    def of_model(self, table: Mapping[str, int]) -> int | None:
        model = self.text("model").lower()
        return next((value for name, value in table.items() if name.lower() in model), None)


def objections(rule: str, told: Told, fix: FixReport) -> list[str]:
    """Empty when the arithmetic agrees with every value of the fix."""
    halved = "fp8" in fix.arguments.get("kv_cache_dtype", "")
    found = _length(rule, told, fix.arguments.get("max_model_len", ""), bits=0.5 if halved else 1.0)
    found += [
        text for name, text in fix.arguments.items() if name in _CHECKS for text in _CHECKS[name](rule, told, text)
    ]
    found += _freed(rule, told, fix.title) + _four_bit(told, fix.title)
    return [f"{fix.title}: {objection}" for objection in found]


def computed(fix: FixReport) -> bool:
    """Whether the title or the reason carries a number that is neither a name (fp8, 4-bit) nor a placeholder."""
    return bool(
        re.search(r"\d", re.sub(r"fp8|\b4-bit|\b8-bit|\bV[01]\b|\d+\.\d+\.\d+", "", fix.title + fix_number(fix)))
    )


def fix_number(fix: FixReport) -> str:
    return " ".join(re.findall(r"At least the missing \d[\d.]* GiB", fix.why))


def _length(rule: str, told: Told, text: str, bits: float) -> list[str]:
    """One request of that length fits into the cache, one that is a block longer does not.

    `bits`: what a token takes with the fix, as a part of now. vLLM's own estimate counts whole pages and windows too.
    """
    if not text.isdigit() or rule != "max-model-len-exceeds-kv-cache":
        return []
    value, most = int(text), told("max_model_len")
    if most is None:
        return []
    wrong = ["no whole blocks"] if value % BLOCK else []
    wrong += ["not shorter"] if value >= most else []
    capacity = told("estimated_max_model_len") or told("kv_cache_tokens")
    if capacity is not None and not value <= capacity / bits < value + BLOCK:
        wrong.append(f"vLLM says that {capacity:.0f} tokens fit")
    available, needed = told("available_kv_gib"), told("required_kv_gib")
    if available and needed:
        wrong += _in_gib(value, available, bits * needed / most, ROUNDED / most, exact=capacity is None)
    per_token, ranks = told.of_model(KV_BYTES), told("tensor_parallel_size") or 1
    if available and per_token:
        wrong += _in_gib(value, available, bits * per_token / ranks / GIB, 0.0, exact=bits == 1)
    return wrong


def _in_gib(value: int, available: float, per_token: float, off: float, *, exact: bool) -> list[str]:
    if value * (per_token - off) > available + ROUNDED:
        return [f"{value} tokens need {value * per_token:.2f} GiB of {available}"]
    if exact and (value + BLOCK) * (per_token + off) * 1.001 < available - ROUNDED:
        return [f"a block more would fit: {(value + BLOCK) * per_token:.2f} GiB of {available}"]
    return []


def _utilization(rule: str, told: Told, text: str) -> list[str]:
    if text.startswith("<"):
        return _less(told, float(text.strip("<").split()[0]))
    value, total, free = float(text), told("gpu_total_gib"), told("free_gib")
    if rule in _RAISED:
        return _raised(rule, told, value)
    now = told("gpu_memory_utilization")
    wrong = ["not lower"] if now is not None and value >= now else []
    if rule == "free-memory-below-utilization":
        total, free = (told("host_total_gib"), told("host_available_gib")) if total is None else (total, free)
        assert total is not None and free is not None
        if value * total > free:
            wrong.append(f"{value * total:.2f} GiB planned, {free} free")
        if (value + 0.021) * total < free:
            wrong.append("0.02 more would pass")
    elif total is not None and now is not None and (wanted := told("alloc_request_gib")) is not None:
        if (now - value) * total < wanted - (free or 0.0):
            wrong.append(f"frees {(now - value) * total:.2f} of {wanted} GiB")
    return wrong


def _raised(rule: str, told: Told, value: float) -> list[str]:
    """All that is added goes to the cache, in every version; the check of free memory (V1, 0.9.1) must pass."""
    total, now, available = told("gpu_total_gib"), told("gpu_memory_utilization"), told("available_kv_gib")
    wrong = ["not higher"] if now is not None and value <= now else []
    if total is None:
        return wrong
    free = told("free_gib")
    if free is not None and value > free / total + 1e-9:
        wrong.append(f"{value * total:.2f} GiB planned, {free} free")
    if now is not None and available is not None:
        needed = told("required_kv_gib") or 0.0
        cache = available + (value - now) * total
        if cache < needed:
            wrong.append(f"{cache:.2f} GiB of cache, {needed} needed")
        if needed and rule == "max-model-len-exceeds-kv-cache" and cache - 0.011 * total > needed + 0.03:
            wrong.append("0.01 less would do")
    return wrong


def _less(told: Told, by: float) -> list[str]:
    total, wanted, free = told("gpu_total_gib"), told("alloc_request_gib"), told("free_gib")
    assert total is not None and wanted is not None
    return [f"frees {by * total:.2f} of {wanted} GiB"] if by * total < wanted - (free or 0.0) else []


def _freed(rule: str, told: Told, title: str) -> list[str]:
    found = re.match(r"Free ([\d.,]+) GiB", title)
    if not found:
        return []
    value, total, free = float(found[1].replace(",", "")), told("gpu_total_gib"), told("free_gib")
    if (wanted := told("alloc_request_gib")) is not None:
        assert total is not None and free is not None
        own, others = told("this_process_gib") or told("torch_allocated_gib"), told("other_processes_gib")
        most = others if own is None else total - free - own
        wrong = [f"others hold {most:.2f}"] if most is not None and value > most + 0.02 else []
        return wrong + (["does not suffice"] if free + value < wanted else [])
    budget, needed, available = told("requested_gib") or 0.0, told("required_kv_gib"), told("available_kv_gib")
    if rule == "max-model-len-exceeds-kv-cache":
        return [] if needed and available and value >= needed - available - 0.01 else ["does not suffice"]
    assert free is not None
    wrong = [f"{free + value:.2f} free, {budget} planned"] if free + value < budget - ROUNDED else []
    return wrong + (["less would do"] if free + value > budget + 0.02 else [])


def _ranks(rule: str, told: Told, text: str) -> list[str]:
    if not text.isdigit():
        return []
    value, now, there, heads = int(text), told("tensor_parallel_size"), told("gpu_count"), told.of_model(HEADS)
    wrong = ["not more"] if now is not None and value <= now else []
    wrong += [f"there are {there:.0f} GPUs"] if there is not None and value > there else []
    return wrong + ([f"does not divide {heads} heads"] if heads and heads % value else [])


def _fewer(name: str) -> Callable[[str, Told, str], list[str]]:
    def check(rule: str, told: Told, text: str) -> list[str]:
        now, cache = told(name), told("mamba_cache_blocks")
        if not text.isdigit():
            return []
        if rule == "multimodal-profiling-budget" and name == "max_num_batched_tokens":  # an item must fit into it
            return ["not higher"] if now is not None and int(text) <= now else []
        wrong = ["not lower"] if now is not None and int(text) >= now else []
        return wrong + (
            ["more than there are blocks"] if name == "max_num_seqs" and cache and int(text) > cache else []
        )

    return check


def _cache_bytes(rule: str, told: Told, text: str) -> list[str]:
    available, wanted = told("available_kv_gib"), told("alloc_request_gib")
    if not text.isdigit() or available is None:
        return []
    return ["leaves no room"] if int(text) / GIB > available - (wanted or 0.0) + ROUNDED else []


def _four_bit(told: Told, title: str) -> list[str]:
    """16-bit weights have 2 bytes for a parameter; known 4-bit checkpoints: 5.2 GiB (7B), 37 GiB (70B)."""
    found = re.search(r"about ([\d.]+) GiB instead of ([\d.]+) GiB", title)
    billions, ranks = told("model_parameters_b"), told("tensor_parallel_size") or 1
    if not found or billions is None:
        return []
    small, now = float(found[1]), float(found[2])
    # What the log measured stands above the arithmetic by the model's name.
    size = told("weights_gib") or billions * 2e9 / GIB / ranks
    wrong = [] if abs(now - size) < 0.02 * now else ["not the size of the weights"]
    more = re.search(r"on (\d+) GPUs", title)
    if abs(small - (0.27 * billions * 2e9 / GIB / (int(more[1]) if more else ranks) + 1.2)) > 0.02 * small:
        wrong.append("not the size of that many parameters in 4 bit")
    return wrong + (["not smaller"] if small > 0.6 * now else [])


def _host(most: Callable[[Told], float | None]) -> Callable[[str, Told, str], list[str]]:
    def check(rule: str, told: Told, text: str) -> list[str]:
        limit = most(told)
        return [f"only {limit:.2f} GiB"] if limit is not None and text.isdigit() and float(text) > limit else []

    return check


def _most_swap(told: Told) -> float | None:
    """`_verify_with_parallel_config`: an error above 0.7 of the main memory, for all ranks together."""
    host = told("host_total_gib")
    return None if host is None else 0.7 * host / (told("tensor_parallel_size") or 1)


_CHECKS: Mapping[str, Callable[[str, Told, str], list[str]]] = {
    "gpu_memory_utilization": _utilization,
    "tensor_parallel_size": _ranks,
    "max_num_seqs": _fewer("max_num_seqs"),
    "max_num_batched_tokens": _fewer("max_num_batched_tokens"),
    "kv_cache_memory_bytes": _cache_bytes,
    "swap_space": _host(_most_swap),
}


def numbers_are_there(rule: str, told: Told) -> bool:
    """Whether the log tells enough for the first fix to carry a computed value."""
    has = lambda *names: all(told(name) is not None for name in names)  # noqa: E731
    total, free = told("gpu_total_gib"), told("free_gib")
    own = told("this_process_gib") or told("torch_allocated_gib")
    others = total is not None and free is not None and own is not None and total - free - own > 1.5
    if rule == "max-model-len-exceeds-kv-cache":
        return has("estimated_max_model_len") or has("kv_cache_tokens") or has("available_kv_gib", "required_kv_gib")
    if rule == "no-cache-blocks":
        return has("gpu_total_gib", "available_kv_gib", "gpu_memory_utilization") or has("max_num_batched_tokens")
    if rule == "free-memory-below-utilization":
        return has("gpu_total_gib", "free_gib") or has("host_total_gib", "host_available_gib")
    if rule == "cuda-oom-loading-weights":
        return others or (has("weights_estimate_gib") and not told.text("quantization"))
    if rule in (
        "cuda-oom-inference",
        "cuda-oom-graph-capture",
        "cuda-oom-kv-cache-allocation",
        "cuda-oom-unknown-phase",
    ):
        return has("alloc_request_gib", "gpu_total_gib") and not told("graph_profiling")
    if rule == "cuda-oom-profiling":
        return has("warmup_requests") or (has("max_num_batched_tokens") and not has("mm_total_tokens"))
    named = {"mamba-cache-too-small": "mamba_cache_blocks", "swap-space-too-large": "host_total_gib"}
    return rule in named and has(named[rule])
