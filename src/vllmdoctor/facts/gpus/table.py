"""In: clean lines. Out: what the table of a plain `nvidia-smi` says, in any layout: cells are told by content."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from .model import Gpu, GpuProcess, Machine, MigDevice
from .rows import cells, is_frame, table_rows
from .values import is_unified, is_virtual, mib, name_and_cut, percent, text_or_none, version, whole

_SMI = re.compile(r"\bNVIDIA-SMI\s+(\d[\w.]*)")
_DRIVER = re.compile(r"\b(?:Driver|KMD) Version:\s*([\w./]+)")
_CUDA = re.compile(r"\bCUDA (?:UMD )?Version:\s*([\w./!]+)")
_BUS = re.compile(r"^([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]|N/A|ERR!)\s+(?:On|Off|N/A|ERR!)$")
_NAME = re.compile(r"^(\d{1,3})\s+(\S.*?)\s+(?:On|Off|N/A|ERR!|WDDM|TCC|MCDM|Enabled|Disabled)$")
_MEMORY = re.compile(r"^(\d+Mi?B)\s*/\s*(\d+Mi?B)$")
_STATE = re.compile(r"^(?:\d+%|N/A|ERR!)\s+(?P<temp>\d+C|N/A|ERR!)\s+(?:P\d+|N/A|ERR!)\s*(?P<power>\S.*)?$")
_POWER = re.compile(r"^(?:(\d+)W|N/A|ERR!|Unknown)\s*/\s*(?:(\d+)W|N/A|ERR!)")
_UTIL = re.compile(r"^(?P<util>\d+%|N/A|ERR!)\s*(?P<mode>\S.*)?$")
_MIG_MODE = re.compile(r"^(Enabled|Disabled|N/A|ERR!)(\*?)$")
_MIG_DEVICE = re.compile(r"^(\d+)\s+(\d+)\s+(\d+)\s+(\d+)$")
_PROCESS = re.compile(
    r"^(?P<gpu>\d+)\s+(?:(?P<gi>N/A|\d+)\s+(?P<ci>N/A|\d+)\s+)?(?P<pid>\d+)\s+(?P<type>[CGM](?:\+[CGM])*)\s+"
    r"(?P<name>\S.*?)\s+(?P<mib>\d+Mi?B|N/A)$"
)
_MAX_ROWS_BETWEEN = 2


@dataclass(slots=True)
class _Found:
    """What was read so far; of a table printed several times the last printing counts."""

    machine: Machine = field(default_factory=Machine)
    gpus: list[Gpu] = field(default_factory=list)
    mig_devices: list[MigDevice] = field(default_factory=list)
    processes: list[GpuProcess] = field(default_factory=list)
    none_running: bool = False
    errors: list[str] = field(default_factory=list)


def read_table(lines: Sequence[str]) -> list[Machine]:
    """One machine for each table in the text, in their order."""
    machines = [_machine(rows) for rows in _snapshots(table_rows(lines))]
    return [machine for machine in machines if machine is not None]


def _snapshots(rows: Sequence[str]) -> Iterator[list[str]]:
    """Cut the rows before each header line: every printing of the tool begins with one."""
    snapshot: list[str] = []
    for row in rows:
        if _SMI.search(row) and snapshot:
            yield snapshot
            snapshot = []
        if row and not is_frame(row):
            snapshot.append(row)
    yield snapshot


def _machine(rows: Sequence[str]) -> Machine | None:
    found = _Found()
    for at, row in enumerate(rows):
        _read_header(found, row)
        row_cells = cells(row)
        if (gpu := _gpu_row(row_cells)) is not None:
            _read_gpu(found, gpu, row_cells, rows[at + 1 : at + 1 + _MAX_ROWS_BETWEEN])
        elif (device := _mig_device(row_cells, found.mig_devices)) is not None:
            found.mig_devices.append(device)
        elif len(row_cells) <= 2:
            _read_process(found, row_cells[-1])
    machine = found.machine
    if not (found.gpus or found.mig_devices or found.processes or machine.driver or machine.smi_version):
        return None
    return replace(
        machine,
        gpus=tuple(found.gpus),
        mig_devices=tuple(found.mig_devices),
        processes=tuple(found.processes) if found.processes or found.none_running else None,
        errors=tuple(found.errors),
        kinds=("nvidia-smi",),
        vendor="nvidia",
    )


def _read_header(found: _Found, row: str) -> None:
    smi = _SMI.search(row)
    if not smi:
        return
    driver, cuda = _DRIVER.search(row), _CUDA.search(row)
    found.machine = replace(
        found.machine,
        smi_version=version(smi[1]),
        driver=version(driver[1]) if driver else None,
        cuda=version(cuda[1]) if cuda else None,
    )


def _bus_cell(row_cells: Sequence[str]) -> int | None:
    """Where the cell with the bus address stands, when the one before it holds index and name."""
    for at, cell in enumerate(row_cells[1:], start=1):
        if _BUS.match(cell) and _NAME.match(row_cells[at - 1]):
            return at
    return None


def _gpu_row(row_cells: Sequence[str]) -> Gpu | None:
    at = _bus_cell(row_cells)
    if at is None:
        return None
    bus, name = _BUS.match(row_cells[at]), _NAME.match(row_cells[at - 1])
    assert bus and name
    product, cut = name_and_cut(name[2])
    return Gpu(
        index=int(name[1]),
        name=product,
        name_cut=cut,
        bus_id=text_or_none(bus[1]),
        ecc_errors=whole(row_cells[at + 1]) if len(row_cells) > at + 1 else None,
        virtual=is_virtual(product),
        unified_memory=is_unified(product),
    )


def _read_gpu(found: _Found, gpu: Gpu, first: Sequence[str], following: Sequence[str]) -> None:
    at = _bus_cell(first) or 1
    rows = [first]
    for row in following:
        row_cells = cells(row)
        if _gpu_row(row_cells) is not None:
            break
        rows.append(row_cells)
    if len(rows) > 1:
        gpu = _with_state(gpu, rows[1], at)
    if len(rows) > 2:
        gpu = _with_mig_mode(gpu, rows[2])
    found.gpus.append(gpu)
    if any("ERR!" in cell for row_cells in rows for cell in row_cells):
        found.errors.append(f"GPU {gpu.index}: nvidia-smi prints ERR! instead of values")


def _with_state(gpu: Gpu, row_cells: Sequence[str], at: int) -> Gpu:
    """Add the second row: temperature and power, memory, utilisation. `at` is the column of the memory."""
    state = _STATE.match(row_cells[at - 1]) if len(row_cells) >= at else None
    if state:
        power = _POWER.match(state["power"] or "")
        gpu = replace(
            gpu,
            temperature_c=whole(state["temp"].rstrip("C")),
            power_w=float(power[1]) if power and power[1] else None,
            power_cap_w=float(power[2]) if power and power[2] else None,
        )
    if not state or len(row_cells) <= at:
        return gpu
    memory = _MEMORY.match(row_cells[at])
    if memory:
        gpu = replace(gpu, used_mib=mib(memory[1]), total_mib=mib(memory[2]))
    elif row_cells[at].lower() == "not supported":
        gpu = replace(gpu, unified_memory=True)
    util = _UTIL.match(row_cells[at + 1]) if len(row_cells) > at + 1 else None
    if util:
        gpu = replace(gpu, util_pct=percent(util["util"]), compute_mode=text_or_none(util["mode"]))
    return gpu


def _with_mig_mode(gpu: Gpu, row_cells: Sequence[str]) -> Gpu:
    mode = _MIG_MODE.match(row_cells[-1])
    if not mode or any(row_cells[-3:-1]) or mode[1] not in ("Enabled", "Disabled"):
        return gpu
    return replace(gpu, mig_enabled=mode[1] == "Enabled", mig_pending=bool(mode[2]))


def _mig_device(row_cells: Sequence[str], before: Sequence[MigDevice]) -> MigDevice | None:
    """A row of the MIG table. The tool leaves the memory cell empty for a second compute instance: it is shared."""
    for at, cell in enumerate(row_cells[:-1]):
        numbers = _MIG_DEVICE.match(cell)
        if not numbers:
            continue
        memory = _MEMORY.match(row_cells[at + 1])
        gpu, gi, ci, device = map(int, numbers.groups())
        found = MigDevice(gpu=gpu, gi=gi, ci=ci, device=device)
        if len(row_cells) > at + 2:
            found = replace(found, multiprocessors=whole((row_cells[at + 2].split() or [""])[0]))
        if memory:
            return replace(found, used_mib=mib(memory[1]), total_mib=mib(memory[2]))
        shared = next((d for d in before if (d.gpu, d.gi) == (gpu, gi)), None)
        if shared and not row_cells[at + 1]:
            return replace(found, used_mib=shared.used_mib, total_mib=shared.total_mib)
        return found
    return None


def _read_process(found: _Found, cell: str) -> None:
    if "No running processes found" in cell:
        found.none_running = True
    process = _PROCESS.match(cell)
    if process:
        found.processes.append(
            GpuProcess(
                gpu=int(process["gpu"]),
                gi=whole(process["gi"]),
                ci=whole(process["ci"]),
                pid=int(process["pid"]),
                type=process["type"],
                name=text_or_none(process["name"]),
                mib=mib(process["mib"]),
            )
        )
