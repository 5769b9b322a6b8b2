"""In: text of nvidia-smi, rocm-smi, amd-smi, collect_env or dmesg, alone or in a log. Out: a `Machine`, or None."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple

from .amd_smi import read_amd_smi
from .as_json import as_json
from .collect_env import read_collect_env
from .errors_text import read_errors
from .lines import clean_lines, unwrapped
from .listing import read_listing
from .merge import combined, latest
from .model import Gpu, GpuProcess, Machine, MigDevice, Xid
from .monitors import read_monitors, read_tegrastats
from .query_csv import read_csv
from .query_text import read_query_text
from .query_xml import read_xml
from .rocm import read_rocm
from .table import read_table
from .xid import read_xids

__all__ = ["Gpu", "GpuProcess", "Machine", "MigDevice", "Xid", "as_json", "read_gpus"]


def read_gpus(text: str) -> Machine | None:
    """What `text` says about the machine's GPUs; None when it says nothing of the kind. Never raises.

    The shape is told by content. Where several shapes speak of the same GPU the more exact one counts (XML before
    text, text before tables); of the same shape printed several times the last printing.
    """
    lines = clean_lines(text)
    clean = "\n".join(lines)
    by_shape = (
        read_xml(clean),
        read_query_text(lines),
        _richest(read_csv, lines),
        read_table(lines),
        _richest(read_listing, lines),
        _richest(read_monitors, lines),
        read_tegrastats(lines),
        read_amd_smi(clean, lines),
        read_rocm(clean, lines),
        read_collect_env(lines),
        _richest(read_errors, lines),
        read_xids(lines),
    )
    machines = [machine for shape in by_shape for machine in latest(shape)]
    return combined(machines) if machines else None


def _richest(read: Callable[[Sequence[str]], list[Machine]], lines: Sequence[str]) -> list[Machine]:
    """Read the lines as they are and with a hard wrap undone; keep the reading that says more."""
    return max(read(lines), read(unwrapped(lines)), key=_known_values)


def _known_values(machines: Sequence[Machine]) -> int:
    known = 0
    for machine in machines:
        entries: list[Gpu | MigDevice | GpuProcess] = [*machine.gpus, *machine.mig_devices, *(machine.processes or ())]
        known += 1 + len(machine.errors)
        known += sum(1 for entry in entries for value in astuple(entry) if value is not None)
    return known
