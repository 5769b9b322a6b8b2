"""Bytes of unknown encoding in, UTF-8 blocks and a judgement (is this a text?) out."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from vllmdoctor.intake.streams import ByteStream
from vllmdoctor.languages import Message

JUDGED_BYTES = 1 << 16

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Formats whose first 64 KiB may look like a text.
_BINARY_MAGIC = {
    b"\x7fELF": Message("an ELF program"),
    b"\x89PNG": Message("a PNG image"),
    b"\xff\xd8\xff": Message("a JPEG image"),
    b"GIF8": Message("a GIF image"),
    b"%PDF": Message("a PDF document"),
    b"GGUF": Message("a GGUF model file"),
    b"SQLite format 3\0": Message("an SQLite database"),
    b"PAR1": Message("a Parquet file"),
    b"\x80\x02": Message("a pickle"),
    b"\x80\x04": Message("a pickle"),
    b"7z\xbc\xaf\x27\x1c": Message("a 7z archive"),
    b"Rar!\x1a\x07": Message("a RAR archive"),
    b"\x04\x22\x4d\x18": Message("lz4 data"),
    b"LPKSHHRH": Message("a binary systemd journal"),
}
_NUL_RUN = re.compile(rb"\x00{16,}")
_CONTROL = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]")
_MAX_CONTROL_SHARE = 0.05
_MAX_INVALID_SHARE = 0.30


def encoding_of(head: bytes) -> tuple[str, int]:
    """The encoding of the text that begins with these bytes, and the length of its byte order mark."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding, len(mark)
    return _encoding_by_nuls(head[:4096]), 0


def _encoding_by_nuls(head: bytes) -> str:
    """UTF-16 and UTF-32 without a mark: mostly ASCII, so the other bytes of each unit are NUL."""
    if len(head) < 16 or b"\0" not in head:
        return "utf-8"
    shares = [head[place::4].count(0) / len(head[place::4]) for place in range(4)]
    high = [share > 0.6 for share in shares]
    low = [share < 0.1 for share in shares]
    if low[0] and all(high[1:]):
        return "utf-32-le"
    if low[3] and all(high[:3]):
        return "utf-32-be"
    if low[0] and low[2] and high[1] and high[3]:
        return "utf-16-le"
    if low[1] and low[3] and high[0] and high[2]:
        return "utf-16-be"
    return "utf-8"


def as_utf8(stream: ByteStream, notes: list[str]) -> ByteStream:
    """The text as UTF-8, without a byte order mark and without NULs at its very start."""
    encoding, mark = encoding_of(stream.head(JUDGED_BYTES))
    return ByteStream(_without_leading_nuls(_recoded(iter(stream), encoding, mark), notes))


def _recoded(blocks: Iterator[bytes], encoding: str, mark: int) -> Iterator[bytes]:
    decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)("replace")
    for block in blocks:
        part, mark = block[mark:], max(0, mark - len(block))
        yield part if decoder is None else _utf8(decoder.decode(part))
    if decoder is not None:
        yield _utf8(decoder.decode(b"", final=True))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _without_leading_nuls(blocks: Iterator[bytes], notes: list[str]) -> Iterator[bytes]:
    """A log that was emptied while its writer kept its place begins with a hole, read as NULs."""
    dropped = 0
    for block in blocks:
        text = block.lstrip(b"\0")
        dropped += len(block) - len(text)
        if text:
            if dropped:
                notes.append(
                    Message(
                        "{dropped} NUL bytes at the start were skipped (the log was emptied while in use)",
                        dropped=dropped,
                    )
                )
            yield text
            break
    yield from blocks


def why_not_text(raw_head: bytes, head: bytes) -> str | None:
    """What the bytes are when they are not a text. `raw_head` is as read, `head` as UTF-8."""
    for magic, what in _BINARY_MAGIC.items():
        if raw_head.startswith(magic):
            return what
    if len(raw_head) > 16 and raw_head[8:9] == b"{" and raw_head[4:8] == b"\0\0\0\0":
        return Message("a safetensors file")
    # Holes of NULs occur in good logs; single NULs do not.
    body = _NUL_RUN.sub(b"", head)
    if not body:
        return None
    if len(_CONTROL.findall(body)) > _MAX_CONTROL_SHARE * len(body):
        return Message("binary data")
    # The last bytes may be the first part of a character.
    text = body[:-3].decode("utf-8", "replace") if len(body) > 64 else body.decode("utf-8", "replace")
    if text.count("\ufffd") > _MAX_INVALID_SHARE * max(1, len(text)):
        return Message("binary data")
    return None
