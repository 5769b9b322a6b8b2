"""Phases: told by frames first, by the lines before otherwise, and never guessed."""

from __future__ import annotations

import pytest

from vllmdoctor.diagnosis.state import read_state
from vllmdoctor.rules.load import load_catalogue

from .helpers import diagnosis, log_of, rule

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."


def phase_of_last(text: str) -> str:
    state = read_state(log_of(text).runs[-1].records, load_catalogue().facts)
    return state.phases[-1]


@pytest.mark.parametrize(
    ("function", "phase"),
    [
        ("load_model", "loading-weights"),
        ("profile_run", "profiling"),
        ("capture_model", "graph-capture"),
        ("_allocate_kv_cache_tensors", "kv-cache-allocation"),
        ("execute_model", "serving"),
        ("wake_up", "sleep-mode"),
    ],
)
def test_a_frame_tells_the_phase(function: str, phase: str) -> None:
    frame = f'  File "/opt/vllm/worker.py", line 9, in {function}\n    self.go()'
    assert phase_of_last(f"Traceback (most recent call last):\n{frame}\n{OOM}") == phase


def test_profiling_frames_win_over_the_execute_model_inside_them() -> None:
    text = (
        "Traceback (most recent call last):\n"
        '  File "/opt/vllm/worker.py", line 1, in profile_run\n    self.execute_model()\n'
        '  File "/opt/vllm/runner.py", line 2, in execute_model\n    self.model()\n' + OOM
    )
    assert phase_of_last(text) == "profiling"


def test_without_frames_the_line_before_tells_the_phase() -> None:
    assert phase_of_last(f"INFO 05-22 10:00:00 [r.py:1] Starting to load model x...\n{OOM}") == "loading-weights"


def test_nothing_tells_the_phase() -> None:
    assert phase_of_last(OOM) == "unknown"


def test_a_message_without_frames_takes_the_phase_of_the_same_error_with_frames() -> None:
    found = diagnosis(
        """
        ERROR 05-22 10:00:00 [engine.py:448] CUDA out of memory. Tried to allocate 800.00 MiB. GPU 0 has 15.56 GiB in all
        ERROR 05-22 10:00:00 [engine.py:448] Traceback (most recent call last):
        ERROR 05-22 10:00:00 [engine.py:448]   File "/opt/vllm/w.py", line 1, in determine_num_available_blocks
        ERROR 05-22 10:00:00 [engine.py:448]     self.go()
        ERROR 05-22 10:00:00 [engine.py:448] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 800.00 MiB. GPU 0 has 15.56 GiB in all
        """,
        rule("profiling", "CUDA out of memory", signature={"phases": ["profiling"]}),
        rule("other", "CUDA out of memory", signature={"phases": ["unknown"]}),
    )
    assert [finding.rule.id for finding in found.findings] == ["profiling"]
    assert found.findings[0].count == 2


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        ("GET /metrics", "failure"),  # answered by the API server alone, with a dead engine too
        ("GET /v1/models", "failure"),
        ("GET /health", "healthy"),  # asks the engine
        ("POST /v1/completions", "healthy"),
    ],
)
def test_what_a_dead_engine_answers_is_no_sign_of_a_ready_server(request_line: str, status: str) -> None:
    text = (
        "(EngineCore pid=8) RuntimeError: known trouble\n"
        f'(APIServer pid=1) INFO:     192.0.2.4:52284 - "{request_line} HTTP/1.1" 200 OK'
    )
    assert diagnosis(text, rule("known", "known trouble")).status == status


@pytest.mark.parametrize("between", ["\n", " "], ids=["runs into it", "quotes it"])
def test_a_harmless_line_in_its_message_makes_no_exception_harmless(between: str) -> None:
    frame = '  File "/opt/vllm/worker.py", line 9, in go\n    self.go()'
    harmless = "FutureWarning: `torch.distributed.reduce_op` is deprecated"
    text = f"Traceback (most recent call last):\n{frame}\nRuntimeError: nobody knows this one:{between}{harmless}"
    log = log_of(text)
    assert read_state(log.runs[-1].records, load_catalogue().facts).noise == {}
