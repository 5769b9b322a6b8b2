"""The five statuses: each told from the others by what the log shows."""

from __future__ import annotations

import pytest

from vllmdoctor.diagnosis.model import EXIT_CODES

from .helpers import diagnosis, rule

BANNER = "INFO 05-22 10:00:00 [api_server.py:1] vLLM API server version 0.9.2\n"
ARGS = "INFO 05-22 10:00:00 [utils.py:1] non-default args: {'model': 'x'}\n"


def test_healthy_start() -> None:
    assert diagnosis(BANNER + ARGS + "INFO:     Application startup complete.").status == "healthy"


def test_a_failure_that_a_rule_knows() -> None:
    assert diagnosis(BANNER + "ValueError: known trouble", rule("known", "known trouble")).status == "failure"


def test_a_failure_that_no_rule_knows_shows_the_innermost_exception() -> None:
    found = diagnosis(
        """
        (APIServer pid=1) Traceback (most recent call last):
        (APIServer pid=1)   File "/opt/vllm/a.py", line 1, in main
        (APIServer pid=1)     run()
        (APIServer pid=1) RuntimeError: outer
        (Worker_TP0 pid=8) ERROR 05-22 10:00:01 [w.py:1] Traceback (most recent call last):
        (Worker_TP0 pid=8) ERROR 05-22 10:00:01 [w.py:1]   File "/opt/vllm/w.py", line 1, in work
        (Worker_TP0 pid=8) ERROR 05-22 10:00:01 [w.py:1]     go()
        (Worker_TP0 pid=8) ERROR 05-22 10:00:01 [w.py:1] IndexError: inner
        """
    )
    assert found.status == "unrecognized-failure"
    assert found.unrecognized is not None
    assert found.unrecognized.record.text == "IndexError: inner"


def test_a_start_that_stops_while_arguments_are_checked_went_wrong_on_the_other_stream() -> None:
    found = diagnosis(BANNER + ARGS)
    assert found.status == "cause-not-in-log"
    assert "stderr" in found.missing


def test_a_start_that_is_cut_later_is_no_failure() -> None:
    found = diagnosis(BANNER + ARGS + "INFO 05-22 10:00:09 [r.py:1] Starting to load model x...")
    assert found.status == "healthy"
    assert found.notices["log-ends-early"] == "loading-weights"


def test_some_text_is_no_vllm_log() -> None:
    assert diagnosis("Dear all,\nthe meeting is moved to Friday.").status == "no-vllm-log"


def test_rejected_requests_of_a_running_server_are_a_notice() -> None:
    found = diagnosis(
        """
        INFO:     Application startup complete.
        INFO:     192.0.2.4:60994 - "POST /v1/chat/completions HTTP/1.1" 400 Bad Request
        INFO:     192.0.2.4:60995 - "POST /v1/chat/completions HTTP/1.1" 200 OK
        """
    )
    assert (found.status, found.notices) == ("healthy", {"requests-rejected": "1"})


def test_the_last_run_is_diagnosed_and_the_earlier_ones_are_listed() -> None:
    one = BANNER + ARGS + "ValueError: known trouble\n"
    found = diagnosis(
        one * 3 + BANNER + ARGS + "INFO:     Application startup complete.", rule("known", "known trouble")
    )
    assert found.status == "healthy"
    assert [run.rule for run in found.runs] == ["known", "known", "known", ""]


@pytest.mark.parametrize(
    ("status", "code"),
    [("healthy", 0), ("failure", 1), ("unrecognized-failure", 3), ("cause-not-in-log", 4), ("no-vllm-log", 4)],
)
def test_exit_codes_are_a_promise(status: str, code: int) -> None:
    assert EXIT_CODES[status] == code


def test_only_standard_error_is_here() -> None:
    found = diagnosis(
        """
        Traceback (most recent call last):
          File "/opt/vllm/v1/engine/utils.py", line 1431, in wait_for_engine_startup
            raise RuntimeError(
        RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
        """,
        rule("wrapper", "Engine core initialization failed", role="consequence"),
    )
    assert (found.status, found.missing[0]) == ("cause-not-in-log", "stdout")


def test_a_traceback_that_is_cut_before_its_exception_is_no_health() -> None:
    found = diagnosis(
        """
        Traceback (most recent call last):
          File "/opt/vllm/v1/engine/async_llm.py", line 117, in __init__
            self.engine_core = EngineCoreClient.make_async_mp_client(
        """
    )
    assert (found.status, found.missing[0]) == ("cause-not-in-log", "later-lines")


def _waited(last: str) -> str:
    return f"""
        Traceback (most recent call last):
          File "/opt/vllm/distributed/device_communicators/shm_broadcast.py", line 469, in acquire_read
            raise TimeoutError
        TimeoutError

        The above exception was the direct cause of the following exception:

        Traceback (most recent call last):
          File "/opt/vllm/v1/engine/core.py", line 693, in run_engine_core
            engine_core.run_busy_loop(){last}
        """


