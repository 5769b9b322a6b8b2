"""Markdown of rule texts in, styled rich texts out. Only what the rules use: paragraphs, lists, code, emphasis, links.

rich's own Markdown needs markdown-it and Pygments, which cost more start-up time than the whole diagnosis.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rich.text import Text

CODE_STYLE = "cyan"

_INLINE = re.compile(
    r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)(?!`)"
    r"|\*\*(?P<strong>\S(?:.*?\S)?)\*\*"
    r"|(?<![\w*])\*(?P<emphasis>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])"
    r"|\[(?P<label>[^\]\[]+)\]\((?P<url>[^()\s]+)\)"
    r"|<(?P<link>https?://[^\s<>]+)>"
    r"|\\(?P<escaped>[\\`*_\[\]<>])"
)
_ITEM = re.compile(r"(?P<indent> *)(?P<marker>[-*+]|\d+[.)]) +(?P<text>.*)")


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, list item or code block. `marker` is the item's bullet or number, `depth` its nesting."""

    text: Text
    marker: str = ""
    depth: int = 0
    code: bool = False


def inline_text(source: str, style: str = "") -> Text:
    """One run of Markdown as styled text. A code span with spaces keeps its ticks, since colour may be off."""
    result = Text(style=style)
    position = 0
    for found in _INLINE.finditer(source):
        result.append(source[position : found.start()])
        position = found.end()
        if found["code"]:
            code = found["code"].strip()
            result.append(f"`{code}`" if " " in code else code, CODE_STYLE)
        elif found["label"]:
            result.append(found["label"]).append(f" ({found['url']})")
        elif found["strong"]:
            result.append(found["strong"], "bold")
        elif found["emphasis"]:
            result.append(found["emphasis"], "italic")
        else:
            result.append(found["link"] or found["escaped"])
    return result.append(source[position:])


def blocks_of(source: str) -> Iterator[Block]:
    """The blocks of a Markdown text in order."""
    waiting: list[str] = []
    marker, depth = "", 0
    lines = iter(source.strip().split("\n"))
    for line in lines:
        item = _ITEM.fullmatch(line)
        if line.lstrip().startswith("```"):
            yield from _flushed(waiting, marker, depth)
            yield Block(Text("\n".join(_until_fence(lines))), code=True)
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


def _flushed(waiting: list[str], marker: str, depth: int) -> Iterator[Block]:
    if waiting:
        yield Block(inline_text(" ".join(waiting)), "-" if marker in ("*", "+") else marker, depth)


def _until_fence(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if line.lstrip().startswith("```"):
            return
        yield line
