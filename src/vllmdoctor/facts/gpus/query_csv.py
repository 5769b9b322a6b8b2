"""In: clean lines. Out: what `nvidia-smi --query-gpu=…` and `--query-compute-apps=…` printed with `--format=csv`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .csv_guess import guessed_row
from .model import Gpu, GpuProcess, Machine
from .values import (
    celsius,
    fault_in,
    is_unified,
    is_virtual,
    mib,
    name_and_cut,
    percent,
    quantity,
    text_or_none,
    version,
    whole,
)

_COMMAND = re.compile(r"--query-(?:gpu|compute-apps)[= ][\"']?([\w.]+(?:,\s?[\w.]+)*)")
_HEADER_CELL = re.compile(r"^([a-z][a-z0-9_.]*)(?: \[[^\]]+\])?$")
_PROCESS_FIELDS = ("process_name", "used_gpu_memory", "used_memory")
_STRONG = re.compile(
    r"^(?:memory\.(?:total|used|free|reserved)|utilization\.(?:gpu|memory)|temperature\.gpu|power\.\w+|driver_version"
    r"|gpu_(?:name|uuid|bus_id)|pci\.bus_id|compute_(?:mode|cap)|mig\.mode\.\w+|ecc\.[\w.]+|clocks\.[\w.]+|process_name"
    r"|used_(?:gpu_)?memory|persistence_mode|display_\w+|pstate|vbios_version|enforced\.power\.limit|fan\.speed)$"
)
_WEAK = ("index", "name", "uuid", "pid", "timestamp", "count", "serial", "gpu_serial")
_ALIASES = {"gpu_name": "name", "gpu_uuid": "uuid", "gpu_bus_id": "pci.bus_id", "used_gpu_memory": "used_memory"}
_MARKER = re.compile(r"^\[.+\]$|^N/A$")
_MAX_OTHER_LINES = 3

Row = dict[str, str]


def read_csv(lines: Sequence[str]) -> list[Machine]:
    """One machine for each header, command line or run of rows that speak for themselves."""
    machines: list[Machine] = []
    at = 0
    while at < len(lines):
        columns = _columns(lines[at])
        if columns is not None and at and _begins_header(lines[at - 1]):
            at += 1  # the rest of a header that was broken: its columns are not all there
        elif columns is not None:
            rows, at = _rows(lines, at + 1, columns)
            machines.extend(_machine(columns, rows))
        else:
            row = guessed_row(lines[at])
            machines.extend(_machine(tuple(row), [row]) if row else [])
            at += 1
    return machines


def _columns(line: str) -> tuple[str, ...] | None:
    """The columns that a header line, or the command itself, names."""
    command = _COMMAND.search(line) if "--query-" in line else None
    if command:
        return tuple(_ALIASES.get(name.strip(), name.strip()) for name in command[1].split(","))
    if not line.lstrip()[:1].islower():
        return None
    found = [_HEADER_CELL.match(cell.strip()) for cell in line.split(",")]
    names = [match[1] for match in found if match]
    strong = sum(1 for name in names if _STRONG.match(name))
    weak = sum(1 for name in names if name in _WEAK)
    if len(names) != len(found) or not strong or (len(names) > 1 and strong + weak < 2):
        return None
    if len(names) == 1 and "[" not in line:
        return None
    return tuple(_ALIASES.get(name, name) for name in names)


def _begins_header(line: str) -> bool:
    """Whether a line begins with a column name and goes on."""
    first, comma, _ = line.partition(",")
    found = _HEADER_CELL.match(first.strip())
    return bool(comma and found and (found[1] in _WEAK or _STRONG.match(found[1])))


def _rows(lines: Sequence[str], at: int, columns: tuple[str, ...]) -> tuple[list[Row], int]:
    """The rows below a header. Messages about GPUs that do not answer may stand between them."""
    rows: list[Row] = []
    other = 0
    while at < len(lines) and other < _MAX_OTHER_LINES and not _columns(lines[at]):
        row = _row(lines[at], columns)
        if row:
            rows.append(row)
        other = 0 if row else other + 1
        at += 1
    return _with_one_style_of_units(rows), at


def _with_one_style_of_units(rows: list[Row]) -> list[Row]:
    """The tool prints units in all rows or in none: a bare number among those with unit was cut."""
    if not any(mib(cell) is not None for row in rows for cell in row.values()):
        return rows
    return [{column: "" if _lost_its_unit(column, cell) else cell for column, cell in row.items()} for row in rows]


def _lost_its_unit(column: str, cell: str) -> bool:
    with_unit = _is_memory(column) or column.startswith(("utilization.", "power.", "enforced.power."))
    return with_unit and quantity(cell.rstrip("."), ("",)) is not None


def _is_memory(column: str) -> bool:
    return column.startswith("memory.") or column == "used_memory"


def _row(line: str, columns: tuple[str, ...]) -> Row | None:
    parts = [part.strip() for part in line.split(",")]
    if "process_name" in columns and len(parts) > len(columns):
        # The tool does not quote: commas that are too many belong to the name of the process.
        at, extra = columns.index("process_name"), len(parts) - len(columns)
        parts[at : at + extra + 1] = [", ".join(parts[at : at + extra + 1])]
    if len(parts) != len(columns):
        return None
    row = dict(zip(columns, parts, strict=True))
    return row if all(_fits(column, cell) for column, cell in row.items()) else None


def _fits(column: str, cell: str) -> bool:
    """Whether a cell can be a value of its column: keeps lines of other kinds out."""
    if _MARKER.match(cell):
        return True
    if column in ("index", "pid"):
        return whole(cell) is not None
    if _is_memory(column):
        return _memory(cell) is not None
    if column.startswith(("utilization.", "temperature.", "power.")):
        return quantity(cell, ("%", "C", "W", "")) is not None
    return bool(cell) and len(cell) < 200


def _memory(cell: str | None) -> int | None:
    size = mib(cell)
    return whole(cell) if size is None else size


def _machine(columns: tuple[str, ...], rows: list[Row]) -> list[Machine]:
    if "pid" in columns or any(field in columns for field in _PROCESS_FIELDS):
        return [Machine(processes=tuple(_process(row) for row in rows), kinds=("csv",), vendor="nvidia")]
    if not rows:
        return []
    gpus = tuple(_gpu(row) for row in rows)
    drivers = [found for row in rows if (found := version(row.get("driver_version")))]
    errors = [
        f"{'GPU' if gpu.index is None else f'GPU {gpu.index}'}: {fault}"
        for gpu, row in zip(gpus, rows, strict=True)
        for cell in row.values()
        if (fault := fault_in(cell))
    ]
    driver = drivers[0] if drivers else None
    errors = list(dict.fromkeys(errors))
    return [Machine(driver=driver, gpus=gpus, errors=tuple(errors), kinds=("csv",), vendor="nvidia")]


def _gpu(row: Row) -> Gpu:
    name, cut = name_and_cut(row.get("name"))
    mode = text_or_none(row.get("mig.mode.current"))
    pending = text_or_none(row.get("mig.mode.pending"))
    return Gpu(
        index=whole(row.get("index")),
        name=name,
        name_cut=cut,
        total_mib=_memory(row.get("memory.total")),
        used_mib=_memory(row.get("memory.used")),
        free_mib=_memory(row.get("memory.free")),
        reserved_mib=_memory(row.get("memory.reserved")),
        util_pct=percent(row.get("utilization.gpu"), bare=True),
        uuid=text_or_none(row.get("uuid")),
        bus_id=text_or_none(row.get("pci.bus_id")),
        compute_mode=text_or_none(row.get("compute_mode")),
        mig_enabled=None if mode is None else mode == "Enabled",
        mig_pending=None if mode is None or pending is None else mode != pending,
        ecc_errors=whole(row.get("ecc.errors.uncorrected.volatile.total")),
        temperature_c=celsius(row.get("temperature.gpu")),
        power_w=quantity(row.get("power.draw"), ("W", "")),
        power_cap_w=quantity(row.get("power.limit") or row.get("enforced.power.limit"), ("W", "")),
        unified_memory=is_unified(name),
        virtual=is_virtual(name),
        compute_capability=version(row.get("compute_cap")),
    )


def _process(row: Row) -> GpuProcess:
    return GpuProcess(
        pid=whole(row.get("pid")),
        type="C",
        name=text_or_none(row.get("process_name")),
        mib=_memory(row.get("used_memory")),
        gpu_uuid=text_or_none(row.get("uuid")),
    )
