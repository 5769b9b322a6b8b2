"""A model, a GPU and the options of a server in, an estimate out: does it fit, with what context and concurrency."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from vllmdoctor.errors import InputError, UsageError
from vllmdoctor.languages import Message
from vllmdoctor.memory.config import ModelConfig
from vllmdoctor.memory.eras import LATEST, Era, era_of
from vllmdoctor.memory.gpus import GpuKind
from vllmdoctor.memory.kv import KvCache, KvSetup, kv_cache_of
from vllmdoctor.memory.layers import LATENT, layers_of
from vllmdoctor.memory.overheads import (
    Batch,
    activation_bytes,
    context_gib,
    default_batch,
    graph_bytes,
    non_torch_bytes,
)
from vllmdoctor.memory.ranges import GIB, Range
from vllmdoctor.memory.split import gpu_share
from vllmdoctor.memory.weights import Weights, from_config, quantized_method, requantized

_CACHE_BYTES = {"auto": None, "bfloat16": 2, "float16": 2, "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1, "fp8_inc": 1}
_LATENT_BLOCK_TOKENS = 64
_FP8_CAPABILITY = 8.9
_HIGHEST_SHARE = 0.95
_LEAST_CONTEXT = 1024
CHECKPOINT = "4-bit checkpoint"  # not an option: another model to serve
FITS, TIGHT, NO = "fits", "tight", "does not fit"


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """The options as given; None is vLLM's default. `free_gib` and `others_gib` come from nvidia-smi output."""

    config: ModelConfig
    weights: Weights | None
    gpu: GpuKind
    max_model_len: int | None = None
    gpu_memory_utilization: float | None = None
    kv_cache_dtype: str = "auto"
    quantization: str = ""
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    enforce_eager: bool = False
    version: str = LATEST
    engine: str = ""
    free_gib: float | None = None
    others_gib: float | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The estimate for one GPU of the fullest pipeline stage. Sizes in GiB; tokens and requests as ranges.

    `kv_available` is negative when weights and the rest exceed the budget. `longest_context` is 0 when nothing fits.
    """

    request: PlanRequest
    era: Era
    utilization: float
    max_model_len: int
    batch: Batch
    cache: KvCache
    total_gib: float
    budget_gib: float
    weights_gib: Range
    weights_source: str
    activation_gib: Range
    non_torch_gib: Range
    graphs_gib: Range
    free_gib: Range
    kv_available_gib: Range
    kv_needed_gib: float
    longest_context: Range
    kv_tokens: Range
    concurrency: Range

    @property
    def start_allowed(self) -> bool:
        """Enough is free for the check at the start (V1, 0.9.1 and later); before it for the budget itself."""
        return self.free_gib.best >= self.budget_gib

    @property
    def verdict(self) -> str:
        if not self.start_allowed or self.kv_available_gib.best < max(self.kv_needed_gib, 1e-9):
            return NO
        sure = self.kv_available_gib.low >= self.kv_needed_gib and self.free_gib.low >= self.budget_gib
        return FITS if sure else TIGHT

    @property
    def missing_gib(self) -> float:
        """What the KV cache of one request lacks, 0 when nothing."""
        return max(0.0, self.kv_needed_gib - self.kv_available_gib.best)

    @property
    def utilization_interval(self) -> tuple[float, float]:
        """Utilizations that can work: from the first (exclusive) up to the second; empty when the first is higher."""
        other = self.budget_gib - self.kv_available_gib.best
        return (other + self.kv_needed_gib) / self.total_gib, min(self.free_gib.best / self.total_gib, 0.99)


def plan_for(request: PlanRequest) -> Plan:
    """Raises InputError for a config that is not understood, UsageError for options that do not fit together."""
    era = era_of(request.version, engine=request.engine)
    if era is None:
        raise UsageError(
            Message("--vllm-version {version!r} is no version such as {latest}", version=request.version, latest=LATEST)
        )
    utilization = request.gpu_memory_utilization or era.default_utilization
    if not 0 < utilization <= 1:
        raise UsageError(
            Message("--gpu-memory-utilization {utilization:g} is not between 0 and 1", utilization=utilization)
        )
    length = request.max_model_len or derived_max_model_len(request.config)
    total = request.gpu.total_gib
    batch = _batch(request, era, total, length)
    cache = kv_cache_of(layers_of(request.config), _kv_setup(request, era, batch))
    weights = _weights(request)
    group = request.tensor_parallel * request.pipeline_parallel
    per_gpu = gpu_share(weights.size_bytes, request.config, request.tensor_parallel, request.pipeline_parallel)
    activation = activation_bytes(request.config, batch, request.tensor_parallel)
    non_torch = non_torch_bytes(era, group)
    graphs = graph_bytes(request.config, request.enforce_eager)
    budget = total * utilization
    inside = per_gpu + activation + non_torch + (graphs if era.graphs_inside else Range.exactly(0.0))
    if era.counts_others and request.others_gib:
        inside = inside + Range.exactly(request.others_gib * GIB)
    available = Range.exactly(budget * GIB).minus(inside)
    most = max(length, derived_max_model_len(request.config))
    return Plan(
        request=request,
        era=era,
        utilization=utilization,
        max_model_len=length,
        batch=batch,
        cache=cache,
        total_gib=total,
        budget_gib=budget,
        weights_gib=per_gpu.times(1 / GIB),
        weights_source=weights.source,
        activation_gib=activation.times(1 / GIB),
        non_torch_gib=non_torch.times(1 / GIB),
        graphs_gib=graphs.times(1 / GIB),
        free_gib=_free(request, total, group),
        kv_available_gib=available.times(1 / GIB),
        kv_needed_gib=cache.request_bytes(length) / GIB,
        longest_context=available.map(lambda size: cache.longest_request(size, most)),
        kv_tokens=available.map(lambda size: max(0.0, cache.concurrency(size, length) * length)),
        concurrency=available.map(lambda size: max(0.0, cache.concurrency(size, length))),
    )


def derived_max_model_len(config: ModelConfig) -> int:
    """The context length that vLLM takes from the config (`_get_and_verify_max_len`)."""
    length = config.number("max_position_embeddings", "max_sequence_length", "seq_length", "model_max_length")
    scaling = config.fields.get("rope_scaling") or config.fields.get("rope_parameters")
    if not isinstance(scaling, dict) or config.model_type.startswith("gemma3"):
        return length
    kind = str(scaling.get("rope_type") or scaling.get("type") or "")
    factor = scaling.get("factor")
    if kind in ("", "default", "su", "longrope", "llama3", "mrope") or not isinstance(factor, (int, float)):
        return length
    original = scaling.get("original_max_position_embeddings")
    if kind == "yarn" and isinstance(original, int):
        length = original
    return int(length * factor)


def safe_context(plan: Plan) -> int:
    """A context length that should fit even when the estimate is off; 0 when there is none."""
    return int(plan.longest_context.low) or int(plan.longest_context.best)


@dataclass(frozen=True, slots=True)
class Change:
    """Options to change, the plan that they lead to, and how many GPUs it needs."""

    options: tuple[str, ...]
    plan: Plan
    gpus: int


def alternatives(plan: Plan, gpus: int) -> list[Change]:
    """Changes after which the plan fits, single ones first, then each together with a shorter context."""
    single, combined = [], []
    for option, changed in _changes(plan, gpus):
        try:
            other = plan_for(changed)
        except (InputError, UsageError):
            continue
        needed = max(gpus, changed.tensor_parallel * changed.pipeline_parallel)
        shorter = safe_context(other)
        if other.verdict != NO:
            single.append(Change((option,), other, needed))
        elif _LEAST_CONTEXT <= shorter < other.max_model_len:
            both = plan_for(replace(changed, max_model_len=shorter))
            if both.verdict != NO:
                combined.append(Change((option, "--max-model-len"), both, needed))
    return _cheapest([*single, *combined])


def _cheapest(changes: list[Change]) -> list[Change]:
    """One change of each kind; changes are tried from the cheapest on."""
    found: dict[tuple[str, ...], Change] = {}
    for change in changes:
        found.setdefault(change.options, change)
    return list(found.values())


def _changes(plan: Plan, gpus: int) -> Iterator[tuple[str, PlanRequest]]:
    request, capability = plan.request, plan.request.gpu.capability
    shorter = safe_context(plan)
    if _LEAST_CONTEXT <= shorter < plan.max_model_len:
        yield "--max-model-len", replace(request, max_model_len=shorter)
    low, high = plan.utilization_interval
    share = int(min(high, _HIGHEST_SHARE) * 100) / 100
    if share > plan.utilization and low < share or not plan.start_allowed and 0 < share < plan.utilization:
        yield "--gpu-memory-utilization", replace(request, gpu_memory_utilization=share)
    if request.kv_cache_dtype == "auto" and capability is not None and capability >= _FP8_CAPABILITY:
        yield "--kv-cache-dtype", replace(request, kv_cache_dtype="fp8")
    if not request.quantization and not quantized_method(request.config):
        if capability is not None and capability >= _FP8_CAPABILITY:
            yield "--quantization", replace(request, quantization="fp8")
        yield CHECKPOINT, replace(request, quantization="awq")
        yield "--quantization", replace(request, quantization="bitsandbytes")
    size = request.tensor_parallel * 2
    while size <= max(gpus, 16):
        yield "--tensor-parallel-size", replace(request, tensor_parallel=size)
        size *= 2


def _batch(request: PlanRequest, era: Era, total_gib: float, length: int) -> Batch:
    default = default_batch(total_gib, request.gpu.name, era, length)
    return Batch(request.max_num_batched_tokens or default.tokens, request.max_num_seqs or default.sequences)


def _kv_setup(request: PlanRequest, era: Era, batch: Batch) -> KvSetup:
    if request.kv_cache_dtype not in _CACHE_BYTES:
        known = ", ".join(_CACHE_BYTES)
        raise UsageError(
            Message(
                "--kv-cache-dtype {dtype!r} is none of {known}",
                dtype=request.kv_cache_dtype,
                known=known,
            )
        )
    latent = any(layer.kind == LATENT for layer in layers_of(request.config))
    return KvSetup(
        cache_bytes=_CACHE_BYTES[request.kv_cache_dtype] or request.config.dtype_bytes,
        state_bytes=request.config.dtype_bytes,
        tensor_parallel=request.tensor_parallel,
        pipeline_parallel=request.pipeline_parallel,
        block_tokens=_LATENT_BLOCK_TOKENS if latent else 16,
        batched_tokens=batch.tokens,
        hybrid=era.engine == "V1",
    )


def _weights(request: PlanRequest) -> Weights:
    if request.weights is None:
        return from_config(request.config, request.quantization)
    if request.quantization and not quantized_method(request.config):
        return requantized(request.weights, request.config, request.quantization)
    return request.weights


def _free(request: PlanRequest, total_gib: float, group: int) -> Range:
    """Free memory when the worker checks it: what nvidia-smi says, or all of it, less the own CUDA context."""
    idle = total_gib if request.free_gib is None else request.free_gib
    return Range.exactly(idle).minus(context_gib(group))
