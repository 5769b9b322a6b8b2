"""`vllmdoctor plan`: a model, a GPU and options in, the estimate printed and its exit code out."""

from __future__ import annotations

import sys
from contextlib import suppress

from vllmdoctor.cli.language import current_words
from vllmdoctor.cli.output import flush_quietly, open_console, write_json
from vllmdoctor.errors import InputError
from vllmdoctor.facts.gpus.model import Machine
from vllmdoctor.languages import Message
from vllmdoctor.memory.files import ModelFiles, read_model
from vllmdoctor.memory.plan import NO, Change, Plan
from vllmdoctor.memory.planning import PlanOptions, check_options, planned

FITS_CODE, DOES_NOT_FIT_CODE = 0, 1


def plan_and_print(given: str, options: PlanOptions, *, nvidia_smi: str | None = None, as_json: bool) -> int:
    """0 when it fits, 1 when not. Raises VllmDoctorError for wrong usage or inputs."""
    check_options(options)
    model = read_model(given)
    machine = _machine_in(nvidia_smi) if nvidia_smi else None
    found = planned(model, options, machine)
    with suppress(BrokenPipeError):  # the reader has seen enough; the verdict's exit code stands
        _print(model, found.plan, found.changes, found.gpus, as_json)
    flush_quietly()
    return DOES_NOT_FIT_CODE if found.plan.verdict == NO else FITS_CODE


def _print(model: ModelFiles, plan: Plan, changes: list[Change], gpus: int, as_json: bool) -> None:
    if as_json:
        from vllmdoctor.memory.plan_document import plan_document
        from vllmdoctor.report.json import json_text

        write_json(json_text(plan_document(model.name, model.served, plan, changes, gpus)))
    else:
        from vllmdoctor.report.text.plan import write_plan

        write_plan(model.name, model.served, plan, changes, gpus, open_console(), current_words())


def _machine_in(path: str) -> Machine:
    from vllmdoctor.facts.gpus import read_gpus
    from vllmdoctor.intake import read_inputs

    excerpts = read_inputs([path], stdin=sys.stdin.buffer if sys.stdin else None, literals=[])
    machine = read_gpus("\n".join(line.text for excerpt in excerpts for line in excerpt.lines))
    if machine is None:
        raise InputError(path, Message("says nothing of GPUs"), Message("Give the output of `nvidia-smi`"))
    return machine
