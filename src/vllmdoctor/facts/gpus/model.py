"""Out: what nvidia-smi and its relatives say about a machine, as values; None always means: the text does not say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU. `free_mib` is only set when printed: total minus used counts memory that the driver keeps for itself.

    `name_cut` tells that the tool shortened the name to `NVIDIA GeForce ...`. `unified_memory` marks GPUs without
    memory of their own, `virtual` a vGPU (its memory is that of the profile). `ecc_errors` counts volatile
    uncorrected errors. `mig_pending` tells that a change of the MIG mode waits for a reset.
    """

    index: int | None = None
    name: str | None = None
    total_mib: int | None = None
    used_mib: int | None = None
    free_mib: int | None = None
    util_pct: int | None = None
    reserved_mib: int | None = None
    vram_pct: int | None = None
    uuid: str | None = None
    bus_id: str | None = None
    compute_mode: str | None = None
    mig_enabled: bool | None = None
    mig_pending: bool | None = None
    ecc_errors: int | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    power_cap_w: float | None = None
    unified_memory: bool | None = None
    virtual: bool | None = None
    compute_capability: str | None = None
    name_cut: bool = False


@dataclass(frozen=True, slots=True)
class MigDevice:
    """One MIG device. Compute instances of one GPU instance (`gi`) share its memory: never add their totals."""

    gpu: int | None = None
    gi: int | None = None
    ci: int | None = None
    device: int | None = None
    total_mib: int | None = None
    used_mib: int | None = None
    free_mib: int | None = None
    profile: str | None = None
    uuid: str | None = None
    multiprocessors: int | None = None


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """A process that holds GPU memory. `mib` is None where the driver model hides it (WSL2, Windows)."""

    gpu: int | None = None
    gi: int | None = None
    ci: int | None = None
    pid: int | None = None
    type: str | None = None
    name: str | None = None
    mib: int | None = None
    gpu_uuid: str | None = None


@dataclass(frozen=True, slots=True)
class Xid:
    """A GPU error that the kernel driver logged. `pci` is printed without the function number."""

    pci: str
    code: int
    text: str
    pid: int | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """All that a text says about GPUs. `processes` None: unknown; empty: stated that there are none.

    `driver` is the kernel driver, `smi_version` the tool, `cuda` the highest version that the driver supports,
    `cuda_runtime` an installed toolkit. `kinds` names the shapes of output that were read.
    """

    driver: str | None = None
    cuda: str | None = None
    gpus: tuple[Gpu, ...] = ()
    mig_devices: tuple[MigDevice, ...] = ()
    processes: tuple[GpuProcess, ...] | None = None
    errors: tuple[str, ...] = ()
    xids: tuple[Xid, ...] = ()
    kinds: tuple[str, ...] = ()
    smi_version: str | None = None
    cuda_runtime: str | None = None
    rocm: str | None = None
    vendor: str | None = None
