"""Inputs that no honest server writes, through the command line: a clear answer, in bounded time, never a traceback."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from vllmdoctor.cli.app import run

FAILED = (
    "(APIServer pid=1) INFO 05-22 10:00:00 [api_server.py:1896] vLLM API server version 0.11.0\n"
    "(EngineCore_DP0 pid=7) ERROR 05-22 10:00:20 [core.py:708] ValueError: No available memory for the cache blocks. "
    "Try increasing `gpu_memory_utilization` when initializing the engine.\n"
)
HEALTHY, FAILURE, BAD_INPUT, UNRECOGNIZED, NO_CAUSE = 0, 1, 2, 3, 4


class Answer:
    """What `vllmdoctor analyze` said."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err
        assert "Traceback (most recent call last)" not in err, err
        assert "Traceback (most recent call last)" not in out, out


Analyze = Callable[..., Answer]


@pytest.fixture
def analyze(capsys: pytest.CaptureFixture[str]) -> Analyze:
    def call(*arguments: object) -> Answer:
        code = run(["analyze", *(str(argument) for argument in arguments)])
        return Answer(code, *capsys.readouterr())

    return call


def limited(checkout: Path, *arguments: object, memory_mib: int, seconds: float) -> Answer:
    """The command in a process of its own that may take so much memory and time and no more."""
    resource = pytest.importorskip("resource")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory_mib << 20, memory_mib << 20))

    env = {**os.environ, "PYTHONPATH": str(checkout / "src"), "COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, "-m", "vllmdoctor", "analyze", *map(str, arguments)],
        env=env, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds, check=False, preexec_fn=limit,
    )  # fmt: skip
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def written(folder: Path, data: bytes | str, name: str = "startup.log") -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


# Texts


@pytest.mark.parametrize(
    "character", ["a", "(", "\x00", "\x1b[", "é", '{"a":', "| ", "Traceback (most recent call last):"]
)
def test_one_line_of_50_megabytes(character: str, tmp_path: Path, checkout: Path) -> None:
    path = written(tmp_path, FAILED + character * (50 * 10**6 // len(character.encode())) + "\n")
    answer = limited(checkout, path, memory_mib=1500, seconds=60)
    assert answer.code == FAILURE
    assert "no-cache-blocks" in answer.out


def test_a_failure_inside_a_line_of_50_megabytes(tmp_path: Path, checkout: Path) -> None:
    half = "x" * (25 * 10**6)
    error = "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`"
    answer = limited(checkout, written(tmp_path, f"{half} {error} {half}\n"), memory_mib=1500, seconds=60)
    assert answer.code in (FAILURE, UNRECOGNIZED, NO_CAUSE)


def test_nuls_between_the_characters(tmp_path: Path, analyze: Analyze) -> None:
    assert analyze(written(tmp_path, FAILED.replace("\n", "\x00\n\x00\x00"))).code == FAILURE


def test_a_sparse_tail_of_nuls(tmp_path: Path, analyze: Analyze) -> None:
    """A log on a machine that lost power."""
    assert analyze(written(tmp_path, FAILED.encode() + b"\x00" * 200_000)).code == FAILURE


@pytest.mark.parametrize("seed", range(4))
def test_random_bytes_are_no_log(seed: int, tmp_path: Path, analyze: Analyze) -> None:
    answer = analyze(written(tmp_path, random.Random(seed).randbytes(300_000)))
    assert answer.code in (BAD_INPUT, NO_CAUSE)
    assert answer.out.startswith("?") or "error: " in answer.err or "not a vLLM log" in answer.out


@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes_inside_a_log_hide_nothing(seed: int, tmp_path: Path, analyze: Analyze) -> None:
    good = "".join(
        f"(APIServer pid=1) INFO 05-22 10:00:01 [launcher.py:42] Route: /v{n}, Methods: GET\n" for n in range(200)
    )
    junk = random.Random(seed).randbytes(300)
    assert analyze(written(tmp_path, good.encode() + junk + b"\n" + FAILED.encode() + junk)).code == FAILURE


def test_a_hundred_thousand_brackets_in_an_arguments_line(tmp_path: Path, checkout: Path) -> None:
    deep = "non-default args: {'model': 'acme/model-7b', 'x': " + "[" * 100_000 + "}\n"
    namespace = "INFO 05-22 10:00:00 api_server.py:1] args: Namespace(model='x', y=" + "(" * 100_000 + "\n"
    flags = "$ vllm serve acme/model-7b --override '" + "{" * 100_000 + "\n"
    answer = limited(checkout, written(tmp_path, deep + namespace + flags + FAILED), memory_mib=1500, seconds=30)
    assert answer.code == FAILURE


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000,
        '{"message": ' * 20_000,
        '{"log": "' + "\\" * 100_000,
        "> " * 50_000 + "x",
        "vllm-1  | " * 10_000 + "x",
        "2026-05-22T10:00:00Z " * 5_000,
        "(Worker pid=1) " * 10_000 + "x",
        "&amp;" * 50_000,
        "a.b" * 50_000 + "Error: x",
        '  File "' + "x" * 100_000 + '", line 1, in f',
        "raise ValueError(" + '"a" ' * 30_000,
        " " * 100_000 + "x",
        "\t" * 100_000,
        "100%|" * 30_000,
        "\r" * 100_000 + "x",
        "=" * 100_000,
        "KEY=" + "v" * 100_000,
        "Processed prompts: " * 10_000,
    ],
    ids=lambda line: line.strip()[:16],
)
def test_lines_made_to_be_slow(line: str, tmp_path: Path, analyze: Analyze) -> None:
    path = written(tmp_path, f"{line}\n" * 3 + FAILED)
    began = time.process_time()
    answer = analyze(path)
    assert time.process_time() - began < 10
    assert answer.code == FAILURE, answer.out


