"""A source file of vLLM in, the part of a server's life that its messages belong to out."""

from __future__ import annotations

from dataclasses import dataclass

START, SERVING = "start-up", "serving"


@dataclass(frozen=True, slots=True)
class Area:
    """Files whose messages an operator may see. The first area that holds a file counts."""

    name: str
    stage: str
    files: tuple[str, ...]


AREAS = (
    Area("configuration", START, ("vllm/config/", "vllm/config.py", "vllm/engine/arg_utils.py")),
    Area(
        "KV-cache sizing",
        START,
        (
            "vllm/v1/core/kv_cache_utils.py",
            "vllm/v1/core/kv_cache_planning.py",
            "vllm/v1/kv_cache_interface.py",
            "vllm/worker/cache_engine.py",
        ),
    ),
    Area(
        "worker start",
        START,
        ("vllm/v1/worker/", "vllm/v1/executor/", "vllm/worker/", "vllm/executor/", "vllm/device_allocator/"),
    ),
    Area("model loading", START, ("vllm/model_executor/model_loader/", "vllm/model_executor/models/registry.py")),
    Area(
        "environment",
        START,
        ("vllm/envs.py", "vllm/utils/argparse_utils.py", "vllm/utils/network_utils.py", "vllm/logger.py"),
    ),
    Area("platforms", START, ("vllm/platforms/", "vllm/_custom_ops.py", "vllm/_aiter_ops.py")),
    Area("model files", START, ("vllm/transformers_utils/", "vllm/tokenizers/")),
    Area("quantization", START, ("vllm/model_executor/layers/quantization/", "vllm/model_executor/kernels/")),
    Area("attention", START, ("vllm/v1/attention/", "vllm/attention/", "vllm/model_executor/layers/attention/")),
    Area("LoRA", START, ("vllm/lora/",)),
    Area("compilation", START, ("vllm/compilation/",)),
    Area(
        "KV transfer",
        SERVING,
        (
            "vllm/distributed/kv_transfer/",
            "vllm/distributed/ec_transfer/",
            "vllm/distributed/weight_transfer/",
            "vllm/v1/kv_offload/",
        ),
    ),
    Area("distributed", START, ("vllm/distributed/",)),
    Area(
        "server start",
        START,
        (
            "vllm/entrypoints/cli/",
            "vllm/entrypoints/common/",
            "vllm/entrypoints/launchers/",
            "vllm/entrypoints/launcher.py",
            "vllm/entrypoints/api_server.py",
            "vllm/entrypoints/openai/api_server.py",
            "vllm/entrypoints/openai/cli_args.py",
            "vllm/entrypoints/utils.py",
        ),
    ),
    Area("engine", SERVING, ("vllm/v1/engine/", "vllm/engine/")),
    Area(
        "scheduling",
        SERVING,
        ("vllm/v1/core/", "vllm/core/", "vllm/v1/structured_output/", "vllm/v1/sample/", "vllm/v1/spec_decode/"),
    ),
    Area(
        "requests",
        SERVING,
        (
            "vllm/entrypoints/",
            "vllm/sampling_params.py",
            "vllm/pooling_params.py",
            "vllm/renderers/",
            "vllm/inputs/",
            "vllm/multimodal/",
            "vllm/tool_parsers/",
            "vllm/reasoning/",
            "vllm/parser/",
        ),
    ),
)
# What a start-up checks; a rule should say something specific about nearly all of it.
CHECKS = ("configuration", "KV-cache sizing", "worker start", "model loading")


def area_of(file: str) -> Area | None:
    """None for vLLM's internals (kernels, model code), whose messages are for its developers."""
    return next((area for area in AREAS if file.startswith(area.files)), None)