def test_a_wait_that_ended_is_no_cause_where_the_exception_that_names_it_is_cut_off() -> None:
    assert diagnosis(_waited("")).status == "cause-not-in-log"
    assert diagnosis(_waited("\n        RuntimeError: odd trouble")).status == "unrecognized-failure"


def test_a_program_that_exits_with_a_reason_has_failed() -> None:
    found = diagnosis(
        """
        Traceback (most recent call last):
          File "/opt/venv/bin/vllm", line 8, in <module>
            main()
        SystemExit: this machine lacks AVX512
        """
    )
    assert found.status == "unrecognized-failure"


def test_a_dump_of_a_failed_step_is_no_health() -> None:
    found = diagnosis(
        """
        INFO:     Application startup complete.
        (EngineCore_DP0 pid=7) ERROR 05-22 10:09:00 [dump_input.py:69] Dumping input data for V1 LLM engine (v0.11.0) with config: model='x', max_seq_len=4096
        """,
        rule("dumped", "Dumping input data for", role="consequence"),
    )
    assert found.status == "cause-not-in-log"


def test_an_exception_of_one_request_is_outlived_by_a_server_that_answers_the_next() -> None:
    log = """
        INFO:     Application startup complete.
        (APIServer pid=1) ERROR 05-22 10:01:00 [serving_chat.py:200] Error in preprocessing prompt inputs
        (APIServer pid=1) ERROR 05-22 10:01:00 [serving_chat.py:200] Traceback (most recent call last):
        (APIServer pid=1) ERROR 05-22 10:01:00 [serving_chat.py:200]   File "/opt/vllm/x.py", line 1, in f
        (APIServer pid=1) ERROR 05-22 10:01:00 [serving_chat.py:200] IndexError: list index out of range
        """
    after = '(APIServer pid=1) INFO:     192.0.2.9:51205 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
    assert diagnosis(log).status == "unrecognized-failure"
    assert diagnosis(log + after).status == "healthy"


@pytest.mark.parametrize(
    "text",
    [
        "Failed to apply LlavaProcessor on data={'text': '<image>'} with kwargs={'truncation': False}",
        "error: subprocess-exited-with-error\n\n× Getting requirements to build wheel did not run successfully.\n│ exit code: 1",
        "Building wheels for collected packages: vllm\n  Building wheel for vllm (pyproject.toml): started\n"
        "  error: subprocess-exited-with-error\n  × Building wheel for vllm (pyproject.toml) did not run successfully.",
    ],
)
def test_last_words_without_an_exception_are_a_failure(text: str) -> None:
    assert diagnosis(text).status == "unrecognized-failure"


def test_a_heading_over_a_pasted_traceback_that_is_cut_says_nothing_itself() -> None:
    text = """Error when running it:
Traceback (most recent call last):
  File "/opt/app/score.py", line 250, in <module>
    engine = AsyncLLMEngine.from_engine_args(engine_args)
"""
    assert diagnosis(text).status == "cause-not-in-log"
    assert diagnosis("Error when running it: no such device\n" + text).status == "unrecognized-failure"


SERVED_THEN_DIED = """
INFO:     Application startup complete.
(APIServer pid=1) ERROR 11-29 10:02:00 [s.py:1] Traceback (most recent call last):
(APIServer pid=1) ERROR 11-29 10:02:00 [s.py:1]   File "/opt/vllm/chat.py", line 9, in parse
(APIServer pid=1) ERROR 11-29 10:02:00 [s.py:1]     raise NotImplementedError(part)
(APIServer pid=1) ERROR 11-29 10:02:00 [s.py:1] NotImplementedError: Unknown part type: x
INFO:     192.0.2.3:5000 - "POST /v1/chat/completions HTTP/1.1" 400 Bad Request
"""
DEATH = """
(EngineCore_DP0 pid=9) ERROR 11-29 11:00:00 [core.py:1] Traceback (most recent call last):
(EngineCore_DP0 pid=9) ERROR 11-29 11:00:00 [core.py:1]   File "/opt/vllm/sched.py", line 9, in update
(EngineCore_DP0 pid=9) ERROR 11-29 11:00:00 [core.py:1]     request = self.requests[name]
(EngineCore_DP0 pid=9) ERROR 11-29 11:00:00 [core.py:1] KeyError: 'chatcmpl-1'
(APIServer pid=1) ERROR 11-29 11:00:00 [a.py:1] Traceback (most recent call last):
(APIServer pid=1) ERROR 11-29 11:00:00 [a.py:1]   File "/opt/vllm/client.py", line 9, in get
(APIServer pid=1) ERROR 11-29 11:00:00 [a.py:1]     raise error
(APIServer pid=1) ERROR 11-29 11:00:00 [a.py:1] EngineDeadError: see above
"""
REFUSED = rule("refused", "Unknown part type", severity="request", category="server")
DEAD = rule("dead", "EngineDeadError", category="wrapper", role="consequence")