def test_a_hundred_thousand_lines_without_a_head(tmp_path: Path, analyze: Analyze) -> None:
    path = written(
        tmp_path, "some words that a program printed, one line after the other, without end\n" * 100_000 + FAILED
    )
    answer = analyze(path)
    assert answer.code == FAILURE


def test_a_traceback_without_end(tmp_path: Path, analyze: Analyze) -> None:
    frames = '  File "/opt/vllm/a.py", line 1, in f\n    f()\n' * 20_000
    path = written(tmp_path, f"Traceback (most recent call last):\n{frames}RecursionError: maximum recursion depth exceeded\n" + FAILED)  # fmt: skip
    assert analyze(path).code in (FAILURE, UNRECOGNIZED)


# Containers


def test_a_truncated_gzip_is_read_as_far_as_it_goes(tmp_path: Path, analyze: Analyze) -> None:
    filler = "".join(f"INFO 05-22 10:00:00 [x.py:1] line {n} {random.Random(n).random()}\n" for n in range(5000))
    answer = analyze(written(tmp_path, gzip.compress((FAILED + filler).encode())[:-4000], "startup.log.gz"))
    assert answer.code == FAILURE


def test_a_gzip_of_its_header_alone_is_a_clear_error(tmp_path: Path, analyze: Analyze) -> None:
    answer = analyze(written(tmp_path, gzip.compress(FAILED.encode())[:12], "startup.log.gz"))
    assert answer.code == BAD_INPUT
    assert "startup.log.gz" in answer.err


def test_a_zip_with_ten_thousand_entries(tmp_path: Path, checkout: Path) -> None:
    path = tmp_path / "logs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("startup.log", FAILED)
        for number in range(10_001):
            archive.writestr(f"pod-{number}/notes.txt", "nothing here\n")
    answer = limited(checkout, path, memory_mib=1500, seconds=90)
    assert answer.code == FAILURE
    assert "no-cache-blocks" in answer.out
    assert "only the first 10000 members" in " ".join(answer.out.split())


