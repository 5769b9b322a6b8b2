"""Facts of the failing rank in, a receipt out: what the GPU's memory went to, line by line, and how much is missing.

Nothing is guessed: a line is what the log prints, what follows from printed numbers by the formula of the version's
era, a default of that version, or unknown (None).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from vllmdoctor.facts.model import COMPUTED, DEFAULT, READ, Fact, Origin
from vllmdoctor.memory.eras import Era, era_of

TOTAL, BUDGET, WEIGHTS, ACTIVATION = "total", "budget", "weights", "activation_peak"
NON_TORCH, CUDA_GRAPHS = "non_torch", "cuda_graphs"
KV_AVAILABLE, KV_NEEDED, OTHERS, DEFICIT = "kv_available", "kv_needed", "other_processes", "deficit"
NAMES = (TOTAL, BUDGET, WEIGHTS, ACTIVATION, NON_TORCH, CUDA_GRAPHS, KV_AVAILABLE, KV_NEEDED, OTHERS, DEFICIT)

_SAME_GIB = 0.06  # printed numbers are rounded to 0.01 each; four of them and a little slack
_DIGITS = 4

Facts = Mapping[str, Fact]


@dataclass(frozen=True, slots=True)
class ReceiptLine:
    """One amount. `kind` is read, computed or default, "" for an unknown one (`gib` is None)."""

    name: str
    gib: float | None
    kind: str = ""
    origin: Origin | None = None

    @property
    def known(self) -> bool:
        return self.gib is not None


@dataclass(frozen=True, slots=True)
class Receipt:
    """The lines in the order of NAMES. `era` is None when the version is not known, and so is `graphs_inside`."""

    lines: tuple[ReceiptLine, ...]
    era: Era | None
    graphs_inside: bool | None

    def line(self, name: str) -> ReceiptLine:
        return next(line for line in self.lines if line.name == name)

    def gib(self, name: str) -> float | None:
        return self.line(name).gib

    @property
    def drawable(self) -> bool:
        """Enough is known for a picture: the GPU, the weights and what is left for the KV cache."""
        return all(self.line(name).known for name in (TOTAL, WEIGHTS, KV_AVAILABLE))


def receipt_of(facts: Facts) -> Receipt:
    """The receipt of one rank's facts."""
    era = era_in(facts)
    lines = {
        TOTAL: _read(TOTAL, facts, "gpu_total_gib"),
        WEIGHTS: _read(WEIGHTS, facts, "weights_gib"),
        ACTIVATION: _read(ACTIVATION, facts, "activation_peak_gib"),
        NON_TORCH: _read(NON_TORCH, facts, "non_torch_gib"),
        CUDA_GRAPHS: _graphs(facts),
        KV_AVAILABLE: _read(KV_AVAILABLE, facts, "available_kv_gib"),
        KV_NEEDED: _read(KV_NEEDED, facts, "required_kv_gib"),
        OTHERS: _read(OTHERS, facts, "other_processes_gib"),
    }
    lines[BUDGET] = _budget(lines[TOTAL], facts)
    _split_torch_peak(lines)
    _fill_kv(lines, facts, era)
    lines[DEFICIT] = _deficit(lines, facts)
    return Receipt(tuple(lines[name] for name in NAMES), era, era.graphs_inside if era else None)


def era_in(facts: Facts) -> Era | None:
    """The era of the log's version, None when the version is not known."""
    version, engine, runner = (facts.get(name) for name in ("vllm_version", "engine", "model_runner"))
    if version is None:
        return None
    return era_of(
        str(version.value),
        engine=str(engine.value) if engine else "",
        model_runner=str(runner.value) if runner else "",
    )


def number_in(facts: Facts, name: str) -> float | None:
    """The value of a numeric fact, None when it is not known."""
    fact = facts.get(name)
    if fact is None or isinstance(fact.value, (bool, str)):
        return None
    return float(fact.value)


def _read(line: str, facts: Facts, name: str) -> ReceiptLine:
    value = number_in(facts, name)
    return ReceiptLine(line, None) if value is None else ReceiptLine(line, value, facts[name].kind, facts[name].origin)


def _graphs(facts: Facts) -> ReceiptLine:
    """On unified memory the estimate can be negative: another program gave memory back while it was measured."""
    line = _read(CUDA_GRAPHS, facts, "cuda_graph_gib")
    eager = facts.get("enforce_eager")
    if eager is not None and eager.value is True:
        return ReceiptLine(CUDA_GRAPHS, 0.0, COMPUTED, eager.origin)
    return line if line.gib is not None and line.gib >= 0 else ReceiptLine(CUDA_GRAPHS, None)


def _computed(name: str, gib: float, kind: str = COMPUTED) -> ReceiptLine:
    return ReceiptLine(name, round(gib, _DIGITS), kind)


