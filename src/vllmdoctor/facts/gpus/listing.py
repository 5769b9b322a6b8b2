"""In: clean lines. Out: what `nvidia-smi -L` and the kernel module's version line say."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .model import Gpu, Machine, MigDevice
from .values import is_unified, is_virtual, name_and_cut, version

GPU_LINE = re.compile(r"(?:^|\s)GPU (?P<index>\d{1,3}): (?P<name>\S.*?)(?: \(UUID: (?P<uuid>GPU-[\w-]+)\)|\s*$)")
_MIG_LINE = re.compile(
    r"^\s*MIG (?P<profile>[\dc]+[.\w+]*)\s+Device\s+(?P<device>\d+):(?: \(UUID: (?P<uuid>MIG-[\w/-]+)\))?"
)
_KERNEL_MODULE = re.compile(r"NVRM version: NVIDIA UNIX .*?Kernel Module(?: for \S+)?\s+(\d+(?:\.\d+)+)")


def read_listing(lines: Sequence[str]) -> list[Machine]:
    """GPUs by name and UUID. Without a UUID a line counts only when a MIG line follows or as part of `collect_env`."""
    rows = [line for line in lines if "(UUID: GPU-" in line or _MIG_LINE.match(line)]
    gpus, mig_devices = gpus_and_mig_devices(rows)
    drivers = [found[1] for line in lines if (found := _KERNEL_MODULE.search(line))]
    if not gpus and not drivers:
        return []
    driver = version(drivers[-1]) if drivers else None
    machine = Machine(driver=driver, gpus=gpus, mig_devices=mig_devices, kinds=("list",), vendor="nvidia")
    return [machine]


def gpus_and_mig_devices(rows: Sequence[str]) -> tuple[tuple[Gpu, ...], tuple[MigDevice, ...]]:
    """Read `GPU 0: …` lines and the MIG lines below them."""
    gpus: dict[int, Gpu] = {}
    mig_devices: dict[tuple[int, int], MigDevice] = {}
    index: int | None = None
    with_mig = {i for i, _ in _mig_owners(rows)}
    for row in rows:
        gpu, mig = GPU_LINE.search(row), _MIG_LINE.match(row)
        if gpu and not mig:
            index = int(gpu["index"])
            name, cut = name_and_cut(gpu["name"])
            gpus[index] = Gpu(
                index=index,
                name=name,
                name_cut=cut,
                uuid=gpu["uuid"],
                mig_enabled=True if index in with_mig else None,
                unified_memory=is_unified(name),
                virtual=is_virtual(name),
            )
        elif mig and index is not None:
            device = int(mig["device"])
            mig_devices[index, device] = MigDevice(gpu=index, device=device, profile=mig["profile"], uuid=mig["uuid"])
    return tuple(gpus.values()), tuple(mig_devices.values())


def _mig_owners(rows: Sequence[str]) -> list[tuple[int, str]]:
    """Index of the GPU above each MIG line."""
    owners: list[tuple[int, str]] = []
    index: int | None = None
    for row in rows:
        gpu = GPU_LINE.search(row)
        if _MIG_LINE.match(row):
            owners.extend([(index, row)] if index is not None else [])
        elif gpu:
            index = int(gpu["index"])
    return owners
