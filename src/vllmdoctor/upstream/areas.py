"""A source file of vLLM in, the part of a server's life that its messages belong to out."""

from __future__ import annotations

from dataclasses import dataclass

from vllmdoctor.languages import marked as _

START, SERVING = "start-up", "serving"


@dataclass(frozen=True, slots=True)
class Area:
    """Files whose messages an operator may see. The first area that holds a file counts. `name` is a message id."""

    name: str
    stage: str
    files: tuple[str, ...]


AREAS = (
    Area(_("configuration"), START, ("vllm/config/", "vllm/config.py", "vllm/engine/arg_utils.py")),
    Area(
        _("KV-cache sizing"),
        START,
        (
            "vllm/v1/core/kv_cache_utils.py",
            "vllm/v1/core/kv_cache_planning.py",
            "vllm/v1/kv_cache_interface.py",
            "vllm/worker/cache_engine.py",
        ),
    ),
    Area(
        _("worker start"),
        START,
        ("vllm/v1/worker/", "vllm/v1/executor/", "vllm/worker/", "vllm/executor/", "vllm/device_allocator/"),
    ),
    Area(_("model loading"), START, ("vllm/model_executor/model_loader/", "vllm/model_executor/models/registry.py")),
    Area(
        _("environment"),
        START,
        ("vllm/envs.py", "vllm/utils/argparse_utils.py", "vllm/utils/network_utils.py", "vllm/logger.py"),
    ),
    Area(_("platforms"), START, ("vllm/platforms/", "vllm/_custom_ops.py", "vllm/_aiter_ops.py")),
    Area(_("model files"), START, ("vllm/transformers_utils/", "vllm/tokenizers/")),
    Area(_("quantization"), START, ("vllm/model_executor/layers/quantization/", "vllm/model_executor/kernels/")),
    Area(_("attention"), START, ("vllm/v1/attention/", "vllm/attention/", "vllm/model_executor/layers/attention/")),
    Area(_("LoRA"), START, ("vllm/lora/",)),
    Area(_("compilation"), START, ("vllm/compilation/",)),
    Area(
        _("KV transfer"),
        SERVING,
        (
            "vllm/distributed/kv_transfer/",
            "vllm/distributed/ec_transfer/",
            "vllm/distributed/weight_transfer/",
            "vllm/v1/kv_offload/",
        ),
    ),
    Area(_("distributed"), START, ("vllm/distributed/",)),
    Area(
        _("server start"),
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
    Area(_("engine"), SERVING, ("vllm/v1/engine/", "vllm/engine/")),
    Area(
        _("scheduling"),
        SERVING,
        ("vllm/v1/core/", "vllm/core/", "vllm/v1/structured_output/", "vllm/v1/sample/", "vllm/v1/spec_decode/"),
    ),
    Area(
        _("requests"),
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
