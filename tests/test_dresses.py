"""Logs as they travel in life: the verdict on a dressed log is that on the bare one."""

from __future__ import annotations

import gzip
import html
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from vllmdoctor.analysis import diagnose_log
from vllmdoctor.diagnosis.model import ROOT_CAUSE, Diagnosis
from vllmdoctor.intake import read_inputs
from vllmdoctor.logs import read_log
from vllmdoctor.rules.load import load_catalogue

FIXTURES = Path(__file__).parent / "fixtures"
LOGS = sorted([*(FIXTURES / "rules").glob("*/startup.log"), *(FIXTURES / "clean").glob("*.log")])
NOISE_LINES = 100

Dress = Callable[[str], bytes]


def by_line(dress: Callable[[int, str], str]) -> Dress:
    """A dress that puts something around every line."""
    return lambda text: "".join(dress(number, line) + "\n" for number, line in enumerate(text.split("\n"))).encode()


def whole(dress: Callable[[str], str]) -> Dress:
    return lambda text: dress(text).encode()


def clock(number: int) -> str:
    return f"{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}"


def healthy_lines() -> str:
    return "".join(
        f"(APIServer pid=31) INFO 05-22 {clock(n)} [loggers.py:123] Engine 000: Avg prompt throughput: {n % 90}.5 tokens/s, "
        f"Avg generation throughput: {n % 9}.0 tokens/s, Running: {n % 7} reqs, Waiting: 0 reqs, "
        f"GPU KV cache usage: {n % 60}.1%, Prefix cache hit rate: 61.2%\n"
        for n in range(NOISE_LINES)
    )


DRESSES: dict[str, Dress] = {
    "compose": by_line(lambda n, line: f"vllm-1  | {line}"),
    "kubernetes": by_line(lambda n, line: f"[pod/vllm-6d5f-abcde/vllm] 2026-05-22T{clock(n)}.123456789Z {line}"),
    "actions": by_line(lambda n, line: f"serve\tStart the server\t2026-05-22T{clock(n)}.1234567Z {line}"),
    "journald": by_line(lambda n, line: f"May 22 {clock(n)} gpu01 vllm[8707]: {line}"),
    "ansi": by_line(lambda n, line: f"\x1b[0;36m{line[:9]}\x1b[0m{line[9:]}\x1b[0m"),
    "crlf": whole(lambda text: text.replace("\n", "\r\n")),
    "utf16": lambda text: text.encode("utf-16"),
    "gzip": lambda text: gzip.compress(text.encode()),
    "jsonl": by_line(lambda n, line: json.dumps({"log": line + "\n", "stream": "stderr", "time": f"2026-05-22T{clock(n)}.1Z"})),
    "quoted": whole(lambda text: "### Your output\n\n> ```text\n" + "".join(f"> {line}\n" for line in text.split("\n")) + "> ```\n"),
    "html": whole(html.escape),
    "noise": whole(lambda text: healthy_lines() + text),
}  # fmt: skip


def diagnosis(path: Path) -> Diagnosis:
    """The walk without the search for literals, which only large inputs need."""
    excerpts = read_inputs([str(path)], stdin=None, literals=[])
    return diagnose_log(read_log(excerpts[0].lines), load_catalogue(), excerpts)


def verdict(found: Diagnosis) -> str:
    """The id of the root cause, else the status."""
    return next((finding.rule.id for finding in found.findings if finding.role == ROOT_CAUSE), found.status)


@cache
def bare(path: Path) -> tuple[str, str]:
    """The text and the verdict on it."""
    data = path.read_bytes()
    text = data.decode("utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8", "replace")
    return text.replace("\r\n", "\n"), verdict(diagnosis(path))


@pytest.mark.parametrize("name", DRESSES)
def test_a_dress_does_not_change_the_verdict(name: str, tmp_path: Path) -> None:
    log = tmp_path / "startup.log"
    changed = []
    for path in LOGS:
        text, expected = bare(path)
        log.write_bytes(DRESSES[name](text))
        got = verdict(diagnosis(log))
        if got != expected:
            changed.append(f"{path.parent.name}/{path.name}: {expected} -> {got}")
    assert len(changed) <= 0.005 * len(LOGS), changed


@pytest.mark.parametrize(("outer", "inner"), [("compose", "ansi"), ("kubernetes", "jsonl"), ("journald", "crlf"), ("gzip", "utf16")])  # fmt: skip
def test_two_dresses_over_each_other(outer: str, inner: str, tmp_path: Path) -> None:
    log = tmp_path / "startup.log"
    changed = []
    for path in LOGS[::3]:
        text, expected = bare(path)
        inside = DRESSES[inner](text)
        log.write_bytes(gzip.compress(inside) if outer == "gzip" else DRESSES[outer](inside.decode()))
        got = verdict(diagnosis(log))
        if got != expected:
            changed.append(f"{path.parent.name}/{path.name}: {expected} -> {got}")
    assert changed == []


def test_line_numbers_are_those_of_the_dressed_file(tmp_path: Path) -> None:
    path = FIXTURES / "rules" / "no-cache-blocks" / "startup.log"
    log = tmp_path / "startup.log"
    line = diagnosis(path).findings[0].evidence[0].line.number
    for name, added in (("compose", 0), ("jsonl", 0), ("quoted", 3), ("noise", NOISE_LINES)):
        log.write_bytes(DRESSES[name](bare(path)[0]))
        assert diagnosis(log).findings[0].evidence[0].line.number == line + added, name
