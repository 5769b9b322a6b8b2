"""A diagnosis and the catalogue in, the report in words out: every text rendered with the finding's facts, redacted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from vllmdoctor.diagnosis.model import (
    CONSEQUENCE,
    EXIT_CODES,
    FAILURE,
    HEALTHY,
    ROOT_CAUSE,
    UNRECOGNIZED,
    WARNING,
    Diagnosis,
    Evidence,
    Finding,
    RunVerdict,
    Unrecognized,
)
from vllmdoctor.facts.command import UserCommand
from vllmdoctor.facts.model import Fact
from vllmdoctor.logs.model import Line
from vllmdoctor.redaction import redacted
from vllmdoctor.report import words as w
from vllmdoctor.report.build_fixes import chosen_fix_report
from vllmdoctor.report.build_receipt import advice_of, receipt_for
from vllmdoctor.report.model import (
    CauseReport,
    CautionReport,
    EvidenceReport,
    FindingReport,
    InputReport,
    ProvenanceReport,
    Report,
    RunReport,
    UnrecognizedReport,
    VerificationReport,
)
from vllmdoctor.report.pages import rule_page
from vllmdoctor.report.rendering import Rendering, cause_reason, fact_lookup, nothing_known
from vllmdoctor.report.untrusted import neutral, shortened
from vllmdoctor.report.words import Words
from vllmdoctor.rules.model import Catalogue, Cause

if TYPE_CHECKING:
    from vllmdoctor.upstream.provenance import Provenance

_EVIDENCE_CHARACTERS = 2000
_VALUE_CHARACTERS = 300
_ROLE_ORDER = {ROOT_CAUSE: 0, "contributing": 1, CONSEQUENCE: 2, WARNING: 3}


def build_report(
    diagnosis: Diagnosis,
    catalogue: Catalogue,
    inputs: tuple[InputReport, ...],
    *,
    redact: bool = True,
    words: Words | None = None,
    provenance: Provenance | None = None,
    site: str = "",
) -> Report:
    """The whole answer. `redact=False` leaves secrets, names and prompts in quoted lines and facts.

    `provenance` is the source of an unrecognized failure's message, when it was looked up; `site` the address of the
    troubleshooting site, when one is configured.
    """
    builder = _Builder(diagnosis, catalogue, redact, words or Words(catalogue.language), site)
    report = builder.report(inputs)
    if provenance is None or report.unrecognized is None:
        return report
    return replace(report, unrecognized=replace(report.unrecognized, provenance=builder.provenance(provenance)))


class _Builder:
    def __init__(self, diagnosis: Diagnosis, catalogue: Catalogue, redact: bool, words: Words, site: str) -> None:
        self.diagnosis = diagnosis
        self.catalogue = catalogue
        self.redact = redact
        self.words = words
        self.site = site

    def report(self, inputs: tuple[InputReport, ...]) -> Report:
        ordered = sorted(self.diagnosis.findings, key=lambda finding: _ROLE_ORDER.get(finding.role, 9))
        findings = tuple(self.finding(finding) for finding in ordered)
        unrecognized = self.unrecognized(self.diagnosis.unrecognized) if self.diagnosis.unrecognized else None
        return Report(
            status=self.diagnosis.status,
            exit_code=EXIT_CODES[self.diagnosis.status],
            language=self.catalogue.language,
            headline=self.headline(findings, unrecognized),
            inputs=tuple(self.input(one) for one in inputs),
            runs=tuple(self.run(run, findings) for run in self.diagnosis.runs),
            facts=self.facts(self.diagnosis.facts),
            findings=findings,
            unrecognized=unrecognized,
            notices=tuple(self.words.for_notice(c, self.safe(v)) for c, v in self.diagnosis.notices.items()),
            missing=tuple(self.words.for_missing(code) for code in self.diagnosis.missing),
        )

    def safe(self, text: str) -> str:
        text = neutral(text)
        return redacted(text) if self.redact else text

    def facts(self, facts: Mapping[str, Fact]) -> dict[str, Fact]:
        return {name: self.fact(fact) for name, fact in facts.items()}

    def fact(self, fact: Fact) -> Fact:
        return replace(fact, value=self.safe(fact.value)) if isinstance(fact.value, str) else fact

    def rendering(self, facts: Mapping[str, Fact]) -> Rendering:
        safe = self.facts(facts)
        return Rendering(fact_lookup(safe), self.catalogue.facts, self.words, safe, self.command())

    def command(self) -> UserCommand | None:
        command = self.diagnosis.command
        return command and replace(
            command,
            model=self.safe(command.model),
            arguments={name: self.safe(text) for name, text in command.arguments.items()},
            environment={name: self.safe(text) for name, text in command.environment.items()},
            program=tuple(map(self.safe, command.program)),
            left_out=tuple(map(self.safe, command.left_out)),
        )

    def headline(self, findings: tuple[FindingReport, ...], unrecognized: UnrecognizedReport | None) -> str:
        status, words = self.diagnosis.status, self.words
        root = next((finding for finding in findings if finding.role == ROOT_CAUSE), None)
        if status == FAILURE and root:
            return root.title
        if status == UNRECOGNIZED and unrecognized:
            shown = f"{unrecognized.exception}: {unrecognized.message}" if unrecognized.exception else ""
            text = shortened((shown or unrecognized.message).replace("\n", " "), 200)
            return words(w.HEADLINE_UNRECOGNIZED, exception=text)
        if status == HEALTHY and "log-ends-early" in self.diagnosis.notices:
            phase = self.safe(self.diagnosis.notices["log-ends-early"]) or self.diagnosis.last_phase
            return words(w.HEADLINE_ENDS_EARLY, phase=words.said(phase)) if phase else words.for_status(status)
        warnings = sum(finding.role == WARNING for finding in findings)
        if status == HEALTHY and warnings:
            return words.counted(w.HEADLINE_HEALTHY_WARNINGS, warnings)
        return words.for_status(status)

    def input(self, one: InputReport) -> InputReport:
        return replace(
            one, name=self.safe(one.name), notes=tuple(self.safe(self.words.said(note)) for note in one.notes)
        )

    def run(self, run: RunVerdict, findings: tuple[FindingReport, ...]) -> RunReport:
        rule = self.catalogue.rule(run.rule) if run.rule else None
        shown = next((f.title for f in findings if f.rule == run.rule and run is self.diagnosis.runs[-1]), "")
        title = shown or (nothing_known(self.catalogue, self.words).text(rule.title) if rule else "")
        return RunReport(
            number=run.number,
            input=run.first.input,
            first_line=run.first.number,
            last_line=run.last.number,
            status=run.status,
            rule=run.rule,
            title=title or self.words.for_status(run.status),
        )

    def finding(self, finding: Finding) -> FindingReport:
        rule, rendering = finding.rule, self.rendering(finding.facts)
        return FindingReport(
            rule=rule.id,
            category=rule.category,
            role=finding.role,
            severity=rule.severity,
            phase=finding.phase or rule.phase,
            title=rendering.text(rule.title),
            summary=rendering.text(rule.summary),
            first_check=rendering.text(rule.first_check),
            count=finding.count,
            explained_by=finding.explained_by,
            evidence=tuple(self.evidence(evidence) for evidence in finding.evidence),
            causes=tuple(
                self.cause(judged.cause, judged.state, judged.deciding, rendering) for judged in finding.causes
            ),
            fixes=tuple(chosen_fix_report(fix, rank, rendering) for rank, fix in enumerate(finding.fixes, 1)),
            does_not_help=tuple(
                CautionReport(caution.id, rendering.text(caution.title), rendering.text(caution.text))
                for caution in finding.does_not_help
            ),
            verify=tuple(
                VerificationReport(
                    check.id,
                    rendering.text(check.text),
                    rendering.text(check.log) if check.log else "",
                    rendering.machine(check.command) if check.command else "",
                )
                for check in finding.verify
            ),
            references=tuple((reference.title, reference.url) for reference in rule.references),
            notice=self.translation_notice(rule.id),
            receipt=receipt_for(finding),
            advice=advice_of(finding),
            page="" if rule.user_supplied else rule_page(rule.id, self.words.language, self.site),
        )

    def cause(self, cause: Cause, state: str, deciding: tuple[str, ...], rendering: Rendering) -> CauseReport:
        return CauseReport(
            id=cause.id,
            title=rendering.text(cause.title),
            text=rendering.text(cause.text),
            state=state,
            because=cause_reason(cause, deciding, rendering),
        )

    def translation_notice(self, rule_id: str) -> str:
        notices = {"missing": w.TRANSLATION_MISSING, "stale": w.TRANSLATION_STALE}
        found = notices.get(self.catalogue.notices.get(rule_id, ""))
        return self.words(found) if found else ""

    def evidence(self, evidence: Evidence) -> EvidenceReport:
        return self.quoted(evidence.line, evidence.text)

    def quoted(self, line: Line, text: str) -> EvidenceReport:
        process = line.process.label or line.process.name
        return EvidenceReport(
            input=line.input,
            line=line.number,
            process=self.safe(process),
            text=shortened(self.safe(text.strip()), _EVIDENCE_CHARACTERS),
        )

    def provenance(self, found: Provenance) -> ProvenanceReport:
        values = {name: shortened(self.safe(value), _VALUE_CHARACTERS) for name, value in found.values.items()}
        return ProvenanceReport(found.file, found.function, neutral(found.template), values)

    def unrecognized(self, unknown: Unrecognized) -> UnrecognizedReport:
        record = unknown.record
        frame = record.frames[-1] if record.frames else None
        raised_at = "" if frame is None else f"{frame.file}:{frame.line or '?'} in {frame.function}"
        message = record.text.strip()
        if record.exception:
            message = message.removeprefix(record.exception).removeprefix(":").strip()
        line = record.text_lines[0] if record.text_lines else record.last
        return UnrecognizedReport(
            exception=self.safe(record.exception),
            message=shortened(self.safe(message), _EVIDENCE_CHARACTERS),
            raised_at=self.safe(raised_at or record.place or ""),
            last_phase=unknown.last_phase or self.diagnosis.last_phase,
            nearest=unknown.nearest,
            evidence=self.quoted(line, record.text),
        )
