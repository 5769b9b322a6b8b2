"""Records in, readings out of facts that no single line prints: counted over ranks, or added up inside a message."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vllmdoctor.facts.model import COMPUTED, Origin
from vllmdoctor.facts.table import Reading
from vllmdoctor.logs.model import WORKER, Record

_OOM_PROCESS = re.compile(r"\bProcess (?P<pid>\d+) has (?P<size>\d[\d.]*) (?P<unit>[KMGT])iB memory in use")
_OWN = re.compile(r"this process has (?P<size>\d[\d.]*) (?P<unit>[KMGT])iB memory in use")
_CAPACITY = re.compile(r"total capac(?:ity|ty) of (?P<size>\d[\d.]*) (?P<unit>[KMGT])iB")
_TORCH_HOLDS = re.compile(
    r"(?P<size>\d[\d.]*) (?P<unit>[KMGT]?)(?:iB|bytes) is (?:allocated|reserved) by PyTorch"  # the two add up
)
_LARGEST_GIB, _ROUNDING_GIB = 4096.0, 0.02
_GIB = {"K": 2**-20, "M": 2**-10, "G": 1.0, "T": 2.0**10}
_TP = re.compile(r"TP(\d+)")
_V0_WORKER = "VllmWorkerProcess"


def counted_facts(records: Sequence[Record]) -> list[Reading]:
    """Tensor-parallel size as far as worker names tell it, and what an out of memory message says of processes."""
    return [*_parallel_size(records), *memory_of_processes(records)]


def _parallel_size(records: Sequence[Record]) -> list[Reading]:
    """The highest rank seen plus one. V0's driver has no prefix, so its workers are one fewer than the ranks."""
    highest, place = -1, None
    v0_pids: dict[int, Record] = {}
    for record in records:
        process = record.process
        if process.name != WORKER:
            continue
        named = _TP.search(process.label)
        rank = (
            int(named[1])
            if named
            else process.rank
            if "PP" not in process.label and "DP" not in process.label
            else None
        )
        if rank is not None and rank > highest:
            highest, place = rank, record
        elif process.label.startswith(_V0_WORKER) and process.pid is not None:
            v0_pids[process.pid] = record
    if place is not None and highest >= 1:
        return [Reading("tensor_parallel_size", highest + 1, _origin(place), COMPUTED)]
    if v0_pids:
        last = list(v0_pids.values())[-1]
        return [Reading("tensor_parallel_size", len(v0_pids) + 1, _origin(last), COMPUTED)]
    return []


def memory_of_processes(records: Sequence[Record]) -> list[Reading]:
    """What torch says of the processes on the GPU.

    It lists every one that it sees. Inside a container it does not know its own number and prints no "this process
    has": then the engine itself is in the list, as the one that holds what PyTorch says it holds, or the largest.
    A size above the GPU's own is the driver's word for "not known" (WSL 2), and then nothing is counted.
    """
    found = []
    for record in records:
        if "memory in use" not in record.text:
            continue
        sizes = [_gib(match) for match in _OOM_PROCESS.finditer(record.text)]
        if max(sizes, default=0.0) > next(map(_gib, _CAPACITY.finditer(record.text)), _LARGEST_GIB) + _ROUNDING_GIB:
            continue
        if not _OWN.search(record.text) and sizes:
            engine = _engine_among(sizes, record.text)
            sizes.remove(engine)
            found.append(Reading("this_process_gib", round(engine, 4), _origin(record), COMPUTED))
        if sizes:
            found.append(Reading("other_processes_gib", round(sum(sizes), 4), _origin(record), COMPUTED))
    return found


def _engine_among(sizes: Sequence[float], text: str) -> float:
    """The process that holds least above what PyTorch has (allocated and reserved), else the largest."""
    held = sum(_gib(m) for m in _TORCH_HOLDS.finditer(text))
    enough = [size for size in sizes if size >= held - _ROUNDING_GIB]
    return min(enough) if held and enough else max(sizes)


def _gib(match: re.Match[str]) -> float:
    return float(match["size"]) * _GIB.get(match["unit"], 0.0)


def _origin(record: Record) -> Origin:
    return Origin(record.first.input, record.first.number)
