"""A cleaned line in, the line without what containers, shippers and terminals put before it out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from vllmdoctor.logs.headers import ISO

# Prefixes that nothing else looks like: taken off wherever they stand. Group 1, if any, is the time.
_SURE = [
    re.compile(pattern)
    for pattern in (
        r"_bk;t=\d+\s?",
        r"\[pod/[\w.-]+/[\w.-]+\] ?",
        r"[^\t\n]{1,120}\t[^\t\n]{1,200}\t(?=\d{4}-\d\d-\d\dT\d\d:)",
        r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) (?:std(?:out"
        r"|err) [FP](?: |$)|\d\d[OE][ +]?)",
        r"\[?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z"
        r"|[+-]\d\d:?\d\d)?)\]?(?:[ \t]+[\w.-]+ (?:[\w./@-]+\[\d+\]|kernel|systemd):)?(?:[ \t]|$)",
        r"(?:<\d{1,3}>)?([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d) [\w.:-]+ [\w./@-]+(?:\[\d+\])?: ?",
        r"##\[(?:error|warning|group|debug|section|command)\]",
        r"::(?:error|warning|notice)(?: [^:]{0,200})?::",
        r"│ ?",
        r"E {3}(?=\S| |$)",
        r"std(?:out|err) [FP] ",
    )
]
_SURE_FIRST = frozenset("_[#:│E<s0123456789") | frozenset("JFMASOND")
_SYSLOG_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

# Prefixes that could be part of a message: taken off when a log line follows, or when they form a column of the input.
_LIKELY = [
    re.compile(pattern)
    for pattern in (
        r"[\w\[][\w.\]/-]{0,80} +\| ?",  # compose
        r"[ ]{0,3}\d{1,4}:(?: |$)",  # srun
        r"[ ]{0,8}(?:\+ (?=Exception Group)|\|(?: |$))",  # exception group, quote bar
        r"(?:[\w./-]{1,120}\.(?:log|txt|out|err):)?(\d{1,9})[:-]",  # grep -n
        r"(?:[\[(<](?!rank\d|(?:DEBUG|INFO|WARN|WARNING|ERROR"
        r"|CRITICAL)\])[\w.@/ -]{1,60}[\])>]:? ){1,4}",  # [0], [vllm], (Process)
        rf"\[?({ISO})\]?[:,]? ?",
        r"(\d{13}) +",
        r"(\d\d:\d\d:\d\d(?:[.,]\d+)?) ",
        r"[a-z0-9][\w.-]{2,80} [\w.-]{1,60} (?:\| ?)?",  # stern, kail
        r"(?!\w*(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL):)(?![\w.]*(?:Error|Exception):)[\w.@/-]{1,60}: (?! )",
    )
]
PLAIN_TIME, GREP = 5, 3
_COLUMN_SHAPES = frozenset({0, 1, 2, 5, 6, 7})  # the shapes that count by being on most lines
_LITERAL_SHAPES = frozenset({0, 1, 2, 4, 8, 9})  # the shapes whose very text returns on other lines

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

    columns: set[int] = field(default_factory=set)
    literals: set[str] = field(default_factory=set)

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
            found = self._next(text)
            if found is None:
                break
            if found.re.groups and found.re is not _LIKELY[GREP]:
                time = time or found.group(1)
            boxed = text.startswith("│")
            text = text[found.end() :]
            if boxed:
                text = _TRAILING_BAR.sub("", text).rstrip()
        return text, time

    def without_plain_time(self, text: str) -> tuple[str, str] | None:
        """The rest and the time of a line that begins with a date and time that belong to no logger's header."""
        found = _LIKELY[PLAIN_TIME].match(text)
        if found is None or not (PLAIN_TIME in self.columns or KNOWN.match(text, found.end())):
            return None
        return text[found.end() :], found.group(1)

    def _next(self, text: str) -> re.Match[str] | None:
        first = text[:1]
        if first in _SURE_FIRST or "\t" in text[:122]:
            for shape in _SURE:
                found = shape.match(text)
                if found and found.end():
                    if shape is _SURE[5] and not text.lstrip("<>0123456789").startswith(_SYSLOG_MONTHS):
                        continue
                    return found
        return self._likely(text)

    def _likely(self, text: str) -> re.Match[str] | None:
        if GREP in self.columns and (found := _LIKELY[GREP].match(text)):
            return found
        for number, shape in enumerate(_LIKELY):
            found = shape.match(text)
            if found is None or _belongs_to_table(text, number):
                continue
            if number == PLAIN_TIME:
                continue
            if number == 0 and _SERVICE.match(text):
                return found
            if number in self.columns or found.group().rstrip() in self.literals:
                return found
            if KNOWN.match(text, found.end()):
                if number in _LITERAL_SHAPES:
                    self.literals.add(found.group().rstrip())
                return found
        return None

    def _learn(self, lines: Sequence[str]) -> None:
        if len(lines) < 3:
            return
        for number in _COLUMN_SHAPES:
            hits = [line for line in lines if _LIKELY[number].match(line) and not _belongs_to_table(line, number)]
            if len(hits) >= 0.8 * len(lines) and not (number == 1 and _is_counting(hits)):
                self.columns.add(number)
        if all(_LIKELY[GREP].match(line) for line in lines) and _is_counting(lines):
            self.columns.add(GREP)


def _is_counting(lines: Sequence[str]) -> bool:
    """Line numbers grow from line to line, rank labels do not."""
    found = [_LIKELY[GREP].match(line.lstrip()) for line in lines]
    numbers = [int(match.group(1)) for match in found if match]
    return len(numbers) > 1 and all(after > before for before, after in pairwise(numbers))


def _belongs_to_table(text: str, number: int) -> bool:
    """The bars and rules of an nvidia-smi table are its own."""
    if number not in (0, 2):
        return False
    bare = text.strip()
    return bare.startswith(("|", "+")) and (bare.endswith(("|", "+")) and len(bare) > 20 or "NVIDIA-SMI" in bare)
