"""Diagnoses of a log that worked and one that fails in, how they differ and what most likely made it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vllmdoctor.diagnosis.model import HEALTHY, ROOT_CAUSE, Diagnosis, Finding
from vllmdoctor.facts.model import DEFAULT, Fact
from vllmdoctor.facts.options import OF_THE_NODE

VERSION, ARGUMENT, ENVIRONMENT, MACHINE, MODEL, FREE_MEMORY, MORE_MEMORY = (
    "version",
    "argument",
    "environment",
    "machine",
    "model",
    "free-memory",
    "more-memory",
)
# The order in which a difference is suspected when nothing ties the failure to one of them.
_ORDER = (VERSION, ARGUMENT, FREE_MEMORY, MODEL, MACHINE, ENVIRONMENT, MORE_MEMORY)

MODEL_FACTS = ("model", "architecture", "dtype", "quantization", "kv_cache_dtype")
ARGUMENT_FACTS = (
    "max_model_len",
    "gpu_memory_utilization",
    "tensor_parallel_size",
    "pipeline_parallel_size",
    "data_parallel_size",
    "max_num_seqs",
    "max_num_batched_tokens",
    "enforce_eager",
    "kv_cache_memory_bytes",
    "distributed_executor_backend",
)
MACHINE_FACTS = ("gpu_name", "gpu_count", "gpu_total_gib", "compute_capability", "platform", "host_total_gib")
ENVIRONMENT_FACTS = (
    "torch_version",
    "transformers_version",
    "nccl_version",
    "driver_version",
    "cuda_version",
    "attention_backend",
    "engine",
    "model_runner",
)
MEMORY_FACTS = (
    "free_gib",
    "other_processes_gib",
    "weights_gib",
    "activation_peak_gib",
    "non_torch_gib",
    "cuda_graph_gib",
    "available_kv_gib",
    "required_kv_gib",
)
CACHE_FACTS = ("kv_cache_tokens", "max_concurrency")
_USED = ("weights_gib", "activation_peak_gib", "non_torch_gib", "cuda_graph_gib")
_LEAST_GIB = 0.25  # less differs from one start to the next by itself
_LEAST_SHARE = 0.02
_MUCH_GIB = 1.0  # a desktop and the driver take less


@dataclass(frozen=True, slots=True)
class Difference:
    """A value in both logs; None where one does not tell it. `kind` is what it speaks for, "" for mere consequences.

    `set_by_user` names an argument of the command, else `name` is a fact.
    """

    kind: str
    name: str
    old: Fact | str | None
    new: Fact | str | None
    set_by_user: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """`suspects` are the differences that can have made it, the likeliest first; `clear` when that one stands out."""

    old: Diagnosis
    new: Diagnosis
    differences: tuple[Difference, ...]
    suspects: tuple[Difference, ...]
    clear: bool
    new_findings: tuple[Finding, ...]  # of NEW, whose rule OLD does not have
    gone_findings: tuple[Finding, ...]

    @property
    def new_fails(self) -> bool:
        return self.new.status != HEALTHY


def compare(old: Diagnosis, new: Diagnosis) -> Comparison:
    differences = _differences(old, new)
    root = _root(new)
    suspects = [one for one in differences if one.kind and _is_change(one)]
    tied = [one for one in suspects if _is_tied(one, root)]
    tied.sort(key=lambda one: (one.name not in _set_by_fixes(root), _ORDER.index(one.kind)))
    rest = sorted((one for one in suspects if one not in tied), key=lambda one: _ORDER.index(one.kind))
    clear = bool(tied) or bool(rest) and _stands_out(rest, root)
    return Comparison(
        old=old,
        new=new,
        differences=differences,
        suspects=(*tied, *rest),
        clear=clear,
        new_findings=_only_in(new, old),
        gone_findings=_only_in(old, new),
    )


def _root(diagnosis: Diagnosis) -> Finding | None:
    return next((finding for finding in diagnosis.findings if finding.role == ROOT_CAUSE), None)


def _only_in(one: Diagnosis, other: Diagnosis) -> tuple[Finding, ...]:
    known = {finding.rule.id for finding in other.findings}
    return tuple(finding for finding in one.findings if finding.rule.id not in known)


def _is_tied(one: Difference, root: Finding | None) -> bool:
    """Whether the failure itself speaks of it: its fixes set the argument, or memory lacks and this takes it."""
    if root is None:
        return False
    if one.name in _set_by_fixes(root):
        return True
    if root.rule.category == "memory":
        return one.kind in (FREE_MEMORY, MODEL, MORE_MEMORY) or one.name == "gpu_total_gib"
    return root.rule.category == "build" and one.kind in (VERSION, ENVIRONMENT)


def _set_by_fixes(root: Finding | None) -> frozenset[str]:
    fixes = root.fixes if root else ()
    return frozenset(name for chosen in fixes for name in chosen.fix.remedy.changes.arguments)


def _stands_out(suspects: Sequence[Difference], root: Finding | None) -> bool:
    """Without a tie to the failure: not for what lies outside of vLLM (a taken port), nor for two unlike starts."""
    if root is not None and root.rule.category == "server":
        return False
    changed = {one.kind for one in suspects} & {VERSION, ARGUMENT, MODEL, MACHINE}
    return suspects[0].kind == VERSION and MODEL not in changed or len(suspects) == 1


def _is_change(one: Difference) -> bool:
    """An argument that only one command has is a change; a fact that only one log prints is none.

    Except for the memory of other processes: a start that worked does not print it.
    """
    if one.set_by_user or one.kind == FREE_MEMORY:
        return True
    return one.old is not None and one.new is not None


def _differences(old: Diagnosis, new: Diagnosis) -> tuple[Difference, ...]:
    arguments = _changed_arguments(old, new)
    named = {one.name for one in arguments}
    commands_known = old.command is not None and new.command is not None
    found = _changed_fact(VERSION, "vllm_version", old.facts, new.facts)
    found += arguments
    for kind, names in (
        (MODEL, MODEL_FACTS),
        (ARGUMENT, ARGUMENT_FACTS),
        (MACHINE, MACHINE_FACTS),
        (ENVIRONMENT, ENVIRONMENT_FACTS),
    ):
        for name in names:
            if name not in named and name in old.facts and name in new.facts:
                follows = name == "architecture" or kind == ARGUMENT and commands_known
                found += _changed_fact("" if follows else kind, name, old.facts, new.facts)
    for name in (*MEMORY_FACTS, *CACHE_FACTS):
        if name in new.facts or name in CACHE_FACTS:
            found += _changed_fact(_memory_kind(name, old.facts, new.facts), name, old.facts, new.facts)
    return tuple(found)


def _changed_arguments(old: Diagnosis, new: Diagnosis) -> list[Difference]:
    """Of the commands, when both logs show theirs whole."""
    if old.command is None or new.command is None:
        return []
    before, after = old.command.arguments, new.command.arguments
    untold = {name.lstrip("-").replace("-", "_") for name in (*old.command.left_out, *new.command.left_out)}
    found = []
    for name in dict.fromkeys((*after, *before)):
        if before.get(name) != after.get(name) and name not in OF_THE_NODE and name not in untold:
            kind = MODEL if name in MODEL_FACTS else ARGUMENT
            found.append(Difference(kind, name, before.get(name), after.get(name), set_by_user=True))
    return found


def _changed_fact(kind: str, name: str, before: Mapping[str, Fact], after: Mapping[str, Fact]) -> list[Difference]:
    old, new = before.get(name), after.get(name)
    if old is None and new is None or old and new and _same(old, new):
        return []
    follows = kind in (MODEL, ARGUMENT) and old and new and old.kind == new.kind == DEFAULT
    return [Difference("" if follows else kind, name, old, new)]  # a default that changes comes with the version


def _same(old: Fact, new: Fact) -> bool:
    if isinstance(old.value, (int, float)) and isinstance(new.value, (int, float)):
        return abs(old.value - new.value) <= 1e-9
    return old.value == new.value


def _memory_kind(name: str, before: Mapping[str, Fact], after: Mapping[str, Fact]) -> str:
    """Less free memory and more use of it can be reasons; what is left for the KV cache only follows."""
    others = after[name].value if name == "other_processes_gib" and name in after else 0
    if name not in before and isinstance(others, (int, float)) and others >= _MUCH_GIB:
        return FREE_MEMORY
    growth = _growth_gib(name, before, after)
    if name == "free_gib" and growth < 0 or name == "other_processes_gib" and growth > 0:
        return FREE_MEMORY
    return MORE_MEMORY if name in _USED and growth > 0 else ""


def _growth_gib(name: str, before: Mapping[str, Fact], after: Mapping[str, Fact]) -> float:
    """How much more it is now; 0 for what is within the usual variation, or not told by both."""
    values = [facts[name].value for facts in (before, after) if name in facts]
    numbers = [float(value) for value in values if isinstance(value, (int, float))]
    if len(numbers) < 2:
        return 0.0
    growth = numbers[1] - numbers[0]
    return growth if abs(growth) >= max(_LEAST_GIB, _LEAST_SHARE * abs(numbers[0])) else 0.0
