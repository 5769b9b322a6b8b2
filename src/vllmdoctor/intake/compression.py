"""Compressed bytes in (gzip, bzip2, xz, zstandard, told by their magic number), decompressed blocks and notes out."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from vllmdoctor.errors import InputError
from vllmdoctor.intake.streams import BLOCK_BYTES, ByteStream
from vllmdoctor.languages import Message

if TYPE_CHECKING:
    import bz2
    import lzma

# Logs inside logs inside logs do not occur; a chain of containers is a trap.
MAX_LAYERS = 4
# Above the first 64 MiB no log is this repetitive; a bomb is.
BOMB_RATIO = 1000
BOMB_FROM_BYTES = 64 << 20

_XZ_MEMORY_BYTES = 256 << 20
_ZSTD_WINDOW_BYTES = 128 << 20
# The zstandard binding has no output limit: one block of 128 KiB can come from 4 bytes, so little is fed at a time.
_ZSTD_FEED_BYTES = 512
_FEED_BYTES = 1 << 16


def compression_of(head: bytes) -> str | None:
    """gzip, bzip2, xz or zstd when the bytes begin so, else None."""
    if head.startswith(b"\x1f\x8b\x08"):
        return "gzip"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return "zstd"
    if head.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    if head.startswith(b"BZh") and head[4:10] in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"):
        return "bzip2"
    return None


def unpacked(stream: ByteStream, name: str, notes: list[str]) -> ByteStream:
    """The stream with every layer of compression taken off."""
    meter = _Meter()
    for layer in range(MAX_LAYERS):
        kind = compression_of(stream.head(16))
        if kind is None:
            return stream
        blocks = iter(stream) if layer else meter.counted(iter(stream))
        stream = ByteStream(decompressed(kind, blocks, name, notes, meter))
    if compression_of(stream.head(16)):
        raise InputError(
            name, Message("compressed more than {count} times over", count=MAX_LAYERS), Message("Unpack it first.")
        )
    return stream


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...


Step = Callable[[bytes], Iterator[bytes]]


class _Meter:
    """Counts the bytes that go in at the outermost layer: a bomb may share its ratio among its layers."""

    def __init__(self) -> None:
        self.consumed = 0

    def counted(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        for block in blocks:
            for begin in range(0, len(block), _FEED_BYTES):
                piece = block[begin : begin + _FEED_BYTES]
                self.consumed += len(piece)
                yield piece


def decompressed(kind: str, blocks: Iterator[bytes], name: str, notes: list[str], meter: _Meter) -> Iterator[bytes]:
    """Decompressed blocks; damage after the first bytes ends them with a note, at the start it is an InputError."""
    produced = 0
    try:
        for block in _decoded(kind, blocks, name, notes):
            produced += len(block)
            yield block
            if produced > BOMB_FROM_BYTES and produced > BOMB_RATIO * meter.consumed:
                notes.append(
                    Message(
                        "the {kind} data expands more than {ratio} times over; reading stopped after {produced} bytes",
                        kind=kind,
                        ratio=BOMB_RATIO,
                        produced=produced,
                    )
                )
                return
    except (zlib.error, OSError, EOFError, ValueError, MemoryError, _DecoderProblem) as error:
        if produced == 0:
            raise InputError(
                name,
                Message("damaged {kind} data ({reason})", kind=kind, reason=_reason(error)),
                Message("Copy the file again, or unpack what can be unpacked."),
            ) from error
        notes.append(
            Message(
                "the {kind} data is damaged ({reason}): {produced} bytes could be read",
                kind=kind,
                reason=_reason(error),
                produced=produced,
            )
        )


def _reason(error: BaseException) -> str:
    return str(error).strip() or type(error).__name__


class _DecoderProblem(Exception):
    """What xz and zstandard raise, under a name that exists before they are imported."""


def _decoded(kind: str, blocks: Iterator[bytes], name: str, notes: list[str]) -> Iterator[bytes]:
    """The decompressed blocks; several frames one after the other are one text."""
    new_decoder = _decoder_factory(kind, name)
    decoder, step = new_decoder()
    started, frames, produced = False, 0, 0
    for block in blocks:
        pending = block
        while pending:
            if decoder.eof:
                frames += 1
                pending = pending.lstrip(b"\0")  # tapes and block devices pad with NULs
                if not pending:
                    break
                if compression_of((pending + b"\0" * 16)[:16]) != kind and len(pending) >= 16:
                    notes.append(
                        Message("something that is not {kind} follows the {kind} data; it was not read", kind=kind)
                    )
                    return
                decoder, step = new_decoder()
            started = True
            for piece in step(pending):
                produced += len(piece)
                yield piece
            pending = decoder.unused_data if decoder.eof else b""
    if started and not decoder.eof:
        if produced == 0 and frames == 0:
            raise EOFError("cut off before the first byte of text")
        notes.append(
            Message(
                "the {kind} data is cut off: {produced} bytes could be read, the end of the log is missing",
                kind=kind,
                produced=produced,
            )
        )


def _decoder_factory(kind: str, name: str) -> Callable[[], tuple[_Decoder, Step]]:
    if kind == "gzip":
        return _gzip
    if kind == "bzip2":
        return _bzip2
    if kind == "xz":
        return _xz
    return _zstd_factory(name)


def _gzip() -> tuple[_Decoder, Step]:
    decoder = zlib.decompressobj(wbits=31)

    def step(data: bytes) -> Iterator[bytes]:
        while data and not decoder.eof:
            piece = decoder.decompress(data, BLOCK_BYTES)
            data = decoder.unconsumed_tail
            if piece:
                yield piece

    return decoder, step


def _bzip2() -> tuple[_Decoder, Step]:
    import bz2

    return _with_limit(bz2.BZ2Decompressor(), OSError)


def _xz() -> tuple[_Decoder, Step]:
    import lzma

    return _with_limit(lzma.LZMADecompressor(memlimit=_XZ_MEMORY_BYTES), lzma.LZMAError)


def _with_limit(
    decoder: bz2.BZ2Decompressor | lzma.LZMADecompressor, problem: type[Exception]
) -> tuple[_Decoder, Step]:
    def step(data: bytes) -> Iterator[bytes]:
        while not decoder.eof:
            try:
                piece = decoder.decompress(data, BLOCK_BYTES)
            except problem as error:
                raise _DecoderProblem(str(error)) from error
            data = b""
            if piece:
                yield piece
            elif decoder.needs_input:
                return

    return decoder, step


def _zstd_factory(name: str) -> Callable[[], tuple[_Decoder, Step]]:
    try:
        import zstandard
    except ImportError:
        return _library_zstd_factory(name)

    def new_decoder() -> tuple[_Decoder, Step]:
        decoder = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES).decompressobj()
        frame = _ZstdFrame()

        def step(data: bytes) -> Iterator[bytes]:
            for begin in range(0, len(data), _ZSTD_FEED_BYTES):
                try:
                    piece = decoder.decompress(data[begin : begin + _ZSTD_FEED_BYTES])
                except zstandard.ZstdError as error:
                    yield from frame.rest()
                    raise _DecoderProblem(str(error)) from error
                yield from frame.collected(piece)
                if decoder.eof:
                    frame.unused_data = decoder.unused_data + data[begin + _ZSTD_FEED_BYTES :]
                    break
            yield from frame.rest()
            frame.eof = decoder.eof

        return frame, step

    return new_decoder


def _library_zstd_factory(name: str) -> Callable[[], tuple[_Decoder, Step]]:
    """Python 3.14 and later bring zstandard along; a browser has nothing else."""
    try:
        zstd = importlib.import_module("compression.zstd")
    except ImportError:
        raise InputError(
            name,
            Message("zstandard data, and the Python package zstandard is not installed"),
            Message("Install it, or run: zstd -dc {name} | vllmdoctor analyze -", name=name),
        ) from None
    limits = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_BYTES.bit_length() - 1}
    return lambda: _with_limit(zstd.ZstdDecompressor(options=limits), zstd.ZstdError)


class _ZstdFrame:
    """Joins the small outputs of one frame into blocks, and knows what follows the frame."""

    def __init__(self) -> None:
        self.eof = False
        self.unused_data = b""
        self._pieces: list[bytes] = []
        self._size = 0

    def collected(self, piece: bytes) -> Iterator[bytes]:
        if piece:
            self._pieces.append(piece)
            self._size += len(piece)
        if self._size >= BLOCK_BYTES:
            yield from self.rest()

    def rest(self) -> Iterator[bytes]:
        if self._pieces:
            block, self._pieces, self._size = b"".join(self._pieces), [], 0
            yield block