def _budget(total: ReceiptLine, facts: Facts) -> ReceiptLine:
    """Total × gpu_memory_utilization, in every version (`worker.py`, `gpu_worker.py`).

    A size set in bytes (`kv_cache_memory_bytes`, since 0.10.2) takes the budget out of the sizing, so there is none.
    """
    if "kv_cache_memory_bytes" in facts:
        return ReceiptLine(BUDGET, None)
    printed = facts.get("requested_gib")
    share = facts.get("gpu_memory_utilization")
    if printed is not None and (printed.kind == READ or share is None):
        return _read(BUDGET, facts, "requested_gib")
    utilization = number_in(facts, "gpu_memory_utilization")
    if total.gib is None or utilization is None or share is None:
        return ReceiptLine(BUDGET, None)
    return _computed(BUDGET, total.gib * utilization, DEFAULT if share.kind == DEFAULT else COMPUTED)


def _split_torch_peak(lines: dict[str, ReceiptLine]) -> None:
    """Vllm 0.6.4 prints one torch peak with the weights in it (`worker.py`, "Memory profiling results").

    Its `initial_memory_usage` counts the own weights as well, so it is no measure of other processes.
    """
    budget, weights, peak, non_torch, kv = (
        lines[name].gib for name in (BUDGET, WEIGHTS, ACTIVATION, NON_TORCH, KV_AVAILABLE)
    )
    if None in (budget, peak, non_torch, kv):
        return
    assert budget is not None and peak is not None and non_torch is not None and kv is not None
    if weights is None or peak < weights or abs(budget - peak - non_torch - kv) > _SAME_GIB:
        return
    lines[ACTIVATION] = replace(lines[ACTIVATION], gib=round(peak - weights, _DIGITS), kind=COMPUTED)
    others = lines[OTHERS].gib
    if others is not None and others >= weights:
        lines[OTHERS] = ReceiptLine(OTHERS, None)


def _fill_kv(lines: dict[str, ReceiptLine], facts: Facts, era: Era | None) -> None:
    if not lines[KV_AVAILABLE].known:
        lines[KV_AVAILABLE] = _available(lines, facts, era)
    if not lines[KV_NEEDED].known:
        lines[KV_NEEDED] = _needed(lines[KV_AVAILABLE], facts)


def _available(lines: Mapping[str, ReceiptLine], facts: Facts, era: Era | None) -> ReceiptLine:
    """Tokens × bytes per token when both are told, else the rest of the budget when all that is subtracted is known.

    Budget − weights − activation peak − non-torch (`memory_profiling()`, V0 0.6.5+, V1 0.9.1+), − CUDA graphs where
    the era has them inside.
    """
    fixed = number_in(facts, "kv_cache_memory_bytes")
    if fixed is not None:
        return _computed(KV_AVAILABLE, fixed / 2**30)
    tokens, length, needed = (number_in(facts, n) for n in ("kv_cache_tokens", "max_model_len", "required_kv_gib"))
    if tokens is not None and length and needed is not None:
        return _computed(KV_AVAILABLE, needed * tokens / length)
    if era is None:
        return ReceiptLine(KV_AVAILABLE, None)
    parts = [lines[name].gib for name in (WEIGHTS, ACTIVATION, NON_TORCH)]
    parts += [lines[CUDA_GRAPHS].gib] if era.graphs_inside else []
    budget = lines[BUDGET].gib
    known = [part for part in parts if part is not None]
    if budget is None or len(known) < len(parts):
        return ReceiptLine(KV_AVAILABLE, None)
    return _computed(KV_AVAILABLE, budget - sum(known))


def _needed(available: ReceiptLine, facts: Facts) -> ReceiptLine:
    """One request of full length, from the size of the cache in GiB and in tokens (`raise_if_cache_size_invalid`)."""
    tokens, length = number_in(facts, "kv_cache_tokens"), number_in(facts, "max_model_len")
    if available.gib is None or available.gib <= 0 or not tokens or length is None:
        return ReceiptLine(KV_NEEDED, None)
    return _computed(KV_NEEDED, available.gib * length / tokens)


def _deficit(lines: Mapping[str, ReceiptLine], facts: Facts) -> ReceiptLine:
    """What is missing: for one request, for a first block, or of free memory at the start; unknown when nothing is."""
    available, needed, budget = (lines[name].gib for name in (KV_AVAILABLE, KV_NEEDED, BUDGET))
    if available is not None and needed is not None and needed > available:
        return _computed(DEFICIT, needed - available)
    if available is not None and available <= 0:
        return _computed(DEFICIT, -available)
    free = number_in(facts, "free_gib")
    if available is None and budget is not None and free is not None and free < budget:
        if "alloc_request_gib" not in facts:  # there `free` is what was left when torch asked for more
            return _computed(DEFICIT, budget - free)
    return ReceiptLine(DEFICIT, None)
