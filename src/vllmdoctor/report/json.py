"""A report in, its JSON text out: stable order, same bytes for same input. See docs/schema/report.schema.json."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TypeAlias

from vllmdoctor.facts.model import Fact, Origin, Scalar
from vllmdoctor.memory.advice import Advice
from vllmdoctor.memory.receipt import Receipt
from vllmdoctor.report.model import (
    SCHEMA_VERSION,
    EvidenceReport,
    FindingReport,
    FixReport,
    InputReport,
    ProvenanceReport,
    Report,
    RunReport,
    UnrecognizedReport,
)

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def report_json(report: Report, *, version: str) -> str:
    """The report as JSON text with a line end. `version` is vllmdoctor's."""
    return json_text(report_document(report, version=version))


def json_text(document: Json) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def report_document(report: Report, *, version: str) -> dict[str, Json]:
    """The report as plain values."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "vllmdoctor", "version": version},
        "status": report.status,
        "exit_code": report.exit_code,
        "headline": report.headline,
        "language": report.language,
        "inputs": [_input(one) for one in report.inputs],
        "runs": [_run(run) for run in report.runs],
        "facts": _facts(report.facts),
        "findings": [_finding(finding) for finding in report.findings],
        "unrecognized": _unrecognized(report.unrecognized) if report.unrecognized else None,
        "notices": list(report.notices),
        "missing": list(report.missing),
    }


def _input(one: InputReport) -> Json:
    return {
        "name": one.name,
        "kinds": list(one.kinds),
        "lines": one.lines,
        "complete": one.complete,
        "notes": list(one.notes),
    }


def _run(run: RunReport) -> Json:
    return {
        "number": run.number,
        "input": run.input,
        "first_line": run.first_line,
        "last_line": run.last_line,
        "status": run.status,
        "rule": run.rule,
        "title": run.title,
    }


def _facts(facts: Mapping[str, Fact]) -> Json:
    return {name: _fact(facts[name]) for name in sorted(facts)}


def _fact(fact: Fact) -> Json:
    return {"value": _finite(fact.value), "unit": fact.unit, "kind": fact.kind, "origin": _origin(fact.origin)}


def _origin(origin: Origin | None) -> Json:
    return {"input": origin.input, "line": origin.line} if origin else None


def _finite(value: Scalar) -> Json:
    """JSON has no infinity and no NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _evidence(evidence: EvidenceReport) -> Json:
    return {"input": evidence.input, "line": evidence.line, "process": evidence.process, "text": evidence.text}


def _finding(finding: FindingReport) -> Json:
    return {
        "rule": finding.rule,
        "category": finding.category,
        "role": finding.role,
        "severity": finding.severity,
        "phase": finding.phase,
        "title": finding.title,
        "summary": finding.summary,
        "first_check": finding.first_check,
        "count": finding.count,
        "explained_by": finding.explained_by,
        "evidence": [_evidence(evidence) for evidence in finding.evidence],
        "causes": [
            {"id": c.id, "title": c.title, "text": c.text, "state": c.state, "because": c.because}
            for c in finding.causes
        ],
        "fixes": [_fix(fix) for fix in finding.fixes],
        "does_not_help": [{"id": c.id, "title": c.title, "why": c.why} for c in finding.does_not_help],
        "verify": [{"id": v.id, "text": v.text, "log": v.log, "command": v.command} for v in finding.verify],
        "references": [{"title": title, "url": url} for title, url in finding.references],
        "notice": finding.notice,
        "receipt": receipt_document(finding.receipt) if finding.receipt else None,
        "advice": _advice(finding.advice) if finding.advice else None,
    }


def _fix(fix: FixReport) -> Json:
    return {
        "id": fix.id,
        "rank": fix.rank,
        "title": fix.title,
        "why": fix.why,
        "effect": fix.effect,
        "cost": fix.cost,
        "risk": fix.risk,
        "condition": fix.condition,
        "arguments": dict(fix.arguments),
        "commands": {
            "cli": fix.commands.cli,
            "python": fix.commands.python,
            "compose": fix.commands.compose,
            "kubernetes": fix.commands.kubernetes,
        },
    }


def _unrecognized(unknown: UnrecognizedReport) -> Json:
    return {
        "exception": unknown.exception,
        "message": unknown.message,
        "raised_at": unknown.raised_at,
        "last_phase": unknown.last_phase,
        "nearest": list(unknown.nearest),
        "evidence": _evidence(unknown.evidence),
        "provenance": _provenance(unknown.provenance) if unknown.provenance else None,
    }


def _provenance(place: ProvenanceReport) -> Json:
    return {
        "file": place.file,
        "function": place.function,
        "template": place.template,
        "values": dict(place.values),
    }


def receipt_document(receipt: Receipt) -> Json:
    """The lines of a receipt with their origin; what is not known is null."""
    return {
        "era": receipt.era.name if receipt.era else None,
        "cuda_graphs_in_budget": receipt.graphs_inside,
        "lines": [
            {"name": line.name, "gib": line.gib, "kind": line.kind or None, "origin": _origin(line.origin)}
            for line in receipt.lines
        ],
    }


def _advice(advice: Advice) -> Json:
    context, utilization = advice.longest_context, advice.utilization
    return {
        "longest_context": (
            {"tokens": context.tokens, "kind": context.kind, "basis": context.basis} if context else None
        ),
        "gpu_memory_utilization": {
            "above": _four_digits(utilization.low),
            "up_to": _four_digits(utilization.high),
            "empty": utilization.empty,
        },
        "to_free_gib": _four_digits(advice.to_free_gib),
    }


def _four_digits(value: float | None) -> Json:
    return None if value is None else _finite(round(value, 4))
