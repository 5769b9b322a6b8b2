"""The text of a `.po` file in, the bytes of the `.mo` file that gettext reads out.

Only the standard library: a wheel is built and a checkout is run without Babel, which edits the `.po` files.
"""

from __future__ import annotations

import ast
import re
import struct
from collections.abc import Iterator

_STRING = re.compile(r'(?P<keyword>msgid_plural|msgid|msgstr)?(?:\[(?P<number>\d+)\])? *(?P<text>".*")')
_MAGIC = 0x950412DE
_HEAD = struct.Struct("<7I")
_PLACE = struct.Struct("<2I")


def compiled_catalogue(text: str) -> bytes:
    """Raises ValueError that names the line for what is no entry."""
    return _table(dict(_entries(text)))


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Message ids (singular and plural joined by a NUL) and their wordings; not the untranslated and fuzzy ones."""
    for block in re.split(r"\n[ \t]*\n", text):
        parts, fuzzy = _parts(block)
        message, wordings = parts.pop("msgid", None), [parts[name] for name in sorted(parts) if name[:6] == "msgstr"]
        if message is None or fuzzy and message or not all(wordings):
            continue
        plural = parts.get("msgid_plural")
        yield message if plural is None else f"{message}\0{plural}", "\0".join(wordings)


def _parts(block: str) -> tuple[dict[str, str], bool]:
    parts: dict[str, str] = {}
    fuzzy, name = False, ""
    for line in block.splitlines():
        if line.startswith("#") or not line.strip():
            fuzzy = fuzzy or line.startswith("#,") and "fuzzy" in line
            continue
        found = _STRING.fullmatch(line.strip())
        if not found or not (found["keyword"] or name):
            raise ValueError(f"no part of a catalogue entry: {line}")
        if found["keyword"]:
            name = found["keyword"] + (found["number"] or "")
            parts[name] = ""
        parts[name] += ast.literal_eval(found["text"])
    return parts, fuzzy


def _table(entries: dict[str, str]) -> bytes:
    """The GNU format: a head, the places of the sorted ids, those of the wordings, then both, each ended by a NUL."""
    pairs = sorted((message.encode(), wording.encode()) for message, wording in entries.items())
    ids, wordings = [message for message, _ in pairs], [wording for _, wording in pairs]
    count = len(pairs)
    first = _HEAD.size + 2 * count * _PLACE.size
    head = _HEAD.pack(_MAGIC, 0, count, _HEAD.size, _HEAD.size + count * _PLACE.size, 0, first)
    places, data = b"", b""
    for text in (*ids, *wordings):
        places += _PLACE.pack(len(text), first + len(data))
        data += text + b"\0"
    return head + places + data
