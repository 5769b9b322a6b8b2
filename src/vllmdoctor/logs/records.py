"""Lines in, records (messages and exceptions) in the order of printing out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from vllmdoctor.logs import frames as shapes
from vllmdoctor.logs.builders import CAUSE, CONTEXT, ExceptionBuilder, MessageBuilder
from vllmdoctor.logs.code_message import message_of_raise
from vllmdoctor.logs.echo import is_echo
from vllmdoctor.logs.model import NO_PROCESS, Frame, Line, Process, Record
from vllmdoctor.logs.processes import process_of

_MOST_TEXT = 64 << 10
_PROCESS_LINE = re.compile(r"Process ((?:EngineCore|VllmWorker|Worker|APIServer|ApiServer|SpawnProcess|ForkProcess)[\w-]*):$")
_WRAP = range(50, 141)
_STREAM = tuple[Process, str | None, bool]


def read_records(lines: Iterable[Line]) -> list[Record]:
    """The records of all inputs."""
    assembler = _Assembler()
    for line in lines:
        assembler.add(line)
    return assembler.records()


class _Assembler:
    """Keeps one open record per stream: a process's logger lines of one place, or its unheaded lines."""

    def __init__(self) -> None:
        self._builders: list[MessageBuilder | ExceptionBuilder] = []
        self._open: dict[_STREAM, MessageBuilder | ExceptionBuilder] = {}
        self._tracebacks: dict[_STREAM, ExceptionBuilder] = {}
        self._chains: dict[_STREAM, ExceptionBuilder] = {}
        self._started: dict[_STREAM, Process] = {}
        self._labels: dict[str, Process] = {}
        self._loose: list[Line] = []
        self._input = -1
        self._previous: Line | None = None

    def add(self, line: Line) -> None:
        """Put the next line into the record it belongs to."""
        if line.input != self._input:
            self._reset(line.input)
        if line.process.label and line.process.label not in self._labels:
            self._labels[line.process.label] = line.process
        if line.section not in ("log", "client"):
            if line.text:
                self._builders.append(MessageBuilder(line))
        elif line.text or line.headed or line.process is not NO_PROCESS:
            self._place(line, (line.process, line.place, line.headed))
        else:
            self._blank(line)
        self._previous = line

    def _reset(self, number: int) -> None:
        self._input = number
        for table in (self._open, self._tracebacks, self._chains, self._started):
            table.clear()
        self._previous = None

    def _blank(self, line: Line) -> None:
        stream = (line.process, line.place, line.headed)
        opened = self._open.get(stream)
        if isinstance(opened, ExceptionBuilder):
            opened.feed(line)

    def _place(self, line: Line, stream: _STREAM) -> None:
        text = line.text
        opened = self._open.get(stream)
        if opened is not None and opened.feed(line):
            return
        if text.startswith((CAUSE, CONTEXT)):
            self._note_chain(line, stream)
            return
        if self._wrapped_tail(line):
            return
        calm = line.headed and line.level in ("INFO", "DEBUG") and "Traceback (most" not in text[:60]
        if not calm and _may_be_traceback(text):
            waiting = self._tracebacks.get(stream)
            if waiting is not None and not waiting.done and _clearly_inside(text) and waiting.feed(line):
                self._open[stream] = waiting
                return
            if self._new_exception(line, stream):
                return
        message = MessageBuilder(line)
        self._builders.append(message)
        self._open[stream] = message
        if not line.headed and text.startswith("Process ") and (found := _PROCESS_LINE.match(text)):
            self._started[stream] = self._named(found.group(1), line.process)

    def _named(self, label: str, printed_by: Process) -> Process:
        if printed_by is not NO_PROCESS and printed_by.name:
            return printed_by
        if label.startswith(("Spawn", "Fork")):
            return printed_by
        return self._labels.get(label) or process_of(label)

    def _new_exception(self, line: Line, stream: _STREAM) -> bool:
        builder = ExceptionBuilder(line, self._started.get(stream, line.process))
        if not builder.start():
            return False
        builder.number = len(self._builders)
        builder.cause = self._chains.pop(stream, None)
        if builder.cause is not None:
            builder.process = builder.cause.process
        elif shapes.is_traceback_start(line.text) is False:
            builder.process = line.process
        self._started.pop(stream, None)
        self._builders.append(builder)
        self._open[stream] = self._tracebacks[stream] = builder
        return True

    def _note_chain(self, line: Line, stream: _STREAM) -> None:
        last = self._tracebacks.get(stream)
        if last is None:
            self._builders.append(MessageBuilder(line))
            return
        last.last = line
        self._chains[stream] = last
        self._open.pop(stream, None)

    def _wrapped_tail(self, line: Line) -> bool:
        """Take a line that a narrow window cut off the sentence on the line before."""
        before = self._previous
        if before is None or line.headed or not before.text or before.section != line.section:
            return False
        if line.process is not NO_PROCESS and line.process != before.process:
            return False
        if not _is_wrapped(before, line.text):
            return False
        opened = self._open.get((before.process, before.place, before.headed))
        if isinstance(opened, ExceptionBuilder) and opened.done and opened.last is before:
            opened.message.append(line)
            opened.last = line
            return True
        if isinstance(opened, MessageBuilder) and opened.lines[-1] is before:
            opened.lines.append(line)
            return True
        return False

    def records(self) -> list[Record]:
        """All records, numbered."""
        made: list[Record] = []
        numbers = {id(builder): number for number, builder in enumerate(self._builders)}
        for number, builder in enumerate(self._builders):
            if isinstance(builder, ExceptionBuilder):
                cause = numbers.get(id(builder.cause)) if builder.cause is not None else None
                made.append(_exception_record(number, builder, cause))
            else:
                made.append(_message_record(number, builder))
        return made


