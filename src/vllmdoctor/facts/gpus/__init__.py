"""In: text of nvidia-smi, rocm-smi, amd-smi, collect_env or dmesg, alone or in a log. Out: a `Machine`, or None."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple

from .amd_smi import read_amd_smi
from .as_json import as_json
from .collect_env import read_collect_env
from .errors_text import WORDS, read_errors
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
    long_lines = clean_lines(text)
    clean = "\n".join(long_lines)
    lines = [line[:_MAX_LINE] for line in long_lines]
    machines = [
        machine
        for needles, read in _SHAPES
        if any(needle in clean for needle in needles)
        for machine in latest(read(clean, lines))
    ]
    return combined(machines) if machines else None


# One document or one JSON object may stand on a single line; rows and messages never come near this length.
_MAX_LINE = 1000

_Reader = Callable[[str, Sequence[str]], list[Machine]]

# In order of trust. A shape is only looked for in texts that hold one of its words: most logs hold none.
_SHAPES: tuple[tuple[tuple[str, ...], _Reader], ...] = (
    (("<nvidia_smi_log",), lambda text, lines: read_xml(text)),
    (("NVSMI LOG", "NVIDIA-SMI version", "GPU 0"), lambda text, lines: read_query_text(lines)),
    ((", ", " ["), lambda text, lines: _richest(read_csv, lines)),
    (("NVIDIA-SMI", "MiB", "MB /", "N/A", "ERR!"), lambda text, lines: read_table(lines)),
    (("(UUID: ", "NVRM version"), lambda text, lines: _richest(read_listing, lines)),
    (("# gpu", "#gpu", "#Date"), lambda text, lines: _richest(read_monitors, lines)),
    (("RAM ",), lambda text, lines: read_tegrastats(lines)),
    (("AMD-SMI", "GPU: ", '"gpu"'), read_amd_smi),
    (("VRAM", "GPU[", '"card'), read_rocm),
    (("GPU models and", "driver version"), lambda text, lines: read_collect_env(lines)),
    (WORDS, lambda text, lines: _richest(read_errors, lines)),
    (("NVRM: Xid",), lambda text, lines: _richest(read_xids, lines)),
)


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
