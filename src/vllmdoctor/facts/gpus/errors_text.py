"""In: clean lines. Out: the messages that the tools print instead of (or before) values."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .model import Machine

_MESSAGES = tuple(
    re.compile(pattern)
    for pattern in (
        r"NVIDIA-SMI has failed because .*",
        r"(?:Failed to initialize NVML|NVIDIA-SMI couldn't find libnvidia-ml\.so|Unable to initialize NVML)\b.*",
        r"Unable to determine the device handle for .*",
        r"Unable to (?:retrieve|query) .*\bGPU\b.*(?:Unknown Error|is lost).*",
        r"(?:^|[|:\]] )\s*No devices were found\s*$",
        r"\bGPU is lost\.\s+Reboot the system.*",
        r"(?:^|\W)(?:nvidia|rocm|amd)-smi: (?:command )?not found.*",
        r"(?:command not found: (?:nvidia|rocm|amd)-smi).*",
        r"exec: \"(?:nvidia|rocm|amd)-smi\": executable file not found.*",
        r"'nvidia-smi' is not recognized as .*",
        r"(?:^|\W)Command '?nvidia-smi'? not found.*",
        r"^\s*(?:ERROR:)?\s*Driver not initialized \(amdgpu not found in modules\).*",
        r"^\s*(?:ERROR:)?\s*No AMD GPUs? (?:found|specified).*",
        r"GPU at PCI:\S+ has fallen off the bus.*",
        r"\bGPU \S+: GPU has fallen off the bus.*",
    )
)


# Every message holds one of these.
WORDS = ("-smi", "NVML", "NVIDIA-SMI", "device handle", "devices were found", "lost", "fallen off", "amdgpu", "AMD GPU")


def read_errors(lines: Sequence[str]) -> list[Machine]:
    """One machine that holds the messages, as printed."""
    messages: dict[str, None] = {}
    for line in lines:
        message = _message(line) if any(word in line for word in WORDS) else None
        if message:
            messages[message] = None
    return [Machine(errors=tuple(messages), kinds=("error",))] if messages else []


def _message(line: str) -> str | None:
    for pattern in _MESSAGES:
        found = pattern.search(line)
        if found:
            return " ".join(found[0].strip(" :>|]").split())
    return None
