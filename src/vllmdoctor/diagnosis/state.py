"""A run's records in, what each of them stands for out: noise, phase, ready or not, after an interruption or not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vllmdoctor.logs.model import Process, Record
from vllmdoctor.rules.model import FactBook, Mark
from vllmdoctor.rules.prefilter import candidates, compiled, search

UNKNOWN_PHASE = "unknown"
_ERROR_LEVELS = frozenset({"ERROR", "CRITICAL", "FATAL"})
_SERVED = re.compile(r'"POST \S+ HTTP/[\d.]+" 200|generation throughput: (?!0\.0 )\d')
_SERVER_ERROR = re.compile(r'" 5\d\d\b')
_ANSWERED_BY_ANY = re.compile(
    r'"GET /(?:metrics|version|load|v1/models|openapi\.json|docs) HTTP/'
)  # a dead engine's too
_AT_ONCE = 3  # records between the answer that tells of a dead engine and the shutdown that the server begins then
_STARTING = frozenset({"configuration", "distributed-init", "loading-weights", "profiling", "kv-cache-allocation"})


@dataclass(frozen=True, slots=True)
class RunState:
    """Per record, by its position in `records`: noise ids, the phase it belongs to, whether a server was ready then.

    `interrupted_at` is the position of the first sign that the user or the system asked for the end (len(records) when
    there is none); `ready_at_end` tells whether the server was ready after the last phase mark.
    """

    records: Sequence[Record]
    noise: Mapping[int, str]
    phases: Sequence[str]
    frame_phases: Sequence[str]
    ready: Sequence[bool]
    interrupted_at: int
    ready_at_end: bool
    served_at: Sequence[int]  # positions of signs that requests are answered
    ever_ready: bool
    last_phase: str
    failures: frozenset[int] = frozenset()  # lines without a level that speak of a failure
    remains: frozenset[int] = frozenset()  # what is left around a failure that is cut off
    never_ready_inputs: frozenset[int] = frozenset()  # those that show a start of their own, and nothing of its success

    def outlived_by_start(self, position: int) -> bool:
        """The server became ready after this record, and not another one whose log was given as well."""
        return not self.in_failed_input(position) and (self.ready_at_end or any(self.ready[position + 1 :]))

    def in_failed_input(self, position: int) -> bool:
        return self.records[position].first.input in self.never_ready_inputs

    def is_error(self, position: int) -> bool:
        """True for exceptions, error lines, and lines outside of any logger, unless they are known noise or an echo."""
        record = self.records[position]
        return position not in self.noise and not record.echo and rank_of(record) == "error"


def rank_of(record: Record) -> str:
    """How loud a record is: error, warning or info. Lines without a level come from other programs' stderr: error."""
    if record.kind == "exception" or record.level is None or record.level in _ERROR_LEVELS:
        return "error"
    return "warning" if record.level == "WARNING" else "info"


def frame_text(record: Record) -> str:
    """The frames of an exception, one a line: `path function | source line`, the innermost last."""
    return "\n".join(f"{frame.file} {frame.function} | {frame.source.strip()}" for frame in record.frames)


def _noise_begins_by(record: Record) -> int:
    """An exception is noise by its own words only, not by a harmless line that its message quotes or runs into."""
    return len(record.exception) + len(": ") if record.kind == "exception" else len(record.text)


def read_state(records: Sequence[Record], book: FactBook) -> RunState:
    """Walks the run once, in the order of printing."""
    texts = [record.text for record in records]
    noise: dict[int, str] = {}
    for item, position in candidates([n.literals for n in book.noise], texts):
        found = search(book.noise[item].pattern, texts[position], book.noise[item].literals)
        if found and found.start() <= _noise_begins_by(records[position]):
            noise.setdefault(position, book.noise[item].id)
    lines = [mark for mark in book.marks if mark.where == "line"]
    hits: dict[int, list[Mark]] = {}
    for item, position in candidates([mark.literals for mark in lines], texts):
        if search(lines[item].pattern, texts[position], lines[item].literals):
            hits.setdefault(position, []).append(lines[item])
    frames = [mark for mark in book.marks if mark.where == "frame"]
    frame_phases = [_frame_phase(record, frames) for record in records]
    walk = _Walk()
    for position, record in enumerate(records):
        told = record.kind == "exception" or record.level in _ERROR_LEVELS
        is_error = told and position not in noise and not record.echo
        walk.step(position, record, hits.get(position, []), is_error)
    phases = [own or walked for own, walked in zip(_shared(records, frame_phases), walk.phases, strict=True)]
    return RunState(
        records=records,
        noise=noise,
        phases=phases,
        frame_phases=frame_phases,
        ready=walk.ready_before,
        interrupted_at=walk.interrupted_at if walk.interrupted_at is not None else len(records),
        ready_at_end=walk.ready,
        served_at=walk.served_at,
        ever_ready=walk.ever_ready,
        last_phase=walk.latest,
        failures=_marked("failure", hits),
        remains=_marked("remains", hits),
        never_ready_inputs=frozenset(walk.starting_inputs - walk.ready_inputs),
    )


