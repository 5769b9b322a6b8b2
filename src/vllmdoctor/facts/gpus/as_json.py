"""In: a machine. Out: plain lists and dictionaries for JSON; null means that the text does not say."""

from __future__ import annotations

from dataclasses import asdict

from .model import Gpu, Machine

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def as_json(machine: Machine) -> dict[str, Json]:
    """The machine with stable key names."""
    processes = machine.processes
    return {
        "driver": machine.driver,
        "cuda": machine.cuda,
        "smi_version": machine.smi_version,
        "cuda_runtime": machine.cuda_runtime,
        "rocm": machine.rocm,
        "vendor": machine.vendor,
        "source": list(machine.kinds),
        "gpus": [_gpu(gpu) for gpu in machine.gpus],
        "mig_devices": [_renamed(asdict(device), device="dev", multiprocessors="sm") for device in machine.mig_devices],
        "processes": None if processes is None else [asdict(process) for process in processes],
        "errors": list(machine.errors),
        "xids": [asdict(xid) for xid in machine.xids],
    }


def _gpu(gpu: Gpu) -> dict[str, Json]:
    values = _renamed(asdict(gpu), name_cut="name_truncated")
    del values["mig_enabled"], values["mig_pending"]
    return values | {"mig": _mig(gpu)}


def _mig(gpu: Gpu) -> str | None:
    if gpu.mig_enabled is None:
        return None
    return ("Enabled" if gpu.mig_enabled else "Disabled") + (", change pending" if gpu.mig_pending else "")


def _renamed(values: dict[str, Json], **names: str) -> dict[str, Json]:
    return {names.get(key, key): value for key, value in values.items()}
