"""A diagnosis becomes words: facts filled in, estimates named, secrets gone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.report import builders as made
from vllmdoctor.diagnosis.model import EXIT_CODES, FAILURE, HEALTHY, ROOT_CAUSE, Diagnosis
from vllmdoctor.facts.model import Fact
from vllmdoctor.report.build import build_report
from vllmdoctor.report.model import FindingReport, Report


def report_of(diagnosis: Diagnosis, **options: bool) -> Report:
    return build_report(diagnosis, made.CATALOGUE, made.INPUTS, **options)


@pytest.fixture
def root() -> FindingReport:
    return report_of(made.failure()).findings[0]


def test_root_cause_comes_first_and_is_the_headline() -> None:
    report = report_of(made.failure())
    assert [finding.role for finding in report.findings] == [ROOT_CAUSE, "consequence", "warning"]
    assert report.headline == "The KV cache cannot hold one request of 32,768 tokens"
    assert report.exit_code == 1


def test_summary_shows_facts_with_their_units(root: FindingReport) -> None:
    assert root.summary == "One request needs 4.00 GiB of KV cache, 2.50 GiB is left."


def test_unknown_facts_give_the_other_wording() -> None:
    root = report_of(made.failure(facts={})).findings[0]
    assert root.summary == "One request needs more KV cache than is left."
    assert root.fixes[0].title == "Lower the context length"
    assert root.fixes[0].commands.cli == "vllm serve MODEL --max-model-len TOKENS"


def test_fix_is_computed_from_the_facts(root: FindingReport) -> None:
    fix = root.fixes[0]
    assert fix.title == "Lower the context length to 20,480 tokens"  # 20490 cut to a block of 16
    assert fix.arguments == {"max_model_len": "20480"}
    assert fix.commands.cli.endswith("--max-model-len 20480")
    assert (fix.rank, root.fixes[1].rank) == (1, 2)


def test_computed_effect_is_called_an_estimate_once(root: FindingReport) -> None:
    assert root.fixes[0].effect == "One request of 20,480 tokens fits (estimate)"
    assert root.fixes[1].effect == "About twice as many tokens fit."


def test_argument_that_cannot_be_computed_does_not_fall_back_to_the_failing_value() -> None:
    lower = replace(made.RULE.fixes[0], arguments={"max_model_len": made.RULE.fixes[0].arguments["value"]})
    remedy = replace(
        made.LOWER, changes=made.Changes(arguments={"max_model_len": made.parse_text("{max_model_len|TOKENS}")})
    )
    facts = {name: value for name, value in made.FACTS.items() if name != "estimated_max_model_len"}
    finding = replace(made.root_finding(facts=facts), fixes=(made.ChosenFix(replace(lower, remedy=remedy), True),))
    report = report_of(replace(made.failure(), findings=(finding,)))
    assert report.findings[0].fixes[0].arguments == {"max_model_len": "TOKENS"}


def test_unsure_fix_says_what_it_depends_on(root: FindingReport) -> None:
    assert root.fixes[0].condition == ""
    assert "memory of other processes" in root.fixes[1].condition


def test_causes_say_what_decides(root: FindingReport) -> None:
    confirmed, possible, ruled_out = root.causes
    assert confirmed.because == "context length: 32,768 tokens"
    assert possible.because == "would decide: memory of other processes"
    assert ruled_out.because == "KV cache memory: 2.50 GiB"


def test_evidence_has_its_place(root: FindingReport) -> None:
    evidence = root.evidence[0]
    assert (evidence.input, evidence.line, evidence.process) == (0, 41, "EngineCore")


@pytest.mark.parametrize("status", [status for status in EXIT_CODES if status != FAILURE])
def test_every_status_has_a_headline_and_exit_code(status: str) -> None:
    report = report_of(made.others()[status])
    assert report.status == status
    assert report.headline
    assert report.exit_code == EXIT_CODES[status]


def test_unrecognized_failure_shows_exception_and_place() -> None:
    unknown = report_of(made.unrecognized()).unrecognized
    assert unknown is not None
    assert (unknown.exception, unknown.message) == ("RuntimeError", "quux 7 failed")
    assert unknown.raised_at == "/home/user/venv/vllm/worker.py:12 in load_model"
    assert unknown.evidence.line == 63


def test_notices_and_missing_are_sentences() -> None:
    assert report_of(made.others()[HEALTHY]).notices == (
        "3 requests were rejected; the reason is in the client's answer.",
    )
    missing = report_of(made.others()["cause-not-in-log"]).missing
    assert "2>&1" in missing[0]
    assert "dmesg" in missing[1]


def test_unknown_codes_are_shown_and_not_lost() -> None:
    diagnosis = replace(made.others()[HEALTHY], notices={"new-code": "7"}, missing=("new-need",))
    report = report_of(diagnosis)
    assert report.notices == ("new-code: 7",)
    assert report.missing == ("new-need",)


def test_a_log_that_ends_early_is_no_clean_bill() -> None:
    report = report_of(replace(made.others()[HEALTHY], findings=(), notices={"log-ends-early": "loading-weights"}))
    assert report.headline == "No failure in this log, which ends during loading-weights"


SECRET_FACTS = {"model": Fact("model", "/home/alice/hf_" + "a1" * 17, "")}


def test_secrets_leave_quotes_facts_and_commands() -> None:
    report = report_of(made.failure("ValueError: api_key='topsecret' \x1b[31mmax seq len", SECRET_FACTS))
    assert "topsecret" not in repr(report)
    assert "alice" not in repr(report)
    assert report.facts["model"].value == "/home/user/[redacted]"
    assert "/home/user/" in report.findings[0].fixes[1].commands.cli


def test_redaction_can_be_switched_off_but_control_characters_go_anyway() -> None:
    report = report_of(made.failure("ValueError: api_key='topsecret' \x1b[31mmax", SECRET_FACTS), redact=False)
    assert report.findings[0].evidence[0].text == "ValueError: api_key='topsecret' max"


def test_earlier_runs_have_a_title() -> None:
    runs = report_of(made.failure(runs=2)).runs
    assert [run.title for run in runs] == [
        "The KV cache cannot hold one request",
        "The KV cache cannot hold one request of 32,768 tokens",
    ]
    assert (runs[0].first_line, runs[0].last_line) == (10, 19)


@pytest.mark.parametrize("state, part", [("missing", "not translated"), ("stale", "older than the English")])
def test_translation_notice(state: str, part: str) -> None:
    catalogue = replace(made.CATALOGUE, notices={made.RULE.id: state})
    report = build_report(made.failure(), catalogue, made.INPUTS)
    assert part in report.findings[0].notice
