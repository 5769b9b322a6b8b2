"""In: clean lines. Out: Xid errors of the NVIDIA kernel driver, as dmesg and journals print them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .model import Machine, Xid

_XID = re.compile(r"NVRM: Xid \((?:PCI:)?(?P<pci>[0-9A-Fa-f]{4,8}(?::[0-9A-Fa-f.]+)+)\): (?P<code>\d+),\s*(?P<rest>.*)")
_PID = re.compile(r"^pid=(?:'?<?(?P<pid>\d+|unknown)>?'?),")
_FIELDS = re.compile(r"^(?:(?:pid|name|Ch|channel|intr)[=:]?\s*[^,]*,\s*)+")


def read_xids(lines: Sequence[str]) -> list[Machine]:
    """All Xid lines, in the order of printing; a line printed twice (dmesg and journal) counts once."""
    xids: dict[Xid, None] = {}
    for line in lines:
        found = _XID.search(line)
        if found:
            xids[_xid(found)] = None
    if not xids:
        return []
    errors = tuple(dict.fromkeys(f"Xid {xid.code} on {xid.pci}: {xid.text}".rstrip(": ") for xid in xids))
    return [Machine(errors=errors, xids=tuple(xids), kinds=("dmesg",))]


def _xid(found: re.Match[str]) -> Xid:
    rest = found["rest"].strip()
    pid = _PID.match(rest)
    number = int(pid["pid"]) if pid and pid["pid"].isdigit() else None
    return Xid(pci=found["pci"], code=int(found["code"]), text=_FIELDS.sub("", rest) or rest, pid=number)
