"""Every value that a fix proposes, on every log of a memory failure, against arithmetic written apart from the program."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.memory.arithmetic import GIB, Told, computed, numbers_are_there, objections
from vllmdoctor.analysis import analyze_inputs
from vllmdoctor.report.model import FindingReport, FixReport, Report
from vllmdoctor.rules.load import load_catalogue

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
RULES = sorted(rule.id for rule in load_catalogue().rules.values() if rule.category == "memory")
LOGS = [FIXTURES / "rules" / rule / "startup.log" for rule in RULES] + sorted(FIXTURES.glob("memory/*/startup.log"))


@cache
def report_on(log: Path) -> Report:
    table = log.with_name("nvidia-smi.txt")
    return analyze_inputs([str(log)], nvidia_smi=[str(table)] if table.is_file() else [])


def root_of(log: Path) -> FindingReport:
    return next(finding for finding in report_on(log).findings if finding.role == "root-cause")


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.parent.name)
def test_vllm_would_agree_with_every_value(log: Path) -> None:
    root, told = root_of(log), Told(report_on(log).facts)
    assert [objection for fix in root.fixes for objection in objections(root.rule, told, fix)] == []


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.parent.name)
def test_the_first_fix_is_computed_where_the_numbers_are_there(log: Path) -> None:
    root = root_of(log)
    if numbers_are_there(root.rule, Told(report_on(log).facts)):
        assert computed(root.fixes[0]), root.fixes[0].title


def test_most_logs_have_the_numbers() -> None:
    there = [log for log in LOGS if numbers_are_there(root_of(log).rule, Told(report_on(log).facts))]
    assert len(there) >= 25


def test_llama_8b_takes_16_gib_for_its_whole_context() -> None:
    """2 × 32 layers × 8 KV heads × 128 × 2 bytes = 131,072 bytes; × 131,072 tokens."""
    log = FIXTURES / "memory" / "data-parallel-0.11" / "startup.log"
    assert 16 * GIB == 2 * 32 * 8 * 128 * 2 * 131072
    assert report_on(log).facts["required_kv_gib"].value == 16.0


def changed(fix: FixReport, name: str, value: str) -> FixReport:
    return replace(fix, arguments={**fix.arguments, name: value})


@pytest.mark.parametrize(
    ("folder", "name", "value", "objection"),
    [
        ("memory/data-parallel-0.11", "max_model_len", "39408", "39392 tokens fit"),
        ("memory/data-parallel-0.11", "max_model_len", "39376", "39392 tokens fit"),
        ("memory/data-parallel-0.11", "max_model_len", "39400", "no whole blocks"),
        ("memory/desktop-browser-0.11", "gpu_memory_utilization", "0.78", "9.02 free"),
        ("memory/desktop-browser-0.11", "gpu_memory_utilization", "0.7", "0.02 more would pass"),
        ("memory/desktop-browser-0.11", "gpu_memory_utilization", "0.95", "not lower"),
        ("memory/70b-awq-two-24gb-0.11-none", "gpu_memory_utilization", "0.8", "not higher"),
        ("memory/second-engine-container-0.11", "gpu_memory_utilization", "0.498", "of 0.25 GiB"),
        ("memory/70b-two-24gb-0.11", "tensor_parallel_size", "4", "there are 2 GPUs"),
        ("memory/70b-one-24gb-0.32", "tensor_parallel_size", "3", "does not divide 64 heads"),
    ],
)
def test_the_arithmetic_objects_to_wrong_values(folder: str, name: str, value: str, objection: str) -> None:
    """So that the tests above can fail."""
    log = FIXTURES / folder / "startup.log"
    root, told = root_of(log), Told(report_on(log).facts)
    fix = changed(root.fixes[0], name, value)
    assert any(objection in one for one in objections(root.rule, told, fix)), objections(root.rule, told, fix)
