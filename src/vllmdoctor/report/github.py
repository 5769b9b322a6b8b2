"""A report in, GitHub Actions workflow commands out: one annotation for each diagnosis.

The runner reads commands in everything that a step prints. Text of the log must not end one, nor start another.
"""

from __future__ import annotations

from vllmdoctor.diagnosis.model import CAUSE_NOT_IN_LOG, FAILURE, HEALTHY, NO_VLLM_LOG, ROOT_CAUSE, UNRECOGNIZED
from vllmdoctor.report import words as w
from vllmdoctor.report.folding import evidence_text
from vllmdoctor.report.inline import plain_text
from vllmdoctor.report.model import EvidenceReport, FindingReport, Report
from vllmdoctor.report.untrusted import shortened
from vllmdoctor.report.words import Words

_LEVELS = {
    FAILURE: "error",
    UNRECOGNIZED: "error",
    CAUSE_NOT_IN_LOG: "error",
    NO_VLLM_LOG: "warning",
    HEALTHY: "notice",
}
_TITLE_CHARACTERS = 200
_EVIDENCE_CHARACTERS = 500
_MESSAGE_CHARACTERS = 2000
_UNSEEN = "\u200b"  # zero width space: what it parts looks as before and means nothing to the runner


def annotation_lines(report: Report, words: Words | None = None) -> list[str]:
    """The lines to print. A healthy log is noted only when there are warnings in it."""
    words = words or Words(report.language)
    level = _LEVELS[report.status]
    roots = [finding for finding in report.findings if finding.role == ROOT_CAUSE]
    if report.status == FAILURE and roots:
        return [_of_finding(level, root, report, words) for root in roots]
    if report.status == HEALTHY and not report.findings:
        return []
    evidence = _first_evidence(report)
    lines = [_quoted(evidence, report)] if evidence else []
    lines += [plain_text(sentence) for sentence in report.missing]
    if report.status == HEALTHY:
        lines = [words(w.WARNINGS_SEEN, titles="; ".join(plain_text(f.title) for f in report.findings))]
    return [_command(level, report.headline, evidence, lines, report)]


def _of_finding(level: str, finding: FindingReport, report: Report, words: Words) -> str:
    evidence = finding.evidence[0] if finding.evidence else None
    lines = [plain_text(finding.summary)] + ([_quoted(evidence, report)] if evidence else [])
    if finding.fixes:
        fix = finding.fixes[0]
        form = fix.commands.cli or fix.commands.python or fix.commands.compose or fix.commands.kubernetes
        lines += [words(w.FIRST_FIX, title=plain_text(fix.title)), form]
    title = f"{plain_text(finding.title)} ({finding.rule})"
    return _command(level, title, evidence, [line for line in lines if line], report)


def _first_evidence(report: Report) -> EvidenceReport | None:
    if report.unrecognized:
        return report.unrecognized.evidence
    return next((evidence for finding in report.findings for evidence in finding.evidence), None)


def _quoted(evidence: EvidenceReport, report: Report) -> str:
    return shortened(" ".join(evidence_text(evidence, report).split()), _EVIDENCE_CHARACTERS)


def _command(level: str, title: str, evidence: EvidenceReport | None, lines: list[str], report: Report) -> str:
    properties = {"title": shortened(title, _TITLE_CHARACTERS)}
    if evidence and evidence.input < len(report.inputs):
        name = report.inputs[evidence.input].name
        if not name.startswith("<"):  # standard input has no file to point at
            properties["file"] = name
            properties["line"] = str(evidence.line)
    shown = ",".join(f"{name}={property_text(value)}" for name, value in properties.items())
    message = shortened("\n".join(lines), _MESSAGE_CHARACTERS) or title
    return f"::{level} {shown}::{message_text(message)}"


def message_text(text: str) -> str:
    """The text as the message of a command, without `::` in it; every colon in a row gets its own gap."""
    while "::" in text:
        text = text.replace("::", f":{_UNSEEN}:")
    return _escaped(text)


def property_text(text: str) -> str:
    """The text as the value of a property of a command."""
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _escaped(text: str) -> str:
    """Line ends as the runner reads them, and no `##[`, which begins a command of the old form anywhere in a line."""
    text = text.replace("##[", f"##{_UNSEEN}[")
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
