"""Starts found input by input in, those that several inputs show of one start joined in the order of time out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vllmdoctor.logs.model import Record

# Month, day, hour, minute, second: what times of different formats have in common.
_Moment = tuple[int, ...]
_CALENDAR = re.compile(r"(?<!\d)(\d\d)[-/](\d\d)[T -](\d\d):(\d\d):(\d\d)")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SYSLOG = re.compile(rf"({'|'.join(_MONTHS)}) +(\d{{1,2}}) (\d\d):(\d\d):(\d\d)")


@dataclass(slots=True)
class _Start:
    """One start, as one input or several show it."""

    records: list[Record]
    inputs: set[int]
    first: _Moment | None
    last: _Moment | None

    def is_same(self, other: _Start) -> bool:
        """Both ran at the same time, or neither tells a time. Restarts within one input are starts of their own."""
        if self.inputs & other.inputs:
            return False
        if self.first is None or self.last is None or other.first is None or other.last is None:
            return self.first is None and other.first is None
        return self.first <= other.last and other.first <= self.last

    def join(self, other: _Start) -> None:
        self.records += other.records
        self.inputs |= other.inputs
        if self.first is not None and self.last is not None and other.first is not None and other.last is not None:
            self.records = [*_by_time(self.records)]
            self.first, self.last = min(self.first, other.first), max(self.last, other.last)


def joined(starts: Sequence[Sequence[Record]]) -> list[list[Record]]:
    """Two ranks' logs, each with its banner, are one start; records are numbered anew when that changes their order."""
    found: list[_Start] = []
    for records in starts:
        start = _start_of(records)
        same = next((other for other in reversed(found) if other.is_same(start)), None)
        if same is None:
            found.append(start)
        else:
            same.join(start)
    if len(found) == len(starts):
        return [start.records for start in found]
    return _numbered([start.records for start in found])


def _start_of(records: Sequence[Record]) -> _Start:
    moments = [moment for record in records if (moment := moment_of(record.time))]
    home = {record.first.input for record in records if record.section == "log"}
    return _Start(list(records), home, min(moments, default=None), max(moments, default=None))


def moment_of(time: str | None) -> _Moment | None:
    """None for what does not tell the day (a clock, a count of milliseconds)."""
    if not time:
        return None
    if found := _CALENDAR.search(time):
        return tuple(map(int, found.groups()))
    if found := _SYSLOG.search(time):
        month, *rest = found.groups()
        return (_MONTHS.index(month) + 1, *map(int, rest))
    return None


def _by_time(records: Sequence[Record]) -> list[Record]:
    """Interleaved by time; the order within an input stays, and what tells no time goes with what stands before it."""
    latest: dict[int, _Moment] = {}
    keys: list[_Moment] = []
    for record in records:
        number = record.first.input
        moment = moment_of(record.time)
        if moment is not None:
            latest[number] = max(moment, latest.get(number, ()))
        keys.append(latest.get(number, ()))
    order = sorted(range(len(records)), key=lambda position: keys[position])
    return [records[position] for position in order]


def _numbered(runs: Sequence[Sequence[Record]]) -> list[list[Record]]:
    numbers = {record.index: number for number, record in enumerate(r for records in runs for r in records)}
    return [
        [
            record._replace(
                index=numbers[record.index],
                chained_from=None if record.chained_from is None else numbers.get(record.chained_from),
            )
            for record in records
        ]
        for records in runs
    ]
