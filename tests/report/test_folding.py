"""A restart loop is told once, and so is what eight ranks print."""

from __future__ import annotations

from dataclasses import replace

from tests.report import builders as made
from vllmdoctor.diagnosis.model import HEALTHY, UNRECOGNIZED, RunVerdict
from vllmdoctor.report.build import build_report
from vllmdoctor.report.folding import earlier_runs, evidence_texts, occurrences
from vllmdoctor.report.model import EvidenceReport, Report
from vllmdoctor.report.words import Words

WORDS = Words("en")
LAST = made.verdict(20)


def with_runs(*runs: RunVerdict, complete: bool = True) -> Report:
    inputs = (replace(made.INPUTS[0], complete=complete),)
    return build_report(replace(made.failure(), runs=runs), made.CATALOGUE, inputs)


def test_a_single_run_has_no_earlier_one() -> None:
    assert earlier_runs(with_runs(LAST), WORDS) == []


def test_the_same_failure_is_counted() -> None:
    runs = [made.verdict(n) for n in range(1, 15)]
    assert earlier_runs(with_runs(*runs, LAST), WORDS) == ["the same failure 14 times before"]


def test_of_a_large_log_the_count_is_a_lower_bound() -> None:
    runs = [made.verdict(1), made.verdict(2), made.verdict(3, UNRECOGNIZED, ""), made.verdict(4, UNRECOGNIZED, "")]
    assert earlier_runs(with_runs(*runs, LAST, complete=False), WORDS) == [
        "the same failure at least 2 times before",
        "at least 2 runs, the last in lines 40-49: vLLM failed with an error that no rule knows",
    ]


def test_other_verdicts_are_folded_wherever_they_stand_the_newest_first() -> None:
    runs = [
        made.verdict(1, HEALTHY, ""),
        made.verdict(2, UNRECOGNIZED, ""),
        made.verdict(3),
        made.verdict(4, UNRECOGNIZED, ""),
        made.verdict(5),
    ]
    assert earlier_runs(with_runs(*runs, LAST), WORDS) == [
        "the same failure 2 times before",
        "2 runs, the last in lines 40-49: vLLM failed with an error that no rule knows",
        "lines 10-19: No failure in this log",
    ]


def test_unrecognized_failures_are_not_called_the_same() -> None:
    runs = [made.verdict(n, UNRECOGNIZED, "") for n in (1, 2, 3)]
    report = build_report(replace(made.unrecognized(), runs=tuple(runs)), made.CATALOGUE, made.INPUTS)
    assert earlier_runs(report, WORDS) == [
        "2 runs, the last in lines 20-29: vLLM failed with an error that no rule knows"
    ]


def test_with_several_inputs_a_run_says_where_it_is() -> None:
    report = with_runs(made.verdict(1, HEALTHY, ""), LAST)
    report = replace(report, inputs=(*report.inputs, replace(made.INPUTS[0], name="b.log")))
    assert earlier_runs(report, WORDS) == ["startup.log lines 10-19: No failure in this log"]


def test_occurrences_name_the_ranks() -> None:
    report = with_runs(LAST)
    root = report.findings[0]
    ranks = tuple(EvidenceReport(0, n, f"Worker_TP{n}", "OOM") for n in range(4))
    assert occurrences(replace(root, count=1), report, WORDS) == ""
    assert occurrences(replace(root, count=2), report, WORDS) == ""
    assert occurrences(replace(root, count=2, evidence=ranks[:2]), report, WORDS) == (
        "2 times in this run: Worker_TP0, Worker_TP1"
    )
    assert occurrences(replace(root, count=101), report, WORDS) == "101 times in this run"
    assert occurrences(replace(root, count=4, evidence=ranks), report, WORDS) == (
        "4 times in this run: Worker_TP0, Worker_TP1, Worker_TP2, Worker_TP3"
    )
    assert occurrences(replace(root, count=8, evidence=ranks), report, WORDS).endswith("Worker_TP3, …")


def test_the_same_text_is_quoted_once() -> None:
    report = with_runs(LAST)
    ranks = tuple(EvidenceReport(0, n, f"Worker_TP{n}", "OOM" if n < 3 else "other") for n in range(1, 4))
    assert evidence_texts(replace(report.findings[0], evidence=ranks), report, WORDS) == [
        "startup.log:1  Worker_TP1  OOM",
        "startup.log:2  Worker_TP2  (the same)",
        "startup.log:3  Worker_TP3  other",
    ]
