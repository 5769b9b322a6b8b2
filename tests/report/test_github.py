"""The annotations for GitHub Actions, read as the runner reads them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report import builders as made
from vllmdoctor.diagnosis.model import CAUSE_NOT_IN_LOG, HEALTHY, NO_VLLM_LOG, UNRECOGNIZED, Diagnosis
from vllmdoctor.report.build import build_report
from vllmdoctor.report.github import annotation_lines, message_text, property_text
from vllmdoctor.rules.texts import parse_text


def annotated(diagnosis: Diagnosis, name: str = "startup.log") -> list[str]:
    inputs = (replace(made.INPUTS[0], name=name),)
    return annotation_lines(build_report(diagnosis, made.CATALOGUE, inputs))


def as_read(line: str) -> tuple[str, dict[str, str], str]:
    """Command, properties and message, as the runner's ActionCommand.TryParseV2 takes them apart."""
    assert line.startswith("::")
    end = line.index("::", 2)
    command, _, rest = line[2:end].partition(" ")
    pairs = [pair.split("=", 1) for pair in rest.split(",") if pair]
    return command, {name: unescaped(value) for name, value in pairs}, unescaped(line[end + 2 :])


def unescaped(text: str) -> str:
    for escaped, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escaped, character)
    return text


def test_a_failure_is_an_error_at_its_line() -> None:
    lines = annotated(made.failure())
    assert len(lines) == 1
    command, properties, message = as_read(lines[0])
    assert command == "error"
    assert properties == {
        "title": "The KV cache cannot hold one request of 32,768 tokens (max-model-len-exceeds-kv-cache)",
        "file": "startup.log",
        "line": "41",
    }
    assert message.split("\n") == [
        "One request needs 4.00 GiB of KV cache, 2.50 GiB is left.",
        f"startup.log:41 EngineCore {made.MESSAGE}",
        "Fix: Lower the context length to 20,480 tokens",
        "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 20480",
    ]


def test_one_annotation_for_each_root_cause() -> None:
    second = replace(made.root_finding(), rule=replace(made.WRAPPER, title=parse_text("Another failure")))
    lines = annotated(replace(made.failure(), findings=(made.root_finding(), second)))
    assert [as_read(line)[1]["title"].split(" (")[0][:15] for line in lines] == ["The KV cache ca", "Another failure"]


@pytest.mark.parametrize(
    "status, command, in_message",
    [
        (HEALTHY, "notice", "Warnings: Swap is large"),
        (UNRECOGNIZED, "error", "startup.log:63 EngineCore RuntimeError: quux 7 failed"),
        (CAUSE_NOT_IN_LOG, "error", "2>&1"),
        (NO_VLLM_LOG, "warning", ""),
    ],
)
def test_other_statuses(status: str, command: str, in_message: str) -> None:
    lines = annotated(made.others()[status])
    assert len(lines) == 1
    read = as_read(lines[0])
    assert read[0] == command
    assert in_message in read[2]
    assert read[2]


def test_a_healthy_log_without_warnings_is_no_news() -> None:
    assert annotated(replace(made.others()[HEALTHY], findings=())) == []


def test_standard_input_is_no_file() -> None:
    assert set(as_read(annotated(made.failure(), "<stdin>")[0])[1]) == {"title"}


HOSTILE = "x%0A::error::no\r\n::set-output name=a::b ::::##[add-path]/x, file=y:1"


def test_text_of_the_log_starts_no_command_and_ends_none() -> None:
    facts = {**made.FACTS, "model": made.fact("model", HOSTILE)}
    rule = replace(made.RULE, title=parse_text("{model|?}"), summary=parse_text("{model|?}"))
    root = replace(made.root_finding(HOSTILE, facts), rule=rule)
    for diagnosis in (replace(made.failure(facts=facts), findings=(root,)), made.unrecognized(HOSTILE)):
        for name in ("startup.log", f"a{HOSTILE}.log"):
            (line,) = annotated(diagnosis, name)
            assert "\n" not in line and "\r" not in line
            assert line.count("::") == 2
            assert "##[" not in line
            command, properties, _ = as_read(line)
            assert command == "error"
            assert set(properties) == {"title", "file", "line"}
            assert properties["line"] in ("41", "63")


@given(st.text(alphabet="ab%:,\r\n#[0AD ", max_size=40))
def test_escaped_text_is_read_back(text: str) -> None:
    message, value = message_text(text), property_text(text)
    assert not re.search(r"::|##\[|[\r\n]", message)
    assert not re.search(r":|,|##\[|[\r\n]", value)
    without_gaps = unescaped(message).replace("\u200b", "")
    assert without_gaps == text
    assert unescaped(value).replace("\u200b", "") == text


def test_long_texts_are_cut() -> None:
    assert len(annotated(made.failure("ValueError: " + "x" * 9000))[0]) < 3000
    assert "…" in annotated(made.unrecognized("E: " + "y" * 5000))[0]
