"""A zip or tar archive in, a Source for each log in it out; nothing is written to disk."""

from __future__ import annotations

import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO

from vllmdoctor.errors import InputError
from vllmdoctor.intake.compression import BOMB_FROM_BYTES, BOMB_RATIO, unpacked
from vllmdoctor.intake.folders import hidden, named_like_log
from vllmdoctor.intake.source import TAR, TEXT, ZIP, Source, probe, shown_name, text_chunks
from vllmdoctor.intake.streams import BLOCK_BYTES, ByteStream, ForwardReader, Opener
from vllmdoctor.languages import Message

MAX_MEMBERS = 10_000
MAX_ARCHIVE_BYTES = 4 << 30
# About 100,000 entries: the standard library reads the whole directory at once.
_MAX_ZIP_DIRECTORY_BYTES = 8 << 20
_SHOWN_NAMES = 5


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    open: Opener
    problem: str | None = None  # why it is not read, "" when it can be, None when not looked at yet


class _Allowance:
    """How many more bytes may come out of one archive, over all its members."""

    def __init__(self) -> None:
        self.left = MAX_ARCHIVE_BYTES

    def limited(self, blocks: Iterator[bytes], notes: list[str]) -> Iterator[bytes]:
        for block in blocks:
            if len(block) > self.left:
                notes.append(
                    Message(
                        "more than {limit} GiB of text in the archive; reading stopped there",
                        limit=MAX_ARCHIVE_BYTES >> 30,
                    )
                )
                return
            self.left -= len(block)
            yield block


def zip_sources(name: str, file: str | IO[bytes]) -> list[Source]:
    """The texts in a zip archive."""
    try:
        _check_zip_directory(name, file)
        archive = zipfile.ZipFile(file)
        infos = [info for info in archive.infolist() if not info.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error) as error:
        raise InputError(
            name, Message("damaged zip archive ({error})", error=error), Message("It may be cut off: copy it again.")
        ) from error
    if infos and all(info.flag_bits & 1 for info in infos):
        raise InputError(name, Message("the zip archive is protected by a password"), Message("Unpack it first."))
    members = [_zip_member(archive, info) for info in infos]
    return _member_sources(name, members, [])


def _zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Member:
    return _Member(
        name=info.filename,
        open=lambda: _zip_blocks(archive, info),
        problem=Message("protected by a password") if info.flag_bits & 1 else None,
    )


