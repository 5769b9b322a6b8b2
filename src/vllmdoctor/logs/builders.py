"""Lines fed one by one in, a message or an exception under construction out; each says whether a line continues it."""

from __future__ import annotations

import re

from vllmdoctor.logs import frames as shapes
from vllmdoctor.logs.clean import is_bar
from vllmdoctor.logs.model import NO_PROCESS, Frame, Line, Process

MOST_LINES = 400
MOST_RAW_CONTINUATION = 40

CAUSE = "The above exception was the direct cause of the following exception"
CONTEXT = "During handling of the above exception, another exception occurred"
_PYDANTIC = re.compile(
    r"(?:Value error|Assertion failed|Input should|Field required|Extra inputs|For further information)\b"
)
_STARTS_ANEW = re.compile(
    r"(?:WorkerProc |EngineCore |AsyncLLM |Exception in (?:worker|callback|thread|ASGI)|Error in "
    r"|Failed core|Engine (?:core|process|loop)"
    r"|Worker (?:proc|Vllm)|Process \S+:$|Got fatal|Parent process|Shutting down|\[shutdown\])"
)
_ENDS_RAW = re.compile(
    r"(?:Killed|Aborted|Terminated|Segmentation fault|Bus error|Floating point exception|Illegal instruction)\b"
    r"|(?:bash|sh|zsh|srun|slurmstepd|docker|nvidia-container-cli|nohup|collect2|make|ninja|usage)\b[^:]{0,40}: "
    r"|exit code|[$#] |>>> |\(?[\w-]{0,40}\)? ?\w[\w.-]*@[\w.-]+:|\[?root@|Process \S+:$|nanobind: "
    r"|sys:\d+: |Fatal Python error"
    r"|Exception ignored in|Task exception was never|Future exception|Exception in thread|\*\*\* "
    r"|!{3,}|={5,}|-{6,}$|-{10,}|_{5,} |\+-+"
    r"|INFO|/?[\w./-]{1,300}:\d+: \w*Warning: |\S+ exited with code|\{|Loading \w+|Extension modules:|Current thread 0x"
    r"|[\w./-]{1,300}\(\d+\): error|/usr/bin/ld|usage: |vllm: error|\w+\.py: error|Triton is |E\d{4} "
    r"|[\w-]{1,60}:\d+:\d+ \[\d|\[end of output\]"
)


class MessageBuilder:
    """A logger message or a loose line."""

    def __init__(self, line: Line) -> None:
        self.lines = [line]
        self.dropped = 0
        # Indented lines alone may be the rest of a traceback whose head is missing.
        self.loose = line.text[:1] in (" ", "\t") and line.level in (None, "ERROR", "CRITICAL")

    @property
    def first(self) -> Line:
        return self.lines[0]

    def feed(self, line: Line) -> bool:
        """Take the line when it continues the message; `line` is of the same stream."""
        if not self._continues(line):
            return False
        if len(self.lines) < MOST_LINES:
            self.lines.append(line)
        else:
            self.dropped += 1
        return True

    def _continues(self, line: Line) -> bool:
        text = line.text
        last = self.lines[-1]
        if line.headed:
            if not same_header(last, line):
                return False
            if not text:
                return True
            if text[0] in " \t":
                return shapes.frame_of(text) is None
            return bool(_PYDANTIC.match(text)) or (
                text[0].islower()
                and last.text[:1] not in ("", " ", "\t")
                and last.text[-1] not in ".!?:"
                and len(last.text) > 15
                and not shapes.exception_name(text)
            )
        if last.headed or not text or text[0] not in " \t" or line.number - last.number > 1:
            return False
        if last.text.endswith("lines of output]"):
            return False  # pip: here begins what the program printed that it ran
        return shapes.frame_of(text) is None and not shapes.is_traceback_start(text) and not is_bar(last.text)


