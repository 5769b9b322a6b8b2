"""Words and commands in, what a shell takes for the same out: quoted, broken into lines that can be pasted."""

from __future__ import annotations

import re
import unicodedata

_SAFE = re.compile(r"[A-Za-z0-9@%+=:,./_…-]+")
_HOME = re.compile(r"~(?:/[A-Za-z0-9@%+=:,./_-]*)?")
_VARIABLES = re.compile(r"(?:[A-Za-z0-9@%+=:,./_ -]|\$[A-Za-z_]\w*|\$\{[A-Za-z_]\w*\}|\$\(pwd\))+")
_BREAK = re.compile(r" (?=--?[A-Za-z]|\| |&& |[A-Z][A-Z0-9_]*=|vllm serve )")
_WIDTH = 76


def quoted(word: str) -> str:
    """The word as one shell word."""
    return word if _SAFE.fullmatch(word) else "'" + word.replace("'", "'\"'\"'") + "'"


def expanded(word: str) -> str:
    """The word as one shell word in which `~`, `$NAME` and `$(pwd)` keep their meaning, and nothing else does."""
    if _HOME.fullmatch(word):
        return word
    return f'"{word}"' if "$" in word and _VARIABLES.fullmatch(word) else quoted(word)


def wrapped_command(command: str, width: int = _WIDTH) -> str:
    """A long one-line command broken before its options with ` \\`, so that it can still be pasted."""
    return "\n".join(_wrapped_line(line, width) for line in command.split("\n"))


def _wrapped_line(line: str, width: int) -> str:
    if _cells(line) <= width or line.endswith("\\") or line.lstrip().startswith("#"):
        return line
    pieces, comment = _breakable(line)
    rows = [pieces[0]]
    for piece in pieces[1:]:
        if _cells(rows[-1]) + 1 + _cells(piece) > width - 2:
            rows.append("  " + piece)
        else:
            rows[-1] += " " + piece
    if comment and _cells(rows[-1]) + 2 + _cells(comment) <= width:
        return " \\\n".join(rows) + "  " + comment
    return " \\\n".join([*rows, _wrapped_comment(comment, width)] if comment else rows)


def _wrapped_comment(comment: str, width: int) -> str:
    """A comment in lines of its own: what follows ` \\` may be one, and so may what follows that."""
    rows: list[str] = []
    for word in comment.removeprefix("#").split():
        if rows and _cells(rows[-1]) + 1 + _cells(word) <= width:
            rows[-1] += " " + word
        else:
            rows.append("  # " + word)
    return "\n".join(rows)


def _cells(text: str) -> int:
    """Columns on a terminal, as far as comments in our languages need it."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _breakable(line: str) -> tuple[list[str], str]:
    """The command cut before every option and `| …` that stands outside of quotes; and the comment behind it."""
    pieces: list[str] = []
    quote, start = "", 0
    for position, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "#" and line[position - 1 : position] == " ":
            return [*pieces, line[start:position].rstrip()], line[position:]  # a shell takes all that follows for it
        elif character == " " and position > start and _BREAK.match(line, position):
            pieces.append(line[start:position])
            start = position + 1
    return [*pieces, line[start:]], ""
