"""Records in, runs (starts of vLLM) out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from vllmdoctor.logs.model import Record, Run
from vllmdoctor.logs.together import joined

_VERSION = re.compile(r"vLLM (?:API )?server version ")
_LOGO = re.compile(r"[█▄▀].{0,400}version \S")
_ARGS = ("args: Namespace(", "non-default args:")
_ENGINE = re.compile(r"Initializing an? (?:V\d )?LLM engine\b")
_COMMAND = re.compile(
    r"(?:\++ |[$#%] |\S{1,80}@\S{1,80}[:~].{0,100}[$#] )(?:[A-Z_][A-Z0-9_]*=\S* )*(?:\S*python\S* -m v"
    r"llm|\S*vllm serve\b)"
)
_OVER = (
    "Shutting down", "Shutdown initiated", "Shutdown complete", "[shutdown]", "exit code", "Killed", "[+] Restarting",
    "Started ", "Application shutdown", "Finished server process", "Terminated", "Segmentation fault", "Aborted",
)  # fmt: skip
_USAGE = re.compile(r"usage: (?:\S{1,80} )?(?:vllm|\S*api_server)\b")
_REFUSAL = re.compile(r"(?:vllm|api_server\.py)[\w ]{0,20}: error: ")
_RESTART = re.compile(
    r"exited with code \d{1,3} \(restarting\)|Scheduled restart job|Back-off restarting failed container"
    r"|\[\+\] Restarting"
)
_CLOSE_BY = 3  # records between a banner line and the arguments that belong to it


def split_runs(records: Sequence[Record]) -> tuple[Run, ...]:
    """The records by start; everything before the first banner belongs to the first run."""
    if not records:
        return ()
    splitter = _Splitter()
    begins: dict[int, int] = {}  # position of each input's first record
    starts = []
    for position, record in enumerate(records):
        begins.setdefault(record.first.input, position)
        before = splitter.input
        if splitter.starts_run(record):
            # What an input shows before its first banner belongs to the start that the banner tells of.
            starts.append(position if splitter.input == before else begins[splitter.input])
    bounds = [0, *starts, len(records)]
    chunks = [records[first:end] for first, end in pairwise(bounds)]
    return tuple(Run(number, tuple(run)) for number, run in enumerate(joined(chunks), start=1))


class _Splitter:
    """What the current run has shown."""

    def __init__(self) -> None:
        self._opened: set[str] = set()  # kinds of banner seen
        self._since = 0  # records since the last banner
        self._ended = False
        self._engines: dict[int | None, int | None] = {}  # pid by DP index
        self.input = -1  # that of the latest banner that opened a run
        self._refused = False  # the command line was refused
        self._restarted = False
        self._failures: set[str] = set()

    def starts_run(self, record: Record) -> bool:
        """Whether the record opens another run than the one before it."""
        self._since += 1
        kind = _banner_kind(record)
        if not kind:
            self._ended = self._ended or _ends_something(record)
            return self._repeats(record)
        new = bool(self._opened) and self._is_new(kind, record)
        if new:
            self._forget()
        if new or not self._opened:
            self._ended = False
            self.input = record.first.input
        self._opened.add(kind)
        self._since = 0
        if kind == "engine":
            self._engines[record.process.rank] = record.process.pid
        return new

    def _repeats(self, record: Record) -> bool:
        """A start that ends before its banner comes again: its usage is printed anew, or its error after a restart."""
        if self._opened - {"command"} or record.section != "log":
            return False
        text = record.text[:400]
        if record.kind == "message" and not _REFUSAL.match(text):
            if self._refused and _USAGE.match(text):
                self._forget()
                return True
            self._restarted = self._restarted or bool(_RESTART.search(text))
            return False
        again = self._restarted and text in self._failures
        if again:
            self._forget()
        self._failures.add(text)
        self._refused = self._refused or record.kind == "message"
        return again

    def _forget(self) -> None:
        self._opened.clear()
        self._engines.clear()
        self._failures.clear()
        self._refused = self._restarted = False

    def _is_new(self, kind: str, record: Record) -> bool:
        if kind == "engine":
            rank, pid = record.process.rank, record.process.pid
            return rank in self._engines and (self._ended or self._engines[rank] != pid)
        if record.first.input != self.input:
            return True
        if kind == "command":
            return True
        if kind == "banner":
            several_servers = not self._ended and record.process.label.startswith("ApiServer_")
            return bool(self._opened - {"command"}) and not several_servers
        return self._ended and self._since > _CLOSE_BY


def _banner_kind(record: Record) -> str:
    if record.kind != "message" or record.section != "log":
        return ""
    head = record.text[:600]
    if head[0:1] in "an" and head.startswith(_ARGS):
        return "args"
    if "version " in head and (_VERSION.match(head) or _LOGO.search(head)):
        return "banner"
    if head.startswith("Init") and _ENGINE.match(head):
        return "engine"
    if not record.first.headed and "vllm" in head and _COMMAND.match(head):
        return "command"
    return ""


def _ends_something(record: Record) -> bool:
    if record.kind == "exception":
        return True
    head = record.text[:200]
    return head.startswith(_OVER) or "exited with code" in head
