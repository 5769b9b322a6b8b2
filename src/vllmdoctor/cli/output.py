"""Text in, written to standard output or error whatever its encoding; errors in, one clear message out."""

from __future__ import annotations

import os
import sys
import unicodedata
from typing import IO, TYPE_CHECKING, TextIO, cast

from vllmdoctor.errors import UsageError, VllmDoctorError
from vllmdoctor.languages import Message

if TYPE_CHECKING:
    from rich.console import Console

    from vllmdoctor.report.words import Words

_ASCII = str.maketrans(
    {
        "✗": "x", "✓": "+", "…": "...", "–": "-", "—": "-", "≥": ">=", "≤": "<=", "→": "->", "×": "x",
        "÷": "/", "≈": "~", "đ": "d", "Đ": "D",
        "“": '"', "”": '"', "‘": "'", "’": "'", "\u00a0": " ", "\u202f": " ",
    }
)  # fmt: skip


class FittedStream:
    """A text stream that replaces what its encoding cannot print, instead of failing."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        return self._stream.write(fitted(text, self._stream.encoding or "ascii"))


def fitted(text: str, encoding: str) -> str:
    """The text with an ASCII spelling of what `encoding` has no character for, `?` where there is none."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        shown = "".join(_unaccented(character, encoding) for character in text.translate(_ASCII))
        return shown.encode(encoding, "replace").decode(encoding)
    return text


def _unaccented(character: str, encoding: str) -> str:
    """Vietnamese is read without its accents, too."""
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return unicodedata.normalize("NFD", character)[0]
    return character


def open_console(stream: TextIO | None = None) -> Console:
    """The stream (standard output) as a rich console that never interprets markup in what it prints."""
    from rich.console import Console

    fitted_stream = cast("IO[str]", FittedStream(stream or sys.stdout))
    return Console(file=fitted_stream, markup=False, emoji=False, highlight=False)


def write_json(text: str) -> None:
    """JSON is UTF-8 whatever the terminal's encoding is."""
    write_utf8(text, sys.stdout)


def write_utf8(text: str, stream: TextIO) -> None:
    """For what programs read: UTF-8 whatever the stream's encoding is."""
    stream.flush()
    stream.buffer.write(text.encode("utf-8", "replace"))


def flush_quietly(stream: TextIO | None = None) -> None:
    """Ends the output; a reader that went away (`| head`) is no error and keeps the verdict's exit code."""
    try:
        (stream or sys.stdout).flush()
    except BrokenPipeError:
        drop_output(stream)


def drop_output(stream: TextIO | None = None) -> None:
    """Sends what is still buffered nowhere, so that Python does not complain about the closed pipe at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, (stream or sys.stdout).fileno())


def print_error(problem: VllmDoctorError, words: Words) -> None:
    """`error: …` and what to do, on standard error."""
    from vllmdoctor.report.untrusted import neutral

    message, hint = words.error(problem)
    if isinstance(problem, UsageError):
        hint = words.said(Message("`vllmdoctor --help` lists commands and options"))
    encoding = sys.stderr.encoding or "ascii"
    shown = words.said(Message("error: {problem}", problem=neutral(message)))
    print(fitted(shown, encoding), file=sys.stderr)
    if hint:
        print(fitted(words.said(Message("hint: {hint}", hint=neutral(hint))), encoding), file=sys.stderr)
