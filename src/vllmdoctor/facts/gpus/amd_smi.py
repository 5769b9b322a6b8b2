"""In: any text and its clean lines. Out: what amd-smi says: its table, `GPU: 0` blocks, `monitor` columns and JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from .model import Gpu, GpuProcess, Machine
from .rows import cells, table_rows
from .values import mib_of_any_unit, percent, quantity, text_or_none, whole

_TITLE = re.compile(r"AMD-SMI\s+[\w.+-]+")
_DRIVER = re.compile(r"amdgpu version:\s*([\d.]+)")
_ROCM = re.compile(r"ROCm version:\s*([\d.]+)")
_FIRST = re.compile(r"^([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f])\s+(\S.*)$")
_FIRST_STATE = re.compile(r"^(?:\d+ ?%|N/A)\s+(\d+ ?°?C|N/A)\s+(\d+|N/A)\s+(?:(\d+)|N/A)/(?:(\d+)|N/A)(?: W)?$")
_SECOND = re.compile(r"^(\d+)\s+(?:\d+|N/A)\s+(?:\d+|N/A)\s+\S+$")
_SECOND_STATE = re.compile(r"^(\d+ ?%|N/A)\s+(?:[\d.]+ ?%|N/A)\s+(\d+|N/A)/(\d+|N/A)(?: (MB|GB))?$")
_PROCESS = re.compile(
    r"^(?P<gpu>\d+)\s+(?P<pid>\d+)\s+(?P<name>\S.*?)\s+(?P<gtt>[\d.]+ [KMG]?B|N/A)\s+(?P<vram>[\d.]+ [KMG]?B|N/A)"
    r"\s+(?P<usage>[\d.]+ [KMG]?B|N/A)\s+\S+(?: %)?$"
)
_BLOCK = re.compile(r"^\s*GPU: (\d+)\s*$")
_PAIR = re.compile(r"^\s*([A-Z][A-Z0-9_]*): (\S.*?)\s*$")
_JSON_START = re.compile(r"\{\s{0,80}\"(?:gpu_data\"\s{0,9}:\s{0,9}\[|gpu\"\s{0,9}:\s{0,9}\d)")


def read_amd_smi(text: str, lines: Sequence[str]) -> list[Machine]:
    """One machine for each shape that is there."""
    machines = [_table(lines), _blocks(lines), _json(text)]
    return [replace(machine, kinds=("amd-smi",), vendor="amd") for machine in machines if machine]


@dataclass(slots=True)
class _Table:
    machine: Machine = field(default_factory=Machine)
    gpus: list[Gpu] = field(default_factory=list)
    processes: list[GpuProcess] = field(default_factory=list)
    none_running: bool = False


def _table(lines: Sequence[str]) -> Machine | None:
    found = _Table()
    inside = False
    for row in table_rows(lines):
        if _TITLE.search(row):
            inside, found.processes, found.none_running = True, [], False
        if inside and row:
            _read_row(found, row)
    if not found.gpus and not found.machine.driver:
        return None
    processes = tuple(found.processes) if found.processes or found.none_running else None
    return replace(found.machine, gpus=_last_of_each(found.gpus), processes=processes)


def _last_of_each(gpus: Sequence[Gpu]) -> tuple[Gpu, ...]:
    return tuple({gpu.bus_id: gpu for gpu in gpus}.values())


def _read_row(found: _Table, row: str) -> None:
    driver, rocm = _DRIVER.search(row), _ROCM.search(row)
    if driver or rocm:
        found.machine = replace(found.machine, driver=driver[1] if driver else None, rocm=rocm[1] if rocm else None)
    row_cells = cells(row)
    first, second = _FIRST.match(row_cells[0]), _SECOND.match(row_cells[0])
    if len(row_cells) >= 2 and first:
        found.gpus.append(_with_first_state(Gpu(bus_id=first[1], name=text_or_none(first[2])), row_cells[1]))
    elif len(row_cells) >= 2 and second and found.gpus and found.gpus[-1].index is None:
        found.gpus[-1] = _with_second_state(replace(found.gpus[-1], index=int(second[1])), row_cells[1])
    elif len(row_cells) == 1:
        found.none_running = found.none_running or "No running processes found" in row
        process = _PROCESS.match(row_cells[0])
        if process:
            vram = mib_of_any_unit(process["vram"])
            found.processes.append(
                GpuProcess(gpu=int(process["gpu"]), pid=int(process["pid"]), name=process["name"], mib=vram)
            )


def _with_first_state(gpu: Gpu, cell: str) -> Gpu:
    state = _FIRST_STATE.match(cell)
    if not state:
        return gpu
    return replace(
        gpu,
        temperature_c=whole(state[1].rstrip("C° ")),
        ecc_errors=whole(state[2]),
        power_w=float(state[3]) if state[3] else None,
        power_cap_w=float(state[4]) if state[4] else None,
    )


def _with_second_state(gpu: Gpu, cell: str) -> Gpu:
    state = _SECOND_STATE.match(cell)
    if not state:
        return gpu
    unit = state[4] or "MB"
    return replace(
        gpu,
        util_pct=percent(state[1]),
        used_mib=mib_of_any_unit(f"{state[2]} {unit}"),
        total_mib=mib_of_any_unit(f"{state[3]} {unit}"),
    )


def _blocks(lines: Sequence[str]) -> Machine | None:
    """`amd-smi static`, `metric` and `list`: a `GPU: 0` line, then indented `KEY: value` lines."""
    gpus: dict[int, Gpu] = {}
    gpu: Gpu | None = None
    for line in lines:
        block, pair = _BLOCK.match(line), _PAIR.match(line)
        if block:
            gpu = gpus.setdefault(int(block[1]), Gpu(index=int(block[1])))
        elif pair and gpu is not None:
            gpu = gpus[gpu.index or 0] = _with_pair(gpu, pair[1], pair[2])
    known = tuple(gpu for gpu in gpus.values() if gpu != Gpu(index=gpu.index))
    return Machine(gpus=known) if known else None


def _with_pair(gpu: Gpu, key: str, value: str) -> Gpu:
    if key in ("TOTAL_VRAM", "SIZE"):
        size = mib_of_any_unit(value)
        return gpu if size is None or gpu.total_mib is not None else replace(gpu, total_mib=size)
    if key == "USED_VRAM":
        return replace(gpu, used_mib=mib_of_any_unit(value))
    if key == "FREE_VRAM":
        return replace(gpu, free_mib=mib_of_any_unit(value))
    if key == "GFX_ACTIVITY":
        return replace(gpu, util_pct=percent(value))
    if key == "MARKET_NAME":
        return replace(gpu, name=text_or_none(value))
    if key == "BDF":
        return replace(gpu, bus_id=text_or_none(value))
    if key == "HOTSPOT" and quantity(value, ("°C", "C")) is not None:
        return replace(gpu, temperature_c=int(quantity(value, ("°C", "C")) or 0))
    return gpu


def _json(text: str) -> Machine | None:
    """`amd-smi static --json`, `metric --json`: a list of objects with a `gpu` number."""
    start = _JSON_START.search(text)
    if not start:
        return None
    before = text[: start.start()].rstrip()
    at = len(before) - 1 if before.endswith("[") else start.start()
    try:
        document, _end = json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    gpus = [_gpu_of_json(entry) for entry in _entries(document)]
    known = tuple(gpu for gpu in gpus if gpu != Gpu(index=gpu.index))
    return Machine(gpus=known) if known else None


def _entries(document: object) -> Iterator[dict[str, object]]:
    if isinstance(document, dict) and isinstance(document.get("gpu_data"), list):
        document = document["gpu_data"]
    for entry in document if isinstance(document, list) else [document]:
        if isinstance(entry, dict) and isinstance(entry.get("gpu"), int):
            yield entry


def _gpu_of_json(entry: dict[str, object]) -> Gpu:
    index = entry["gpu"]
    gpu = Gpu(index=index if isinstance(index, int) else None)
    for key, value in _pairs(entry):
        gpu = _with_pair(gpu, key.upper(), value)
    return gpu


def _pairs(entry: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Every `key: value` below an object; `{"value": 285, "unit": "MB"}` becomes `285 MB`."""
    for key, value in entry.items():
        if isinstance(value, dict) and "value" in value:
            yield key, f"{value['value']} {value.get('unit', '')}".strip()
        elif isinstance(value, dict):
            yield from _pairs(value)
        elif isinstance(value, (str, int, float)):
            yield key, str(value)
