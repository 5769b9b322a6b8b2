"""Tracebacks of other programs around Python's own."""

from __future__ import annotations

from vllmdoctor.logs import RawLine, read_log


def test_an_unindented_line_after_indented_sources_is_no_source() -> None:
    text = (
        "e2e/test_run.py:263: in test_serve\n    result = run()\n"
        "/opt/vllm/engine/llm_engine.py:171: in from_engine_args\n"
        "Quantization method specified in the model config (gptq) does not match the argument (awq)"
    )
    log = read_log(RawLine(0, number, line) for number, line in enumerate(text.split("\n"), start=1))
    assert log.runs[0].records[-1].text.startswith("Quantization method specified")
