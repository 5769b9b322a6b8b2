"""What `--gpu`, `--gpus` and nvidia-smi say in, the memory that a program can have out: the smallest GPU decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vllmdoctor.errors import UsageError
from vllmdoctor.facts.gpus.model import Gpu, Machine
from vllmdoctor.facts.model import COMPUTED
from vllmdoctor.facts.table import Reading
from vllmdoctor.languages import Message
from vllmdoctor.memory.gpus import GpuChoice, GpuKind, named_gpu

_MIB_PER_GIB = 1024
_CUDA_SHARE = 0.985  # of the total that nvidia-smi prints, the driver keeps the rest


@dataclass(frozen=True, slots=True)
class PlannedGpus:
    """`free_gib` and `others_gib` are None without nvidia-smi output."""

    kind: GpuKind
    count: int
    free_gib: float | None = None
    others_gib: float | None = None


def planned_gpus(choice: GpuChoice | None, gpus: int | None, machine: Machine | None) -> PlannedGpus:
    """Raises UsageError when nothing tells the GPU's memory, or two sources disagree on the number."""
    if gpus is not None and gpus < 1:
        raise UsageError(Message("--{option} must be at least 1", option="gpus"))
    if choice is not None and choice.count and gpus and choice.count != gpus:
        raise UsageError(Message("--gpu says {count} GPUs, --gpus {gpus}", count=choice.count, gpus=gpus))
    wanted = gpus or (choice.count if choice else None)
    if machine is not None:
        return _of_machine(machine, choice, wanted)
    if choice is None:
        raise UsageError(Message("no GPU given: name one (--gpu 'RTX 3090', --gpu 24GiB) or give --nvidia-smi FILE"))
    return PlannedGpus(choice.kind, wanted or 1)


def as_cuda_reports(readings: Sequence[Reading]) -> list[Reading]:
    """The same with the total that a program is given in place of the one that nvidia-smi prints, which is larger."""
    told = {reading.name: reading for reading in readings}
    total = told.get("gpu_total_gib")
    if total is None or isinstance(total.value, (str, bool)) or "driver_version" not in told:
        return list(readings)
    name = str(told["gpu_name"].value) if "gpu_name" in told else None
    gpu = Gpu(name=name, name_cut=bool(name and name.endswith("...")))
    given = replace(total, value=round(_kind_of(gpu, total.value).total_gib, 2), kind=COMPUTED)
    return [given if reading is total else reading for reading in readings]


def _of_machine(machine: Machine, choice: GpuChoice | None, wanted: int | None) -> PlannedGpus:
    sizes = [device.total_mib for device in machine.mig_devices if device.total_mib]
    if sizes:
        return _of_mig(machine, choice, wanted, min(sizes))
    usable = [gpu for gpu in machine.gpus if gpu.total_mib]
    if not usable:
        raise UsageError(Message("the nvidia-smi output tells no GPU's memory; name the GPU with --gpu"))
    if wanted is not None and wanted > len(usable):
        raise UsageError(
            Message("{wanted} GPUs wanted, but the nvidia-smi output shows {count}", wanted=wanted, count=len(usable))
        )
    described = sorted((_described(gpu, choice) for gpu in usable), key=lambda one: -(one.free_gib or 0.0))
    chosen = described[:wanted] if wanted else described
    smallest = min(chosen, key=lambda one: one.kind.total_gib)
    free = [one.free_gib for one in chosen if one.free_gib is not None]
    others = [one.others_gib for one in chosen if one.others_gib is not None]
    return PlannedGpus(
        smallest.kind, len(chosen), min(free) if len(free) == len(chosen) else None, max(others, default=None)
    )


def _of_mig(machine: Machine, choice: GpuChoice | None, wanted: int | None, smallest_mib: int) -> PlannedGpus:
    total = smallest_mib / _MIB_PER_GIB
    used = [device.used_mib for device in machine.mig_devices if device.total_mib == smallest_mib]
    known = [mib for mib in used if mib is not None]
    held = min(known) / _MIB_PER_GIB if known else None
    capability = choice.kind.capability if choice else None
    kind = GpuKind(f"MIG device of {total:.2f} GiB", total, capability)
    return PlannedGpus(kind, wanted or 1, None if held is None else total - held, held)


def _described(gpu: Gpu, choice: GpuChoice | None) -> PlannedGpus:
    printed = (gpu.total_mib or 0) / _MIB_PER_GIB
    kind = choice.kind if choice else _kind_of(gpu, printed)
    used = None if gpu.used_mib is None else gpu.used_mib / _MIB_PER_GIB
    free = None if used is None else kind.total_gib - used
    if gpu.free_mib is not None:
        free = min(kind.total_gib, gpu.free_mib / _MIB_PER_GIB)
    return PlannedGpus(kind, 1, free, used)


def _kind_of(gpu: Gpu, printed_gib: float) -> GpuKind:
    """The GPU of the list when name and size agree, else what the driver leaves of the printed total."""
    unified = gpu.unified_memory is True
    name = gpu.name or "GPU"
    try:
        listed = named_gpu(f"{name} {round(printed_gib)}GB") if not gpu.name_cut else None
    except UsageError:
        listed = None
    if listed is not None and abs(listed.total_gib - printed_gib) <= 0.05 * printed_gib:
        return listed
    capability = _capability(gpu.compute_capability)
    return GpuKind(name, printed_gib * _CUDA_SHARE, capability, unified)


def _capability(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None
