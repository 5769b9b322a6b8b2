"""A model's shape and the batch it is profiled with in, estimates out of what a GPU holds besides weights and KV cache.

These are rules of thumb with wide bounds; `docs/plan.md` tells what they were compared with.
"""

from __future__ import annotations

from dataclasses import dataclass

from vllmdoctor.memory.config import ModelConfig
from vllmdoctor.memory.eras import Era
from vllmdoctor.memory.parameters import expert_width
from vllmdoctor.memory.ranges import GIB, Range

_LARGE_GPU_GIB = 70  # from here on the defaults are larger (`EngineArgs._set_default_args`), except on the A100
_FLOAT32 = 4
_LOGIT_COPIES = 4  # logits in float32, sorted, their indexes, probabilities
_HIDDEN_COPIES = 4  # residual, normalised input, queries and keys, attention output


@dataclass(frozen=True, slots=True)
class Batch:
    """The tokens and sequences of the profile run."""

    tokens: int
    sequences: int


def default_batch(total_gib: float, gpu_name: str, era: Era, max_model_len: int) -> Batch:
    """The defaults of an API server (`vllm/engine/arg_utils.py`): V1 2048 and 256, on large GPUs 8192 and 1024.

    V0 profiles without chunked prefill a batch as long as the context, above 32768 chunks of 2048 (0.5.3 and later).
    """
    if era.engine == "V0":
        return Batch(2048 if max_model_len > 32768 else max(2048, max_model_len), 256)
    large = total_gib >= _LARGE_GPU_GIB and "A100" not in gpu_name and "A800" not in gpu_name
    return Batch(8192, 1024) if large else Batch(2048, 256)


def activation_bytes(config: ModelConfig, batch: Batch, tensor_parallel: int) -> Range:
    """Hidden states and the widest MLP for the batch, and the logits of one token per sequence."""
    hidden = config.hidden
    experts = config.number_or_none("num_local_experts") or 0
    if experts > 1:
        chosen = config.number_or_none("num_experts_per_tok") or 2
        wide = chosen * (3 * expert_width(config) / tensor_parallel + 2 * hidden)
    else:
        wide = 3 * (config.number_or_none("intermediate_size") or 4 * hidden) / tensor_parallel
    states = batch.tokens * (_HIDDEN_COPIES * hidden + wide) * config.dtype_bytes
    logits = min(batch.sequences, batch.tokens) * config.number("vocab_size") * _FLOAT32 * _LOGIT_COPIES
    images = 0.6 * GIB if config.part("vision_config") else 0.0  # the encoder's profile run
    best = states + logits + images
    return Range(max(0.5 * best, 0.05 * GIB), best + 0.15 * GIB, 2.0 * best + 1.0 * GIB)


def non_torch_bytes(era: Era, gpus_per_group: int) -> Range:
    """What grows outside of PyTorch since the snapshot at the start: library handles, and NCCL where it is inside."""
    own = Range(0.03, 0.15, 0.4).times(GIB)
    if gpus_per_group == 1 or not era.nccl_inside:
        return own
    return own + Range(0.1, 0.5, 1.5).times(GIB)


def graph_bytes(config: ModelConfig, eager: bool) -> Range:
    """CUDA graphs: 0.3 to 1.5 GiB for most models, more with more layers."""
    if eager:
        return Range.exactly(0.0)
    scale = max(0.5, config.layers / 40)
    return Range(0.15 * GIB * scale, 0.5 * GIB * scale, 1.2 * GIB * scale)


def context_gib(gpus_per_group: int) -> Range:
    """What is taken before the check of free memory: the CUDA context, and NCCL's buffers with several GPUs."""
    return Range(0.25, 0.45, 0.7) if gpus_per_group == 1 else Range(0.4, 0.9, 2.0)
