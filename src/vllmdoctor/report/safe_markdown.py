"""Text that nobody vouches for in, Markdown that shows exactly that text out, on GitHub, GitLab and everywhere else.

Escaping alone does not do it: GitHub and GitLab look for mentions, issue numbers, commits, addresses and emoji in what
the Markdown was turned into, but never in code. So words that could be one are shown as code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from vllmdoctor.report.inline import CODE, EMPHASIS, LINK, STRONG, source_blocks, spans_of

# An underscore between letters is never emphasis.
_SPECIAL = re.compile(r"[\\`*~<>\[\]|&]|(?<![^\W_])_|_(?![^\W_])")
_AT_LINE_START = re.compile(r"([#+\-=>/:]|\d+(?=[.)]))")
_TICKS = re.compile(r"`+")
_RISKY = re.compile(
    r"@|://|\bwww\.|\bmailto:|\$"  # mentions, addresses, formulas
    r"|[#!&%^~][\w\"{]|\bGH-\d"  # issues, merge requests, epics, milestones, labels
    r"|:[\w+-]+:"  # emoji
    r"|(?<![^\W_])(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}(?![^\W_])",  # commits
    re.IGNORECASE,
)
_MARKS = {STRONG: "**", EMPHASIS: "*"}
_Piece = tuple[bool, str]  # is code, text


def prose(text: str) -> str:
    """The text on one line, every character as it is."""
    return _joined(_pieces(" ".join(text.split())))


def inline(source: str, links: Iterable[str] = ()) -> str:
    """One run of rule Markdown, in which values from the log may stand: its code and emphasis stay, and of the links
    those to the addresses in `links`."""
    trusted = frozenset(links)
    kept: list[str] = []
    pieces: list[_Piece] = []
    for span in spans_of(" ".join(source.split())):
        if span.kind in _MARKS:
            kept += [_joined(pieces), f"{_MARKS[span.kind]}{inline(span.text)}{_MARKS[span.kind]}"]
            pieces = []
        elif span.kind == LINK and span.url in trusted:
            kept += [_joined(pieces), link(span.text or span.url, span.url)]
            pieces = []
        elif span.kind == LINK:
            pieces += [*_pieces(f"{span.text} " if span.text else ""), (True, span.url)]
        else:
            pieces += [(True, span.text)] if span.kind == CODE else _pieces(span.text)
    return "".join([*kept, _joined(pieces)])


def paragraphs(source: str, links: Iterable[str] = (), indent: str = "") -> list[str]:
    """The lines of a Markdown text of several blocks, each block followed by an empty line."""
    trusted = frozenset(links)
    lines = block_lines(source, lambda text: at_line_start(inline(text, trusted)), nested="   ")
    return [indent + line if line else "" for line in lines]


def block_lines(source: str, line_of: Callable[[str], str], nested: str) -> list[str]:
    """The blocks with each text made safe by `line_of`; `nested` is how far an item of an inner list is indented."""
    lines: list[str] = []
    in_list = False
    for block in source_blocks(source):
        if block.code:
            lines += [*fenced(block.source), ""]
            continue
        if in_list and block.marker:
            lines.pop()  # items of one list stand close
        mark = f"{nested * block.depth}{block.marker} " if block.marker else ""
        lines += [mark + line_of(block.source), ""]
        in_list = bool(block.marker)
    return lines


def at_line_start(text: str) -> str:
    """Escaped Markdown made safe to begin a line: no heading, list, quote or GitLab command."""
    found = _AT_LINE_START.match(text)
    if not found:
        return text
    return f"\\{text}" if not found[0].isdigit() else f"{found[0]}\\{text[found.end() :]}"


def code(text: str) -> str:
    """A code span, "" for no text."""
    text = " ".join(text.split())
    if not text:
        return ""
    ticks = "`" * _free_run(text, 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fenced(text: str, language: str = "text", indent: str = "") -> list[str]:
    """The lines of a code block around the text; its fence is longer than any run of backticks in it."""
    fence = "`" * max(3, _free_run(text, 3))
    rows = [f"{fence}{language}", *text.replace("\r", "").rstrip("\n").split("\n"), fence]
    return [(indent + row) if row else row for row in rows]


def link(text: str, url: str) -> str:
    """A link to an http address; anything else is shown as code."""
    if not re.fullmatch(r"https?://[^\s<>\\]+", url):
        return f"{prose(text)} {code(url)}"
    return f"[{prose(text)}](<{url}>)"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table of cells that `prose` and `cell_code` made."""
    shown = [header, ["---"] * len(header), *rows]
    return [f"| {' | '.join(row)} |" for row in shown]


def cell_code(text: str) -> str:
    """Code in a table's cell, where a bar would end the cell whatever stands around it."""
    if "|" not in text:
        return code(text)
    shown = " ".join(text.split())
    return "<code>" + re.sub(r"[^A-Za-z0-9 ]", lambda found: f"&#{ord(found[0])};", shown) + "</code>"


def _free_run(text: str, least: int) -> int:
    """A number of backticks that no run in the text has and that is above all of them."""
    return max([least - 1, *(len(run) for run in _TICKS.findall(text))]) + 1


def _pieces(text: str) -> list[_Piece]:
    """The text with words that could act as code; blanks go with the words before."""
    return [(bool(_RISKY.search(word)), word) for word in re.findall(r"\S+|\s+", text)]


def _joined(pieces: Iterable[_Piece]) -> str:
    """The Markdown of the pieces; neighbouring code becomes one span, since ticks that touch would not end it."""
    shown: list[_Piece] = []
    for is_code, text in pieces:
        if shown and shown[-1][0] == is_code:
            shown[-1] = (is_code, shown[-1][1] + text)
        else:
            shown.append((is_code, text))
    return "".join(code(text) if is_code else _escaped(text) for is_code, text in shown)


def _escaped(text: str) -> str:
    """The text with a backslash before every character that Markdown acts on within a line."""
    return _SPECIAL.sub(r"\\\g<0>", text)
