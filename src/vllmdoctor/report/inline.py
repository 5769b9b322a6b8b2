"""Markdown of rule texts in, its blocks and the spans of a line out: paragraphs, lists, code, emphasis, links.

Only what the rules use: a Markdown library would cost more start-up time than the whole diagnosis.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

TEXT, CODE, STRONG, EMPHASIS, LINK = "text", "code", "strong", "emphasis", "link"

_INLINE = re.compile(
    r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)(?!`)"
    r"|\*\*(?P<strong>\S(?:.*?\S)?)\*\*"
    r"|(?<![\w*])\*(?P<emphasis>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])"
    r"|\[(?P<label>[^\]\[]+)\]\((?P<url>[^()\s]+)\)"
    r"|<(?P<link>https?://[^\s<>]+)>"
    r"|\\(?P<escaped>[\\`*_\[\]<>])"
)
_CAPITALIZING = ("en", "vi")  # languages whose sentences begin with a capital letter
_NAMES = ("Docker", "Kubernetes", "Linux", "Python", "Ray", "Transformers", "Triton", "Windows")
_ITEM = re.compile(r"(?P<indent> *)(?P<marker>[-*+]|\d+[.)]) +(?P<text>.*)")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line. `url` belongs to a link; a bare address has no text of its own."""

    kind: str
    text: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class SourceBlock:
    """One paragraph, list item or code block. `marker` is the item's bullet or number, `depth` its nesting."""

    source: str
    marker: str = ""
    depth: int = 0
    code: bool = False


def spans_of(source: str) -> Iterator[Span]:
    """The pieces of one run of Markdown in order."""
    position = 0
    for found in _INLINE.finditer(source):
        if found.start() > position:
            yield Span(TEXT, source[position : found.start()])
        position = found.end()
        if found["code"]:
            yield Span(CODE, found["code"].strip())
        elif found["label"]:
            yield Span(LINK, found["label"], found["url"])
        elif found["strong"]:
            yield Span(STRONG, found["strong"])
        elif found["emphasis"]:
            yield Span(EMPHASIS, found["emphasis"])
        else:
            yield Span(LINK, "", found["link"]) if found["link"] else Span(TEXT, found["escaped"])
    if position < len(source):
        yield Span(TEXT, source[position:])


def plain_text(source: str) -> str:
    """The Markdown as text without any marks, on one line."""
    shown = (f"{s.text} ({s.url})" if s.text and s.url else s.text or s.url for s in spans_of(" ".join(source.split())))
    return "".join(shown)


def within_sentence(text: str, language: str) -> str:
    """The sentence as it goes on behind a colon: with a small letter, unless it begins with a name."""
    first = text.split(" ", 1)[0]
    if language in _CAPITALIZING and first not in _NAMES and first[1:] == first[1:].lower():
        return text[:1].lower() + text[1:]
    return text


def source_blocks(source: str) -> Iterator[SourceBlock]:
    """The blocks of a Markdown text in order."""
    waiting: list[str] = []
    marker, depth = "", 0
    lines = iter(source.strip().split("\n"))
    for line in lines:
        item = _ITEM.fullmatch(line)
        if line.lstrip().startswith("```"):
            yield from _flushed(waiting, marker, depth)
            yield SourceBlock("\n".join(_until_fence(lines)), code=True)
            marker, depth = "", 0
        elif item or not line.strip():
            yield from _flushed(waiting, marker, depth)
            marker, depth = (item["marker"], len(item["indent"]) // 2) if item else ("", 0)
            waiting = [item["text"]] if item else []
            continue
        else:
            waiting.append(line.strip())
            continue
        waiting = []
    yield from _flushed(waiting, marker, depth)


def _flushed(waiting: list[str], marker: str, depth: int) -> Iterator[SourceBlock]:
    if waiting:
        yield SourceBlock(" ".join(waiting), "-" if marker in ("*", "+") else marker, depth)


def _until_fence(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if line.lstrip().startswith("```"):
            return
        yield line
