"""A directory in, the files below it that are named like logs out."""

from __future__ import annotations

import os
import re
import stat

from vllmdoctor.languages import Message

MAX_FILES = 10_000

_LOG_SUFFIXES = frozenset((".log", ".txt", ".out", ".err", ".json", ".jsonl", ".stdout", ".stderr"))
_PACKED_SUFFIXES = (".gz", ".zst", ".bz2", ".xz")
_ARCHIVE_SUFFIXES = (".zip", ".tar", ".tgz", ".tbz2", ".txz", ".tzst")
# startup.log.1, startup.log-20260501, startup.log.2026-05-01-10
_ROTATION = re.compile(r"(?:[.-]\d{1,10}(?:[-T_.:]\d{1,6}){0,5})+$")


def named_like_log(name: str) -> bool:
    """Whether a file of this name may be a log: *.log, *.txt …, no suffix, rotated, and the same compressed."""
    name = name.lower()
    for suffix in _PACKED_SUFFIXES:
        name = name.removesuffix(suffix)
    if name.endswith(_ARCHIVE_SUFFIXES):
        return True
    if os.path.splitext(name)[1] in _LOG_SUFFIXES:
        return True
    name = _ROTATION.sub("", name)
    suffix = os.path.splitext(name)[1]
    return suffix == "" or suffix in _LOG_SUFFIXES


def hidden(path: str) -> bool:
    """Whether a part of the path is hidden, or is the shadow copy a Mac puts into archives."""
    return any(
        part.startswith(".") or part == "__MACOSX" for part in re.split(r"[/\\]", path) if part not in (".", "..")
    )


def log_files(folder: str) -> tuple[list[str], list[str]]:
    """The paths of the files below `folder` named like logs, sorted, and notes on what could not be listed."""
    notes: list[str] = []
    found: list[str] = []

    def note(error: OSError) -> None:
        notes.append(Message("{name}: skipped, {problem}", name=error.filename, problem=error.strerror))

    for place, folders, files in os.walk(folder, onerror=note):
        folders[:] = sorted(name for name in folders if not hidden(name))
        for name in sorted(files):
            path = os.path.join(place, name)
            if not hidden(name) and named_like_log(name) and _is_regular(path):
                found.append(path)
        if len(found) >= MAX_FILES:
            break
    return sorted(found)[:MAX_FILES], notes


def _is_regular(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False
