"""A piped log in; the same bytes on standard output as they come, and to the reader that diagnoses them, out."""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import BinaryIO, cast

from vllmdoctor.cli.output import drop_output
from vllmdoctor.errors import UsageError
from vllmdoctor.languages import Message

_READ_BYTES = 1 << 18


class Tee:
    """A pipe whose bytes go to `out` before anyone sees them. A reader of `out` that went away stops nothing."""

    def __init__(self, pipe: io.BufferedIOBase, out: BinaryIO) -> None:
        self._pipe = pipe
        self._out: BinaryIO | None = out
        self._buffer = memoryview(bytearray(_READ_BYTES))

    def read(self, size: int = -1) -> bytes:
        """The next bytes, `size` or a buffer full of them; each piece is passed on when it comes, not with the last."""
        wanted = _READ_BYTES if size < 0 else min(size, _READ_BYTES)
        filled = 0
        while filled < wanted and (got := self._pipe.readinto1(self._buffer[filled:wanted])):
            self._pass_on(self._buffer[filled : filled + got])
            filled += got
        return bytes(self._buffer[:filled])

    def drain(self) -> None:
        """Passes on what the reader did not want."""
        while self.read():
            pass

    def _pass_on(self, piece: memoryview) -> None:
        if self._out is None:
            return
        try:
            self._out.write(piece)
            self._out.flush()
        except BrokenPipeError:
            self._out = None
            drop_output()


@contextmanager
def passed_through() -> Iterator[BinaryIO]:
    """Standard input as a stream that also goes to standard output, to its end whatever the reader makes of it."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(Message("--tee passes a piped log on: `vllm serve MODEL 2>&1 | vllmdoctor analyze --tee`"))
    sys.stdout.flush()
    tee = Tee(cast("io.BufferedIOBase", sys.stdin.buffer), sys.stdout.buffer)
    with _outliving_one_interrupt():
        try:
            yield cast("BinaryIO", tee)
        except Exception:
            tee.drain()
            raise
        tee.drain()


@contextmanager
def _outliving_one_interrupt() -> Iterator[None]:
    """Ctrl-C goes to every program of the pipeline: the server ends, and its last lines still have to be read."""

    def once(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
