"""Text with nvidia-smi, rocm-smi or collect_env output somewhere in it in, readings of facts about the machine out."""

from __future__ import annotations

from vllmdoctor.facts.model import Origin, Scalar
from vllmdoctor.facts.table import Reading
from vllmdoctor.rules.model import FactBook

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
    """What stays the same over time: driver, GPU name, number and size.

    Used and free memory are left out: the table shows another moment than the error.
    """
    if not any(hint in text for hint in _HINTS):
        return []
    from vllmdoctor.facts.gpus import read_gpus  # thirteen readers that most logs never need

    machine = read_gpus(text)
    if machine is None:
        return []
    totals = [gpu.total_mib for gpu in machine.gpus if gpu.total_mib]
    names = [gpu.name for gpu in machine.gpus if gpu.name]
    values: dict[str, Scalar | None] = {
        "driver_version": machine.driver,
        "cuda_version": machine.cuda,
        "gpu_name": names[0] if names else None,
        "gpu_count": len(machine.gpus) or None,
        "gpu_total_gib": round(min(totals) / _MIB_PER_GIB, 2) if totals else None,
        "unified_memory": True if any(gpu.unified_memory for gpu in machine.gpus) else None,
    }
    origin = Origin(input_index, 1)
    return [Reading(name, value, origin) for name, value in values.items() if value is not None and name in book.names]
