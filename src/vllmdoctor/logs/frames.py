"""One line of a traceback in, its frame, source or exception name out; for Python, IPython and pytest."""

from __future__ import annotations

import re

from vllmdoctor.logs.model import Frame

TRACEBACK = "Traceback (most recent call last)"
_NOTEBOOK_TRACEBACK = re.compile(r"([A-Za-z_][\w.]*)\s{2,}Traceback \(most recent call last\)$")
_PYTHON = re.compile(
    r"\s{0,12}File \"?(?P<file>[^\"\n]{1,1000}?)\"?, line (?P<line>\d{1,9})(?:, in (?P<function>.{1,300}?))?\s*$"
)
_CUT_PYTHON = re.compile(
    r"(?P<file>[^\s\"][^\"\n]{0,600}\.pyx?)\", line (?P<line>\d{1,9}), in (?P<function>\S.{0,300}?)\s*$"
)
_NOTEBOOK = [
    re.compile(pattern)
    for pattern in (
        r"File (?P<file>(?:[A-Za-z]:)?[^\s:][^\n:]{0,600}):(?P<line>\d{1,9}),? in (?P<function>.{1,2000}?)$",
        r"(?:Cell|Input) In ?\[\d{1,6}\], (?:line (?P<line>\d{1,9})|in (?P<function><.{1,80}>))",
        r"(?P<file><ipython-input[^<>]{1,200}>|[~./\w-][^\s()]{0,600}?\.(?:py|pyx)"
        r"|\[[^\[\]\s]{1,400}\.(?:py|pyx)\]\(\S{0,400}\))"
        r" in (?P<function><?[\w.<]+.{0,2000})$",
    )
]
_PYTEST = re.compile(
    r"(?P<file>[\w./-]{1,600}\.py):(?P<line>\d{1,9}): (?:in (?P<function>[\w.<>]{1,200})|(?P<error>[A-Z]\w+))$"
)
_NUMBERED = re.compile(r"(?P<arrow>-{1,12}> ?)?\s{0,8}(?P<line>\d{1,7})(?: (?P<source>.*))?$", re.S)
_CUT = re.compile(
    r"\s*(?:\[?(?:\.{3}|…)\]?|\[\.\.\. .{0,200}\.\.\.\]|\[Previous line repeated \d+ more times?"
    r"\]|\d+ frames|<\d+ (?:frames|lines) omitted>)\s*$"
)
_NAME = r"(?:[A-Za-z_]\w*\.){0,12}"
_LAST = (
    r"[A-Za-z]\w*(?:Error|Exception)(?:_\w+|Group)?|KeyboardInterrupt|SystemExit|StopIteration"
    r"|StopAsyncIteration|GeneratorExit"
    r"|TimeoutExpired|CancelledError|OutOfResources|BackendCompilerFailed|Unsupported"
    r"|InternalTorchDynamoError|Exception|ExceptionGroup"
    r"|BaseExceptionGroup|EntryNotFound|RepositoryNotFound|HFValidationError|Empty|Full|gaierror"
)
_STRONG = re.compile(rf"(?P<name>{_NAME}(?:{_LAST}))(?:: ?(?=\S|$)|\s*$)")
_WEAK = re.compile(r"(?P<name>(?:[A-Za-z_]\w*\.){1,12}[A-Za-z_]\w*|[A-Z]\w{2,60})(?::(?: |$)|$)")
_NEVER = frozenset(
    "INFO WARNING ERROR DEBUG CRITICAL NOTE Note Warning Error Usage Options Killed Aborted None True"
    " False Hint HINT Help WARN Process "
    "Exception".split()
)


def is_traceback_start(text: str) -> bool:
    """The line that opens a traceback."""
    if TRACEBACK not in text[:200]:
        return text.startswith("Traceback (most") and TRACEBACK.startswith(text)  # cut off by the end of the copy
    bare = text.strip()
    return bare.startswith((TRACEBACK, "Exception Group " + TRACEBACK, "+ Exception Group " + TRACEBACK)) or (
        _NOTEBOOK_TRACEBACK.match(bare) is not None
    )


def frame_of(text: str) -> Frame | None:
    """The traceback entry that a line announces."""
    head = text[:4096]
    if 'File "' in head or "File <" in head or ", line " in head:
        found = _PYTHON.match(head) or _CUT_PYTHON.match(head)
        if found:
            return _frame(found)
    if " in " in head or "In" in head[:12]:
        for shape in _NOTEBOOK:
            found = shape.match(head)
            if found:
                return _frame(found)
        found = _PYTEST.match(head)
        if found and found.group("function"):
            return _frame(found)
    return None


def notebook_source(text: str) -> tuple[bool, int, str] | None:
    """`---> 49 code`: whether the arrow points at it, its number, the code."""
    found = _NUMBERED.match(text[:2000])
    if found is None:
        return None
    return found.group("arrow") is not None, int(found.group("line")), found.group("source") or ""


def is_mark(text: str) -> bool:
    """A line of carets and tildes under a source line."""
    return ("^" in text or "~" in text) and not text.strip(" \t^~|")


def is_cut(text: str) -> bool:
    """A line that stands for left-out lines."""
    return len(text) < 300 and _CUT.match(text) is not None


def is_pytest_end(text: str) -> bool:
    """`test_x.py:12: ValueError`, pytest's last line of an entry."""
    found = _PYTEST.match(text[:1000]) if ".py:" in text[:700] else None
    return found is not None and found.group("error") is not None


def exception_name(text: str) -> str:
    """The exception class when the line reads as an exception by itself, else ""."""
    head = text[:400]
    if not head or not (head[0].isalpha() or head[0] == "_"):
        return ""
    found = _STRONG.match(head)
    if found is None or found.group("name") in _NEVER:
        return ""
    return found.group("name")


def exception_name_after_frames(text: str) -> str:
    """The same, where the frames above leave little else that an unindented line can be."""
    strong = exception_name(text)
    if strong:
        return strong
    found = _WEAK.match(text[:400])
    if found is None:
        return "Exception" if text.startswith("Exception:") or text.strip() == "Exception" else ""
    name = found.group("name")
    if name in _NEVER or name.endswith((".py", ".cpp", ".cc", ".cu", ".so")):
        return "Exception" if name == "Exception" else ""
    return name


def _frame(found: re.Match[str]) -> Frame:
    groups = found.groupdict()
    line = groups.get("line")
    file = groups.get("file") or found.group().split(",", 1)[0]
    if file.startswith("[") and "](" in file:
        file = file[1 : file.index("](")]
    return Frame(file, int(line) if line else None, groups.get("function") or "")
