"""In: one line. Out: its cells by column when it can only be a CSV row of nvidia-smi printed without header."""

from __future__ import annotations

import re

from .values import mib, quantity, whole

_PRODUCT = re.compile(
    r"^(?:NVIDIA\b|Tesla\b|GeForce\b|Quadro\b|TITAN\b|GRID\b|(?:RTX|GTX|A|H|L|T|V|P|B|GB|GH)\d{1,4}\b)[\w .()+/-]*$"
)
_DRIVER = re.compile(r"^\d{3}\.\d{2,3}(?:\.\d{2})?$")
_OTHER = re.compile(
    r"^(?:\[.+\]|N/A|\d+(?:\.\d+)? ?(?:MiB|MB|%|W|MHz|C|x)?|P\d{1,2}|(?:GPU|MIG)-[\w-]+|[0-9A-Fa-f]{4,8}:\w\w:\w\w\.\w"
    r"|Default|Prohibited|Exclusive_Process|Enabled|Disabled|Not Active|Active|On|Off)$"
)
_GIGABYTES_IN_NAME = re.compile(r"(\d+) ?GB\b")
_NAME_TOLERANCE = 0.15  # 80 GB cards show 81559 or 81920 MiB
_MIN_SHARE = 0.95  # used and free add up to total less what the driver reserves


def guessed_row(line: str) -> dict[str, str] | None:
    """Columns of a row such as `0, NVIDIA A10, 23028, 1, 22515`; those that could mean several things are left out."""
    if "," not in line:
        return None
    cells = [cell.strip() for cell in line.split(",")]
    row: dict[str, str] = {}
    if len(cells) >= 2 and whole(cells[0]) is not None and len(cells[0]) <= 2:
        row["index"] = cells.pop(0)
    if len(cells) < 2 or not _PRODUCT.match(cells[0]) or not all(_OTHER.match(cell) for cell in cells[1:]):
        return None
    row["name"] = cells.pop(0)
    drivers = [cell for cell in cells if _DRIVER.match(cell)]
    if len(drivers) == 1:
        row["driver_version"] = drivers[0]
    uuids = [cell for cell in cells if cell.startswith("GPU-")]
    if uuids:
        row["uuid"] = uuids[0]
    row |= _memory(row["name"], [cell for cell in cells if cell not in drivers])
    percents = [cell for cell in cells if quantity(cell, ("%",)) is not None]
    return row | ({"utilization.gpu": percents[0]} if len(percents) == 1 else {})


def _memory(name: str, cells: list[str]) -> dict[str, str]:
    sizes = [cell for cell in cells if mib(cell) is not None] or _leading_numbers(cells)
    numbers = [int(size.split()[0].rstrip("MiB")) for size in sizes]
    if len(numbers) == 3 and numbers[0] == max(numbers):
        total, used, free = numbers
        return _columns(sizes, "memory.total", "memory.used", "memory.free") if _adds_up(total, used, free) else {}
    if numbers and _is_size_of(name, numbers[0]):
        return _columns(sizes[:1], "memory.total")
    return {}


def _leading_numbers(cells: list[str]) -> list[str]:
    """The bare numbers right behind the name, when nothing else is a bare number."""
    numbers = [cell for cell in cells if whole(cell) is not None]
    return numbers if numbers == cells[: len(numbers)] else []


def _columns(cells: list[str], *names: str) -> dict[str, str]:
    return dict(zip(names, cells, strict=True))


def _adds_up(total: int, used: int, free: int) -> bool:
    return _MIN_SHARE * total <= used + free <= total


def _is_size_of(name: str, size_mib: int) -> bool:
    found = _GIGABYTES_IN_NAME.search(name)
    return found is not None and abs(size_mib / (int(found[1]) * 1024) - 1) <= _NAME_TOLERANCE
