"""In: what single pieces of output say. Out: one machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from typing import TypeVar

from .model import Gpu, GpuProcess, Machine, MigDevice

_Entry = TypeVar("_Entry", Gpu, MigDevice, GpuProcess)


def latest(machines: Sequence[Machine]) -> list[Machine]:
    """Several printings of one tool as one: the last printing of a GPU counts, GPUs of other hosts are kept."""
    merged: list[Machine] = []
    for machine in machines:
        if merged and _same_host(merged[-1], machine):
            merged[-1] = combined([machine, merged[-1]])
            merged[-1] = replace(merged[-1], processes=machine.processes if machine.gpus else merged[-1].processes)
        else:
            merged.append(machine)
    return merged


def combined(machines: Sequence[Machine]) -> Machine:
    """Put together what several shapes of output say; where two speak of the same thing the first one counts."""
    gpus: list[Gpu] = []
    mig_devices: list[MigDevice] = []
    processes: list[GpuProcess] = []
    for machine in machines:
        # Two GPUs of one machine are never the same one: each may only meet those of the machines before.
        gpus = _with_entries(gpus, machine.gpus, _same_gpu)
        mig_devices = _with_entries(mig_devices, machine.mig_devices, _same_mig_device)
    for machine in machines:
        processes = _with_entries(processes, _located(machine.processes or (), gpus), _same_process)
    known = any(machine.processes is not None for machine in machines)
    return Machine(
        driver=_first(machine.driver for machine in machines),
        cuda=_first(machine.cuda for machine in machines),
        gpus=tuple(gpus),
        mig_devices=tuple(mig_devices),
        processes=tuple(processes) if known else None,
        errors=tuple(dict.fromkeys(error for machine in machines for error in machine.errors)),
        xids=tuple(dict.fromkeys(xid for machine in machines for xid in machine.xids)),
        kinds=tuple(dict.fromkeys(kind for machine in machines for kind in machine.kinds)),
        smi_version=_first(machine.smi_version for machine in machines),
        cuda_runtime=_first(machine.cuda_runtime for machine in machines),
        rocm=_first(machine.rocm for machine in machines),
        vendor=_first(machine.vendor for machine in machines),
    )


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value is not None), None)


def _same_host(a: Machine, b: Machine) -> bool:
    """Whether two printings can be of the same host: nothing that identifies a GPU contradicts."""
    if not a.gpus or not b.gpus:
        return True
    return any(_same_gpu(one, other) for one in a.gpus for other in b.gpus)


def _with_entries(known: list[_Entry], more: Sequence[_Entry], same: Callable[[_Entry, _Entry], bool]) -> list[_Entry]:
    merged = list(known)
    for entry in more:
        at = next((i for i, other in enumerate(known) if same(other, entry)), None)
        if at is None:
            merged.append(entry)
        else:
            merged[at] = _filled(merged[at], entry)
    return merged


def _filled(entry: _Entry, other: _Entry) -> _Entry:
    """`entry` with its unknown values taken from `other`."""
    gaps = {f.name: getattr(other, f.name) for f in fields(entry) if getattr(entry, f.name) is None}
    if isinstance(entry, Gpu) and isinstance(other, Gpu) and entry.name_cut and other.name and not other.name_cut:
        gaps |= {"name": other.name, "name_cut": False}
    return replace(entry, **gaps)


def _same_gpu(a: Gpu, b: Gpu) -> bool:
    if a.uuid and b.uuid:
        return a.uuid == b.uuid
    if a.bus_id and b.bus_id:
        return _short(a.bus_id) == _short(b.bus_id)
    if a.name and b.name and not _names_fit(a, b):
        return False
    return a.index is not None and a.index == b.index


def _short(bus_id: str) -> str:
    """Tools print the PCI domain with four or eight digits."""
    domain, _, rest = bus_id.upper().partition(":")
    return f"{domain.lstrip('0')}:{rest}"


def _names_fit(a: Gpu, b: Gpu) -> bool:
    one, other = (gpu.name or "" for gpu in (a, b))
    if a.name_cut or b.name_cut:
        return one.startswith(other.rstrip(". ")) or other.startswith(one.rstrip(". "))
    return one == other


def _same_mig_device(a: MigDevice, b: MigDevice) -> bool:
    if a.uuid and b.uuid:
        return a.uuid == b.uuid
    return a.gpu == b.gpu and a.device is not None and a.device == b.device


def _same_process(a: GpuProcess, b: GpuProcess) -> bool:
    return a.pid == b.pid and (a.gpu == b.gpu or a.gpu is None or b.gpu is None) and (a.gi or b.gi) == (b.gi or a.gi)


def _located(processes: Sequence[GpuProcess], gpus: Sequence[Gpu]) -> list[GpuProcess]:
    """Processes that name their GPU by UUID get its index when another output gives it."""
    index = {gpu.uuid: gpu.index for gpu in gpus if gpu.uuid}
    return [
        replace(process, gpu=index.get(process.gpu_uuid)) if process.gpu is None and process.gpu_uuid else process
        for process in processes
    ]
