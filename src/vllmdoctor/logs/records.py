"""Lines in, records (messages and exceptions) in the order of printing out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from vllmdoctor.logs import frames as shapes
from vllmdoctor.logs.builders import CAUSE, CONTEXT, MOST_LINES, ExceptionBuilder, MessageBuilder, same_header
from vllmdoctor.logs.code_message import message_of_raise
from vllmdoctor.logs.echo import is_echo
from vllmdoctor.logs.model import NO_PROCESS, Frame, Line, Process, Record
from vllmdoctor.logs.processes import process_of

_MOST_TEXT = 64 << 10
_PROCESS_LINE = re.compile(
    r"Process ((?:EngineCore|VllmWorker|Worker|APIServer|ApiServer|SpawnProcess|ForkProcess)[\w-]*):$"
)
_VLLM_PLACE = re.compile(r"\.pyx?:\d+$")
_WRAP = range(50, 141)
_CONTAINER_END = re.compile(r"\S{1,80} exited with code \d")
# What other programs begin a line of their own with, in lower case.
_OWN_BEGINNING = re.compile(
    r"[\w.-]+(?:\[\d+\])?: |[\w.-]+ (?:error|fatal|failed): |[\w.-]+:\d+:\d+ \[|terminate called |amdgpu "
    r"|cuda runtime error|(?:free|malloc|munmap_chunk)\(|double free |corrupted size |dcmi mod"
)
_MOST_WRAPPED = 40  # lines of a hard-wrapped text that are still one message
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
        self._places: dict[int, int] = {}
        self._latest: dict[Process, MessageBuilder] = {}  # the last logger message of each process
        self._input = -1
        self._last_message: MessageBuilder | None = None
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
        self._previous = self._last_message = None

    def _blank(self, line: Line) -> None:
        stream = (line.process, line.place, line.headed)
        opened = self._open.get(stream)
        if isinstance(opened, ExceptionBuilder):
            opened.feed(line)

    def _place(self, line: Line, stream: _STREAM) -> None:
        text = line.text
        opened = self._open.get(stream)
        if line.headed and isinstance(opened, MessageBuilder) and self._latest.get(line.process) is not opened:
            opened = None
        if opened is not None and opened.feed(line):
            return
        if line.headed:
            self._close_raw(line.process)
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
        if self._continues_other_logger(line):
            return
        message = MessageBuilder(line)
        if message.loose:
            self._places[id(message)] = len(self._builders)
        self._builders.append(message)
        self._open[stream] = self._last_message = message
        if line.headed:
            self._latest[line.process] = message
        if not line.headed and text.startswith("Process ") and (found := _PROCESS_LINE.match(text)):
            self._started[stream] = self._named(found.group(1), line.process)

    def _continues_other_logger(self, line: Line) -> bool:
        """Loggers other than vLLM's print the further lines of a message without a header."""
        before = self._previous
        if before is None or line.headed or line.text[:1] not in (" ", "\t") or line.number - before.number > 1:
            return False
        opened = self._last_message
        if opened is None or opened.lines[-1] is not before or not opened.lines[0].headed:
            return False
        if opened.lines[0].process != line.process or _VLLM_PLACE.search(opened.lines[0].place or ""):
            return False
        opened.lines.append(line)
        return True

    def _close_raw(self, process: Process) -> None:
        """A logger line of the same process ends the message of an exception that was printed raw."""
        stream = (process, None, False)
        opened = self._open.get(stream)
        if isinstance(opened, ExceptionBuilder) and opened.done:
            del self._open[stream]

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
        builder.cause = self._chains.pop(stream, None)
        if builder.cause is not None:
            builder.process = builder.cause.process
        elif not shapes.is_traceback_start(line.text):
            builder.process = line.process
        self._started.pop(stream, None)
        loose = self._open.get(stream)
        if isinstance(loose, MessageBuilder) and loose.loose and not shapes.is_traceback_start(line.text):
            if not line.headed or same_header(loose.lines[-1], line):
                builder.adopt(loose)
                self._builders[self._places.pop(id(loose))] = builder
        if builder.first is line:
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
            if len(opened.message) >= MOST_LINES:
                return False
            opened.message.append(line)
            opened.last = line
            return True
        if isinstance(opened, MessageBuilder) and opened.lines[-1] is before and len(opened.lines) < _MOST_WRAPPED:
            opened.lines.append(line)
            return True
        return False

    def records(self) -> list[Record]:
        """All records, numbered."""
        made: list[Record] = []
        numbers = {id(b): number for number, b in enumerate(self._builders) if isinstance(b, ExceptionBuilder)}
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
        or text.startswith((" ", "\t"))
        or (text[:1].isalpha() and bool(shapes.exception_name(text)))
    )


def _clearly_inside(text: str) -> bool:
    return text.startswith((" ", "\t")) or shapes.frame_of(text) is not None or bool(shapes.exception_name(text))


def _is_wrapped(before: Line, text: str) -> bool:
    head = before.text
    if len(head) not in _WRAP or head[-1] in ".!?:;)]}'\"`>" or not text or text[0] in " \t" or len(text) > 200:
        return False
    if _OWN_BEGINNING.match(text) or _CONTAINER_END.match(text) or not (text[0].islower() or text[0] in "([0123456789"):
        return False
    opened = head.count("(") > head.count(")")
    return (text[0].islower() or opened) and (head[-1].isalnum() or head[-1] == ",") and " " in text


def _message_record(number: int, builder: MessageBuilder) -> Record:
    first = builder.lines[0]
    text, lines, starts = _folded(builder.lines)
    return Record(
        number, "message", text, first.process, first.level, first.time, first.place, first.section,
        lines, starts, first, builder.lines[-1], echo=is_echo(text, first),
    )  # fmt: skip


def _exception_record(number: int, builder: ExceptionBuilder, cause: int | None) -> Record:
    first = builder.first
    shown = builder.message or [builder.anchor]
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


def _single_spaced(text: str) -> str:
    if "  " not in text and text.isprintable() and text[:1] != " " and text[-1:] != " ":
        return text
    return " ".join(text.split())


def _folded(lines: Sequence[Line]) -> tuple[str, tuple[Line, ...], tuple[int, ...]]:
    """The lines as one, white space folded, with the offset at which each begins."""
    if len(lines) == 1 and len(lines[0].text) < 4096:
        return _single_spaced(lines[0].text), (lines[0],), (0,)
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
