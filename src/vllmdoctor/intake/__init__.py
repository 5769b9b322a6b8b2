"""Paths in, the lines worth reading (all of a small input, the telling ones of a large input) out."""

from vllmdoctor.intake.excerpt import Excerpt, read_excerpt, read_inputs
from vllmdoctor.intake.literals import LiteralFinder
from vllmdoctor.intake.source import Source
from vllmdoctor.intake.sources import open_sources

__all__ = [
    "Excerpt",
    "LiteralFinder",
    "Source",
    "open_sources",
    "read_excerpt",
    "read_inputs",
]
