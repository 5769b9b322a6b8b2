"""What differs between a log that worked and one that fails, and what is suspected first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from vllmdoctor.diagnosis import diagnose
from vllmdoctor.diagnosis.compare import ARGUMENT, FREE_MEMORY, MODEL, VERSION, Comparison, Difference, compare
from vllmdoctor.logs import Log, RawLine, read_log
from vllmdoctor.rules.load import load_catalogue

CLEAN = "tests/fixtures/clean/v1-0.32.0.log"
TOO_LONG = "tests/fixtures/rules/max-model-len-exceeds-kv-cache/startup.log"
NOT_FREE = "tests/fixtures/rules/free-memory-below-utilization/startup.log"
PORT = "tests/fixtures/real/port-in-use.log"

Compared = Callable[..., Comparison]


@pytest.fixture
def compared(checkout: Path) -> Compared:
    def texts(old: str, new: str) -> Comparison:
        return compare(*(diagnose(_log(text), load_catalogue("en")) for text in (old, new)))

    def files(old: str, new: str, *changes: tuple[str, str]) -> Comparison:
        text = (checkout / new).read_text(encoding="utf-8")
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        return texts((checkout / old).read_text(encoding="utf-8"), text)

    return files


def _log(text: str) -> Log:
    return read_log(RawLine(0, number, line) for number, line in enumerate(text.split("\n"), 1))


def first(comparison: Comparison) -> Difference:
    assert comparison.clear
    return comparison.suspects[0]


def test_the_same_log_differs_in_nothing(compared: Compared) -> None:
    comparison = compared(CLEAN, CLEAN)
    assert not comparison.new_fails
    assert comparison.differences == comparison.suspects == comparison.new_findings == ()


def test_an_argument_that_the_fix_sets_comes_before_the_model(compared: Compared) -> None:
    found = first(compared(CLEAN, "examples/startup.log"))
    assert (found.kind, found.name, found.old, found.new) == (ARGUMENT, "max_model_len", "8192", None)


def test_memory_of_others_comes_before_the_version_when_memory_lacks(compared: Compared) -> None:
    comparison = compared("tests/fixtures/clean/v1-0.19.0.log", NOT_FREE)
    assert VERSION in {one.kind for one in comparison.suspects}
    assert (first(comparison).kind, first(comparison).name) == (FREE_MEMORY, "other_processes_gib")


def test_less_free_memory_is_told_apart_from_its_usual_variation(compared: Compared) -> None:
    comparison = compared(NOT_FREE, NOT_FREE, ("(9.87/", "(4.87/"))
    assert (first(comparison).kind, first(comparison).name) == (FREE_MEMORY, "free_gib")
    comparison = compared(NOT_FREE, NOT_FREE, ("(9.87/", "(9.80/"))
    assert [one.kind for one in comparison.differences if one.name == "free_gib"] == [""]


def test_the_version_stands_out_when_nothing_else_changed(compared: Compared) -> None:
    comparison = compared("tests/fixtures/real/unknown-arch.log", "tests/fixtures/real/unknown-arch.log", ("0.32.0", "0.33.0"))  # fmt: skip
    assert [one.kind for one in comparison.suspects] == [VERSION]
    assert first(comparison).kind == VERSION


def test_a_taken_port_is_not_blamed_on_the_version(compared: Compared) -> None:
    comparison = compared("tests/fixtures/clean/v1-0.8.5-tp4.log", PORT)
    assert VERSION in {one.kind for one in comparison.suspects}
    assert not comparison.clear


def test_a_default_that_came_with_the_version_is_no_change_of_the_user(compared: Compared) -> None:
    comparison = compared("tests/fixtures/clean/v1-0.19.0.log", CLEAN)
    kinds = {one.name: one.kind for one in comparison.differences}
    assert kinds["gpu_memory_utilization"] == ""


def test_what_follows_from_the_model_is_no_suspect_of_its_own(compared: Compared) -> None:
    comparison = compared(CLEAN, TOO_LONG)
    assert "architecture" not in {one.name for one in comparison.suspects}
    assert MODEL in {one.kind for one in comparison.suspects}


def test_new_and_gone_findings(compared: Compared) -> None:
    comparison = compared(PORT, NOT_FREE)
    assert "free-memory-below-utilization" in {finding.rule.id for finding in comparison.new_findings}
    assert "port-in-use" in {finding.rule.id for finding in comparison.gone_findings}
