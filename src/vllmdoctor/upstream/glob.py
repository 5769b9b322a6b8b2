"""A template's pieces and a text in, what its placeholders held out: literal search only, so it takes linear time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vllmdoctor.upstream.templates import Piece

_CUT_LITERAL = 20  # so many characters of a template must stand in a text that ends before the template does


@dataclass(frozen=True, slots=True)
class GlobMatch:
    """Where the template stands in the text, and the value of each placeholder (None behind the end of a cut text)."""

    start: int
    end: int
    values: tuple[str | None, ...]


def glob_match(pieces: Sequence[Piece], text: str, *, cut: bool = False) -> GlobMatch | None:
    """The first place where all literals stand in order. With `cut` the text may end inside of the template.

    Taking the leftmost place of every literal is complete for existence, as with `*` in file names.
    """
    start, position, matched = -1, 0, 0
    values: list[str | None] = []
    waiting = 0
    for piece in pieces:
        if piece.placeholder:
            waiting += 1
            continue
        found = text.find(piece.text, position)
        if found < 0:
            if not (cut and _ends_inside(piece.text, text, position, matched)):
                return None
            return GlobMatch(max(start, 0), len(text), tuple(values) + (None,) * (_placeholders(pieces) - len(values)))
        values += _values(text[position:found], waiting)
        waiting = 0
        start = found if start < 0 else start
        position = found + len(piece.text)
        matched += len(piece.text)
    values += _values(text[position:], waiting)
    return GlobMatch(0 if pieces and pieces[0].placeholder else max(start, 0), len(text) if waiting else position, tuple(values))


def _placeholders(pieces: Sequence[Piece]) -> int:
    return sum(piece.placeholder for piece in pieces)


def _values(between: str, waiting: int) -> list[str | None]:
    """Neighbouring placeholders share what stands between two literals; the first one gets it."""
    return [between, *([""] * (waiting - 1))] if waiting else []


def _ends_inside(literal: str, text: str, position: int, matched: int) -> bool:
    """True when the text's end is a beginning of the literal, or the text ends in the placeholder before it."""
    tail = text[position:].rstrip(" .…")
    for size in range(min(len(literal), len(tail)), 0, -1):
        if tail.endswith(literal[:size]):
            return matched + size >= _CUT_LITERAL
    return matched >= _CUT_LITERAL
