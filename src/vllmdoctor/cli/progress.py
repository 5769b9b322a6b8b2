"""Bytes read in, a bar on standard error out: only on a terminal, and only when reading takes over a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from vllmdoctor.cli.language import current_words
from vllmdoctor.languages import Message

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE_S = 1.0
_COMPRESSED = (".gz", ".zst", ".zip", ".tar", ".tgz", ".bz2", ".xz")


class ReadingProgress:
    """Call it with the bytes read since the last call."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._started = time.monotonic()
        self._read_bytes = 0
        self._wanted = sys.stderr is not None and sys.stderr.isatty()
        self._shown: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> ReadingProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._shown[0].stop()

    def __call__(self, read_bytes: int) -> None:
        self._read_bytes += read_bytes
        if self._wanted and time.monotonic() - self._started > _PATIENCE_S:
            progress, task = self._shown = self._shown or self._bar()
            progress.update(task, completed=self._read_bytes)

    def _bar(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True, markup=False, emoji=False, highlight=False)
        reading = current_words().said(Message("reading"))
        columns = (TextColumn(reading), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        progress = Progress(*columns, console=console, transient=True)
        progress.start()
        return progress, progress.add_task(reading, total=total_bytes(self._paths))


def total_bytes(paths: Sequence[str]) -> int | None:
    """The bytes that will be read, None when that cannot be told beforehand (pipes, folders, compressed files)."""
    files = [Path(path) for path in paths]
    try:
        if all(file.is_file() and not file.name.endswith(_COMPRESSED) for file in files):
            return sum(file.stat().st_size for file in files)
    except OSError:
        pass
    return None
