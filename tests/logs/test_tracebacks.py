"""Tracebacks of other programs around Python's own."""

from __future__ import annotations

from vllmdoctor.logs import RawLine, read_log

from .samples import exceptions, read


def test_an_unindented_line_after_indented_sources_is_no_source() -> None:
    text = (
        "e2e/test_run.py:263: in test_serve\n    result = run()\n"
        "/opt/vllm/engine/llm_engine.py:171: in from_engine_args\n"
        "Quantization method specified in the model config (gptq) does not match the argument (awq)"
    )
    log = read_log(RawLine(0, number, line) for number, line in enumerate(text.split("\n"), start=1))
    assert log.runs[0].records[-1].text.startswith("Quantization method specified")


def test_a_traceback_that_pip_sets_in_keeps_its_exception_line() -> None:
    text = (
        "  error: subprocess-exited-with-error\n"
        "  ╰─> [4 lines of output]\n"
        "      Traceback (most recent call last):\n"
        '        File "<string>", line 372, in get_nvcc_cuda_version\n'
        "          raise_it()\n"
        "      AssertionError: CUDA_HOME is not set\n"
        "      [end of output]\n"
    )
    log = read_log(RawLine(0, number, line) for number, line in enumerate(text.split("\n"), start=1))
    [error] = [record for record in log.runs[0].records if record.kind == "exception"]
    assert error.text == "AssertionError: CUDA_HOME is not set"
    assert [(frame.function, frame.source) for frame in error.frames] == [("get_nvcc_cuda_version", "raise_it()")]


def test_a_line_that_is_all_inline_code_loses_its_backticks() -> None:
    log = read_log([RawLine(0, 1, "`ValueError: The model's `max_seq_len` is wrong for this`")])
    assert log.runs[0].records[0].exception == "ValueError"


def test_the_rule_of_docker_build_ends_an_exception() -> None:
    (found,) = exceptions("ModuleNotFoundError: No module named 'vllm'\n------\nDockerfile:40")
    assert found.text == "ModuleNotFoundError: No module named 'vllm'"


def test_a_message_ends_where_pip_begins_to_quote() -> None:
    text = (
        "  × Building editable for vllm (pyproject.toml) did not run successfully.\n"
        "  │ exit code: 1\n"
        "  ╰─> [9 lines of output]\n"
        "      UserWarning: Failed to initialize NumPy: No module named 'numpy'\n"
    )
    texts = [record.text for record in read(text).runs[0].records]
    assert not any("did not run" in one and "UserWarning" in one for one in texts)


def test_notebook_frames_of_windows() -> None:
    text = (
        "ValueError                                Traceback (most recent call last)\n"
        "File d:\\work\\run.py:38, in start(model)\n"
        "     37 def start(model):\n"
        "---> 38     LLM(model)\n"
        "\n"
        "ValueError: no room\n"
    )
    (found,) = exceptions(text)
    assert (found.text, [frame.function for frame in found.frames]) == ("ValueError: no room", ["start(model)"])


def test_a_traceback_cut_in_its_first_line_is_one() -> None:
    (found,) = exceptions("ERROR:    Exception in ASGI application\nTraceback (most recent call")
    assert found.exception == ""
