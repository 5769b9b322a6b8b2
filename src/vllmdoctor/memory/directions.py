"""A failure and an era in, the direction out: which way gpu_memory_utilization helps, and what else does.

Read from the sources of the releases 0.1.7 to 0.33.0; every fix that the rules offer is tested against this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vllmdoctor.languages import marked as _

UP, DOWN, NO_EFFECT, ABSENT = "up", "down", "no effect", "n/a"

# The columns of the table
V0_EARLY = _("V0 up to 0.6.3")
DEVICE_WIDE = _("V0 since 0.6.4, V1 0.6.5 to 0.9.0")
CHECKED = _("V1 0.9.1 to 0.19")
GRAPHS_INSIDE = _("V1 since 0.20")
COLUMNS = (V0_EARLY, DEVICE_WIDE, CHECKED, GRAPHS_INSIDE)

# The rows, by what the log says
NO_BLOCKS = _("no available memory for the cache blocks")
V0_TOO_LONG = _("max seq len is larger than the KV cache")
V1_TOO_LONG = _("to serve at least one request")
NOT_FREE = _("free memory is less than desired")
OOM_LOADING = _("out of memory while loading weights")
OOM_PROFILING = _("out of memory in the profile run")
OOM_KV = _("out of memory at KV cache allocation")
OOM_CAPTURE = _("out of memory at graph capture")
OOM_CAPTURE_ESTIMATE = _("out of memory while graph memory is estimated")
OOM_SERVING = _("out of memory while serving")
OOM_SAMPLER_EARLY = _("out of memory in the sampler warm-up, before the KV cache")
OOM_SAMPLER_LATE = _("out of memory in the sampler warm-up, after the KV cache")
PROFILING_ASSERT = _("error in memory profiling")
SYMPTOMS = (
    NO_BLOCKS,
    V0_TOO_LONG,
    V1_TOO_LONG,
    NOT_FREE,
    OOM_LOADING,
    OOM_PROFILING,
    OOM_KV,
    OOM_CAPTURE,
    OOM_CAPTURE_ESTIMATE,
    OOM_SERVING,
    OOM_SAMPLER_EARLY,
    OOM_SAMPLER_LATE,
    PROFILING_ASSERT,
)


@dataclass(frozen=True, slots=True)
class Direction:
    """Which way to move gpu_memory_utilization (UP, DOWN, NO_EFFECT; ABSENT: the message does not exist there).

    `bounded`: up to free ÷ total only. `shorter_context`: a lower max_model_len cures it by itself.
    `eager`: leaving out CUDA graphs helps; `smaller_batch`: fewer batched tokens or sequences help; `free_gpu`: the
    memory of other processes is what is missing, so freeing it helps.
    """

    utilization: str
    bounded: bool = False
    shorter_context: bool = False
    eager: bool = False
    smaller_batch: bool = False
    free_gpu: bool = False


_ABSENT = Direction(ABSENT)
_NONE = Direction(NO_EFFECT)
_BATCH = Direction(NO_EFFECT, smaller_batch=True)
_SERVING = Direction(DOWN, smaller_batch=True)
_CAPTURE = Direction(DOWN, eager=True)
_ESTIMATE = Direction(NO_EFFECT, eager=True)
_LATE = Direction(DOWN, smaller_batch=True)

TABLE: Mapping[str, tuple[Direction, Direction, Direction, Direction]] = {
    NO_BLOCKS: (
        Direction(UP),
        Direction(UP),
        Direction(UP, bounded=True),
        Direction(UP, bounded=True, eager=True),
    ),
    V0_TOO_LONG: (
        Direction(UP, shorter_context=True),
        Direction(UP, shorter_context=True),
        Direction(UP, shorter_context=True),  # V0 beside V1, up to 0.10.2
        _ABSENT,
    ),
    V1_TOO_LONG: (
        _ABSENT,
        Direction(UP, shorter_context=True),
        Direction(UP, bounded=True, shorter_context=True),
        Direction(UP, bounded=True, shorter_context=True, eager=True),
    ),
    NOT_FREE: (
        _ABSENT,
        _ABSENT,
        Direction(DOWN, free_gpu=True),
        Direction(DOWN, free_gpu=True),
    ),
    OOM_LOADING: (_NONE, _NONE, _NONE, _NONE),
    OOM_PROFILING: (_BATCH, _BATCH, _BATCH, _BATCH),
    OOM_KV: (Direction(DOWN, free_gpu=True), Direction(DOWN), Direction(DOWN), Direction(DOWN)),
    OOM_CAPTURE: (_CAPTURE, _CAPTURE, _CAPTURE, _CAPTURE),
    OOM_CAPTURE_ESTIMATE: (_ABSENT, _ABSENT, _ESTIMATE, _ESTIMATE),  # since 0.18.1
    OOM_SERVING: (_SERVING, _SERVING, _SERVING, _SERVING),
    OOM_SAMPLER_EARLY: (_ABSENT, _BATCH, _BATCH, _BATCH),
    OOM_SAMPLER_LATE: (_ABSENT, _LATE, _LATE, _LATE),
    PROFILING_ASSERT: (_NONE, _NONE, _NONE, _NONE),
}


def direction_for(symptom: str, column: str) -> Direction:
    return TABLE[symptom][COLUMNS.index(column)]


def column_of(release: tuple[int, int, int], engine: str) -> str:
    """The column of a release and the engine that runs in it."""
    if engine == "V0":
        return V0_EARLY if release < (0, 6, 4) else DEVICE_WIDE
    if release < (0, 9, 1):
        return DEVICE_WIDE
    return CHECKED if release < (0, 20, 0) else GRAPHS_INSIDE


def freeing_others_helps(release: tuple[int, int, int], engine: str) -> bool:
    """Whether the memory of other processes is taken off the budget, so that freeing it enlarges the KV cache.

    Up to 0.3.0 and in 0.6.4 for V0, 0.6.5 to 0.9.0 for V1 (`memory in use` was read for the whole device).
    """
    if engine == "V0":
        return release <= (0, 3, 0) or release == (0, 6, 4)
    return (0, 6, 5) <= release <= (0, 9, 0)


def eager_enlarges_kv(release: tuple[int, int, int], model_runner: str = "V1") -> bool:
    """Whether leaving out CUDA graphs gives the KV cache more: only where their estimate is taken off the budget."""
    return release >= ((0, 29, 0) if model_runner == "V2" else (0, 20, 0))
