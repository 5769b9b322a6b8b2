"""The weights of a model and a parallel layout in, the share that the fullest GPU holds out."""

from __future__ import annotations

from vllmdoctor.errors import UsageError
from vllmdoctor.languages import Message
from vllmdoctor.memory.config import ModelConfig
from vllmdoctor.memory.parameters import is_tied, parameters_of
from vllmdoctor.memory.ranges import Range


def gpu_share(size_bytes: Range, config: ModelConfig, tensor_parallel: int, pipeline_parallel: int) -> Range:
    """Weights of one GPU: matrices are divided by TP; a pipeline stage has its layers, the ends also embeddings.

    Raises UsageError when TP does not divide the attention heads (`ModelConfig.verify_with_parallel_config`).
    """
    check_tensor_parallel(config, tensor_parallel)
    if pipeline_parallel == 1:
        return size_bytes.times(1 / tensor_parallel)
    layers = config.layers
    if pipeline_parallel > layers:
        raise UsageError(
            Message(
                "pipeline_parallel_size {size} is more than the {layers} layers of the model",
                size=pipeline_parallel,
                layers=layers,
            )
        )
    parameters = parameters_of(config)
    embedding = parameters.embeddings * (1.0 if is_tied(config) else 0.5) / parameters.total
    body = 1 - parameters.embeddings / parameters.total
    small = layers // pipeline_parallel
    most = -(-layers // pipeline_parallel)
    inner = body * most / layers
    ends = body * (most if layers % pipeline_parallel == pipeline_parallel - 1 else small) / layers + embedding
    return size_bytes.times(max(inner, ends) / tensor_parallel)


def check_tensor_parallel(config: ModelConfig, tensor_parallel: int) -> None:
    if tensor_parallel < 1:
        raise UsageError(Message("--{option} must be at least 1", option="tensor-parallel-size"))
    heads = config.number_or_none("num_attention_heads")
    if heads and heads % tensor_parallel:
        fitting = ", ".join(str(size) for size in range(1, 17) if heads % size == 0)
        raise UsageError(
            Message(
                "--tensor-parallel-size {size} does not divide the {heads} attention heads; {fitting} do",
                size=tensor_parallel,
                heads=heads,
                fitting=fitting,
            )
        )


def largest_tensor_parallel(config: ModelConfig, gpus: int) -> int:
    """The largest tensor-parallel size up to `gpus` that divides the attention heads."""
    heads = config.number_or_none("num_attention_heads") or 1
    return max((size for size in range(1, gpus + 1) if heads % size == 0), default=1)
