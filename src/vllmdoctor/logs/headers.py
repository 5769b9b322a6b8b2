"""A line without outer prefixes in, the logger's header (level, time, place, process) and the message out."""

from __future__ import annotations

import re
from typing import NamedTuple

from vllmdoctor.logs.model import NO_PROCESS, Process
from vllmdoctor.logs.processes import process_of

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_LEVEL = "(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)"
_ANY_LEVEL = "(?:DEBUG|INFO|WARNING|WARN|ERROR|ERR|CRITICAL|FATAL|TRACE|SUCCESS)"
_MIXED_LEVEL = "(?i:debug|info|warning|warn|error|err|critical|fatal|trace|success)"
_CLOCK = r"(?:\d{4}-)?\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
ISO = r"\d{4}[-/]\d\d[-/]\d\d[T -]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|[+-]\d\d:?\d\d))?"
_NAMES = {
    "WARN": "WARNING", "ERR": "ERROR", "FATAL": "CRITICAL", "TRACE": "DEBUG", "SUCCESS": "INFO",
    "D": "DEBUG", "I": "INFO", "W": "WARNING", "E": "ERROR", "F": "CRITICAL", "C": "CRITICAL", "V": "INFO",
}  # fmt: skip

PROCESS = (
    r"\((?P<label>[A-Za-z_][\w.:-]{0,60})(?: (?P<detail>rank=\d+|TP\d+))? pid=(?P<pid>\d+)(?:, ip=(?P<host>[\w.:]*))?\)"
)
_PROCESS = re.compile(PROCESS + r"(?: |$)")
_BARE_PROCESS = re.compile(
    r"\((?:pid=(?P<pid>\d+)(?:, ip=(?P<host>[\w.:]*))?|(?P<label>raylet|autoscaler)[^()]{0,60})\) ?"
)
_RANK = re.compile(r"\[rank(\d+)\]:? ?(?=\S|  |$)")
VLLM = re.compile(
    rf"(?:{PROCESS} )?(?P<level>{_LEVEL}) (?P<time>{_CLOCK}) \[?(?P<place>[\w./<>-]+:\d+)\](?: (?P<text>.*))?$", re.S
)
PREFIXED = re.compile(rf"\s{{1,8}}(?:{PROCESS} |{_LEVEL} {_CLOCK} )")
# What is left of a vLLM header when it was copied without its first part.
_CUT_VLLM = re.compile(
    rf"(?:(?P<level>{_LEVEL})\s+)?(?:(?P<time>{_CLOCK})\s+)?\[?(?P<place>[\w./-]*\.pyx?:\d+)\](?: (?P<text>.*))?$", re.S
)
_LEVEL_ONLY = re.compile(rf"(?P<level>{_LEVEL}) (?:(?P<time>{_CLOCK}) )?(?P<text>\S.*)$", re.S)

_PLACE = r"[\w./<>-]+\.\w+:\d+"
_OTHERS = [
    # uvicorn, then logging.basicConfig
    rf"(?P<level>{_ANY_LEVEL}):(?:\s{{2,}}|\s+(?=\())(?P<text>.*)$",
    rf"(?P<level>{_ANY_LEVEL}):(?P<name>[\w.]+):(?P<text>.*)$",
    rf"(?P<level>{_ANY_LEVEL}) - (?P<name>[\w.]{{1,80}}) - (?P<text>.*)$",
    # loguru
    rf"(?P<time>{ISO}) \| (?P<level>{_ANY_LEVEL})\s*\| (?P<place>[\w.<>]*:[\w.<>]+:\d+) - (?P<text>.*)$",
    # FastChat
    rf"(?P<time>{ISO}) \| (?P<level>{_ANY_LEVEL}) \| (?P<name>[\w.-]{{1,80}}) \| (?P<text>.*)$",
    # logging with dashes, Ray's Python side, Xinference, plain
    rf"(?P<time>{ISO}) - (?P<name>[\w.<>-]+) - (?:(?P<place>[\w.]+:\d+) - )?(?P<level>{_ANY_LEVEL}) - (?P<text>.*)$",
    rf"(?P<time>{ISO})\s+(?P<level>{_ANY_LEVEL})\s+(?P<place>{_PLACE})\s+--\s(?P<text>.*)$",
    rf"(?P<time>{ISO})\s+(?P<name>[\w.]+)\s+\d+\s+(?P<level>{_ANY_LEVEL})\s+(?P<text>.*)$",
    # KServe
    rf"(?P<time>{ISO})\s+\d+\s+(?P<name>[\w.]+)\s+(?P<level>{_ANY_LEVEL})"
    r"\s+\[(?P<place>[\w.]+:[\w.<>]+)\(\):\d+\](?: (?P<text>.*))?$",
    rf"(?P<time>{ISO})\s+\[?(?P<level>{_MIXED_LEVEL})\]?:?(?: \[?(?P<place>{_PLACE})\])?(?: (?P<text>.*))?$",
    rf"(?P<time>{ISO})\s+\[(?P<name>[\w.]+)\]\s+\[?(?P<level>{_ANY_LEVEL})\]?:?(?: (?P<text>.*))?$",
    # Ray's C++ side, Flask, bracketed
    rf"\[(?P<time>{ISO}) (?P<level>[DIWEFC]) \d+ \d+\] (?:\([^()]{{1,40}}\) )?(?P<place>{_PLACE}):(?: (?P<text>.*))?$",
    rf"\[(?P<time>{ISO})[],]*\s*\[?(?P<level>{_ANY_LEVEL})\]?(?: in (?P<name>\w+):|[]:]"
    rf"| )\s?(?:\[(?P<place>{_PLACE})[^]]{{0,60}}\] ?)?(?P<text>.*)$",
    rf"\[(?P<level>{_ANY_LEVEL})[|](?P<place>{_PLACE})\] (?P<time>{ISO}) >>(?: (?P<text>.*))?$",
    rf"\[(?P<level>{_ANY_LEVEL})\](?: (?P<time>{ISO}))?:?(?: (?P<text>.*))?$",
    # torch / glog
    r"\[?(?P<level>[IWEFV])(?P<time>\d{3,8} \d\d:\d\d:\d\d(?:\.\d+)?)(?: +\d+)? (?P<place>[\w./-]+:\d+"
    r")\](?: (?P<text>.*))?$",
    r"\[(?P<level>[IWEFV]) (?P<place>[\w./-]+\.(?:cpp|cc|h|hpp|cu):\d+)\](?: (?P<text>.*))?$",
    # RunPod worker
    rf"(?P<place>[\w./]+\.py\s{{0,20}}:\d+)\s+(?P<time>{ISO})(?: (?P<text>.*))?$",
]
_OTHER = [re.compile(pattern, re.S) for pattern in _OTHERS]
_OTHER_BY_FIRST = {
    "digit": [shape for shape in _OTHER if shape.pattern.startswith("(?P<time>")],
    "[": [shape for shape in _OTHER if shape.pattern.startswith(r"\[")],
    "letter": [shape for shape in _OTHER if shape.pattern.startswith(("(?P<level>", r"\[?", "(?P<place>"))],
}
_NCCL = re.compile(
    r"(?P<host>[\w.-]+):(?P<pid>\d+):\d+ \[\d+\] (?:[\d-]+ [\d:.]+ )?(?:(?P<place>[\w./]+:\d+) )?(?P<t"
    r"ext>NCCL (?P<level>WARN|INFO|ERROR|TRACE)\b.*)$",
    re.S,
)


