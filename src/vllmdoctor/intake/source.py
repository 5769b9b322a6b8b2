"""A named, openable run of bytes in, a Source (a text as UTF-8 blocks, with notes) or the reason why it is none out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vllmdoctor.errors import InputError
from vllmdoctor.intake.compression import unpacked
from vllmdoctor.intake.encoding import JUDGED_BYTES, as_utf8, why_not_text
from vllmdoctor.intake.streams import ByteStream, Opener
from vllmdoctor.languages import Message

TEXT, EMPTY, BINARY, TAR, ZIP = "text", "empty", "binary", "tar", "zip"


class Source:
    """One text to read. `notes` says what was left out or damaged; it may grow while the chunks are read."""

    def __init__(self, name: str, open_chunks: Callable[[list[str]], Iterator[bytes]], notes: list[str] | None = None):
        self.name = name
        self.notes: list[str] = notes if notes is not None else []
        self._open_chunks = open_chunks

    def chunks(self) -> Iterator[bytes]:
        """The text, decompressed and as UTF-8, in blocks of about 256 KiB.

        A failure to read after the first block becomes a note.
        """
        size = 0
        try:
            for block in self._open_chunks(self.notes):
                if block:
                    size += len(block)
                    yield block
        except OSError as error:
            problem = Message("cannot be read ({reason})", reason=error.strerror or error)
            if size == 0:
                raise InputError(self.name, problem, Message("Check the file and its permissions.")) from error
            self.notes.append(Message("{problem} after {size} bytes; the rest is missing", problem=problem, size=size))


@dataclass(frozen=True, slots=True)
class Probe:
    """What a look at the first bytes told: `kind` is text, empty, binary, tar or zip; `what` names a binary."""

    kind: str
    what: str = ""
    packed: bool = False  # compressed around the kind


def probe(stream: ByteStream, name: str) -> tuple[Probe, ByteStream, list[str]]:
    """What the stream holds, the stream as text (as far as it is one), and the notes its reading writes to."""
    notes: list[str] = []
    plain = unpacked(stream, name, notes)
    packed = plain is not stream
    raw_head = plain.head(JUDGED_BYTES)
    if raw_head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return Probe(ZIP, packed=packed), plain, notes
    if is_tar(raw_head):
        return Probe(TAR, packed=packed), plain, notes
    text = as_utf8(plain, notes)
    head = text.head(JUDGED_BYTES)
    if not head or (len(head) < JUDGED_BYTES and not head.strip(b"\0 \t\r\n")):
        return Probe(EMPTY, Message("only white space") if head or raw_head else "", packed), text, notes
    what = why_not_text(raw_head, head)
    return (Probe(BINARY, what, packed) if what else Probe(TEXT, packed=packed)), text, notes


def is_tar(head: bytes) -> bool:
    """Whether the bytes begin with a tar header: its checksum holds (old tars have no magic number)."""
    if len(head) < 512 or not head[0]:
        return False
    try:
        stored = int(head[148:156].strip(b"\0 ").split(b"\0")[0] or b"x", 8)
    except ValueError:
        return False
    return stored == sum(head[:148]) + 8 * 32 + sum(head[156:512])


def text_chunks(opener: Opener, name: str, notes: list[str]) -> Iterator[bytes]:
    """The text behind `opener` as UTF-8 blocks."""
    stream = ByteStream(opener())
    try:
        yield from as_utf8(unpacked(stream, name, notes), notes)
    finally:
        stream.close()


def text_source(name: str, opener: Opener) -> Source:
    """A source that opens its bytes anew for each reading."""
    return Source(name, lambda notes: text_chunks(opener, name, notes))


def shown_name(name: str) -> str:
    """The name with everything that could steer a terminal replaced."""
    return "".join(char if char.isprintable() else "?" for char in name)
