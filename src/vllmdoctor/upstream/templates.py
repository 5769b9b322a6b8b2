"""A table of vLLM's message templates in (TSV), typed templates with their literal and variable pieces out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vllmdoctor.errors import InputError
from vllmdoctor.languages import Message
from vllmdoctor.rules.versions import Release, release_of

RAISE, ERROR, WARNING = "raise", "error", "warning"
INFO, TEXT = "info", "text"  # kept to tell whether a wording exists; no failure is reported with them
MESSAGE_KINDS = (RAISE, ERROR, WARNING)
COLUMNS = ("kind", "exception", "file", "function", "template", "first_version", "last_version")

_PERCENT = re.compile(r"%(?:\((?P<name>\w+)\))?[-+#0]?\d*(?:\.\d+)?[sdifrgxXeEca]")
_MORE_FILES = re.compile(r" \(\+\d+\)$")
_LONGEST_PLACEHOLDER = 600
_WORD = re.compile(r"[A-Za-z][A-Za-z_]{2,}")


@dataclass(frozen=True, slots=True)
class Piece:
    """A literal text of a template, or the expression of a placeholder (without its braces)."""

    text: str
    placeholder: bool = False


@dataclass(frozen=True, slots=True)
class Template:
    """A message as vLLM's source has it: f-string body with {placeholders}, or %-style. White space is folded.

    `first_version` and `last_version` bound the releases that have it, "" when only one is known; `moved` says that
    other files have or had it too.
    """

    kind: str
    exception: str
    file: str
    function: str
    text: str
    first_version: str = ""
    last_version: str = ""
    moved: bool = False

    @property
    def first(self) -> Release | None:
        return release_of(self.first_version)

    @property
    def last(self) -> Release | None:
        return release_of(self.last_version)

    @property
    def words(self) -> int:
        """How many words of its own it has; without any, only a placeholder's value is printed."""
        return sum(len(_WORD.findall(piece.text)) for piece in pieces_of(self.text) if not piece.placeholder)

    def exists_in(self, release: Release) -> bool:
        """True when the bounds admit the release; a template without bounds is of the release that was read."""
        first, last = self.first, self.last
        return first is None or last is None or first <= release <= last


def pieces_of(text: str) -> tuple[Piece, ...]:
    """Literal texts and placeholders in turn; neighbouring placeholders stay apart."""
    found: list[Piece] = []
    literal = ""
    position = 0
    while position < len(text):
        end = _placeholder_end(text, position)
        if end is None:
            literal += text[position]
            position += 1
            continue
        if literal:
            found.append(Piece(literal))
            literal = ""
        found.append(Piece(_expression(text[position:end]), placeholder=True))
        position = end
    return (*found, Piece(literal)) if literal else tuple(found)


def _expression(source: str) -> str:
    if source.startswith("{"):
        return source[1:-1].strip()
    named = _PERCENT.fullmatch(source)
    return (named and named["name"]) or source


def _placeholder_end(text: str, start: int) -> int | None:
    if text[start] == "%":
        found = _PERCENT.match(text, start)
        return found.end() if found else None
    return _closing_brace(text, start) if text[start] == "{" else None


def _closing_brace(text: str, start: int) -> int | None:
    """Behind the brace that closes the one at `start`; braces inside quotes don't count. None when there is none."""
    depth, quote = 0, ""
    for position in range(start, min(len(text), start + _LONGEST_PLACEHOLDER)):
        character = text[position]
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"" and depth:
            quote = character
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return position + 1
    return None


def folded(text: str) -> str:
    return " ".join(text.split())


def from_tsv(path: Path) -> list[Template]:
    """Templates of a table over many releases. Raises InputError when it cannot be read or has other columns."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(
            str(path),
            Message("cannot be read ({reason})", reason=problem),
            Message("Give a table of templates or a vLLM folder"),
        ) from None
    if tuple(lines[0].rstrip("\r").split("\t")) != COLUMNS:
        raise InputError(
            str(path),
            Message("line 1: no table of templates"),
            Message("Its columns are {names}", names=", ".join(COLUMNS)),
        )
    return list(_rows(path, lines[1:]))


def _rows(path: Path, lines: list[str]) -> Iterator[Template]:
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        cells = line.rstrip("\r").split("\t")
        if len(cells) != len(COLUMNS):
            raise InputError(
                str(path),
                Message(
                    "line {number}: {count} columns instead of {wanted}",
                    number=number,
                    count=len(cells),
                    wanted=len(COLUMNS),
                ),
            )
        kind, exception, file, function, text, first, last = cells
        if release_of(first) is None or release_of(last) is None:
            raise InputError(
                str(path),
                Message(
                    "line {number}: {first!r}, {last!r} are no versions such as 0.9.1",
                    number=number,
                    first=first,
                    last=last,
                ),
            )
        yield Template(
            kind,
            exception,
            _MORE_FILES.sub("", file),
            function,
            folded(text),
            first,
            last,
            bool(_MORE_FILES.search(file)),
        )


def releases_of(templates: list[Template]) -> list[Release]:
    """The releases that a table was made from: those at which some template begins or ends."""
    return sorted({release for t in templates for release in (t.first, t.last) if release is not None})
