"""The vocabulary of a read log: physical lines in, records, exceptions and runs out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

API_SERVER, ENGINE_CORE, WORKER = "APIServer", "EngineCore", "Worker"

# Of the small values below a large log needs several per line: named tuples are made five times as fast as frozen
# dataclasses and hashed without Python code.

# How deep a process sits in vLLM's tree: a worker's error causes the engine core's, that one the API server's.
DEPTHS = {API_SERVER: 1, ENGINE_CORE: 2, WORKER: 3}


class Process(NamedTuple):
    """Who printed a line. `name` is one of APIServer, EngineCore, Worker, or "" when the line does not say.

    `label` is the name as printed (`Worker_TP1_EP1`, `RayWorkerWrapper`), `rank` the rank it tells, `host` an address
    (Ray). Two lines are of the same process when their `Process` values are equal.
    """

    name: str = ""
    label: str = ""
    pid: int | None = None
    rank: int | None = None
    host: str | None = None

    @property
    def depth(self) -> int:
        """3 worker, 2 engine core, 1 API server, 0 unknown."""
        return DEPTHS.get(self.name, 0)


NO_PROCESS = Process()


class RawLine(NamedTuple):
    """A physical line as intake hands it over: `input` is the index of the input, `number` 1-based.

    `text` is decoded and has no line end; it may still hold escape sequences, NULs and bare carriage returns.
    """

    input: int
    number: int
    text: str


class Line(NamedTuple):
    """One printed line with every prefix taken off. `text` keeps its leading spaces (tracebacks need them)."""

    input: int
    number: int
    text: str
    process: Process = NO_PROCESS
    level: str | None = None  # DEBUG INFO WARNING ERROR CRITICAL, as vLLM's or another logger printed it
    time: str | None = None  # as printed
    place: str | None = None  # core.py:708
    section: str = "log"  # log, nvidia-smi, collect-env, dmesg
    headed: bool = False  # the line began with a logger's header (level, time, place)


class Frame(NamedTuple):
    """One traceback entry. `source` is the source line below it, "" when the log does not show it."""

    file: str
    line: int | None
    function: str
    source: str = ""


class Record(NamedTuple):
    """A logger message or an exception: what signatures look at.

    `text` is the message on one line, runs of white space folded into one space: for an exception `ValueError: …` with
    the lines that continue its message, for a message the line with the lines that continue it. `starts` holds for
    each of `text_lines` the offset in `text` at which it begins, so that a match can be traced to its line.
    `chained_from` is the index of the exception that this one was raised from or while handling (printed before it).
    `code` is the message rebuilt from the source lines of the `raise` when the log shows no exception line, else "".
    """

    index: int  # type: ignore[assignment]  # shadows tuple.index, which nobody needs of a record
    kind: str  # message, exception
    text: str
    process: Process
    level: str | None
    time: str | None
    place: str | None
    section: str
    text_lines: tuple[Line, ...]
    starts: tuple[int, ...]
    first: Line  # first line of the record (for an exception: the Traceback line or first frame)
    last: Line
    exception: str = ""  # ValueError, torch.OutOfMemoryError, …
    frames: tuple[Frame, ...] = ()
    chained_from: int | None = None
    code: str = ""
    echo: bool = False  # echoed configuration, arguments or request text: never an error

    def line_at(self, offset: int) -> Line:
        """The physical line that holds character `offset` of `text`."""
        found = self.text_lines[0]
        for line, start in zip(self.text_lines, self.starts, strict=True):
            if start > offset:
                break
            found = line
        return found


@dataclass(frozen=True, slots=True)
class Run:
    """One start of vLLM inside the inputs: records in the order of printing."""

    number: int  # 1-based
    records: tuple[Record, ...]

    @property
    def first(self) -> Line:
        return self.records[0].first

    @property
    def last(self) -> Line:
        """The last line of the input that the run begins in; other inputs may tell of the same start."""
        number = self.first.input
        return next(record.last for record in reversed(self.records) if record.last.input == number)


@dataclass(frozen=True, slots=True)
class Log:
    """All inputs, read: every line, the records made of them, and the runs they fall into."""

    lines: tuple[Line, ...]
    runs: tuple[Run, ...]
    kinds: frozenset[str] = field(default_factory=frozenset)  # vllm-log, nvidia-smi, collect-env, dmesg, client-error
