"""Raw lines in, a `Log` of lines, records and runs out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from vllmdoctor.logs.kinds import kinds_of
from vllmdoctor.logs.lines import read_lines
from vllmdoctor.logs.model import (
    API_SERVER,
    DEPTHS,
    ENGINE_CORE,
    NO_PROCESS,
    WORKER,
    Frame,
    Line,
    Log,
    Process,
    RawLine,
    Record,
    Run,
)
from vllmdoctor.logs.records import read_records
from vllmdoctor.logs.runs import split_runs

__all__ = [
    "API_SERVER",
    "DEPTHS",
    "ENGINE_CORE",
    "NO_PROCESS",
    "WORKER",
    "Frame",
    "Line",
    "Log",
    "Process",
    "RawLine",
    "Record",
    "Run",
    "read_log",
]

_NO_SECTIONS: Mapping[int, str] = MappingProxyType({})


def read_log(raw_lines: Iterable[RawLine], *, sections: Mapping[int, str] = _NO_SECTIONS) -> Log:
    """Read the lines of all inputs, in order; `sections` forces the section of a whole input."""
    lines = tuple(read_lines(raw_lines, sections))
    records = read_records(lines)
    return Log(lines, split_runs(records), kinds_of(lines, records))
