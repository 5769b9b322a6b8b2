"""Logs of common situations, as a new user brings them: the first lines are right, and no fix is one that cannot work."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from vllmdoctor.analysis import analyze_inputs
from vllmdoctor.report.model import FindingReport, Report

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "memory"
EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "expected.yaml").read_text(encoding="utf-8"))


@cache
def report_on(name: str) -> Report:
    table = FOLDER / name / "nvidia-smi.txt"
    return analyze_inputs([str(FOLDER / name / "startup.log")], nvidia_smi=[str(table)] if table.is_file() else [])


def root_of(report: Report) -> FindingReport:
    return next(finding for finding in report.findings if finding.role == "root-cause")


def test_each_log_has_its_expectation() -> None:
    assert {path.parent.name for path in FOLDER.glob("*/startup.log")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_first_lines_are_right(name: str) -> None:
    want, root = EXPECTED[name], root_of(report_on(name))
    assert root.rule == want["root"]
    assert root.fixes[0].title == want["first"], want["because"]
    assert root.fixes[0].condition == ""
    assert want.get("says", "") in root.first_check


@pytest.mark.parametrize("name", EXPECTED)
def test_only_what_can_work_is_offered(name: str) -> None:
    want, offered = EXPECTED[name], {fix.id for fix in root_of(report_on(name)).fixes}
    assert set(want.get("offers", ())) <= offered
    assert not set(want.get("never", ())) & offered


@pytest.mark.parametrize("name", EXPECTED)
def test_the_facts(name: str) -> None:
    facts = report_on(name).facts
    for fact, value in EXPECTED[name].get("facts", {}).items():
        assert facts[fact].value == pytest.approx(value, abs=0.001), fact
