"""In: clean lines. Out: what `nvidia-smi dmon` and `pmon` say, by their `# gpu …` header, and Jetson's tegrastats."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .model import Gpu, GpuProcess, Machine
from .values import whole

_HEADER = re.compile(r"^\s*#\s*(?:Date\s+Time\s+)?gpu\s+\S", re.IGNORECASE)
_TEGRASTATS = re.compile(r"\bRAM (\d+)/(\d+)MB .*?(?:GR3D_FREQ (\d+)%|GR3D(?:\d?) (\d+)%|$)")
_TEGRASTATS_OTHER = re.compile(r"\b(?:GR3D_FREQ|EMC_FREQ|SWAP \d+/\d+MB|lfb )")


@dataclass(slots=True)
class _Monitor:
    columns: tuple[str, ...]

    def row(self, line: str) -> dict[str, str] | None:
        """The cells of a row by column; the last column (`command`) may hold blanks."""
        parts = line.split(None, len(self.columns) - 1)
        if len(parts) != len(self.columns) or whole(parts[self.columns.index("gpu")]) is None:
            return None
        return dict(zip(self.columns, (part.strip() for part in parts), strict=True))


def read_monitors(lines: Sequence[str]) -> list[Machine]:
    """The last sample of each GPU and process."""
    gpus: dict[int | None, Gpu] = {}
    processes: dict[tuple[int | None, int | None], GpuProcess] = {}
    monitor: _Monitor | None = None
    process_rows = 0
    awaited = False
    for line in lines:
        if _HEADER.match(line):
            monitor = _Monitor(tuple(line.strip().lstrip("#").lower().split()))
            awaited = True
            continue
        if awaited and monitor and line.strip():
            # A header that runs on in the next line was broken: its columns cannot be trusted.
            monitor = monitor if line.lstrip().startswith("#") or monitor.row(line) else None
            awaited = False
        cells = monitor.row(line) if monitor else None
        if cells is None:
            continue
        if "pid" in cells:
            process_rows += 1
            process = _process(cells)
            if process.pid is not None:
                processes[process.gpu, process.pid] = process
        else:
            gpu = _gpu(cells)
            gpus[gpu.index] = gpu
    if not gpus and not process_rows:
        return []
    listed = tuple(processes.values()) if process_rows else None
    return [Machine(gpus=tuple(gpus.values()), processes=listed, kinds=("monitor",), vendor="nvidia")]


def _gpu(cells: dict[str, str]) -> Gpu:
    watts = whole(cells.get("pwr"))
    return Gpu(
        index=whole(cells["gpu"]),
        used_mib=whole(cells.get("fb")),
        util_pct=whole(cells.get("sm")),
        temperature_c=whole(cells.get("gtemp", cells.get("temp"))),
        power_w=None if watts is None else float(watts),
    )


def _process(cells: dict[str, str]) -> GpuProcess:
    kind, name = cells.get("type", "-"), cells.get("command", cells.get("name", "-"))
    return GpuProcess(
        gpu=whole(cells["gpu"]),
        pid=whole(cells["pid"]),
        type=None if kind == "-" else kind,
        name=None if name == "-" else name,
        mib=whole(cells.get("fb")),
    )


def read_tegrastats(lines: Sequence[str]) -> list[Machine]:
    """The last line of tegrastats: a Jetson's GPU uses the memory of the computer."""
    for line in reversed(lines):
        found = _TEGRASTATS.search(line)
        if found and _TEGRASTATS_OTHER.search(line):
            gpu = Gpu(
                used_mib=int(found[1]),
                total_mib=int(found[2]),
                util_pct=whole(found[3] or found[4]),
                unified_memory=True,
            )
            return [Machine(gpus=(gpu,), kinds=("tegrastats",), vendor="nvidia")]
    return []
