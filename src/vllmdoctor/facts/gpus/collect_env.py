"""In: clean lines. Out: GPU names, driver and CUDA runtime of torch's or vLLM's `collect_env` (it prints no memory)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .listing import gpus_and_mig_devices
from .model import Gpu, Machine, MigDevice
from .values import name_and_cut, version

_MODELS = re.compile(r"GPU models and configuration\s*:[ \t]*(.*)$")
_DRIVER = re.compile(r"Nvidia driver version\s*:\s*(\S+)", re.IGNORECASE)
_RUNTIME = re.compile(r"CUDA runtime version\s*:\s*(?:Could not collect|(\d+(?:\.\d+)+))")
_NEXT_KEY = re.compile(r"\s*(?:Nvidia driver|cuDNN|HIP runtime|MIOpen runtime) version\b", re.IGNORECASE)
_ENTRY = re.compile(r"^\s*(?:GPU \d{1,3}: |MIG \S+\s+Device )")
_BETWEEN_ENTRIES = re.compile(r"\s+(?=GPU \d{1,3}: )")
_NOTHING = ("Could not collect", "No CUDA", "N/A", "Not applicable", "")
_GCN_ARCHITECTURE = re.compile(r"\s*\(gfx\w+[^()]*\)$")


def read_collect_env(lines: Sequence[str]) -> list[Machine]:
    """One machine for the report in the text."""
    drivers = _first(_DRIVER, lines)
    runtime = _first(_RUNTIME, lines)
    gpus, mig_devices = _gpus(lines)
    if not gpus and not drivers:
        return []
    amd = any(gpu.name and "AMD" in gpu.name for gpu in gpus)
    machine = Machine(
        driver=version(drivers),
        gpus=gpus,
        mig_devices=mig_devices,
        cuda_runtime=version(runtime),
        kinds=("collect-env",),
        vendor="amd" if amd else "nvidia",
    )
    return [machine]


def _first(pattern: re.Pattern[str], lines: Sequence[str]) -> str | None:
    return next((found[1] for line in lines if (found := pattern.search(line))), None)


def _gpus(lines: Sequence[str]) -> tuple[tuple[Gpu, ...], tuple[MigDevice, ...]]:
    """With one GPU the list starts behind the colon, with several on the next line."""
    for at, line in enumerate(lines):
        found = _MODELS.search(line)
        if not found:
            continue
        first = _NEXT_KEY.split(found[1], maxsplit=1)[0].strip()
        rows = _BETWEEN_ENTRIES.split(first)
        for following in lines[at + 1 :]:
            if not _ENTRY.match(following):
                break
            rows.append(following)
        gpus, mig_devices = gpus_and_mig_devices(rows)
        if not gpus and first not in _NOTHING and not _ENTRY.match(first):
            name, cut = name_and_cut(_GCN_ARCHITECTURE.sub("", first))
            gpus = (Gpu(name=name, name_cut=cut),)
        return gpus, mig_devices
    return (), ()
