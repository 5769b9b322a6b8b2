"""In: clean lines. Out: the rows of framed tables, with rows that a narrow window or a mailer broke joined again."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ROW_START = re.compile(r"^\s*(?:\||\+[-=+ ])")
_BORDER_START = re.compile(r"^\s*\+[-=+]+$")
_BORDER_REST = re.compile(r"^\s*[-=+]+$")
_MAX_ROW = 160
_MAX_PARTS = 4
_NEAR = 60  # lines in which other rows of the same table are looked for


def table_rows(lines: Sequence[str]) -> list[str]:
    """Every line that begins with `|` or a frame, in one piece. Other lines come as empty rows (they end a table)."""
    rows: list[str] = []
    width = 0
    at = 0
    while at < len(lines):
        if not _ROW_START.match(lines[at]):
            rows.append("")
            at += 1
            continue
        row, used = _joined(lines, at, width)
        if row.startswith("+") and row.endswith("+"):
            width = len(row)
        rows.append(row)
        at += used
    return rows


def cells(row: str) -> list[str]:
    """What stands between the bars, stripped."""
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def is_frame(row: str) -> bool:
    """A row that only draws lines."""
    return bool(row) and not row.strip("+-=| ")


def _joined(lines: Sequence[str], at: int, width: int) -> tuple[str, int]:
    """The row that begins at `at`, and over how many lines it runs."""
    if at + 1 >= len(lines) or not _continues(lines[at], lines, at + 1, width):
        return lines[at].strip(), 1
    column, indent = _broken_at(lines, at)
    row, used = lines[at].removeprefix(indent), 1
    column = max(column, len(row))
    while used < _MAX_PARTS and at + used < len(lines) and _continues(row, lines, at + used, width):
        # An editor may have cut blanks at the break: all pieces but the last were as wide as the widest.
        row = row.ljust(column * used) + lines[at + used].removeprefix(indent)
        used += 1
    return row.strip(), used


def _broken_at(lines: Sequence[str], at: int) -> tuple[int, str]:
    """The column at which the table around `at` was broken, and the indentation put before the pieces.

    Both come from the pieces of frames, which hold no blanks of their own.
    """
    near = lines[max(0, at - _NEAR) : at + _NEAR]
    rests = [line for line in near if _BORDER_REST.match(line)]
    indent = min((len(line) - len(line.lstrip()) for line in rests), default=0)
    starts = [len(line) - indent for line in near if _BORDER_START.match(line) and not line.rstrip().endswith("+")]
    return max(starts, default=0), " " * indent


def _continues(row: str, lines: Sequence[str], at: int, width: int) -> bool:
    part = lines[at]
    length = len(row.strip())
    if not part.strip() or length + len(part.strip()) > _MAX_ROW:
        return False
    if _BORDER_START.match(row):
        return not row.rstrip().endswith("+") and bool(_BORDER_REST.match(part)) and not part.strip().startswith("+-")
    if _ROW_START.match(part):
        return bool(width) and length < width and len(row.lstrip() + part.rstrip()) == width
    ends = row.rstrip().endswith("|")
    if ends and (not width or length >= width):
        return False
    return _closes(lines, at)


def _closes(lines: Sequence[str], at: int) -> bool:
    """Whether one of the next pieces ends with a bar, before another row begins."""
    for line in lines[at : at + _MAX_PARTS - 1]:
        if not line.strip() or _ROW_START.match(line):
            return False
        if line.rstrip().endswith("|"):
            return True
    return False