class ExceptionBuilder:
    """A traceback: frames until the exception line, then the lines that continue its message."""

    def __init__(self, line: Line, process: Process = NO_PROCESS) -> None:
        self.first = line
        self.last = line
        self.process = process
        self.frames: list[Frame] = []
        self.sources: list[str] = []
        self.message: list[Line] = []
        self.name = ""
        self.cause: ExceptionBuilder | None = None
        self.dropped = 0
        self.anchor = line
        self._blank = False
        self._loose_source = False
        self._indented_source = False
        self._notebook = False
        # A program that quotes another one's output (pip) sets all of it in: its exception line is indented, too.
        self._margin = ""

    @property
    def done(self) -> bool:
        """The exception line was seen."""
        return bool(self.message)

    def start(self) -> bool:
        """Feed the first line to itself; False when it starts nothing."""
        if shapes.is_traceback_start(self.first.text):
            return True
        return self.feed(self.first)

    def feed(self, line: Line) -> bool:
        """Take the line when it belongs to this traceback."""
        taken = self._feed_message(line) if self.message else self._feed_frames(line)
        if taken and line.text:
            self.last = line
        return taken

    def adopt(self, loose: MessageBuilder) -> None:
        """Source lines printed before the first frame that the log shows belong to this traceback."""
        self.first = loose.lines[0]

    def _feed_frames(self, line: Line) -> bool:
        text = line.text
        if not text:
            return line is not self.first
        if shapes.is_traceback_start(text) or text.startswith((CAUSE, CONTEXT)):
            return False
        frame = shapes.frame_of(text)
        if frame is not None:
            self._add_frame(frame, text)
            self.anchor = line
            return True
        if shapes.is_cut(text):
            return line is not self.first
        if shapes.is_mark(text):
            return bool(self.frames) or shapes.is_traceback_start(self.first.text)
        if self._notebook and self._feed_notebook(text):
            return True
        if self._margin and self.frames:
            text = self._without_margin(text)
        if text[0] in " \t":
            return self._feed_source(text)
        name = shapes.exception_name_after_frames(text) if line is not self.first else shapes.exception_name(text)
        if name:
            self.name = name
            self.message.append(line._replace(text=text))
            return True
        if self._loose_source and self.frames and not self._indented_source:
            self._loose_source = False
            self._add_source(text)
            return True
        return shapes.is_pytest_end(text)

    def _without_margin(self, text: str) -> str:
        return text[len(self._margin) :] if text.startswith(self._margin) and text.strip() else text

    def _add_frame(self, frame: Frame, text: str) -> None:
        if len(self.frames) < MOST_LINES:
            self.frames.append(frame)
            self.sources.append("")
        else:
            self.frames[-1], self.sources[-1] = frame, ""
            self.dropped += 1
        self._loose_source = not text.startswith((" ", "\t"))
        self._margin = " " * (len(text) - len(text.lstrip(" ")) - 2) if 'File "' in text else ""
        self._notebook = 'File "' not in text and self._loose_source

    def _feed_notebook(self, text: str) -> bool:
        numbered = shapes.notebook_source(text)
        if numbered is None:
            return False
        arrow, number, source = numbered
        if arrow and not self.sources[-1]:
            self.sources[-1] = source.strip()
            if self.frames[-1].line is None:
                old = self.frames[-1]
                self.frames[-1] = Frame(old.file, number, old.function)
        elif self.sources[-1] and self.sources[-1].count("(") > self.sources[-1].count(")"):
            self._add_source(source)
        return True

    def _feed_source(self, text: str) -> bool:
        if not self.frames:
            if not text.strip().startswith("raise "):
                return shapes.is_traceback_start(self.first.text)
            self.frames.append(Frame("", None, ""))
            self.sources.append("")
        self._loose_source = False
        self._indented_source = True
        self._add_source(text)
        return True

    def _add_source(self, text: str) -> None:
        if len(self.sources[-1]) < 8192:
            self.sources[-1] += ("\n" if self.sources[-1] else "") + text.strip()

    def _feed_message(self, line: Line) -> bool:
        text = self._without_margin(line.text)
        if text.startswith((CAUSE, CONTEXT)) or shapes.is_traceback_start(text):
            return False
        if shapes.is_pytest_end(text):
            return True
        if line.headed:
            taken = same_header(self.message[-1], line) and self._goes_on(text, headed=True)
        else:
            taken = not self.message[-1].headed and self._goes_on_raw(text)
        if taken:
            self._blank = not text
            if text and len(self.message) < MOST_LINES:
                self.message.append(line)
        return taken

    def _goes_on(self, text: str, headed: bool) -> bool:
        if not text:
            return True
        if text[0] in " \t":
            return shapes.frame_of(text) is None
        if shapes.exception_name(text) or _STARTS_ANEW.match(text):
            return False
        return headed or not _ENDS_RAW.match(text)

    def _goes_on_raw(self, text: str) -> bool:
        if not text:
            return True
        if self._blank and text[0] not in " \t" and not _PYDANTIC.match(text):
            return False
        if _PYDANTIC.match(text) and not self.name.endswith("ValidationError"):
            return False
        if len(self.message) > MOST_RAW_CONTINUATION and text[0] not in " \t":
            return False
        if is_bar(text) or shapes.frame_of(text) is not None or text.lstrip().startswith("+--"):
            return False
        return self._goes_on(text, headed=False)


def same_header(one: Line, other: Line) -> bool:
    """Both lines carry the very same header, so that they may be of one message."""
    if one.time != other.time or one.place != other.place or one.level != other.level or one.process != other.process:
        return False
    return one.time is not None or (one.input == other.input and one.number == other.number)