def _may_be_traceback(text: str) -> bool:
    return (
        "Traceback (most" in text[:200]
        or ", line " in text[:1100]
        or " in " in text[:700]
        or "In [" in text[:20]
        or text[:1] in " \t"
        or (text[:1].isalpha() and bool(shapes.exception_name(text)))
    )


def _clearly_inside(text: str) -> bool:
    return text[0] in " \t" or shapes.frame_of(text) is not None or bool(shapes.exception_name(text))


def _is_wrapped(before: Line, text: str) -> bool:
    head = before.text
    if len(head) not in _WRAP or head[-1] in ".!?:;)]}'\"`>" or not text or text[0] in " \t" or len(text) > 200:
        return False
    if re.match(r"[\w.-]+: ", text) or not (text[0].islower() or text[0] in "([0123456789"):
        return False
    opened = head.count("(") > head.count(")")
    return (text[0].islower() or opened) and head[-1].isalnum() | (head[-1] == ",") and " " in text


def _message_record(number: int, builder: MessageBuilder) -> Record:
    first = builder.lines[0]
    text, lines, starts = _folded(builder.lines)
    return Record(
        number, "message", text, first.process, first.level, first.time, first.place, first.section,
        lines, starts, first, builder.lines[-1], echo=is_echo(text, first),
    )  # fmt: skip


def _exception_record(number: int, builder: ExceptionBuilder, cause: int | None) -> Record:
    first = builder.first
    shown = builder.message or [builder.last if builder.frames else first]
    text, lines, starts = _folded(shown)
    frames = tuple(
        Frame(frame.file, frame.line, frame.function, " ".join(source.split()))
        for frame, source in zip(builder.frames, builder.sources, strict=True)
    )
    code = message_of_raise(builder.sources[-1]) if builder.sources and not builder.message else ""
    return Record(
        number, "exception", text, builder.process, first.level, first.time, first.place, first.section,
        lines, starts, first, builder.last, builder.name, frames, cause, code,
    )  # fmt: skip


def _folded(lines: Sequence[Line]) -> tuple[str, tuple[Line, ...], tuple[int, ...]]:
    """The lines as one, white space folded, with the offset at which each begins."""
    if len(lines) == 1 and len(lines[0].text) < 4096:
        return " ".join(lines[0].text.split()), (lines[0],), (0,)
    pieces: list[str] = []
    kept: list[Line] = []
    starts: list[int] = []
    length = 0
    for line in lines:
        piece = " ".join(line.text.split())
        if not piece and kept:
            continue
        if length + len(piece) > _MOST_TEXT:
            piece = piece[: max(0, _MOST_TEXT - length)]
            if not piece:
                break
        starts.append(length)
        kept.append(line)
        pieces.append(piece)
        length += len(piece) + 1
        if not piece:
            length -= 1
            pieces.pop()
    return " ".join(pieces), tuple(kept), tuple(starts)
