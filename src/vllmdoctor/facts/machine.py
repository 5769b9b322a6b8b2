"""Text with nvidia-smi, rocm-smi or collect_env output somewhere in it in, readings of facts about the machine out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vllmdoctor.facts.model import Origin, Scalar
from vllmdoctor.facts.table import Reading
from vllmdoctor.rules.model import FactBook

if TYPE_CHECKING:
    from vllmdoctor.facts.gpus.model import GpuProcess, Machine

_MOST_PROGRAMS = 4
_MIB_PER_GIB = 1024
_HINTS = (
    "-SMI",
    "-smi",
    "nvidia_smi_log",
    "MiB /",
    "river version",
    "river Version",
    "GPU 0:",
    "memory.total",
    "ROCm",
    "amdsmi",
)


def machine_readings(text: str, input_index: int, book: FactBook) -> list[Reading]:
    """What stays the same over time: driver, GPU name, number and size; and who is on the GPUs.

    Used and free memory are left out: the table shows another moment than the error.
    """
    if not any(hint in text for hint in _HINTS):
        return []
    from vllmdoctor.facts.gpus import read_gpus  # thirteen readers that most logs never need

    machine = read_gpus(text)
    if machine is None:
        return []
    totals = _sizes_mib(machine)
    names = [gpu.name for gpu in machine.gpus if gpu.name]
    values: dict[str, Scalar | None] = {
        "driver_version": machine.driver,
        "cuda_version": machine.cuda,
        "gpu_name": names[0] if names else None,
        "gpu_count": len(machine.gpus) or None,
        "gpu_total_gib": round(min(totals) / _MIB_PER_GIB, 2) if totals else None,
        "gpu_programs": _programs(machine) or None,
        "unified_memory": True if any(gpu.unified_memory for gpu in machine.gpus) else None,
    }
    origin = Origin(input_index, 1)
    return [Reading(name, value, origin) for name, value in values.items() if value is not None and name in book.names]


def _sizes_mib(machine: Machine) -> list[int]:
    """Of what a program can have: of a GPU that is cut into MIG devices these, not the whole."""
    cut = {device.gpu for device in machine.mig_devices if device.total_mib}
    whole = [gpu.total_mib for gpu in machine.gpus if gpu.total_mib and gpu.index not in cut]
    return whole + [device.total_mib for device in machine.mig_devices if device.total_mib]


def _programs(machine: Machine) -> str:
    """The largest programs on the GPUs: `python3 (PID 3120, 8,412 MiB)`; the GPU's number too if there are several."""
    largest = sorted(machine.processes or (), key=lambda process: -(process.mib or 0))
    several = len(machine.gpus) > 1
    return ", ".join(_program(process, several) for process in largest[:_MOST_PROGRAMS] if process.name or process.pid)


def _program(process: GpuProcess, several: bool) -> str:
    details = [f"GPU {process.gpu}"] if several and process.gpu is not None else []
    details += [f"PID {process.pid}"] if process.pid is not None else []
    details += [f"{process.mib:,} MiB"] if process.mib is not None else []
    name = re.split(r"[/\\]", (process.name or "?").split(" -")[0])[-1].strip() or "?"
    return f"{name} ({', '.join(details)})" if details else name
