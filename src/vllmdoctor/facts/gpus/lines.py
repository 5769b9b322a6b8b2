"""In: any text. Out: its lines without escape sequences and without what other tools put in front of every line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
# No line of a list of `key: value` is a number alone.
_PAIR = re.compile(r"\S\s*:\s")
_REST_OF_NUMBER = re.compile(r"^\s*\d[\d.]*(?: ?(?:MiB|W|%|C|MHz|KB/s))?\s*$")
_INVISIBLE = re.compile("[\x00\ufeff\u200b]")

# Prefixes that no GPU tool prints itself.
_ALWAYS = re.compile(
    r"^(?:"
    r"\s{0,3}>(?: >|>)*(?: |$)"  # quoted mail or Markdown
    r"|\s{0,3}##+ "
    r"|\d{4}-\d\d-\d\d[T ][\d:]{8}(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\s(?:std(?:out|err) [FP] )?"
    r"|\[pod/[^\]\s]+\] "
    r"|\([A-Za-z][^()]*\bpid=\d+[^()]*\) "
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [\w./@-]+(?:\[\d+\])?: "
    r")"
)
# Prefixes that could be output as well: only taken off when several lines carry the very same one.
_SHARED = re.compile(r"^(?!(?:Off|Default|MiB)\b)[A-Za-z][\w.-]{2,}\s*\|(?= |$)|^[\w./\[\]-]+:\s(?=[|+])|^#(?= )")
_MIN_SHARED_LINES = 3
_MIN_HASH_SHARE = 0.8  # `# gpu` heads columns in `dmon`; a comment sign stands before nearly every line
_BORDER = re.compile(r"^(?P<prefix>.{1,80}?)\+[-=+]{30,}\+\s*$")
_LOST_BREAKS_LENGTH = 240
_MIN_WRAP_COLUMN = 40
_ENTRY_START = re.compile(r"\s*(?:\d{1,3}, [A-Z\[]|#|GPU \d|$)")
_LOST_BREAK = re.compile(r"(?<=\|) (?=[|+])|(?<=[-=]\+) +(?=[|+])|(?<=\|) +(?=\+[-=])")


def clean_lines(text: str) -> list[str]:
    """The lines of `text`, ready for the readers. Line numbers are not kept."""
    text = _INVISIBLE.sub("", _ANSI.sub("", text)).replace("\xa0", " ")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = [_without_fixed_prefixes(line) for line in lines]
    lines = _dedented(_without_shared_prefixes(lines))
    return _without_column_prefix(_with_lost_breaks(lines))


def unwrapped(lines: Sequence[str]) -> list[str]:
    """The lines with a hard wrap undone: pieces as long as the longest line are joined with what follows them."""
    width = max(map(len, lines), default=0)
    if width < _MIN_WRAP_COLUMN:
        return list(lines)
    joined: list[str] = []
    open_piece = False
    for line in lines:
        if open_piece and not _ENTRY_START.match(line):
            joined[-1] += line
        else:
            joined.append(line)
        open_piece = len(line) == width
    return joined


def _without_fixed_prefixes(line: str) -> str:
    for _ in range(3):
        shorter = _ALWAYS.sub("", line, count=1)
        if shorter == line:
            break
        line = shorter
    return line


def _without_shared_prefixes(lines: Sequence[str]) -> list[str]:
    found = [_SHARED.match(line) for line in lines]
    filled = [
        (line, match) for line, match in zip(lines, found, strict=True) if line[match.end() if match else 0 :].strip()
    ]
    counts = Counter(match[0] for _, match in filled if match)
    enough = min(_MIN_SHARED_LINES, len(filled))
    least = {"#": len(filled) * _MIN_HASH_SHARE}
    shared = {prefix for prefix, count in counts.items() if count >= least.get(prefix, enough)}
    return [
        line[match.end() :].removeprefix(" ") if match and match[0] in shared else line
        for line, match in zip(lines, found, strict=True)
    ]


def _dedented(lines: Sequence[str]) -> list[str]:
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[indent:] for line in lines]


def _without_column_prefix(lines: Sequence[str]) -> list[str]:
    """Take off a prefix of unknown make that stands before the frame of a table, by its width."""
    widths = Counter(len(match["prefix"]) for line in lines if (match := _BORDER.match(line)))
    if not widths:
        return list(lines)
    width = widths.most_common(1)[0][0]
    return [line[width:] if line[width : width + 1] in ("|", "+") and line[:1] not in "|+" else line for line in lines]


def _with_lost_breaks(lines: Sequence[str]) -> list[str]:
    """Put line breaks back into a table that was pasted as one long line."""
    broken: list[str] = []
    for line in lines:
        if len(line) > _LOST_BREAKS_LENGTH and ("NVIDIA-SMI" in line or "MiB /" in line):
            broken.extend(_LOST_BREAK.sub("\n", line).split("\n"))
        else:
            broken.append(line)
    return broken


def with_whole_numbers(lines: Sequence[str]) -> list[str]:
    """Lines of `key: value` with a hard wrap within a number undone."""
    whole: list[str] = []
    for line in lines:
        if whole and _REST_OF_NUMBER.match(line) and _PAIR.search(whole[-1]):
            whole[-1] = whole[-1].rstrip() + line.strip()
        else:
            whole.append(line)
    return whole
