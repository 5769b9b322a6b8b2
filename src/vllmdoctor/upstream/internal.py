"""The table of vLLM's internal messages (internal.tsv) in, keys of the templates that no operator can cause out."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from vllmdoctor.upstream.templates import folded, pieces_of

COLUMNS = ("file", "function", "template", "reason")

Key = tuple[str, str]


def key_of(file: str, text: str) -> Key:
    """The file and the wording; how a placeholder is spelt depends on what read the source."""
    return file, "".join("{}" if piece.placeholder else piece.text for piece in pieces_of(folded(text)))


@cache
def internal_rows() -> tuple[dict[str, str], ...]:
    """One mapping from column to cell for each row."""
    text = files("vllmdoctor.upstream").joinpath("internal.tsv").read_text(encoding="utf-8")
    return tuple(dict(zip(COLUMNS, line.split("\t"), strict=True)) for line in text.splitlines()[1:] if line)


@cache
def internal_keys() -> frozenset[Key]:
    return frozenset(key_of(row["file"], row["template"]) for row in internal_rows())
