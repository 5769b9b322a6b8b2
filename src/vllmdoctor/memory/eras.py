"""A vLLM version (and its engine and model runner) in, the rules by which it sizes the KV cache out.

In every version KV bytes = total × gpu_memory_utilization − what is subtracted; the utilization multiplies the total,
never the free memory. Four things changed over time, and an `Era` holds them: what is subtracted, whether the memory
of other processes is part of that, whether free memory is checked at the start, and where CUDA graphs lie.

Sources: `vllm/worker/worker.py` (V0), `vllm/v1/worker/gpu_worker.py` and `memory_profiling()` in `vllm/utils` (V1) of
the releases 0.1.7 to 0.33.0.
"""

from __future__ import annotations

from dataclasses import dataclass

from vllmdoctor.languages import Message
from vllmdoctor.rules.versions import Release, release_of

V0, V1 = "V0", "V1"
LATEST = "0.33.0"

_GRAPH_ESTIMATE: Release = (0, 20, 0)  # gpu_worker.py: VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS is 1 from here on
_RUNNER_V2_ESTIMATE: Release = (0, 29, 0)  # the second runner's estimate is a stub that returns 0 before
_KV_BYTES_OPTION: Release = (0, 10, 2)


@dataclass(frozen=True, slots=True)
class Era:
    """How a range of releases shares out the memory of a GPU.

    `subtracted` names what is taken off the budget; `counts_others`: the memory of other processes is part of it;
    `free_check`: the start is refused when less than the budget is free; `graphs_inside`: an estimate of the CUDA
    graphs is taken off the budget, else they come on top of it; `nccl_inside`: NCCL's buffers are taken off the
    budget; `default_utilization` is what applies without the option.
    """

    name: str
    engine: str
    subtracted: str
    counts_others: bool
    free_check: bool
    graphs_inside: bool
    nccl_inside: bool
    default_utilization: float
    has_kv_bytes_option: bool


@dataclass(frozen=True, slots=True)
class _Row:
    engine: str
    span: str
    first: Release
    subtracted: str
    counts_others: bool
    free_check: bool
    nccl_inside: bool


_DEVICE = "torch peak and all other memory in use on the GPU"
_OWN = "weights, activation peak, non-torch growth"
_ROWS = (  # each engine's in the order of time
    _Row(
        V0,
        Message("up to {last}", last="0.3.0"),
        (0, 0, 0),
        "all memory in use on the GPU after the profile run",
        True,
        False,
        True,
    ),
    _Row(
        V0,
        Message("{first} to {last}", first="0.3.3", last="0.6.3"),
        (0, 3, 1),
        "own growth since the start, cached blocks included",
        False,
        False,
        True,
    ),
    _Row(V0, "0.6.4", (0, 6, 4), _DEVICE, True, False, True),
    _Row(V0, Message("{first} to {last}", first="0.6.5", last="0.10.2"), (0, 6, 5), _OWN, False, False, True),
    _Row(V1, "0.6.4", (0, 6, 4), "own growth since the start", False, False, True),
    _Row(V1, Message("{first} to {last}", first="0.6.5", last="0.9.0"), (0, 6, 5), _DEVICE, True, False, True),
    _Row(V1, Message("{first} to {last}", first="0.9.1", last="0.10.2"), (0, 9, 1), _OWN, False, True, True),
    _Row(V1, Message("{first} to {last}", first="0.11.0", last="0.19.1"), (0, 11, 0), _OWN, False, True, False),
    _Row(
        V1,
        Message("{first} to {last}", first="0.20.0", last="0.26.0"),
        (0, 20, 0),
        f"{_OWN}, CUDA graphs",
        False,
        True,
        False,
    ),
    _Row(
        V1,
        Message("since {first}", first="0.27.1"),
        (0, 26, 1),
        "own growth since the start, transient peak, CUDA graphs",
        False,
        True,
        False,
    ),
)
_V1_EXISTS, _V1_DEFAULT, _V0_GONE = (0, 6, 4), (0, 8, 0), (0, 11, 0)


def engine_of(release: Release, engine: str = "") -> str:
    """The engine that runs: the given one where a release has both.

    V1 exists since 0.6.4 (`envs.py`, VLLM_USE_V1), is the default since 0.8.0 and alone since 0.11.0.
    """
    if release < _V1_EXISTS:
        return V0
    if release >= _V0_GONE:
        return V1
    return engine if engine in (V0, V1) else V1 if release >= _V1_DEFAULT else V0


def era_of(version: str, *, engine: str = "", model_runner: str = "") -> Era | None:
    """The era of a version text such as `0.9.2` or `0.11.0rc2.dev3`; None when it is no version.

    `engine` (V0, V1) and `model_runner` (V1, V2) decide where a release has both; else its default is taken.
    """
    release = release_of(version)
    if release is None:
        return None
    running = engine_of(release, engine)
    row = [row for row in _ROWS if row.engine == running and row.first <= release][-1]
    return Era(
        name=Message("{engine} {span}", engine=row.engine, span=row.span),
        engine=row.engine,
        subtracted=row.subtracted,
        counts_others=row.counts_others,
        free_check=row.free_check,
        graphs_inside=graphs_inside(release, model_runner),
        nccl_inside=row.nccl_inside,
        default_utilization=default_utilization(release),
        has_kv_bytes_option=release >= _KV_BYTES_OPTION,
    )


def graphs_inside(release: Release, model_runner: str = "") -> bool:
    """Whether an estimate of the CUDA graphs is part of the budget.

    `gpu_worker.py determine_available_memory`: since 0.20.0; the V2 model runner reports 0 until 0.28.0, so there the
    graphs still come on top.
    """
    return release >= (_RUNNER_V2_ESTIMATE if model_runner == "V2" else _GRAPH_ESTIMATE)


def default_utilization(release: Release) -> float:
    """`config/cache.py`: 0.90 up to 0.19.1, 0.92 since 0.20.0, when graphs moved into the budget."""
    return 0.92 if release >= _GRAPH_ESTIMATE else 0.90
