"""In: clean lines. Out: what `nvidia-smi -q` (whole or `-d MEMORY` …) and `nvidia-smi --version` say in text form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .lines import with_whole_numbers
from .model import Gpu, GpuProcess, Machine, MigDevice
from .values import celsius, is_unified, is_virtual, mib, percent, quantity, text_or_none, version, whole

_START = re.compile(r"=+NVSMI LOG=+|^\s*NVIDIA-SMI version\s+:")
_GPU = re.compile(r"^\s*GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])\s*$")
_PAIR = re.compile(r"^(\s*)(\S.*?)\s*(?:\s:|:)(?:\s+(.*?))?\s*$")
_SECTION = re.compile(r"^(\s*)([A-Z][\w ()./-]*?)\s*$")
_AFTER_MIG = ("Accounting Mode",)
_POWER = ("GPU Power Readings", "Power Readings")
_MAX_OTHER_LINES = 3


@dataclass(slots=True)
class _Reader:
    """State while walking down the lines. Sections are told by name: indentation does not survive every paste."""

    machine: Machine = field(default_factory=Machine)
    gpus: list[Gpu] = field(default_factory=list)
    mig_devices: list[MigDevice] = field(default_factory=list)
    processes: list[GpuProcess] = field(default_factory=list)
    none_running: bool = False
    section: str = ""
    mig_indent: int | None = None  # set while the lines belong to a MIG device

    def read(self, line: str) -> bool:
        """Take one line; False when it is not of this kind of output."""
        gpu = _GPU.match(line)
        if gpu:
            self.gpus.append(Gpu(index=len(self.gpus), bus_id=gpu[1]))
            self.section, self.mig_indent = "", None
            return True
        pair = _PAIR.match(line)
        if pair:
            self._leave_mig_device(len(pair[1]), pair[2])
            self._read_pair(pair[2], pair[3] or "")
            return True
        section = _SECTION.match(line)
        if section:
            self._leave_mig_device(len(section[1]), section[2])
            self.section = section[2]
            if self.section == "MIG Device" and self.gpus:
                self.mig_indent = len(section[1])
                self.mig_devices.append(MigDevice(gpu=self.gpus[-1].index))
        return bool(section) and self.section != "" or "NVSMI LOG" in line

    def _leave_mig_device(self, indent: int, key: str) -> None:
        if self.mig_indent is not None and (key in _AFTER_MIG or (self.mig_indent and indent <= self.mig_indent)):
            self.mig_indent = None

    def _read_pair(self, key: str, value: str) -> None:
        if not self.gpus:
            self._read_header(key, value)
        elif key == "Processes":
            self.section = key
            self.none_running = self.none_running or value == "None"
        elif self.section == "Processes":
            self._read_process(key, value)
        elif self.mig_indent is not None:
            self.mig_devices[-1] = _mig_with(self.mig_devices[-1], self.section, key, value)
        else:
            self.gpus[-1] = _gpu_with(self.gpus[-1], self.section, key, value)

    def _read_header(self, key: str, value: str) -> None:
        if key.lower() in ("driver version", "kmd version"):
            self.machine = replace(self.machine, driver=version(value))
        elif key in ("CUDA Version", "CUDA UMD Version"):
            self.machine = replace(self.machine, cuda=version(value))
        elif key == "NVIDIA-SMI version":
            self.machine = replace(self.machine, smi_version=version(value))

    def _read_process(self, key: str, value: str) -> None:
        if key == "GPU instance ID" or (key == "Process ID" and not self._awaits_pid()):
            self.processes.append(GpuProcess(gpu=self.gpus[-1].index))
        if not self.processes:
            return
        process = self.processes[-1]
        if key == "GPU instance ID":
            process = replace(process, gi=whole(value))
        elif key == "Compute instance ID":
            process = replace(process, ci=whole(value))
        elif key == "Process ID":
            process = replace(process, pid=whole(value))
        elif key == "Type":
            process = replace(process, type=text_or_none(value))
        elif key == "Name":
            process = replace(process, name=text_or_none(value))
        elif key == "Used GPU Memory":
            process = replace(process, mib=mib(value))
        self.processes[-1] = process

    def _awaits_pid(self) -> bool:
        return bool(self.processes) and self.processes[-1].pid is None


def read_query_text(lines: Sequence[str]) -> list[Machine]:
    """One machine for each report in the text."""
    lines = with_whole_numbers(lines)
    machines: list[Machine] = []
    at = 0
    while at < len(lines):
        if _START.search(lines[at]) or _GPU.match(lines[at]):
            machine, at = _report(lines, at)
            machines.extend([machine] if machine else [])
        else:
            at += 1
    return machines


def _report(lines: Sequence[str], at: int) -> tuple[Machine | None, int]:
    """Read from `at` until lines of another kind follow."""
    reader = _Reader()
    other, start = 0, at
    while at < len(lines) and other < _MAX_OTHER_LINES:
        if at > start and "NVSMI LOG" in lines[at]:
            break
        if lines[at].strip():
            other = 0 if reader.read(lines[at]) else other + 1
        at += 1
    machine = reader.machine
    if not (reader.gpus or machine.driver or machine.smi_version):
        return None, at
    processes = tuple(process for process in reader.processes if process.pid is not None)
    gpus = [
        replace(gpu, unified_memory=is_unified(gpu.name), virtual=is_virtual(gpu.name) or gpu.virtual)
        for gpu in reader.gpus
    ]
    machine = replace(
        machine,
        gpus=tuple(gpus),
        mig_devices=tuple(reader.mig_devices),
        processes=processes if processes or reader.none_running else None,
        kinds=("query",),
        vendor="nvidia",
    )
    return machine, at


def _mig_with(device: MigDevice, section: str, key: str, value: str) -> MigDevice:
    if section == "FB Memory Usage":
        if key == "Total":
            return replace(device, total_mib=mib(value))
        if key == "Used":
            return replace(device, used_mib=mib(value))
        if key == "Free":
            return replace(device, free_mib=mib(value))
        return device
    if key == "Index":
        return replace(device, device=whole(value))
    if key == "GPU Instance ID":
        return replace(device, gi=whole(value))
    if key == "Compute Instance ID":
        return replace(device, ci=whole(value))
    if key.lower() == "multiprocessor count":
        return replace(device, multiprocessors=whole(value))
    return device


def _gpu_with(gpu: Gpu, section: str, key: str, value: str) -> Gpu:
    if key == "Compute Mode":
        return replace(gpu, compute_mode=text_or_none(value))
    if section == "FB Memory Usage":
        return _with_memory(gpu, key, value)
    if section == "MIG Mode":
        return _with_mig_mode(gpu, key, value)
    if section == "Volatile":
        return _with_ecc_errors(gpu, key, value)
    if section in _POWER:
        return _with_power(gpu, key, value)
    if section == "GPU Virtualization Mode" and key == "Virtualization Mode":
        mode = text_or_none(value)
        return replace(gpu, virtual=mode.upper().replace(" ", "") == "VGPU" if mode else None)
    if section == "Utilization" and key.lower() == "gpu":
        return replace(gpu, util_pct=percent(value))
    if key == "GPU Current Temp":
        return replace(gpu, temperature_c=celsius(value))
    if key == "Product Name":
        return replace(gpu, name=text_or_none(value))
    if key == "GPU UUID":
        return replace(gpu, uuid=text_or_none(value))
    return gpu


def _with_memory(gpu: Gpu, key: str, value: str) -> Gpu:
    if key == "Total":
        return replace(gpu, total_mib=mib(value))
    if key == "Reserved":
        return replace(gpu, reserved_mib=mib(value))
    if key == "Used":
        return replace(gpu, used_mib=mib(value))
    if key == "Free":
        return replace(gpu, free_mib=mib(value))
    return gpu


def _with_mig_mode(gpu: Gpu, key: str, value: str) -> Gpu:
    mode = text_or_none(value)
    if mode is None:
        return gpu
    if key == "Current":
        return replace(gpu, mig_enabled=mode == "Enabled")
    if key == "Pending":
        return replace(gpu, mig_pending=(mode == "Enabled") != gpu.mig_enabled)
    return gpu


def _with_ecc_errors(gpu: Gpu, key: str, value: str) -> Gpu:
    """Volatile uncorrected errors come in several parts (SRAM, DRAM), in old drivers under `Double Bit`."""
    count = whole(value)
    if count is None or "Uncorrectable" not in key:
        return gpu
    return replace(gpu, ecc_errors=(gpu.ecc_errors or 0) + count)


def _with_power(gpu: Gpu, key: str, value: str) -> Gpu:
    if key in ("Power Draw", "Average Power Draw"):
        return replace(gpu, power_w=quantity(value, ("W",)))
    if key in ("Current Power Limit", "Enforced Power Limit"):
        return replace(gpu, power_cap_w=quantity(value, ("W",)))
    return gpu
