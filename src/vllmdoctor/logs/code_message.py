"""The source lines of a `raise` in, the message they would print out (values replaced by 000)."""

from __future__ import annotations

import re

_RAISE = re.compile(r"\braise\s+([A-Za-z_][\w.]*)\s*\(")
_STRING = re.compile(r"([rRbBuUfF]{0,2})('''|\"\"\"|'|\")")
_ESCAPES = {"n": " ", "t": " ", "\\": "\\", "'": "'", '"': '"', "\n": ""}
_LONGEST = 16 << 10
_VALUE = "000"  # reads as a number and, for patterns, as a name


def message_of_raise(source: str) -> str:
    """`ValueError: User-specified max_model_len (000) is …` for `raise ValueError(f"User-specified …`, "" when none."""
    source = source[:_LONGEST]
    raises = list(_RAISE.finditer(source))
    if not raises:
        return ""
    found = raises[-1]
    message = " ".join(_literals(source, found.end()).split())
    return f"{found.group(1)}: {message}" if message else ""


def _literals(source: str, position: int) -> str:
    """The string literals of the call's first argument, joined."""
    pieces: list[str] = []
    depth = 1
    while position < len(source) and depth:
        char = source[position]
        string = _STRING.match(source, position)
        if string:
            text, position = _string(source, string)
            if depth <= 2:
                pieces.append(text)
            continue
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 1 and pieces:
            break
        elif char == "#":
            position = source.find("\n", position)
            if position < 0:
                break
        position += 1
    return "".join(pieces)


def _string(source: str, start: re.Match[str]) -> tuple[str, int]:
    """The content of one literal and where it ends; a cut literal ends with its line."""
    prefix, quote = start.groups()
    formatted = "f" in prefix.lower()
    raw = "r" in prefix.lower()
    position = start.end()
    text: list[str] = []
    while position < len(source):
        char = source[position]
        if source.startswith(quote, position):
            return "".join(text), position + len(quote)
        if char == "\n" and len(quote) == 1:
            break
        if char == "\\" and not raw and position + 1 < len(source):
            text.append(_ESCAPES.get(source[position + 1], source[position + 1]))
            position += 2
        elif formatted and char in "{}" and source[position + 1 : position + 2] == char:
            text.append(char)
            position += 2
        elif formatted and char == "{":
            text.append(_VALUE)
            position = _behind_expression(source, position)
        else:
            text.append(char)
            position += 1
    return "".join(text), position


def _behind_expression(source: str, position: int) -> int:
    depth = 0
    while position < len(source):
        char = source[position]
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return position + 1
        elif char == "\n":
            return position
        position += 1
    return position
