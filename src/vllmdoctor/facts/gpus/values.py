"""In: the text of one cell. Out: its number or text, None for every spelling of "not known"."""

from __future__ import annotations

import re

_UNKNOWN = re.compile(
    r"^\[?(?:N/?A|Not Supported|Unsupported|Not Available|Unknown Error|GPU is lost|ERR!|Insufficient Permissions"
    r"|No Permission|Requested functionality has been deprecated|Not Found|Not Active|-|None|)\]?$",
    re.IGNORECASE,
)
_FAULT = re.compile(r"^\[(Unknown Error|GPU is lost|GPU requires reset|Reset Required)\]$", re.IGNORECASE)
_MIB = re.compile(r"^(\d+) ?Mi?B$")
_QUANTITY = re.compile(r"^(\d+(?:\.\d+)?) ?([A-Za-z%°]*)$")
_VERSION = re.compile(r"^\d+(?:\.\d+)+$")
_VGPU_PROFILE = re.compile(r"^GRID\b|-\d+[ABCQV]$")
# Chips whose GPU uses the memory of the computer: the tools print no memory figures for them.
_UNIFIED = re.compile(r"\bGB10\b|\bThor\b|\bOrin\b|\bXavier\b|\(nvgpu\)")

_MIB_PER_UNIT = {"KB": 1 / 1024, "KIB": 1 / 1024, "MB": 1.0, "MIB": 1.0, "GB": 1024.0, "GIB": 1024.0}


def text_or_none(cell: str | None) -> str | None:
    """The cell's text, None when it only says that there is nothing to say."""
    if cell is None:
        return None
    cell = " ".join(cell.split())
    return None if _UNKNOWN.match(cell) else cell


def fault_in(cell: str) -> str | None:
    """`Unknown Error` and the like when the cell says so in brackets."""
    found = _FAULT.match(cell.strip())
    return found[1] if found else None


def mib(cell: str | None) -> int | None:
    """MiB of `81559MiB`, `81920 MiB` or, as old tools wrote it, `4799 MB`."""
    found = _MIB.match((cell or "").strip())
    return int(found[1]) if found else None


def mib_of_any_unit(cell: str | None) -> int | None:
    """MiB of `60.8 GB`, `285 MB`. The tools that print such cells mean powers of 1024."""
    found = _QUANTITY.match((cell or "").strip())
    factor = _MIB_PER_UNIT.get(found[2].upper()) if found else None
    return int(float(found[1]) * factor) if found and factor else None


def whole(cell: str | None) -> int | None:
    """A whole number without unit."""
    cell = (cell or "").strip()
    return int(cell) if cell.isascii() and cell.isdigit() else None


def quantity(cell: str | None, units: tuple[str, ...]) -> float | None:
    """The number of a cell whose unit is one of `units` ("" allows a bare number)."""
    found = _QUANTITY.match((cell or "").strip())
    return float(found[1]) if found and found[2] in units else None


def percent(cell: str | None, *, bare: bool = False) -> int | None:
    """`98 %` or `98%`; with `bare` also `98`."""
    value = quantity(cell, ("%", "") if bare else ("%",))
    return None if value is None else int(value)


def celsius(cell: str | None) -> int | None:
    """`42 C`, `42C`, `42 °C` or `42`."""
    value = quantity(cell, ("C", "°C", ""))
    return None if value is None else int(value)


def version(cell: str | None) -> str | None:
    """A dotted version number."""
    cell = (cell or "").strip()
    return cell if _VERSION.match(cell) else None


def name_and_cut(cell: str | None) -> tuple[str | None, bool]:
    """A product name, and whether the tool cut it."""
    name = text_or_none(cell)
    return name, name is not None and name.endswith("...")


def is_virtual(name: str | None) -> bool | None:
    """True for the name of a vGPU profile (`GRID A100-4C`), else unknown: a name does not deny it."""
    return True if name and _VGPU_PROFILE.search(name) else None


def is_unified(name: str | None) -> bool | None:
    """True for chips known to share the computer's memory, else unknown."""
    return True if name and _UNIFIED.search(name) else None