def _zip_blocks(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    produced = 0
    try:
        with archive.open(info) as member:
            while block := member.read(BLOCK_BYTES):
                produced += len(block)
                yield block
                if produced > BOMB_FROM_BYTES and produced > BOMB_RATIO * info.compress_size:
                    raise OSError(f"expands more than {BOMB_RATIO} times over")
    except (zipfile.BadZipFile, EOFError, zlib.error, NotImplementedError, RuntimeError, ValueError) as error:
        raise OSError(f"damaged or of an unknown method: {error}") from error


def _check_zip_directory(name: str, file: str | IO[bytes]) -> None:
    """Refuses an archive whose directory alone would fill the memory."""
    if isinstance(file, str):
        with open(file, "rb") as opened:
            tail = _tail(opened)
    else:
        tail = _tail(file)
    place = tail.rfind(b"PK\x05\x06")
    if place < 0 or len(tail) < place + 16:
        raise zipfile.BadZipFile("its directory at the end is missing")
    (size,) = struct.unpack_from("<I", tail, place + 12)
    if size > _MAX_ZIP_DIRECTORY_BYTES:
        raise InputError(
            name, Message("the zip archive holds too many entries"), Message("Unpack the logs and name them.")
        )


def _tail(file: IO[bytes]) -> bytes:
    end = file.seek(0, 2)
    file.seek(max(0, end - (1 << 16) - 22))
    return file.read()


def tar_sources(name: str, opener: Opener) -> list[Source]:
    """The texts in a tar archive, compressed or not. `opener` gives the bytes of the file, anew at each call."""
    cursor = _TarCursor(name, opener)
    notes: list[str] = []
    members = cursor.members(notes)
    return _member_sources(name, members, notes)


class _TarCursor:
    """Reads members by their place in the archive, going forward as long as they are asked for in order."""

    def __init__(self, name: str, opener: Opener) -> None:
        self._name = name
        self._opener = opener
        self._reader: ForwardReader | None = None
        self._tar: tarfile.TarFile | None = None
        self._current: tarfile.TarInfo | None = None
        self._next = 0  # the place after the current member

    def members(self, notes: list[str]) -> list[_Member]:
        """The regular files in the archive, in order; those named like logs are looked at in the same pass."""
        found: list[_Member] = []
        self._restart(notes)
        while len(found) <= MAX_MEMBERS and (info := self._advance(notes)) is not None:
            if info.isreg():
                member = self._member(info, self._next - 1)
                found.append(_looked_at(member) if _wanted(member) else member)
        return found

    def _member(self, info: tarfile.TarInfo, place: int) -> _Member:
        return _Member(name=info.name, open=lambda: self._blocks(place))

    def _restart(self, notes: list[str]) -> None:
        packed = ByteStream(self._opener())
        stream = unpacked(packed, self._name, notes)
        blocks = iter(stream)
        if stream is not packed:
            blocks = _Allowance().limited(blocks, notes)
        self._reader = ForwardReader(blocks)
        self._tar = tarfile.TarFile(fileobj=self._reader)  # type: ignore[arg-type]
        self._current, self._next = None, 0

    def _advance(self, notes: list[str]) -> tarfile.TarInfo | None:
        assert self._tar is not None
        try:
            info = self._tar.next()
        except (tarfile.TarError, OSError, ValueError, EOFError) as error:
            notes.append(
                Message(
                    "the archive is damaged ({error}); what comes after {count} entries was not read",
                    error=error,
                    count=self._next,
                )
            )
            return None
        self._next += 1
        self._current = info
        # tarfile keeps every header it has seen.
        self._tar.members = []  # type: ignore[attr-defined]
        return info

    def _blocks(self, place: int) -> Iterator[bytes]:
        info, reader = self._at(place)
        reader.seek(info.offset_data)
        left = info.size
        while left > 0:
            if self._current is not info:
                raise OSError("another member of the archive was opened meanwhile")
            block = reader.read(min(left, BLOCK_BYTES))
            if not block:
                raise OSError(f"cut off: {left} bytes are missing")
            left -= len(block)
            yield block

    def _at(self, place: int) -> tuple[tarfile.TarInfo, ForwardReader]:
        """The member at this place, and the reader at or before its data."""
        info, reader = self._current, self._reader
        used = info is None or reader is None or reader.tell() > info.offset_data
        if self._next > place + 1 or (self._next == place + 1 and used):
            self._restart([])
        while self._next <= place:
            if self._advance([]) is None:
                raise OSError("the archive is damaged before this member")
        assert self._current is not None and self._reader is not None
        return self._current, self._reader


def _member_sources(archive: str, members: Sequence[_Member], notes: list[str]) -> list[Source]:
    """Members that are texts: those named like logs, or, when none is, all of them."""
    if len(members) > MAX_MEMBERS:
        notes.append(Message("only the first {count} members were looked at", count=MAX_MEMBERS))
        members = members[:MAX_MEMBERS]
    visible = [member for member in members if not hidden(member.name)]
    others = [member for member in visible if not _wanted(member)]
    sources, skipped = _readable(archive, [member for member in visible if _wanted(member)])
    if not sources:
        sources, more = _readable(archive, others)
        skipped += more
    elif others:
        skipped.append(
            Message("not named like logs: {names}", names=_listed([shown_name(member.name) for member in others]))
        )
    if not sources:
        problem = _no_text(members, skipped, notes)
        raise InputError(archive, problem, Message("Give an archive of log files."))
    notes += [Message("skipped in the archive: {member}", member=member) for member in skipped[:_SHOWN_NAMES]]
    if len(skipped) > _SHOWN_NAMES:
        notes.append(Message("skipped in the archive: {count} more", count=len(skipped) - _SHOWN_NAMES))
    sources[0].notes[:0] = notes
    return sources


def _no_text(members: Sequence[_Member], skipped: Sequence[str], notes: Sequence[str]) -> str:
    problem = Message("no text in this archive")
    if skipped:
        problem = Message("no text in this archive ({reason})", reason=skipped[0])
    elif not members:
        problem = Message("no text in this archive (it is empty)")
    return Message("{problem}; {note}", problem=problem, note=notes[0]) if notes else problem


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN_NAMES])
    more = len(names) - _SHOWN_NAMES
    return Message("{names} and {count} more", names=shown, count=more) if more > 0 else shown


def _readable(archive: str, members: Sequence[_Member]) -> tuple[list[Source], list[str]]:
    """Sources for the members that hold text, and a line on each of the others."""
    allowance = _Allowance()
    sources: list[Source] = []
    skipped: list[str] = []
    for member in members:
        shown = shown_name(member.name)
        problem = _looked_at(member).problem
        if problem:
            skipped.append(Message("{shown} ({problem})", shown=shown, problem=problem))
        else:
            sources.append(Source(f"{archive}!{shown}", _chunks_of(member, shown, allowance)))
    return sources, skipped


def _chunks_of(member: _Member, shown: str, allowance: _Allowance) -> Callable[[list[str]], Iterator[bytes]]:
    return lambda notes: allowance.limited(text_chunks(member.open, shown, notes), notes)


def _wanted(member: _Member) -> bool:
    return not hidden(member.name) and named_like_log(member.name.rsplit("/", 1)[-1])


def _looked_at(member: _Member) -> _Member:
    if member.problem is not None:
        return member
    return replace(member, problem=_why_unreadable(member))


def _why_unreadable(member: _Member) -> str:
    stream = ByteStream(member.open())
    try:
        found, _, _ = probe(stream, shown_name(member.name))
    except InputError as error:
        return error.problem
    except OSError as error:
        return str(error)
    finally:
        stream.close()
    if found.kind == TEXT:
        return ""
    if found.kind in (TAR, ZIP):
        return Message("a {kind} archive inside the archive: unpack it first", kind=found.kind)
    return found.what or Message("empty")
