"""What is kept of small and large inputs."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vllmdoctor.intake import Excerpt, Source, read_excerpt, read_inputs
from vllmdoctor.intake.kept import Limits
from vllmdoctor.intake.literals import LiteralFinder
from vllmdoctor.intake.scan import Scan

TRACEBACK = b"Traceback (most recent call last)"
OOM = b"CUDA out of memory"
LITERALS = [TRACEBACK, OOM, b"KV cache memory"]
MIB = 1 << 20


def excerpt_of(blocks: Iterable[bytes], literals: list[bytes] = LITERALS) -> Excerpt:
    source = Source("big.log", lambda notes: iter(blocks))
    return read_excerpt(source, 3, literals, block_literals=frozenset({TRACEBACK}))


def healthy(lines: int, start: int = 1, width: int = 100) -> bytes:
    """Lines that tell their own number."""
    return b"".join(b"%d INFO healthy" % number + b"." * width + b"\n" for number in range(start, start + lines))


def numbers(excerpt: Excerpt) -> list[int]:
    return [line.number for line in excerpt.lines]


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=400), st.integers(1, 7))
def test_the_lines_of_a_small_input_joined_are_its_text(text: str, size: int) -> None:
    data = text.encode()
    excerpt = excerpt_of([data[begin : begin + size] for begin in range(0, len(data), size)])
    assert excerpt.complete
    assert "\n".join(line.text for line in excerpt.lines) == text.removesuffix("\n")
    assert numbers(excerpt) == list(range(1, excerpt.total_lines + 1))
    assert excerpt.total_bytes == len(data)
    assert not excerpt.hits


def test_invalid_utf8_nuls_and_carriage_returns_survive() -> None:
    excerpt = excerpt_of([b"caf\xe9\x00\r 10%\r 20%\r\nnext"])
    assert [line.text for line in excerpt.lines] == ["caf\ufffd\x00\r 10%\r 20%\r", "next"]
    assert {line.input for line in excerpt.lines} == {3}


def test_a_large_input_keeps_start_end_and_hits_with_context() -> None:
    before, after = 30_000, 30_000
    blocks = [healthy(before), b"torch: " + OOM + b"\n", healthy(after, before + 2)]
    excerpt = excerpt_of(blocks)
    total = before + 1 + after
    hit = before + 1
    assert not excerpt.complete
    assert excerpt.total_lines == total
    assert excerpt.total_bytes == sum(map(len, blocks))
    assert numbers(excerpt) == [*range(1, 401), *range(hit - 3, hit + 2), *range(total - 399, total + 1)]
    assert excerpt.hits == {"CUDA out of memory": 1}
    for line in excerpt.lines:
        assert line.text.startswith("torch: ") if line.number == hit else line.text.startswith(f"{line.number} INFO")


def test_a_traceback_keeps_the_lines_that_follow_it() -> None:
    excerpt = excerpt_of([healthy(30_000), TRACEBACK + b":\n", healthy(30_000, 30_002)])
    middle = [number for number in numbers(excerpt) if 400 < number <= 59_000]
    assert middle == list(range(30_001 - 3, 30_001 + 150 + 1))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([b"", b"oom1", b"loop", b"oom1 loop oom1"]), st.integers(0, 30)), max_size=60),
    st.lists(st.integers(1, 400), min_size=1, max_size=12),
)
def test_line_numbers_and_counts_do_not_depend_on_the_blocks(lines: list[tuple[bytes, int]], sizes: list[int]) -> None:
    """Tiny limits, so that everything that happens to gigabytes happens to a few lines."""
    texts = [b"%d " % number + word + b"." * width for number, (word, width) in enumerate(lines, 1)]
    data = b"\n".join(texts)
    limits = Limits(edge_lines=2, first_hits=2, last_hits=2, lines_before=1, block_lines_after=3)
    scan = Scan(LiteralFinder([b"oom1", b"loop"]), frozenset({0}), limits)
    at = 0
    for step in range(len(data)):
        size = sizes[step % len(sizes)]
        scan.feed(data[at : at + size])
        at += size
        if at >= len(data):
            break
    kept = scan.finish()
    assert scan.counts == [data.count(b"oom1"), data.count(b"loop")]
    assert scan.total_lines == (len(texts) if data else 0)
    assert all(text.encode() == texts[number - 1] for number, text in kept.items())
    assert set(kept) >= wanted_lines(texts)


def wanted_lines(texts: list[bytes]) -> set[int]:
    """The lines to keep under the tiny limits, found the simple way."""
    count = len(texts) if any(texts) else 0
    wanted = {*range(1, 3), *range(count - 1, count + 1)}
    for word, after in ((b"oom1", 3), (b"loop", 1)):
        hits = [number for number, text in enumerate(texts, 1) if word in text]
        occurrences = [number for number, text in enumerate(texts, 1) for _ in range(text.count(word))]
        for hit in {*hits[:2], *(occurrences[-2:] if len(hits) > 2 else ())}:
            wanted |= set(range(hit - 1, hit + after + 1))
    return {number for number in wanted if 1 <= number <= count}


def crash_loop(size: int) -> Iterator[bytes]:
    number = 0
    produced = 0
    while produced < size:
        lines = []
        for _ in range(1500):
            number += 1
            lines.append(b"%d ERROR " % number + (TRACEBACK if number % 20 == 0 else OOM) + b" KV cache memory")
        block = b"\n".join(lines) + b"\n"
        produced += len(block)
        yield block


def test_a_crash_loop_stays_bounded_and_keeps_its_start_and_end() -> None:
    started = time.process_time()
    excerpt = excerpt_of(crash_loop(40 * MIB))
    assert time.process_time() - started < 15
    kept = numbers(excerpt)
    assert sum(len(line.text) for line in excerpt.lines) < 6 * MIB
    assert kept[:400] == list(range(1, 401))
    assert kept[-400:] == list(range(excerpt.total_lines - 399, excerpt.total_lines + 1))
    # Each is there more than 400 times a MiB, so that counting them stops early on.
    assert excerpt.uncounted == {literal.decode() for literal in LITERALS}
    assert 10_000 < excerpt.hits["KV cache memory"] <= excerpt.total_lines
    # The last 50 tracebacks are 20 lines apart.
    assert set(range(excerpt.total_lines - 980, excerpt.total_lines)) <= set(kept)


def test_a_rare_hit_is_kept_among_noise_that_uses_up_the_memory() -> None:
    noise = [b"n%04d" % number for number in range(600)]
    chance = random.Random(1)

    def blocks() -> Iterator[bytes]:
        for turn in range(9):
            words = (chance.choice(noise) for _ in range(4000))
            yield b"".join(b"a line with %b in it " % word + b"-" * 200 + b"\n" for word in words)
            if turn == 4:
                yield b"the cause: " + OOM + b"\n"

    excerpt = excerpt_of(blocks(), [*noise, OOM])
    assert any(line.text.startswith("the cause: CUDA") for line in excerpt.lines)
    assert sum(len(line.text) for line in excerpt.lines) < 6.5 * MIB


def test_a_line_of_50_mb_is_cut_around_its_hits_and_memory_stays_flat() -> None:
    def blocks() -> Iterator[bytes]:
        yield b"first\nstart of the long line "
        for turn in range(200):
            yield b"\x00ab " * (1 << 16)
            if turn == 100:
                yield "ü".encode() * 20_000 + OOM + b" tried to allocate 2.00 GiB"
        yield b" end of it\nlast\n"

    tracemalloc.start()
    excerpt = excerpt_of(blocks())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 * MIB
    assert [line.number for line in excerpt.lines] == [1, 2, 3]
    text = excerpt.lines[1].text
    assert text.startswith("start of the long line ")
    assert "CUDA out of memory tried to allocate 2.00 GiB" in text
    assert " … " in text and "\ufffd" not in text
    assert len(text) < 64 << 10
    assert excerpt.hits == {"CUDA out of memory": 1}
    assert excerpt.notes == ("1 lines longer than 64 KiB were cut to the parts around known messages",)


@pytest.mark.parametrize("block_size", [70_000, 1 << 18, 3 * MIB])
def test_every_hit_in_a_long_line_is_counted_once(block_size: int) -> None:
    line = b"".join(b"x" * gap + OOM for gap in range(0, 3000, 5))
    data = healthy(20_000) + line * 3 + b"\n" + healthy(20)
    excerpt = excerpt_of([data[begin : begin + block_size] for begin in range(0, len(data), block_size)])
    assert excerpt.hits == {"CUDA out of memory": 1800}
    assert excerpt.total_lines == 20_021
    (cut,) = [line for line in excerpt.lines if line.number == 20_001]
    assert len(cut.text) < 800_000


def test_millions_of_empty_lines_do_not_become_millions_of_objects() -> None:
    excerpt = excerpt_of([b"\n" * (2 * MIB - 10)])
    assert excerpt.total_lines == 2 * MIB - 10
    assert len(excerpt.lines) == 800


def test_read_inputs_numbers_the_inputs_and_reports_progress(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"one\ntwo\n")
    (tmp_path / "b.log").write_bytes(healthy(30_000))
    seen: list[int] = []
    small, large = read_inputs(
        [str(tmp_path / "a.log"), str(tmp_path / "b.log")], stdin=None, literals=LITERALS, progress=seen.append
    )
    assert (small.complete, large.complete) == (True, False)
    assert [line.input for line in small.lines] == [0, 0]
    assert {line.input for line in large.lines} == {1}
    assert sum(seen) == small.total_bytes + large.total_bytes


def test_the_accelerator_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ahocorasick_rs")
    monkeypatch.delenv("VLLMDOCTOR_PURE", raising=False)
    fast = excerpt_of(crash_loop(6 * MIB))
    monkeypatch.setenv("VLLMDOCTOR_PURE", "1")
    assert excerpt_of(crash_loop(6 * MIB)) == fast


def test_a_literal_that_is_everywhere_and_then_rare_keeps_its_last_hits() -> None:
    def blocks() -> Iterator[bytes]:
        yield from crash_loop(12 * MIB)
        for turn in range(20):
            yield healthy(5000)
            if turn == 10:
                yield OOM + b" the last one\n"

    excerpt = excerpt_of(blocks())
    assert any(line.text == "CUDA out of memory the last one" for line in excerpt.lines)
    late = [line for line in excerpt.lines if line.number > 400 and line.text.endswith("KV cache memory")]
    assert len(late) >= 50
