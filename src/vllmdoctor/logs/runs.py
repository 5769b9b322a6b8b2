"""Records in, runs (starts of vLLM) out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from vllmdoctor.logs.model import Record, Run

_VERSION = re.compile(r"vLLM (?:API )?server version ")
_LOGO = re.compile(r"[█▄▀].*version \S")
_ARGS = ("args: Namespace(", "non-default args:")
_ENGINE = re.compile(r"Initializing an? (?:V\d )?LLM engine\b")
_COMMAND = re.compile(r"(?:\++ |[$#%] |\S+@\S+[:~].{0,100}[$#] )(?:[A-Z_][A-Z0-9_]*=\S* )*(?:\S*python\S* -m vllm|\S*vllm serve\b)")
_OVER = re.compile(
    r"Shutting down|Shutdown (?:initiated|complete)|\[shutdown\]|exited with code|exit code|Killed|Restarting|Started \S+|Application shutdown"
    r"|Finished server process|failed to start|Terminated|Segmentation fault"
)


def split_runs(records: Sequence[Record]) -> tuple[Run, ...]:
    """The records by start; everything before the first banner belongs to the first run."""
    if not records:
        return ()
    splitter = _Splitter()
    starts = [position for position, record in enumerate(records) if splitter.starts_run(record)]
    bounds = [0, *[position for position in starts if position > 0], len(records)]
    return tuple(
        Run(number, tuple(records[first:end]))
        for number, (first, end) in enumerate(zip(bounds, bounds[1:], strict=False), start=1)
    )


class _Splitter:
    def __init__(self) -> None:
        self._banner: str = ""  # what the current run has opened with
        self._since = 0  # records since that banner
        self._serving = False
        self._ended = False
        self._engines: set[tuple[int | None, int | None]] = set()
        self._input = -1

    def starts_run(self, record: Record) -> bool:
        """Whether the record opens another run than the one before it."""
        self._since += 1
        kind = self._kind_of(record)
        new = kind != "" and self._is_new(kind, record)
        if new:
            self._open(kind, record)
            return True
        if kind and not self._banner:
            self._open(kind, record)
        if kind == "engine":
            self._engines.add((record.process.rank, record.process.pid))
        if kind == "banner":
            self._serving = True
        if record.kind == "exception" or _OVER.match(record.text[:200]) or "exited with code" in record.text[:200]:
            self._ended = True
        if kind == "":
            self._serving = True
        return False

    @staticmethod
    def _kind_of(record: Record) -> str:
        if record.kind != "message":
            return ""
        head = record.text[:600]
        if _VERSION.match(head) or ("version" in head and _LOGO.search(head)):
            return "banner"
        if head.startswith(_ARGS):
            return "args"
        if _ENGINE.match(head):
            return "engine"
        if not record.first.headed and "vllm" in head and _COMMAND.match(head):
            return "command"
        return ""

    def _is_new(self, kind: str, record: Record) -> bool:
        if not self._banner:
            return False
        if record.first.input != self._input and kind in ("banner", "command"):
            return True
        if kind == "banner":
            return self._banner not in ("command", "early") and not self._same_start(record)
        if kind == "command":
            return self._ended
        if kind == "args":
            return self._ended and self._since > 3
        same_engine = any(rank == record.process.rank for rank, _ in self._engines)
        return same_engine and self._ended

    def _same_start(self, record: Record) -> bool:
        """Several API servers of one start print their banners before anything ends."""
        return not self._ended and record.process.label.startswith("ApiServer_")

    def _open(self, kind: str, record: Record) -> None:
        self._banner = kind
        self._since = 0
        self._ended = False
        self._engines = {(record.process.rank, record.process.pid)} if kind == "engine" else set()
        self._input = record.first.input


def renumbered(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Runs with their numbers from 1."""
    return tuple(replace(run, number=number) for number, run in enumerate(runs, start=1))
