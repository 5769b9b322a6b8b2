"""A config.json and the calculator's fields in, the estimate as HTML out: the code of `vllmdoctor plan`."""

from __future__ import annotations

import json
from collections.abc import Mapping

from vllmdoctor.errors import InputError, UsageError
from vllmdoctor.languages import Message
from vllmdoctor.memory.config import read_config
from vllmdoctor.memory.files import ModelFiles
from vllmdoctor.memory.plan import NO
from vllmdoctor.memory.plan_document import plan_document
from vllmdoctor.memory.planning import PlanOptions, planned
from vllmdoctor.report.html.plan import plan_html
from vllmdoctor.report.json import json_text
from vllmdoctor.report.words import Words

NAME, SERVED = "config.json", "MODEL"
_WHOLE = ("gpus", "max_model_len", "tensor_parallel_size", "pipeline_parallel_size", "max_num_seqs")


def calculated(config: str, fields: Mapping[str, object], language: str) -> dict[str, object]:
    """`fields` are options by their Python name; an empty one is not given. Raises VllmDoctorError."""
    found = planned(_model(config), options_of(fields))
    name = str(fields.get("model") or "").strip() or NAME
    shown = (name, SERVED if name == NAME else name, found.plan, found.changes, found.gpus)
    return {
        "fits": found.plan.verdict != NO,
        "html": plan_html(*shown, Words(language)),
        "json": json_text(plan_document(*shown)),
    }


def options_of(fields: Mapping[str, object]) -> PlanOptions:
    """Raises UsageError for a number that is none."""
    whole = {name: _number(name, fields.get(name)) for name in _WHOLE}
    for name, value in whole.items():
        if value is not None and value != int(value):
            raise UsageError(Message("--{option} must be at least 1", option=name.replace("_", "-")))
    return PlanOptions(
        gpu=str(fields.get("gpu") or "") or None,
        gpu_memory_utilization=_number("gpu_memory_utilization", fields.get("gpu_memory_utilization")),
        kv_cache_dtype=str(fields.get("kv_cache_dtype") or "auto"),
        quantization=str(fields.get("quantization") or ""),
        enforce_eager=fields.get("enforce_eager") is True,
        vllm_version=str(fields.get("vllm_version") or ""),
        **{name: None if value is None else int(value) for name, value in whole.items()},
    )


def _number(name: str, value: object) -> float | None:
    if value is None or value == "":
        return None
    try:
        return float(str(value).replace(",", "").strip())
    except ValueError:
        raise UsageError(
            Message("--{option} {value!r} is no number", option=name.replace("_", "-"), value=str(value))
        ) from None


def _model(config: str) -> ModelFiles:
    try:
        document = json.loads(config)
    except (ValueError, RecursionError) as problem:
        raise InputError(
            NAME, Message("is no JSON"), Message("Give the model's config.json, or download it again")
        ) from problem
    return ModelFiles(NAME, SERVED, read_config(document, NAME), None)
