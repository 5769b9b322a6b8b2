"""Paths (files, `-`, archives, directories) in, one Source per text found in them out."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from typing import IO, BinaryIO

from vllmdoctor.errors import InputError
from vllmdoctor.intake.folders import MAX_FILES, log_files
from vllmdoctor.intake.source import BINARY, EMPTY, TAR, ZIP, Probe, Source, probe, text_source
from vllmdoctor.intake.streams import ByteStream, Opener, file_blocks, pipe_blocks
from vllmdoctor.languages import Message

STDIN_NAME = "<stdin>"
_TEXT_HINT = Message("Give the log as text, or packed as .gz, .zst, .bz2, .xz, .zip or .tar.")
_FOLDER_HINT = Message(
    "Looked for *.log, *.txt, *.out, *.err, *.json, rotated and packed ones, and names without a suffix."
)
# An archive must be read twice (names first); from a pipe that means keeping it.
_PIPED_ARCHIVE_BYTES = 32 << 20


def open_sources(paths: Sequence[str], *, stdin: BinaryIO | None = None) -> list[Source]:
    """The texts behind the paths, in order; raises InputError for a path that gives none."""
    sources: list[Source] = []
    for path in paths:
        if path == "-":
            pipe = stdin if stdin is not None else sys.stdin.buffer
            sources += _pipe_sources(STDIN_NAME, pipe_blocks(pipe))
        else:
            sources += _path_sources(path)
    return sources


def _path_sources(path: str) -> list[Source]:
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            return _folder_sources(path)
        if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and path not in (os.devnull, "/dev/stdin", "/dev/tty")):
            raise InputError(
                path, Message("is a device, not a log"), Message("Name a file, or pipe the log in and name -.")
            )
        if not stat.S_ISREG(mode):
            return _pipe_sources(path, _named_pipe_blocks(path))
        return _file_sources(path)
    except FileNotFoundError:
        raise InputError(path, Message("no such file"), Message("Check the path; use - to read from a pipe.")) from None
    except (OSError, ValueError) as error:
        raise InputError(
            path,
            Message("cannot be read ({reason})", reason=_reason(error)),
            Message("Check the path and its permissions."),
        ) from error


def _named_pipe_blocks(path: str) -> Iterator[bytes]:
    with open(path, "rb") as pipe:
        yield from pipe_blocks(pipe)


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _file_sources(path: str) -> list[Source]:
    stream = ByteStream(file_blocks(path))
    try:
        found, _, _ = probe(stream, path)
    finally:
        stream.close()
    if found.kind == ZIP and not found.packed:
        return _zip_sources(path, path)
    if found.kind == TAR:
        return _tar_sources(path, lambda: file_blocks(path))
    refuse(path, found)
    return [text_source(path, lambda: file_blocks(path))]


def _pipe_sources(name: str, blocks: Iterator[bytes]) -> list[Source]:
    """A pipe can be read once only: what the probe has looked at is kept for the reader."""
    raw = ByteStream(blocks)
    head = raw.head(1 << 16)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_sources(name, io.BytesIO(_kept(name, raw)))
    found, text, notes = probe(raw, name)
    if found.kind == TAR:
        plain = _kept(name, text)
        return _tar_sources(name, lambda: iter([plain]))
    refuse(name, found)
    return [Source(name, lambda _: iter(text), notes)]


def _zip_sources(name: str, file: str | IO[bytes]) -> list[Source]:
    # Only archives pay for the import of the libraries that read them.
    from vllmdoctor.intake.archives import zip_sources

    return zip_sources(name, file)


def _tar_sources(name: str, opener: Opener) -> list[Source]:
    from vllmdoctor.intake.archives import tar_sources

    return tar_sources(name, opener)


def _kept(name: str, stream: ByteStream) -> bytes:
    pieces, size = [], 0
    for block in stream:
        pieces.append(block)
        size += len(block)
        if size > _PIPED_ARCHIVE_BYTES:
            raise InputError(
                name,
                Message("an archive of more than {limit} MiB from a pipe", limit=_PIPED_ARCHIVE_BYTES >> 20),
                Message("Save it, name the file."),
            )
    return b"".join(pieces)


def refuse(name: str, found: Probe) -> None:
    """Raises InputError unless the probe found a text."""
    if found.kind == EMPTY:
        problem = Message("empty ({what})", what=found.what) if found.what else Message("empty")
        hint = Message("Write both streams to the log: vllm serve MODEL > startup.log 2>&1")
        if name == STDIN_NAME:
            hint = Message("Pipe both streams: vllm serve MODEL 2>&1 | vllmdoctor analyze -")
        raise InputError(name, problem, hint)
    if found.kind == ZIP:
        raise InputError(
            name, Message("a zip archive inside another compression"), Message("Unpack the outer layer first.")
        )
    if found.kind == BINARY:
        raise InputError(name, Message("not a text but {what}", what=found.what), _TEXT_HINT)


def _folder_sources(folder: str) -> list[Source]:
    files, notes = log_files(folder)
    sources: list[Source] = []
    for path in files:
        try:
            sources += _path_sources(path)
        except InputError as error:
            notes.append(Message("{name}: skipped, {problem}", name=error.name, problem=error.problem))
    if not sources:
        raise InputError(
            folder,
            Message("no log in this directory ({note})", note=notes[0])
            if notes
            else Message("no log in this directory"),
            _FOLDER_HINT,
        )
    if len(files) >= MAX_FILES:
        notes.append(Message("only the first {count} files were read", count=MAX_FILES))
    sources[0].notes[:0] = notes
    return sources