def _marked(kind: str, hits: Mapping[int, Sequence[Mark]]) -> frozenset[int]:
    return frozenset(position for position, marks in hits.items() if any(mark.mark == kind for mark in marks))


class _Walk:
    """Follows the marks: the latest phase overall and of each process, readiness, interruption."""

    def __init__(self) -> None:
        self.phases: list[str] = []
        self.ready_before: list[bool] = []
        self.ready = False
        self.ever_ready = False
        self.served_at: list[int] = []
        self.interrupted_at: int | None = None
        self.latest = ""
        self.starting_inputs: set[int] = set()
        self.ready_inputs: set[int] = set()
        self._by_process: dict[Process, tuple[int, str]] = {}
        self._errors = False
        self._server_error_at = -_AT_ONCE - 1

    def step(self, position: int, record: Record, marks: Sequence[Mark], is_error: bool) -> None:
        self._errors = self._errors or is_error
        if _SERVER_ERROR.search(record.text[-40:]):
            self._server_error_at = position
        self.phases.append(self._phase_of(record.process))
        self.ready_before.append(self.ready)
        for mark in marks:
            if mark.mark == "phase":
                self._enter(mark.phase, record, position)
            elif mark.mark == "ready" and not (self._errors and _ANSWERED_BY_ANY.search(record.text)):
                self.ready = self.ever_ready = True
                self.ready_inputs.add(record.first.input)
                if _SERVED.search(record.text):
                    self.served_at.append(position)
            elif self.interrupted_at is None and (
                mark.mark == "interrupted" or (mark.mark == "shutdown" and not self._fails(position))
            ):
                self.interrupted_at = position

    def _fails(self, position: int) -> bool:
        """A shutdown that nobody asked for: an error stands before it, or a server error's access line right before.

        The API server ends when the engine is dead, and may say so before the engine's own lines arrive.
        """
        return self._errors or position - self._server_error_at <= _AT_ONCE

    def _phase_of(self, process: Process) -> str:
        """The latest phase among the lines that speak for a process: its own and those without a prefix; for the engine
        core and the API server also those of deeper processes. A worker may be behind or ahead of the others."""
        told = [
            (position, phase)
            for other, (position, phase) in self._by_process.items()
            if not other.name or other == process or 0 < process.depth < other.depth
        ]
        if process.name and told:
            return max(told)[1]
        # An error without a prefix behind a server's statistics with one: another program's, its phase is not known.
        latest = max(self._by_process.items(), key=lambda item: item[1], default=None)
        if latest is None or (not process.name and latest[0].name and latest[1][1] == "serving"):
            return UNKNOWN_PHASE
        return latest[1][1]

    def _enter(self, phase: str, record: Record, position: int) -> None:
        if phase in _STARTING:
            self.ready = False
            self.interrupted_at = None
            if record.first.headed:
                self.starting_inputs.add(record.first.input)
        self.latest = phase
        self._by_process[record.process] = (position, phase)


def _frame_phase(record: Record, marks: Sequence[Mark]) -> str:
    if not record.frames:
        return ""
    text = frame_text(record)
    return next((mark.phase for mark in marks if compiled(mark.pattern).search(text)), "")


def _shared(records: Sequence[Record], frame_phases: Sequence[str]) -> list[str]:
    """Phases told by frames, handed on to records that tell the same error without frames."""
    by_text = {record.text[-200:]: phase for record, phase in zip(records, frame_phases, strict=True) if phase}
    result = []
    for record, phase in zip(records, frame_phases, strict=True):
        tail = record.text[-200:]
        result.append(phase or (by_text.get(tail, "") or _quoted(tail, by_text) if rank_of(record) == "error" else ""))
    return result


def _quoted(tail: str, by_text: Mapping[str, str]) -> str:
    """The phase of an error that this text quotes, or that quotes this text; short texts prove nothing."""
    if len(tail) < 40:
        return ""
    for text, phase in by_text.items():
        message = text.partition(": ")[2][:160]
        if tail in text or (len(text) > 60 and message and message in tail):
            return phase
    return ""
