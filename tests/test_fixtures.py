"""Every rule on a log of its own, and on one that only looks like it; every rule silent on healthy logs."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from vllmdoctor import analyze
from vllmdoctor.report.model import Report
from vllmdoctor.rules.load import load_catalogue

FIXTURES = Path(__file__).parent / "fixtures"
RULES = sorted(path.parent for path in (FIXTURES / "rules").glob("*/expected.yaml"))
CLEAN = sorted((FIXTURES / "clean").glob("*.log"))


@cache
def report_on(path: Path) -> Report:
    return analyze(path)


def expected(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((folder / "expected.yaml").read_text(encoding="utf-8"))
    return loaded


def root(report: Report) -> str | None:
    return next((finding.rule for finding in report.findings if finding.role == "root-cause"), None)


@pytest.mark.parametrize("folder", RULES, ids=lambda folder: folder.name)
def test_the_rule_is_named_on_its_own_log(folder: Path) -> None:
    want, report = expected(folder), report_on(folder / "startup.log")
    assert report.status == want["status"], report.headline
    assert root(report) == want["root"]
    if want.get("line"):
        first = next(f for f in report.findings if want["root"] is None or f.rule == want["root"])
        assert first.evidence[0].line == want["line"], first.evidence[0].text


@pytest.mark.parametrize("folder", RULES, ids=lambda folder: folder.name)
def test_the_first_fix_and_the_facts_are_right(folder: Path) -> None:
    want, report = expected(folder), report_on(folder / "startup.log")
    if want.get("first_fix"):
        first = next(f for f in report.findings if f.rule == want["root"])
        assert first.fixes[0].id == want["first_fix"], [fix.id for fix in first.fixes]
    got = {name: report.facts[name].value if name in report.facts else None for name in want.get("facts") or {}}
    assert got == (want.get("facts") or {})


@pytest.mark.parametrize("folder", RULES, ids=lambda folder: folder.name)
def test_the_rule_does_not_match_what_only_looks_like_it(folder: Path) -> None:
    want, path = expected(folder), folder / "near-miss.log"
    report = report_on(path)
    near_miss = want["near_miss"]
    assert root(report) != folder.name
    assert (report.status, root(report)) == (near_miss["status"], near_miss.get("root"))


def test_every_rule_has_a_log_and_a_near_miss() -> None:
    with_fixtures = {folder.name for folder in RULES if (folder / "near-miss.log").is_file()}
    assert set(load_catalogue().rules) - with_fixtures == set()


@pytest.mark.parametrize("path", CLEAN, ids=lambda path: path.stem)
def test_rules_are_silent_on_a_healthy_log(path: Path) -> None:
    report = report_on(path)
    assert report.status == "healthy", report.headline
    assert [f.rule for f in report.findings if f.role != "warning"] == []
