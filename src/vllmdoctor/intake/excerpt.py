"""Sources and literals in, an Excerpt of each (all lines of a small input, the telling lines of a large one) out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import BinaryIO

from vllmdoctor.intake.kept import Limits, decoded
from vllmdoctor.intake.literals import LiteralFinder
from vllmdoctor.intake.scan import Scan
from vllmdoctor.intake.source import Source
from vllmdoctor.intake.sources import open_sources
from vllmdoctor.languages import Message
from vllmdoctor.logs.model import RawLine

Progress = Callable[[int], None]
Literals = Sequence[bytes] | Callable[[], Sequence[bytes]]  # what large inputs are searched for, or how to get it

# Beyond this much kept text (characters of all inputs together) the inputs that follow are kept more sparingly.
_AMPLE_CHARACTERS = 12 << 20
_SPARSE_CHARACTERS = 24 << 20
_SPARING, _SPARSE = 16, 400


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is kept of one input. Line numbers are those of the input; `complete` means that every line is there."""

    name: str
    lines: tuple[RawLine, ...]
    total_lines: int
    total_bytes: int  # decompressed, as UTF-8
    complete: bool
    notes: tuple[str, ...] = ()
    hits: Mapping[str, int] = field(default_factory=dict)  # occurrences of each literal seen; only when incomplete
    uncounted: frozenset[str] = frozenset()  # literals so frequent that counting stopped: `hits` says "at least"


def read_excerpt(
    source: Source,
    index: int,
    literals: Literals,
    *,
    block_literals: frozenset[bytes] = frozenset(),
    progress: Progress | None = None,
) -> Excerpt:
    """Reads one input, which becomes input `index` of its lines. `progress` gets the bytes read since its last call."""
    return _Reader(literals, block_literals, progress).read(source, index, Limits())


def read_inputs(
    paths: Sequence[str],
    *,
    stdin: BinaryIO | None,
    literals: Literals,
    block_literals: frozenset[bytes] = frozenset(),
    progress: Progress | None = None,
) -> list[Excerpt]:
    """Reads all inputs behind the paths; after a `block_literals` hit the lines of a whole traceback are kept."""
    reader = _Reader(literals, block_literals, progress)
    excerpts: list[Excerpt] = []
    characters = 0
    for index, source in enumerate(open_sources(paths, stdin=stdin)):
        excerpt = reader.read(source, index, _limits_after(characters))
        characters += sum(len(line.text) + 100 for line in excerpt.lines)
        excerpts.append(excerpt)
    return excerpts


def _limits_after(characters: int) -> Limits:
    if characters < _AMPLE_CHARACTERS:
        return Limits()
    return Limits().shrunk(_SPARING if characters < _SPARSE_CHARACTERS else _SPARSE)


class _Reader:
    """Reads inputs with one set of literals."""

    def __init__(self, literals: Literals, block_literals: frozenset[bytes], progress: Progress | None) -> None:
        self._literals = literals
        self._block_literals = block_literals
        self._progress = progress

    @cached_property
    def _finder(self) -> LiteralFinder:
        """Built when the first large input is met: small ones are kept whole."""
        literals = self._literals() if callable(self._literals) else self._literals
        return LiteralFinder(tuple(dict.fromkeys((*literals, *sorted(self._block_literals)))))

    @cached_property
    def _block_indexes(self) -> frozenset[int]:
        return frozenset(place for place, one in enumerate(self._finder.literals) if one in self._block_literals)

    def read(self, source: Source, index: int, limits: Limits) -> Excerpt:
        held: list[bytes] = []
        total = lines = 0
        scan: Scan | None = None
        for chunk in source.chunks():
            total += len(chunk)
            if scan is not None:
                scan.feed(chunk)
            else:
                held.append(chunk)
                lines += chunk.count(b"\n")
                if total > limits.whole_bytes or lines > limits.whole_lines:
                    scan = Scan(self._finder, self._block_indexes, limits)
                    while held:
                        scan.feed(held.pop(0))
            if self._progress is not None:
                self._progress(len(chunk))
        if scan is None:
            return _complete(source, index, b"".join(held))
        return self._incomplete(source, index, scan, total)

    def _incomplete(self, source: Source, index: int, scan: Scan, total: int) -> Excerpt:
        kept = scan.finish()
        lines = tuple(RawLine(index, number, kept.pop(number)) for number in sorted(kept))
        notes = list(source.notes)
        if scan.kept.cut:
            notes.append(
                Message(
                    "{count} lines longer than 64 KiB were cut to the parts around known messages", count=scan.kept.cut
                )
            )
        names = [decoded(literal) for literal in self._finder.literals]
        hits = {name: count for name, count in zip(names, scan.counts, strict=True) if count}
        uncounted = frozenset(names[place] for place in scan.uncounted)
        return Excerpt(source.name, lines, scan.total_lines, total, False, tuple(notes), hits, uncounted)


def _complete(source: Source, index: int, data: bytes) -> Excerpt:
    texts = decoded(data).split("\n")
    if texts[-1] == "":
        texts.pop()
    lines = tuple(RawLine(index, number, text) for number, text in enumerate(texts, 1))
    return Excerpt(source.name, lines, len(lines), len(data), True, tuple(source.notes))