def test_many_files_that_are_no_logs_are_not_listed_one_by_one(tmp_path: Path, analyze: Analyze) -> None:
    for number in range(300):
        written(tmp_path, "nothing here\n", f"notes-{number}.txt")
    answer = analyze(tmp_path)
    assert answer.code == NO_CAUSE
    assert len(answer.out.splitlines()) < 100


def test_a_zip_bomb_takes_bounded_time_and_memory(tmp_path: Path, checkout: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(2):
            archive.writestr(f"{number}.log", b"\n" * (150 << 20))
    assert path.stat().st_size < 1 << 20
    answer = limited(checkout, path, memory_mib=1000, seconds=120)
    assert answer.code in (BAD_INPUT, NO_CAUSE)


def test_a_gzip_bomb_takes_bounded_time_and_memory(tmp_path: Path, checkout: Path) -> None:
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9) as stream:
        for _ in range(300):
            stream.write(b"\x00" * (1 << 20))
    answer = limited(checkout, written(tmp_path, packed.getvalue(), "bomb.log.gz"), memory_mib=1500, seconds=120)
    assert answer.code in (BAD_INPUT, NO_CAUSE)


def test_an_archive_inside_itself_many_times(tmp_path: Path, analyze: Analyze) -> None:
    data = FAILED.encode()
    for _ in range(30):
        data = gzip.compress(data)
    answer = analyze(written(tmp_path, data, "startup.log.gz"))
    assert answer.code in (FAILURE, BAD_INPUT)


def test_a_tar_that_climbs_out_of_its_folder_writes_nothing(tmp_path: Path, analyze: Analyze) -> None:
    path = tmp_path / "inner" / "logs.tar"
    path.parent.mkdir()
    with tarfile.open(path, "w") as archive:
        entry = tarfile.TarInfo("../../escaped.log")
        entry.size = len(FAILED)
        archive.addfile(entry, io.BytesIO(FAILED.encode()))
        link = tarfile.TarInfo("link.log")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    before = sorted(tmp_path.rglob("*"))
    answer = analyze(path)
    assert answer.code in (FAILURE, BAD_INPUT)
    assert "root:" not in answer.out
    assert sorted(tmp_path.rglob("*")) == before


# No text


def test_an_empty_file(tmp_path: Path, analyze: Analyze) -> None:
    answer = analyze(written(tmp_path, ""))
    assert answer.code in (BAD_INPUT, NO_CAUSE)
    assert "startup.log" in answer.err + answer.out


def test_a_folder_without_logs(tmp_path: Path, analyze: Analyze) -> None:
    answer = analyze(tmp_path)
    assert (answer.code, answer.out) == (BAD_INPUT, "")
    assert tmp_path.name in answer.err


def test_a_missing_file(tmp_path: Path, analyze: Analyze) -> None:
    answer = analyze(tmp_path / "no-such.log")
    assert (answer.code, answer.out) == (BAD_INPUT, "")
    assert "no-such.log" in answer.err


