"""In: any text and its clean lines. Out: what rocm-smi says: concise table (no MiB), `GPU[0] : …` lines, CSV, JSON.

Its "Driver version" is left out: without a module of its own the tool prints the release of the kernel there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from .lines import unwrapped, with_whole_numbers
from .model import Gpu, Machine
from .values import percent, quantity, text_or_none, whole

_CONCISE = re.compile(r"^\s*(?:Device|GPU)\s.*\bVRAM%\s+GPU%\s*$")
_CONCISE_ROW = re.compile(r"^\s*(\d{1,3})\s.*\s(\d+%|N/A|[Uu]nsupported)\s+(\d+%|N/A|[Uu]nsupported)\s*$")
_CONCISE_ROW_START = re.compile(r"^\s*\d{1,3}\s")
_CONCISE_END = re.compile(r"^\s*=+.*End of ROCm SMI Log")
_NAME_LINE = re.compile(r"^\s{4,}((?:AMD|Radeon|Instinct|Navi|Vega|Arcturus|Aldebaran)\b.*?)\s*$")
_LINE = re.compile(r"GPU\[(\d+)\]\s*:\s*(\S[^:]*?)\s*:\s*(.*?)\s*$")
_CARD = re.compile(r"^card(\d+)$")
_HEX = re.compile(r"^0x[0-9a-fA-F]+$")
_BYTES_PER_MIB = 1024 * 1024
_PAGE_BYTES = 4096
_NAME_KEYS = ("card series", "device name", "card model", "marketing name")


def read_rocm(text: str, lines: Sequence[str]) -> list[Machine]:
    """One machine for each shape that is there."""
    concise = _concise(lines) or _concise(unwrapped(lines))
    document = _json(text) if '"card' in text else None
    machines = [concise, _key_lines(lines), _csv(lines), document]
    return [replace(machine, kinds=("rocm-smi",), vendor="amd") for machine in machines if machine]


def _concise(lines: Sequence[str]) -> Machine | None:
    gpus: dict[int, Gpu] = {}
    index: int | None = None
    inside = False
    for at, line in enumerate(lines):
        if _CONCISE.match(line):
            inside = True
        elif _CONCISE_END.match(line):
            inside = False
        elif inside:
            row = _CONCISE_ROW.match(line) or _joined_row(lines, at)
            name = _NAME_LINE.match(line)
            if row:
                index = int(row[1])
                gpus[index] = Gpu(index=index, vram_pct=percent(row[2]), util_pct=percent(row[3]))
            elif name and index is not None:
                gpus[index] = replace(gpus[index], name=text_or_none(name[1]))
    return Machine(gpus=tuple(gpus.values())) if gpus else None


def _joined_row(lines: Sequence[str], at: int) -> re.Match[str] | None:
    """A row that a window broke in two."""
    if not _CONCISE_ROW_START.match(lines[at]) or at + 1 >= len(lines) or _CONCISE_ROW_START.match(lines[at + 1]):
        return None
    return _CONCISE_ROW.match(lines[at] + lines[at + 1])


def _key_lines(lines: Sequence[str]) -> Machine | None:
    cards: dict[int, dict[str, str]] = {}
    for line in with_whole_numbers(lines):
        found = _LINE.search(line)
        if found:
            cards.setdefault(int(found[1]), {})[found[2]] = found[3]
    gpus = _gpus(cards)
    return Machine(gpus=gpus) if gpus else None


def _csv(lines: Sequence[str]) -> Machine | None:
    cards: dict[int, dict[str, str]] = {}
    columns: list[str] = []
    for line in lines:
        parts = [part.strip() for part in line.split(",")]
        card = _CARD.match(parts[0])
        if parts[0] == "device" and len(parts) > 1:
            columns = parts
        elif card and len(columns) > 1:
            # A vendor's name may hold a comma: what stands before it keeps its place.
            cards[int(card[1])] = dict(zip(columns[1:], parts[1:], strict=False))
    gpus = _gpus(cards)
    return Machine(gpus=gpus) if gpus else None


def _json(text: str) -> Machine | None:
    at = re.search(r"\{\s*\"(?:card\d+|system)\"\s*:\s*\{", text)
    if not at:
        return None
    try:
        document, _end = json.JSONDecoder().raw_decode(text, at.start())
    except (ValueError, RecursionError):
        return None
    cards = {
        int(card[1]): {str(name): str(value) for name, value in values.items()}
        for key, values in document.items()
        if (card := _CARD.match(key)) and isinstance(values, dict)
    }
    gpus = _gpus(cards)
    return Machine(gpus=gpus) if gpus else None


def _gpus(cards: dict[int, dict[str, str]]) -> tuple[Gpu, ...]:
    """GPUs from `key: value` as rocm-smi names it; upper and lower case vary with the release."""
    lowered = {index: {key.lower(): value for key, value in card.items()} for index, card in sorted(cards.items())}
    return tuple(_gpu(index, card) for index, card in lowered.items())


def _gpu(index: int, card: dict[str, str]) -> Gpu:
    names = [card[key] for key in _NAME_KEYS if key in card and not _HEX.match(card[key])]
    watts = card.get("average graphics package power (w)", card.get("current socket graphics package power (w)"))
    share = card.get("gpu memory allocated (vram%)")
    heat = quantity(card.get("temperature (sensor junction) (c)", card.get("temperature (sensor edge) (c)")), ("",))
    return Gpu(
        index=index,
        name=next((name for value in names if (name := text_or_none(value))), None),
        total_mib=_mib_of_bytes(card.get("vram total memory (b)")),
        used_mib=_mib_of_bytes(card.get("vram total used memory (b)")),
        util_pct=percent(card.get("gpu use (%)"), bare=True),
        vram_pct=percent(share, bare=True),
        bus_id=text_or_none(card.get("pci bus")),
        temperature_c=None if heat is None else int(heat),
        power_w=quantity(watts, ("",)),
    )


def _mib_of_bytes(cell: str | None) -> int | None:
    """The driver counts whole pages; another number of bytes was cut."""
    size = whole(cell)
    return None if size is None or size % _PAGE_BYTES else size // _BYTES_PER_MIB