def test_a_rejected_request_is_not_blamed_for_a_server_that_died_later_of_something_unknown() -> None:
    found = diagnosis(SERVED_THEN_DIED + DEATH, REFUSED, DEAD)
    assert found.status == "unrecognized-failure"
    assert found.unrecognized is not None
    assert found.unrecognized.record.text == "KeyError: 'chatcmpl-1'"


def test_a_rejected_request_is_the_answer_where_nothing_died() -> None:
    assert diagnosis(SERVED_THEN_DIED, REFUSED, DEAD).status == "failure"


@pytest.mark.parametrize(
    "line",
    [
        "HSA_STATUS_ERROR_OUT_OF_THINGS: the runtime failed to allocate them.",
        "CUDA Error: invalid argument at /workspace/csrc/cumem_allocator.cpp:119",
        "call failed with CUDA_ERROR_NOT_MAPPED (211)",
        '{"error":{"message":"foo bar baz","type":"InternalServerError","code":500}}',
    ],
)
def test_a_lone_error_of_another_program_is_a_failure(line: str) -> None:
    assert diagnosis(line).status == "unrecognized-failure"


@pytest.mark.parametrize(
    "line",
    [
        "TORCH_NCCL_ASYNC_ERROR_HANDLING=1",
        "NCCL_ASYNC_ERROR_HANDLING: unset",
        "VLLM_ERROR_LEVEL 3",
        "ERRORS_ALLOWED = 4",
    ],
)
def test_a_setting_that_speaks_of_errors_is_none(line: str) -> None:
    assert diagnosis(BANNER + line + "\nINFO:     Application startup complete.").status == "healthy"


@pytest.mark.parametrize(
    "text",
    [
        "Exception raised from c10_cuda_check_implementation at ../c10/cuda/CUDAException.cpp:43 (most recent call first):\n"
        "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x96 (0x7f0 in libc10.so)",
        "Warning  BackOff  2m (x9 over 5m)  kubelet  Back-off restarting failed container vllm in pod vllm-0_default",
    ],
)
def test_what_stands_around_a_failure_alone_does_not_tell_its_cause(text: str) -> None:
    assert diagnosis(text).status == "cause-not-in-log"


def test_a_clients_sentence_with_an_error_code_is_a_failure() -> None:
    found = diagnosis("""It get error from the server: Error code: 500 - {'detail': "something odd"}""")
    assert found.status == "unrecognized-failure"


def test_the_heading_of_a_traceback_that_is_cut_is_no_cause() -> None:
    found = diagnosis(
        """
        (APIServer pid=1) ERROR 05-22 10:10:00 [serving.py:908] Error in chat completion stream generator.
        (APIServer pid=1) ERROR 05-22 10:10:00 [serving.py:908] Traceback (most recent call last):
        (APIServer pid=1) ERROR 05-22 10:10:00 [serving.py:908]   File "/opt/vllm/serving.py", line 518, in generator
        (APIServer pid=1) ERROR 05-22 10:10:00 [serving.py:908]     async for res in result_generator:
        """
    )
    assert found.status == "cause-not-in-log"


def test_a_line_that_is_cut_within_its_header_is_no_cause() -> None:
    found = diagnosis(
        """
        (RayWorkerWrapper pid=77) ERROR 03-29 13:34:30 [worker_base.py:620] Traceback (most recent call last):
        (RayWorkerWrapper pid=77) ERROR 03-29 13:34:30 [worker_base.py:620]   File "/opt/vllm/utils.py", line 9, in run
        (RayWorkerWrapper pid=77) ERROR 03-29 13:34:30 [worker_base.py:62
        """
    )
    assert found.status == "cause-not-in-log"


SERVER_ENDS = """
INFO:     Application startup complete.
INFO:     192.0.2.4:50230 - "POST /v1/completions HTTP/1.1" {status}
INFO:     Shutting down
ERROR 05-22 10:10:01 engine.py:160] RuntimeError('the adapter is odd')
ERROR 05-22 10:10:01 engine.py:160] Traceback (most recent call last):
ERROR 05-22 10:10:01 engine.py:160]   File "/opt/vllm/engine.py", line 158, in start
ERROR 05-22 10:10:01 engine.py:160]     self.run_engine_loop()
ERROR 05-22 10:10:01 engine.py:160] RuntimeError: the adapter is odd
"""


@pytest.mark.parametrize(
    ("answer", "status"),
    [("500 Internal Server Error", "unrecognized-failure"), ("200 OK", "healthy"), ("400 Bad Request", "healthy")],
)
def test_a_server_that_ends_on_a_server_error_was_not_asked_to(answer: str, status: str) -> None:
    """The API server of V0 ends when the engine is dead, and is quicker to say so than the engine."""
    assert diagnosis(SERVER_ENDS.format(status=answer)).status == status