@pytest.mark.parametrize(
    "head", [b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", b"\xff\xd8\xff\xe0\x00\x10JFIF\x00"], ids=["png", "jpeg"]
)
def test_a_screenshot(head: bytes, tmp_path: Path, analyze: Analyze) -> None:
    answer = analyze(written(tmp_path, head + random.Random(1).randbytes(50_000), "screenshot.png"))
    assert (answer.code, answer.out) == (BAD_INPUT, "")
    assert "screenshot.png" in answer.err


def test_a_file_that_may_not_be_read(tmp_path: Path, analyze: Analyze) -> None:
    path = written(tmp_path, FAILED)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    answer = analyze(path)
    assert (answer.code, answer.out) == (BAD_INPUT, "")
    assert "startup.log" in answer.err


def test_one_bad_input_among_good_ones_is_named(tmp_path: Path, analyze: Analyze) -> None:
    answer = analyze(written(tmp_path, FAILED), tmp_path / "no-such.log")
    assert answer.code == BAD_INPUT
    assert "no-such.log" in answer.err


# Rules of the user's own

SLOW = r"catastrophic text (?:a|aa)+$"
SLOW_TEXT = "catastrophic text " + "a" * 80 + "!"


def own_rules(folder: Path, *, pattern: str, **more: str) -> Path:
    rules = folder / "my-rules"
    rules.mkdir(exist_ok=True)
    extra = "".join(f"    {key}: '{value}'\n" for key, value in more.items())
    rule = (
        "id: my-own-rule\ncategory: server\ntitle: Our own failure\nsummary: It happens at our place.\n"
        f"signatures:\n  - pattern: '{pattern}'\n    samples: [\"x\"]\n{extra}"
    )
    (rules / "my-own-rule.yaml").write_text(rule, encoding="utf-8")
    return rules


def test_a_rule_of_ones_own_is_found(tmp_path: Path, analyze: Analyze) -> None:
    log = written(tmp_path, "ERROR 05-22 10:00:00 [x.py:1] our own trouble 7\n")
    answer = analyze(log, "--rules", own_rules(tmp_path, pattern=r"our own trouble \d"))
    assert answer.code == FAILURE
    assert "Our own failure" in answer.out


@pytest.mark.parametrize("field", ["pattern", "unless", "frames"])
def test_a_catastrophic_pattern_is_given_up_and_named(field: str, tmp_path: Path, analyze: Analyze) -> None:
    """Left alone, this search takes longer than the age of the universe."""
    raw = f'Traceback (most recent call last):\n  File "/opt/a.py", line 1, in f\n    {SLOW_TEXT}\nValueError: {SLOW_TEXT}\n'
    log = written(tmp_path, raw * 20 + FAILED)
    patterns = {"pattern": SLOW} if field == "pattern" else {"pattern": "catastrophic text", field: SLOW}
    rules = own_rules(tmp_path, **patterns)
    began = time.process_time()
    answer = analyze(log, "--rules", rules, "--format", "json")
    assert time.process_time() - began < 10
    report = json.loads(answer.out)
    assert [notice for notice in report["notices"] if "my-own-rule" in notice], report["notices"]
    assert "my-own-rule" not in {finding["rule"] for finding in report["findings"]}


def test_the_other_rules_go_on_without_the_slow_one(tmp_path: Path, analyze: Analyze) -> None:
    log = written(tmp_path, FAILED + f"WARNING 05-22 10:00:00 [x.py:1] {SLOW_TEXT}\n")
    answer = analyze(log, "--rules", own_rules(tmp_path, pattern=SLOW))
    assert answer.code == FAILURE
    assert "no-cache-blocks" in answer.out


def test_slow_marks_and_noise_of_ones_own_are_given_up_too(tmp_path: Path, analyze: Analyze) -> None:
    rules = own_rules(tmp_path, pattern="our own trouble")
    (rules / "facts").mkdir()
    (rules / "facts" / "mine.yaml").write_text(
        f"noise:\n  - {{id: mine, pattern: '{SLOW}', why: x, samples: [x]}}\n"
        f"marks:\n  - {{mark: ready, pattern: '{SLOW}', samples: [x]}}\n",
        encoding="utf-8",
    )
    answer = analyze(written(tmp_path, f"INFO 05-22 10:00:00 [x.py:1] {SLOW_TEXT}\n" + FAILED), "--rules", rules)
    assert answer.code == FAILURE
    assert "my-rules/facts" in answer.out


@pytest.mark.parametrize(
    "text",
    [
        "a: [",
        "id: x\n",
        "- 1\n",
        "id: my-own-rule\nsignatures: 3\n",
        "\x00",
        "&a [*a]",
        "id: x\nsignatures:\n  - pattern: '('\n",
    ],
)
def test_a_broken_rule_is_a_clear_error(text: str, tmp_path: Path, analyze: Analyze) -> None:
    rules = tmp_path / "my-rules"
    rules.mkdir()
    (rules / "mine.yaml").write_text(text, encoding="utf-8")
    answer = analyze(written(tmp_path, FAILED), "--rules", rules)
    assert (answer.code, answer.out) == (BAD_INPUT, "")
    assert "mine.yaml" in answer.err
