"""A cleaned line in, the line without what containers, shippers and terminals put before it out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from vllmdoctor.logs.headers import ISO

_DATE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
_LEVELS = "DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL"
_DIGITS = "0123456789"
_LOWER = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class _Shape:
    """A prefix. `firsts` are the characters it can begin with, "" for any."""

    name: str
    pattern: re.Pattern[str]
    firsts: str = ""
    column: bool = False  # counts when it stands on most lines of the input
    literal: bool = False  # counts when its very text stood before a log line elsewhere in the input
    timed: bool = False  # group 1 is a time


def _shape(name: str, pattern: str, firsts: str = "", **traits: bool) -> _Shape:
    return _Shape(name, re.compile(pattern), firsts, **traits)


# Prefixes that nothing else looks like: taken off wherever they stand.
_SURE = (
    _shape("buildkite", r"_bk;t=\d+\s?", "_"),
    _shape("kubectl", r"\[pod/[\w.-]+/[\w.-]+\] ?", "["),
    _shape("actions", r"[^\t\n]{1,120}\t[^\t\n]{1,200}\t(?=\d{4}-\d\d-\d\dT\d\d:)"),
    _shape(
        "runtime",
        rf"({_DATE}(?:\.\d{{1,9}})?(?:Z|[+-]\d\d:\d\d)) (?:std(?:out|err) [FP](?: |$)|\d\d[OE][ +]?)",
        _DIGITS,
        timed=True,
    ),
    _shape(
        "iso",
        rf"\[?({_DATE}(?:[.,]\d{{1,9}})?(?:Z|[+-]\d\d:?\d\d)?)\]?"
        r"(?:[ \t]+[\w.-]+ (?:[\w./@-]+\[\d+\]|kernel|systemd):)?(?:[ \t]|$)",
        "[" + _DIGITS,
        timed=True,
    ),
    # `gcloud logging read`: the severity before the time that the shipper saw
    _shape(
        "severity",
        rf"(?:DEFAULT|DEBUG|INFO|NOTICE|WARNING|ERROR|CRITICAL|ALERT) +({_DATE}\.\d{{1,9}}Z)(?: |$)",
        "DINWECA",
        timed=True,
    ),
    _shape(
        "syslog",
        r"(?:<\d{1,3}>)?((?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d)"
        r" [\w.:-]+ [\w./@-]+(?:\[\d+\])?: ?",
        "JFMASOND<",
        timed=True,
    ),
    _shape("annotation", r"##\[(?:error|warning|group|debug|section|command)\]", "#"),
    _shape("workflow", r"::(?:error|warning|notice)(?: [^:]{0,200})?::", ":"),
    _shape("box", r"│ ?", "│"),
    _shape("pytest", r"E {3}(?=\S| |$)", "E"),
    _shape("stream", r"std(?:out|err) [FP] ", "s"),
    _shape(
        "torchserve",
        r"\[(?:DEBUG|INFO|WARN|ERROR) {0,2}\] W-\d{1,6}-[\w.-]{1,80} (?:MODEL_LOG|[\w.]{3,80}) -(?: |$)",
        "[",
    ),
)

# Prefixes that could be part of a message: taken off when a log line follows, or when they form a column of the input.
_GREP = _shape("grep", r"(?:[\w./-]{1,120}\.(?:log|txt|out|err):)?(\d{1,9})[:-]")
# A bar after the time (Docker Desktop) goes with it, unless a level follows: that is loguru's own header.
_PLAIN_TIME = _shape(
    "time",
    rf"\[?({ISO})\]?[:,]?(?: \|(?= {{1,12}}(?!(?:{_LEVELS}|SUCCESS|TRACE)\b)\S|$))? ?",
    "[" + _DIGITS,
    column=True,
    timed=True,
)
_SRUN = _shape("srun", r"[ ]{0,3}\d{1,4}:(?: |$)", " " + _DIGITS, column=True, literal=True)
_LIKELY = (
    # a dashboard's table of lines: `U | 2025-07-18 11:29:37.824 | worker |   | text`
    _shape(
        "cells",
        rf"(?:\| ?|[\w.:=@/-]{{1,60}} {{1,4}}\| )({ISO}|\d\d:\d\d:\d\d(?:[.,]\d+)?) {{0,4}}\| "
        r"(?:[\w.:=@/-]{0,60} {1,4}\| ){1,4}",
        column=True,
        timed=True,
    ),
    _shape("compose", r"[\w\[][\w.\]/-]{0,80} +\| ?", column=True, literal=True),
    _SRUN,
    _shape("margin", r"[ ]{0,8}(?:\+ (?=Exception Group)|\|(?: |$))", " |+", column=True, literal=True),
    _GREP,
    # [0], [vllm], (Process)
    _shape("label", rf"(?:[\[(<](?!rank\d|(?:{_LEVELS})\])[\w.@/ -]{{1,60}}[\])>]:? ){{1,4}}", "[(<", literal=True),
    # docker build: the step and the seconds since it began
    _shape("build", r"(?:#\d{1,3} )?\d{1,5}\.\d{1,3}(?: |$)", "#" + _DIGITS, column=True),
    # an editor's line numbers; only before a log line, since notebooks number the lines of the source
    _shape("editor", r"\s{0,6}\d{1,6} +", " " + _DIGITS),
    _shape("epoch", r"(\d{13}) +", _DIGITS, column=True, timed=True),
    _shape("clock", r"(\d\d:\d\d:\d\d(?:[.,]\d+)?) ", _DIGITS, column=True, timed=True),
    _shape("stern", r"[a-z][a-z0-9-]{1,80}-[a-z0-9]{4,10} [\w.-]{1,60} (?:\| ?)?", _LOWER, literal=True),
    _shape(
        "name",
        rf"(?!\w*(?:{_LEVELS}):)(?![\w.]*(?:Error|Exception):)(?!(?i:error|exception|warning|fatal|reason|cause):)"
        r"[\w.@/-]{1,60}: (?! )",
        literal=True,
    ),
)


def _by_first(shapes: Sequence[_Shape]) -> dict[str, tuple[_Shape, ...]]:
    """The shapes that can begin with a character, by that character; "" for all others."""
    firsts = {char for shape in shapes for char in shape.firsts}
    table = {char: tuple(shape for shape in shapes if not shape.firsts or char in shape.firsts) for char in firsts}
    return table | {"": tuple(shape for shape in shapes if not shape.firsts)}


_SURE_BY_FIRST = _by_first([shape for shape in _SURE if shape.firsts])
_ACTIONS = next(shape for shape in _SURE if not shape.firsts)
_LIKELY_BY_FIRST = _by_first(_LIKELY)
_LOG_LINE = re.compile(
    r"\(\w[\w.:]{0,60}(?: \w+=?\d*)? pid=\d+|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) (?!\d{4}-\d\d-\d\dT)\d"
)

_SERVICE = re.compile(r"[a-z][\w.-]{0,60}[-_]\d{1,3} +\|(?: |$)")

KNOWN = re.compile(
    r"\s{0,12}(?:Traceback \(most recent|Exception Group Traceback|File \"[^\"]{1,300}\", line \d"
    r"|\(\w[\w.:]{0,60}(?: \w+=?\d*)? pid=\d+|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)(?: +(?:\d\d(?:\d\d)?-\d\d|\[)|: )"
    r"|\{ ?\"(?:error|object|detail|message|log|msg|asctime|levelname)\"|\[rank\d+\]:|\[pod/"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
    r"|(?:[A-Za-z_]\w*\.){0,8}[A-Z]\w*(?:Error|Exception)(?:: |$)|Process (?:EngineCore|SpawnProcess"
    r"|VllmWorker)[\w-]*:)"
)
_TRAILING_BAR = re.compile(r"\s*│$")
REPEATED = re.compile(r"\s*\[repeated \d+x across cluster\](?:\s*\([^()]{0,200}\))?\s*$")
_SAMPLE = 400
_ROUNDS = 8


@dataclass(slots=True)
class PrefixPeeler:
    """What one input has shown so far about its prefixes."""

    columns: set[str] = field(default_factory=set)
    literals: set[str] = field(default_factory=set)
    usual: str = ""  # a container's or pod's name, as nearly every line of the input has it

    @classmethod
    def for_lines(cls, sample: Sequence[str]) -> PrefixPeeler:
        """A peeler that knows the columns of an input from a sample of its lines."""
        peeler = cls()
        step = max(1, len(sample) // _SAMPLE)
        lines = [line[:400] for line in sample[::step] if line.strip()]
        for _ in range(3):
            peeler._learn(lines)
            lines = [rest for line in lines if (rest := peeler.peeled(line)[0]).strip()]
        return peeler

    def peeled(self, text: str) -> tuple[str, str | None]:
        """The rest of the line and the outermost time found on the way."""
        time = None
        for _ in range(_ROUNDS):
            if text[:1] in "(DIWEC" and _LOG_LINE.match(text):
                break
            if self.usual and text.startswith(self.usual) and "\t" not in text[:122]:
                text = text[len(self.usual) :]
                continue
            found = self._sure(text) or self._likely(text)
            if found is None:
                break
            shape, prefix = found
            if _is_constant(shape, prefix.group()):
                self.usual = prefix.group()
            if shape.timed:
                time = time or prefix.group(1)
            text = text[prefix.end() :]
            if shape.name == "box":
                text = _TRAILING_BAR.sub("", text).rstrip()
        return text, time

    def without_plain_time(self, text: str) -> tuple[str, str] | None:
        """The rest and the time of a line that begins with a date and time that belong to no logger's header."""
        found = _PLAIN_TIME.pattern.match(text)
        if found is None or not (_PLAIN_TIME.name in self.columns or KNOWN.match(text, found.end())):
            return None
        return text[found.end() :], found.group(1)

    @staticmethod
    def _sure(text: str) -> tuple[_Shape, re.Match[str]] | None:
        for shape in _SURE_BY_FIRST.get(text[:1], ()):
            found = shape.pattern.match(text)
            if found:
                return shape, found
        if "\t" in text[:122] and (found := _ACTIONS.pattern.match(text)):
            return _ACTIONS, found
        return None

    def _likely(self, text: str) -> tuple[_Shape, re.Match[str]] | None:
        if _GREP.name in self.columns and (found := _GREP.pattern.match(text)):
            return _GREP, found
        for shape in _LIKELY_BY_FIRST.get(text[:1]) or _LIKELY_BY_FIRST[""]:
            found = shape.pattern.match(text)
            if found is None or not found.end() or _belongs_to_table(text, shape):
                continue
            if shape.name == "compose" and _SERVICE.match(text):
                return shape, found
            if shape.name in self.columns or (shape.literal and found.group().rstrip() in self.literals):
                return shape, found
            if KNOWN.match(text, found.end()):
                if shape.literal:
                    self.literals.add(found.group().rstrip())
                return shape, found
        return None

    def _learn(self, lines: Sequence[str]) -> None:
        if len(lines) < 3:
            return
        for shape in (*_LIKELY, _PLAIN_TIME):
            if not shape.column or (shape is _SRUN and _is_counting(lines)):
                continue
            hits = sum(1 for line in lines if shape.pattern.match(line) and not _belongs_to_table(line, shape))
            if hits >= 0.8 * len(lines):
                self.columns.add(shape.name)
        if _is_counting(lines):
            self.columns.add(_GREP.name)


def _is_constant(shape: _Shape, prefix: str) -> bool:
    """A prefix that can be known again by its text alone: nothing else would be read from that text."""
    return (shape.name == "compose" and prefix[0].isalpha() and prefix.endswith("| ")) or (
        shape.name == "kubectl" and prefix.endswith("] ")
    )


def _is_counting(lines: Sequence[str]) -> bool:
    """Line numbers grow from line to line, rank labels do not."""
    found = [_GREP.pattern.match(line) for line in lines]
    numbers = [int(match.group(1)) for match in found if match]
    return len(numbers) == len(lines) > 1 and all(after > before for before, after in pairwise(numbers))


def _belongs_to_table(text: str, shape: _Shape) -> bool:
    """The bars and rules of an nvidia-smi table are its own."""
    if shape.name not in ("compose", "margin"):
        return False
    bare = text.strip()
    return bare.startswith(("|", "+")) and ((bare.endswith(("|", "+")) and len(bare) > 20) or "NVIDIA-SMI" in bare)
