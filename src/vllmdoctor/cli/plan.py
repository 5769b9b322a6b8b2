"""`vllmdoctor plan`: a model, a GPU and options in, the estimate printed and its exit code out."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass

from vllmdoctor.cli.language import current_words
from vllmdoctor.cli.output import flush_quietly, open_console, write_json
from vllmdoctor.errors import InputError, UsageError
from vllmdoctor.facts.gpus.model import Machine
from vllmdoctor.languages import Message
from vllmdoctor.memory.eras import LATEST
from vllmdoctor.memory.files import ModelFiles, read_model
from vllmdoctor.memory.gpus import gpu_from
from vllmdoctor.memory.machine import PlannedGpus, planned_gpus
from vllmdoctor.memory.plan import NO, Change, Plan, PlanRequest, alternatives, plan_for
from vllmdoctor.memory.split import check_tensor_parallel, largest_tensor_parallel

FITS_CODE, DOES_NOT_FIT_CODE = 0, 1
_COUNTS = (
    "max_model_len",
    "tensor_parallel_size",
    "pipeline_parallel_size",
    "max_num_seqs",
    "max_num_batched_tokens",
)


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """The command line as given; None is not given."""

    model: str
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
    nvidia_smi: str | None = None


def plan_and_print(options: PlanOptions, *, as_json: bool) -> int:
    """0 when it fits, 1 when not. Raises VllmDoctorError for wrong usage or inputs."""
    _check_positive(options)
    model = read_model(options.model)
    choice = gpu_from(options.gpu) if options.gpu else None
    machine = _machine_in(options.nvidia_smi) if options.nvidia_smi else None
    gpus = planned_gpus(choice, options.gpus, machine)
    counted = options.gpus is not None or machine is not None or bool(choice and choice.count)
    request = _request(options, model, gpus, counted)
    plan = plan_for(request)
    changes = alternatives(plan, gpus.count) if plan.verdict == NO else []
    count = max(gpus.count, request.tensor_parallel * request.pipeline_parallel)
    with suppress(BrokenPipeError):  # the reader has seen enough; the verdict's exit code stands
        _print(model, plan, changes, count, as_json)
    flush_quietly()
    return DOES_NOT_FIT_CODE if plan.verdict == NO else FITS_CODE


def _print(model: ModelFiles, plan: Plan, changes: list[Change], gpus: int, as_json: bool) -> None:
    if as_json:
        from vllmdoctor.memory.plan_document import plan_document
        from vllmdoctor.report.json import json_text

        write_json(json_text(plan_document(model.name, model.served, plan, changes, gpus)))
    else:
        from vllmdoctor.report.text.plan import write_plan

        write_plan(model.name, model.served, plan, changes, gpus, open_console(), current_words())


def _check_positive(options: PlanOptions) -> None:
    for name in _COUNTS:
        value = getattr(options, name)
        if value is not None and value < 1:
            raise UsageError(Message("--{option} must be at least 1", option=name.replace("_", "-")))


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


def _machine_in(path: str) -> Machine:
    from vllmdoctor.facts.gpus import read_gpus
    from vllmdoctor.intake import read_inputs

    excerpts = read_inputs([path], stdin=sys.stdin.buffer if sys.stdin else None, literals=[])
    machine = read_gpus("\n".join(line.text for excerpt in excerpts for line in excerpt.lines))
    if machine is None:
        raise InputError(path, Message("says nothing of GPUs"), Message("Give the output of `nvidia-smi`"))
    return machine
