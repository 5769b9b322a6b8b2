"""A template's pieces and a text in, what its placeholders held out: literal search only, so it takes linear time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vllmdoctor.upstream.templates import Piece

_CUT_LITERAL = 30  # so many characters of a template must stand in a text that ends before the template does
_CUT_TAIL = 6

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class GlobMatch:
    """Where each literal stands in the text, and the value of each placeholder (None behind the end of a cut text)."""

    literals: tuple[Span, ...]
    values: tuple[str | None, ...]

    def shared(self, start: int, end: int) -> int:
        """How many characters of a span are the template's own."""
        return sum(max(0, min(end, last) - max(start, first)) for first, last in self.literals)


def glob_match(pieces: Sequence[Piece], text: str, *, cut: bool = False) -> GlobMatch | None:
    """The first place where all literals stand in order. With `cut` the text may end inside of the template.

    Taking the leftmost place of every literal is complete for existence, as with `*` in file names.
    """
    literals: list[Span] = []
    values: list[str | None] = []
    position = waiting = 0
    for piece in pieces:
        if piece.placeholder:
            waiting += 1
            continue
        found = text.find(piece.text, position)
        if found < 0:
            tail = _cut_tail(piece.text, text, position, literals) if cut else None
            missing = sum(piece.placeholder for piece in pieces) - len(values)
            return tail and GlobMatch((*literals, tail), (*values, *([None] * missing)))
        values += _shared_value(text[position:found], waiting)
        waiting = 0
        position = found + len(piece.text)
        literals.append((found, position))
    return GlobMatch(tuple(literals), (*values, *_shared_value(text[position:], waiting)))


def _shared_value(between: str, placeholders: int) -> list[str | None]:
    """Neighbouring placeholders share what stands between two literals; the first one gets it."""
    return [between, *([""] * (placeholders - 1))] if placeholders else []


def _cut_tail(literal: str, text: str, position: int, before: Sequence[Span]) -> Span | None:
    """Where the text ends with a beginning of the literal, when enough of the template stands there in all."""
    end = len(text.rstrip(" .…"))
    matched = sum(last - first for first, last in before)
    for size in range(min(len(literal), end - position), _CUT_TAIL - 1, -1):
        if text.endswith(literal[:size], position, end):
            return (end - size, end) if matched + size >= _CUT_LITERAL else None
    return None
