"""A model, the options of `plan` as given and what nvidia-smi says in, the plan and what would make it fit out.

The command line and the site's calculator both come here, so that they refuse the same things.
"""

from __future__ import annotations

from dataclasses import dataclass

from vllmdoctor.errors import UsageError
from vllmdoctor.facts.gpus.model import Machine
from vllmdoctor.languages import Message
from vllmdoctor.memory.eras import LATEST
from vllmdoctor.memory.files import ModelFiles
from vllmdoctor.memory.gpus import gpu_from
from vllmdoctor.memory.machine import PlannedGpus, planned_gpus
from vllmdoctor.memory.plan import NO, Change, Plan, PlanRequest, alternatives, plan_for
from vllmdoctor.memory.split import check_tensor_parallel, largest_tensor_parallel

_COUNTS = (
    "max_model_len",
    "tensor_parallel_size",
    "pipeline_parallel_size",
    "max_num_seqs",
    "max_num_batched_tokens",
)


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """The options as given; None is not given."""

    gpu: str | None = None
    gpus: int | None = None
    max_model_len: int | None = None
    gpu_memory_utilization: float | None = None
    kv_cache_dtype: str = "auto"
    quantization: str = ""
    tensor_parallel_size: int | None = None
    pipeline_parallel_size: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    enforce_eager: bool = False
    vllm_version: str = ""


@dataclass(frozen=True, slots=True)
class Planned:
    """`changes` lead to plans that fit; `gpus` is how many there are or are needed."""

    model: ModelFiles
    plan: Plan
    changes: list[Change]
    gpus: int


def check_options(options: PlanOptions) -> None:
    """Raises UsageError for a number below one."""
    for name in _COUNTS:
        value = getattr(options, name)
        if value is not None and value < 1:
            raise UsageError(Message("--{option} must be at least 1", option=name.replace("_", "-")))


def planned(model: ModelFiles, options: PlanOptions, machine: Machine | None = None) -> Planned:
    """Raises UsageError for options that do not fit together, InputError for a config that is not understood."""
    check_options(options)
    choice = gpu_from(options.gpu) if options.gpu else None
    gpus = planned_gpus(choice, options.gpus, machine)
    counted = options.gpus is not None or machine is not None or bool(choice and choice.count)
    request = _request(options, model, gpus, counted)
    plan = plan_for(request)
    changes = alternatives(plan, gpus.count) if plan.verdict == NO else []
    return Planned(model, plan, changes, max(gpus.count, request.tensor_parallel * request.pipeline_parallel))


def _request(options: PlanOptions, model: ModelFiles, gpus: PlannedGpus, counted: bool) -> PlanRequest:
    """Without --tensor-parallel-size all the GPUs that are there are used, as far as they divide the heads."""
    pipeline = options.pipeline_parallel_size or 1
    tensor = options.tensor_parallel_size or largest_tensor_parallel(model.config, max(1, gpus.count // pipeline))
    check_tensor_parallel(model.config, tensor)
    if counted and tensor * pipeline > gpus.count:
        raise UsageError(
            Message(
                "tensor × pipeline parallel size needs {wanted} GPUs, there are {count}",
                wanted=tensor * pipeline,
                count=gpus.count,
            )
        )
    return PlanRequest(
        config=model.config,
        weights=model.weights,
        gpu=gpus.kind,
        max_model_len=options.max_model_len,
        gpu_memory_utilization=options.gpu_memory_utilization,
        kv_cache_dtype=options.kv_cache_dtype,
        quantization=options.quantization,
        tensor_parallel=tensor,
        pipeline_parallel=pipeline,
        max_num_seqs=options.max_num_seqs,
        max_num_batched_tokens=options.max_num_batched_tokens,
        enforce_eager=options.enforce_eager,
        version=options.vllm_version or LATEST,
        free_gib=gpus.free_gib,
        others_gib=gpus.others_gib,
    )