class Header(NamedTuple):
    """What stood before a message. `vllm`: the header has vLLM's own shape."""

    text: str
    process: Process
    level: str | None
    time: str | None
    place: str | None
    headed: bool
    vllm: bool = False


def vllm_header(text: str) -> Header | None:
    """The header of a line that has vLLM's complete header, with or without one process prefix."""
    found = VLLM.match(text)
    if found is None:
        return None
    label, detail, pid, host, level, time, place, rest = found.groups()
    process = process_of(label, detail or "", pid, host or "") if label else NO_PROCESS
    return Header(rest or "", process, level, time, place, True, True)


def process_prefix(text: str) -> tuple[Process, str] | None:
    """The process of a leading `(Name pid=1) ` or `[rank0]: `, and the rest."""
    if text.startswith("("):
        found = _PROCESS.match(text)
        if found:
            groups = found.groupdict("")
            return process_of(groups["label"], groups["detail"], groups["pid"], groups["host"]), text[found.end() :]
        found = _BARE_PROCESS.match(text)
        if found:
            groups = found.groupdict("")
            return process_of(groups["label"], "", groups["pid"], groups["host"]), text[found.end() :]
    elif text.startswith("[rank"):
        found = _RANK.match(text)
        if found:
            return Process("", f"rank{found.group(1)}", None, int(found.group(1)[:9])), text[found.end() :]
    return None


def other_header(text: str) -> Header | None:
    """A shortened vLLM header or that of another logger."""
    first = text[:1]
    head = text[:160]
    if not first or first in " \t|+^-":
        return None
    if ".py" in head and "]" in head:
        found = _CUT_VLLM.match(text)
        if found:
            return _header(found, NO_PROCESS, vllm=True)
    if first.isdigit() and head[4:5] not in ("-", "/") and "NCCL " not in head and ".py" not in head[:60]:
        return None  # no date
    if first.isdigit() or first in "[DIWEFCTVS" or ".py" in head[:60] or "NCCL " in head:
        if "NCCL " in head and (found := _NCCL.match(text)):
            return _header(found, process_of("", "", found.group("pid")))
        for pattern in _OTHER_BY_FIRST["digit" if first.isdigit() else "[" if first == "[" else "letter"]:
            found = pattern.match(text)
            if found:
                return _header(found, NO_PROCESS)
        found = _LEVEL_ONLY.match(text)
        if found:
            return _header(found, NO_PROCESS, vllm=True)
    return None


def _header(found: re.Match[str], process: Process, vllm: bool = False) -> Header:
    groups = found.groupdict()
    level = (groups.get("level") or "").upper()
    return Header(
        text=groups.get("text") or "",
        process=process,
        level=_NAMES.get(level, level) or None,
        time=groups.get("time"),
        place=(groups.get("place") or "").replace(" ", "") or None,
        headed=True,
        vllm=vllm,
    )
