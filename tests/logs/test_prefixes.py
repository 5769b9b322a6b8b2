import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .samples import DRESSES, FAILED_START, dressed, exceptions, read


def told(text: str) -> list[tuple[object, ...]]:
    return [(line.text, line.process, line.level, line.place) for line in read(text).lines if line.text]


@pytest.mark.parametrize("name", DRESSES)
def test_a_dress_changes_nothing_of_the_lines(name: str) -> None:
    assert told(dressed(FAILED_START, DRESSES[name])) == told(FAILED_START)


@pytest.mark.parametrize("name", DRESSES)
def test_a_dress_changes_nothing_of_the_exceptions(name: str) -> None:
    bare = [(e.text, e.process, len(e.frames)) for e in exceptions(FAILED_START)]
    assert [(e.text, e.process, len(e.frames)) for e in exceptions(dressed(FAILED_START, DRESSES[name]))] == bare


STACKABLE = ["compose", "kubectl", "cri", "syslog", "quote", "colour", "crlf", "docker-json", "actions"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(STACKABLE), min_size=2, max_size=3, unique=True))
def test_stacked_dresses_come_off_in_any_order(names: list[str]) -> None:
    text = FAILED_START
    for name in names:
        text = dressed(text, DRESSES[name])
    assert told(text) == told(FAILED_START)


@pytest.mark.parametrize(
    ("raw", "text", "process", "level"),
    [
        ("[rank0]: ValueError: x", "ValueError: x", "rank0", None),
        (
            "(RayWorkerWrapper pid=12, ip=192.0.2.3) ERROR 06-12 19:22:18 worker_base.py:148] x",
            "x",
            "RayWorkerWrapper",
            "ERROR",
        ),
        ("(pid=12) hello there", "hello there", "", None),
        ("(EngineCore pid=7) [Stage-2] ERROR 01-02 03:04:05 [core.py:9] x", "x", "EngineCore", "ERROR"),
        (
            "ERROR:    (Worker_TP1 pid=42) ERROR 11-03 01:10:05 [m.py:69] RuntimeError: x",
            "RuntimeError: x",
            "Worker_TP1",
            "ERROR",
        ),
        ("(vLLMHttpServer pid=1) (Worker pid=27) ERROR 06-18 22:30:46 [m.py:85] x", "x", "Worker", "ERROR"),
        (
            "2026-06-09 14:01:52.982 [Error] (Process) (EngineCore pid=4) ERROR 06-09 14:01:52 [core.py:1] x",
            "x",
            "EngineCore",
            "ERROR",
        ),
        (
            "##[error](Worker pid=1) Traceback (most recent call last):",
            "Traceback (most recent call last):",
            "Worker",
            None,
        ),
        (
            "(LLMRayActor pid=9) INFO 04-24 18:22:16 [b.py:26] done [repeated 7x across cluster]",
            "done",
            "LLMRayActor",
            "INFO",
        ),
    ],
)
def test_single_prefixes(raw: str, text: str, process: str, level: str | None) -> None:
    line = read(raw).lines[0]
    assert (line.text, line.process.label, line.level) == (text, process, level)


def test_a_bar_after_the_time_goes_with_it() -> None:
    raw = (
        "2026-04-16 14:23:34.047 | Traceback (most recent call last):\n"
        '2026-04-16 14:23:34.047 |   File "/opt/vllm/entrypoints/llm.py", line 10, in start\n'
        "2026-04-16 14:23:34.047 |     self.load()\n"
        "2026-04-16 14:23:34.048 | ValueError: no weights"
    )
    lines = read(raw).lines
    assert [line.text for line in lines][0::3] == ["Traceback (most recent call last):", "ValueError: no weights"]
    assert lines[1].text.startswith("  File ")


@pytest.mark.parametrize(
    "message",
    [
        "0: is a number",
        "| N/A   34C    P0    70W / 400W |      0MiB / 81920MiB |      0%      Default |",
        "shm  64M  20M  45M  31% /dev/shm",
        "RuntimeError: (EngineCore pid=1) died",
        "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'",
        ">>> import vllm",
        "[...]",
        "EI0006: [PID: 12] Getting socket times out",
    ],
)
def test_messages_that_only_look_prefixed_stay_whole(message: str) -> None:
    assert read("some text before\n" + message + "\nsome text after").lines[1].text == message


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    log = read(text)
    assert len(log.lines) >= len(text.split("\n"))


def test_hostile_lines_are_read_in_time() -> None:
    noise = random.Random(7)
    garbage = "".join(noise.choice("([{|>-=:0123456789 aE\t\"'\\^~%") for _ in range(20_000))
    for text in (
        "[" * 100_000,
        "(" * 100_000,
        "{" * 100_000,
        " " * 100_000 + "x",
        "^ " * 50_000 + "x",
        "a." * 50_000,
        garbage,
    ):
        assert read(text).lines


@pytest.mark.parametrize(
    "prefix",
    [
        "U | 2025-07-18 11:29:37.824 | worker |   | ",
        "E | 13:15:51.444 | worker-0 | pid=123 | ",
        "1 | 2025-06-11 13:15:51 | ServeReplica:default:VLLM | ujj4diu5 | ",
        "| 2025-06-11 13:15:51 | worker | ",
    ],
)
def test_the_columns_of_a_dashboard_come_off(prefix: str) -> None:
    lines = ["ERROR 06-11 13:15:55 [core.py:500] EngineCore failed to start.", "Traceback (most recent call last):"]
    lines += ['  File "/opt/vllm/core.py", line 1, in run', "    go()", "IndexError: list index out of range"]
    records = read("\n".join(prefix + line for line in lines)).runs[0].records
    assert [(record.level, record.text) for record in records] == [
        ("ERROR", "EngineCore failed to start."),
        (None, "IndexError: list index out of range"),
    ]
    assert records[1].frames[0].function == "run"


def test_a_lone_line_of_a_dashboard_is_read_as_well() -> None:
    log = read("U | 2025-07-18 11:29:37.824 | worker |   | AttributeError: 'torch.dtype' object has no attribute 'x'")
    assert [record.exception for record in log.runs[0].records] == ["AttributeError"]


def test_line_numbers_of_an_editor_go_before_log_lines() -> None:
    numbered = " 404 \x1b[36m(RayWorkerWrapper pid=22, ip=)\x1b[0m ERROR 02-18 15:16:57 worker_base.py:575] no room"
    (line,) = read(numbered).lines
    assert (line.level, line.process.pid, line.text) == ("ERROR", 22, "no room")
    assert read("    404     choices.append(").lines[0].text == "    404     choices.append("
