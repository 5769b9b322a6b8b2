"""Every way a log is handed over, and what is said when it is none."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import io
import lzma
import os
import random
import tarfile
import threading
import time
import zipfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vllmdoctor.errors import InputError
from vllmdoctor.intake import Source, open_sources

zstandard = pytest.importorskip("zstandard")

TEXT = "".join(f"INFO 05-22 10:00:00 [core.py:{number}] läuft {number * 7919}\n" for number in range(4000)).encode()
PACKERS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": partial(lzma.compress, preset=0),
    "zstd": zstandard.ZstdCompressor().compress,
}


def text_of(source: Source) -> bytes:
    return b"".join(source.chunks())


def only(sources: list[Source]) -> Source:
    (source,) = sources
    return source


def opened(path: Path) -> Source:
    return only(open_sources([str(path)]))


def piped(data: bytes) -> Source:
    return only(open_sources(["-"], stdin=io.BytesIO(data)))


def tar_of(members: dict[str, bytes], mode: str = "w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_of(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


# Formats


def test_a_plain_file_can_be_read_twice(tmp_path: Path) -> None:
    path = tmp_path / "startup.log"
    path.write_bytes(TEXT)
    source = opened(path)
    assert source.name == str(path)
    assert text_of(source) == text_of(source) == TEXT
    assert source.notes == []


@pytest.mark.parametrize("kind", PACKERS)
def test_compressed_files_are_known_by_their_content(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "named-wrongly.txt"
    path.write_bytes(PACKERS[kind](TEXT))
    assert text_of(opened(path)) == TEXT
    piped_source = piped(path.read_bytes())
    assert (piped_source.name, text_of(piped_source), piped_source.notes) == ("<stdin>", TEXT, [])


@pytest.mark.parametrize("kind", PACKERS)
def test_several_frames_one_after_the_other_are_one_text(kind: str) -> None:
    assert text_of(piped(PACKERS[kind](TEXT[:5000]) + PACKERS[kind](TEXT[5000:]))) == TEXT


@pytest.mark.parametrize("kind", PACKERS)
def test_a_cut_off_file_gives_what_can_be_read_and_a_note(tmp_path: Path, kind: str) -> None:
    chance = random.Random(5)
    text = b"".join(b"%x\n" % chance.getrandbits(256) for _ in range(32_000))
    path = tmp_path / "cut.log"
    packed = PACKERS[kind](text)
    path.write_bytes(packed[: len(packed) * 2 // 3])
    source = opened(path)
    got = text_of(source)
    assert len(text) // 3 < len(got) < len(text)
    assert text.startswith(got)
    (note,) = source.notes
    assert "cut off" in note and str(len(got)) in note


def test_damage_in_the_middle_of_a_gzip_is_noted(tmp_path: Path) -> None:
    chance = random.Random(6)
    text = b"".join(b"%x\n" % chance.getrandbits(256) for _ in range(32_000))
    packed = bytearray(gzip.compress(text))
    packed[-8] ^= 0xFF  # the checksum
    path = tmp_path / "damaged.log.gz"
    path.write_bytes(packed)
    source = opened(path)
    assert text_of(source)[:1000] == text[:1000]
    assert "damaged" in source.notes[0]


@pytest.mark.parametrize("kind", PACKERS)
def test_nothing_readable_is_an_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "stump.gz"
    path.write_bytes(PACKERS[kind](TEXT)[:14] + b"\xff" * 3)
    with pytest.raises(InputError) as caught:
        opened(path)
    assert caught.value.name == str(path)
    assert caught.value.hint


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("marked", [True, False])
def test_utf16_and_utf32_become_utf8(encoding: str, marked: bool) -> None:
    data = TEXT.decode().encode(encoding)
    if marked:
        data = "\ufeff".encode(encoding) + data
    assert text_of(piped(data)) == TEXT
    assert text_of(piped(gzip.compress(data))) == TEXT


def test_a_utf8_byte_order_mark_is_dropped() -> None:
    assert text_of(piped(codecs.BOM_UTF8 + TEXT)) == TEXT


def test_a_hole_of_nuls_at_the_start_is_skipped_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "truncated-in-place.log"
    path.write_bytes(b"\0" * 700_000 + TEXT)
    source = opened(path)
    assert text_of(source) == TEXT
    assert "700000 NUL bytes" in source.notes[0]


def test_nuls_between_lines_are_left_in() -> None:
    assert text_of(piped(TEXT + b"\0" * 5000 + TEXT)) == TEXT + b"\0" * 5000 + TEXT


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
@pytest.mark.parametrize("from_pipe", [True, False])
def test_tar_archives(tmp_path: Path, mode: str, from_pipe: bool) -> None:
    members = {"run/a.log": TEXT, "run/.hidden.log": b"no", "run/b.log": gzip.compress(TEXT * 2), "empty.log": b""}
    data = tar_of(members, mode)
    path = tmp_path / "logs.bin"
    path.write_bytes(data)
    sources = open_sources(["-"], stdin=io.BytesIO(data)) if from_pipe else open_sources([str(path)])
    name = "<stdin>" if from_pipe else str(path)
    assert [source.name for source in sources] == [f"{name}!run/a.log", f"{name}!run/b.log"]
    assert [text_of(source) for source in sources] == [TEXT, TEXT * 2]
    # Out of order, too.
    assert [text_of(source) for source in reversed(sources)] == [TEXT * 2, TEXT]
    assert any("empty.log" in note for note in sources[0].notes)


@pytest.mark.parametrize("from_pipe", [True, False])
def test_zip_archives(tmp_path: Path, from_pipe: bool) -> None:
    data = zip_of(
        {"run/startup.log": TEXT, "run/old.log.gz": gzip.compress(TEXT * 3), "__MACOSX/run/._startup.log": b"x"}
    )
    path = tmp_path / "logs.zip"
    path.write_bytes(data)
    sources = open_sources(["-"], stdin=io.BytesIO(data)) if from_pipe else open_sources([str(path)])
    name = "<stdin>" if from_pipe else str(path)
    assert [source.name for source in sources] == [f"{name}!run/startup.log", f"{name}!run/old.log.gz"]
    assert [text_of(source) for source in sources] == [TEXT, TEXT * 3]


def test_an_archive_prefers_names_of_logs_and_says_what_it_left_out(tmp_path: Path) -> None:
    path = tmp_path / "bundle.zip"
    path.write_bytes(zip_of({"values.yaml": b"replicas: 1\n", "pod.log": TEXT, "shot.log": b"\x89PNG\r\n\x1a\n\0\0\0"}))
    source = opened(path)
    assert source.name.endswith("!pod.log")
    assert "values.yaml" in " ".join(source.notes)
    assert "a PNG image" in " ".join(source.notes)
    path.write_bytes(zip_of({"notes.md": b"It failed.\n"}))
    assert text_of(opened(path)) == b"It failed.\n"


def test_member_names_cannot_steer_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "logs.zip"
    path.write_bytes(zip_of({"a\x1b[31m.log": TEXT}))
    assert opened(path).name.endswith("!a?[31m.log")


def test_a_directory_gives_its_logs_in_order(tmp_path: Path) -> None:
    for name in ("b.log", "a.log.1", "c.out", "console", "sub/d.txt", "sub/e.log.2.gz", "f.jsonl", "g.log-20260522"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(gzip.compress(TEXT) if name.endswith("gz") else TEXT)
    for name in (".hidden.log", "model.py", "empty.log", "weights.safetensors"):
        (tmp_path / name).write_bytes(b"" if name == "empty.log" else TEXT)
    (tmp_path / "core").write_bytes(b"\x7fELF" + bytes(range(256)) * 20)
    (tmp_path / "bundle.tgz").write_bytes(tar_of({"in.log": TEXT}, "w:gz"))
    os.symlink(tmp_path, tmp_path / "sub" / "loop")
    sources = open_sources([str(tmp_path)])
    names = [source.name.removeprefix(str(tmp_path) + "/") for source in sources]
    assert names == [
        "a.log.1", "b.log", "bundle.tgz!in.log", "c.out", "console", "f.jsonl", "g.log-20260522", "sub/d.txt", "sub/e.log.2.gz",
    ]  # fmt: skip
    assert all(text_of(source) == TEXT for source in sources)
    notes = " ".join(sources[0].notes)
    assert "empty.log: skipped, empty" in notes
    assert "core: skipped, not a text but an ELF program" in notes


def test_a_named_pipe_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(TEXT * 3))
    writer.start()
    assert text_of(opened(path)) == TEXT * 3
    writer.join()


def test_several_inputs_keep_their_order(tmp_path: Path) -> None:
    (tmp_path / "z.log").write_bytes(b"one line of z\n")
    (tmp_path / "a.log").write_bytes(b"one line of a\n")
    paths = [str(tmp_path / "z.log"), "-", str(tmp_path / "a.log")]
    sources = open_sources(paths, stdin=io.BytesIO(b"from the pipe\n"))
    assert [text_of(source) for source in sources] == [b"one line of z\n", b"from the pipe\n", b"one line of a\n"]


# Bad input

BAD = {
    "empty": (b"", "empty"),
    "white space": (b" \n\t\r\n", "white space"),
    "nothing but NULs": (b"\0" * 1000, "white space"),
    "random bytes": (random.Random(3).randbytes(100_000), "binary data"),
    "a few random bytes": (random.Random(3).randbytes(200), "binary data"),
    "image": (b"\x89PNG\r\n\x1a\n" + b"text " * 100, "a PNG image"),
    "program": (b"\x7fELF" + b"\0" * 100 + b"text " * 100, "an ELF program"),
    "weights": ((300).to_bytes(8, "little") + b'{"model.embed":{"dtype":"BF16"}}' * 10, "safetensors"),
    "packed image": (gzip.compress(b"\x89PNG\r\n\x1a\n"), "a PNG image"),
    "packed nothing": (gzip.compress(b""), "empty"),
    "truncated zip": (zip_of({"a.log": TEXT})[:-200], "damaged zip"),
    "zip without text": (zip_of({"a.png": b"\x89PNG\r\n\x1a\n"}), "no text"),
    "empty zip": (zip_of({}), "no text"),
    "zip of a zip": (zip_of({"b.zip": zip_of({"a.log": TEXT})}), "unpack it first"),
    "packed zip": (gzip.compress(zip_of({"a.log": TEXT})), "zip archive inside"),
    "tar without text": (tar_of({"a.bin": b"\x7fELF"}, "w:gz"), "no text"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("from_pipe", [True, False])
def test_what_is_no_log_is_named(tmp_path: Path, case: str, from_pipe: bool) -> None:
    data, problem = BAD[case]
    path = tmp_path / "input.log"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        open_sources(["-"], stdin=io.BytesIO(data)) if from_pipe else open_sources([str(path)])
    assert problem in caught.value.problem
    assert caught.value.name == ("<stdin>" if from_pipe else str(path))
    assert caught.value.hint


def test_missing_unreadable_and_strange_paths(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        open_sources([str(tmp_path / "missing.log")])
    with pytest.raises(InputError, match="no log in this directory"):
        open_sources([str(tmp_path)])
    with pytest.raises(InputError, match="cannot be read"):
        open_sources(["a\0b"])
    with pytest.raises(InputError, match="empty"):
        open_sources([os.devnull])
    with pytest.raises(InputError, match="a device"):
        open_sources(["/dev/zero"])
    locked = tmp_path / "locked.log"
    locked.write_bytes(TEXT)
    locked.chmod(0)
    if not os.access(locked, os.R_OK):
        with pytest.raises(InputError, match="Permission denied"):
            open_sources([str(locked)])


def test_a_zip_with_a_password_is_refused(tmp_path: Path) -> None:
    data = bytearray(zip_of({"a.log": TEXT}, zipfile.ZIP_STORED))
    data[6] |= 1  # the flag in the local header
    data[data.rfind(b"PK\x01\x02") + 8] |= 1  # … and in the directory
    path = tmp_path / "secret.zip"
    path.write_bytes(data)
    with pytest.raises(InputError, match="password"):
        opened(path)


def test_a_truncated_tar_gives_its_first_members(tmp_path: Path) -> None:
    data = tar_of({"a.log": TEXT, "b.log": TEXT})
    path = tmp_path / "cut.tar"
    path.write_bytes(data[: 1024 + len(TEXT) + 1024 + len(TEXT) // 2])
    first, second = open_sources([str(path)])
    assert text_of(first) == TEXT
    assert TEXT.startswith(text_of(second))
    assert "cut off" in second.notes[-1]


# Hostile input


def test_a_gzip_bomb_stops(tmp_path: Path) -> None:
    pieces = [b"a" * (1 << 20)] * 200
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb") as file:
        for piece in pieces:
            file.write(piece)
    # deflate cannot do more than 1030:1; the bomb is made denser by a second layer.
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(out.getvalue()))
    source = opened(path)
    size = sum(map(len, source.chunks()))
    assert 64 << 20 <= size <= 80 << 20
    assert "expands more than 1000 times" in source.notes[0]


def test_a_zstd_bomb_stops(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(b"a" * (300 << 20)))
    source = opened(path)
    assert sum(map(len, source.chunks())) < 150 << 20
    assert "expands more than 1000 times" in source.notes[0]


def test_a_zip_bomb_stops(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        with archive.open("a.log", "w") as member:
            for _ in range(72):
                member.write(b"a" * (1 << 20))
    source = opened(path)
    assert sum(map(len, source.chunks())) <= 66 << 20
    assert "expands more than 1000 times" in source.notes[-1]


def test_ten_thousand_members_are_read_and_the_rest_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "many.zip"
    path.write_bytes(zip_of({f"{number}.log": b"line\n" for number in range(10_003)}, zipfile.ZIP_STORED))
    started = time.process_time()
    sources = open_sources([str(path)])
    assert len(sources) == 10_000
    assert all(text_of(source) == b"line\n" for source in sources[:50])
    assert time.process_time() - started < 20
    assert "first 10000 members" in " ".join(sources[0].notes)


def test_layers_of_compression_end(tmp_path: Path) -> None:
    data = TEXT
    for _ in range(4):
        data = gzip.compress(data)
    assert text_of(piped(data)) == TEXT
    for _ in range(200):
        data = gzip.compress(data)
    with pytest.raises(InputError, match="times over"):
        piped(data)


def test_a_tar_header_that_claims_an_absurd_size(tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 1 << 40
    path = tmp_path / "lies.tar"
    path.write_bytes(tar_of({"a.log": TEXT}).rstrip(b"\0") + b"\0" * (-len(TEXT) % 512) + info.tobuf() + b"\0" * 2048)
    source = opened(path)
    assert text_of(source) == TEXT
    assert "damaged" in source.notes[0]


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(
        [TEXT[:3000], *(pack(TEXT) for pack in PACKERS.values()), zip_of({"a.log": TEXT}), tar_of({"a": TEXT})]
    ),
    st.lists(st.tuples(st.integers(0, 20_000), st.binary(min_size=1, max_size=4)), max_size=6),
    st.integers(1, 20_000),
)
def test_damage_of_any_kind_ends_in_text_or_an_input_error(
    data: bytes, changes: list[tuple[int, bytes]], length: int
) -> None:
    damaged = bytearray(data)
    for place, patch in changes:
        place %= len(damaged)
        damaged[place : place + len(patch)] = patch
    with contextlib.suppress(InputError):
        for source in open_sources(["-"], stdin=io.BytesIO(bytes(damaged[:length]))):
            for chunk in source.chunks():
                chunk.decode("utf-8", "replace")
