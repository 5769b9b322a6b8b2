"""A comparison of two diagnoses in, what the user reads of it out: the likeliest difference first, then all of them."""

from __future__ import annotations

from dataclasses import dataclass

from vllmdoctor.diagnosis.compare import (
    ARGUMENT_FACTS,
    CACHE_FACTS,
    ENVIRONMENT_FACTS,
    MACHINE_FACTS,
    MEMORY_FACTS,
    MODEL_FACTS,
    Comparison,
    Difference,
)
from vllmdoctor.diagnosis.model import HEALTHY, ROOT_CAUSE
from vllmdoctor.facts.model import Fact
from vllmdoctor.languages import marked as _
from vllmdoctor.redaction import redacted
from vllmdoctor.report.json import Json
from vllmdoctor.report.model import FindingReport, Report
from vllmdoctor.report.own_command import flag_of
from vllmdoctor.report.rendering import shown_fact
from vllmdoctor.report.untrusted import neutral, shortened
from vllmdoctor.report.words import Words
from vllmdoctor.rules.model import FactBook

SAME_OR_BETTER_CODE, NEW_FAILS_CODE = 0, 1
LIKELY = _("What most likely made the difference: {what}")
NOT_CLEAR = _("What made the difference is not clear from these logs")
SAME_FAILURE = _("Both logs show the same failure: {title}")
NEW_WORKS = _("The new log shows no failure, the old one does")
BOTH_WORK = _("Neither log shows a failure")
CHANGE = _("{name}: {old} → {new}")
NOT_SET = _("not set")
NOT_TOLD = _("not in the log")
ARGUMENTS, MODEL, ENVIRONMENT = _("Arguments"), _("Model"), _("Environment")
MEMORY, VERSION = _("Memory and KV cache"), _("vLLM")
CHECK_NEXT = _("Check next")
ONLY_NEW, ONLY_OLD = _("Only in the new log"), _("Only in the old log")
NOTHING_CHANGED = _("The logs tell the same versions, arguments and sizes.")

_VALUE_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class Row:
    """A difference in words. `kind` is what it speaks for, "" for a consequence; None is not set or not told."""

    group: str
    kind: str
    name: str
    label: str
    old: str | None
    new: str | None
    change: str
    text: str


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    headline: str
    exit_code: int
    clear: bool  # the first suspect stands out
    old: Report
    new: Report
    suspects: tuple[Row, ...]
    rows: tuple[Row, ...]
    only_new: tuple[FindingReport, ...]
    only_old: tuple[FindingReport, ...]


def comparison_report(
    comparison: Comparison, old: Report, new: Report, book: FactBook, words: Words
) -> ComparisonReport:
    """`old` and `new` are the reports on the two diagnoses."""
    rows = tuple(_row(one, comparison, book, words) for one in comparison.differences)
    by_difference = dict(zip(map(id, comparison.differences), rows, strict=True))
    same_failure = _root(old) == _root(new) != ""
    suspects = tuple(by_difference[id(one)] for one in comparison.suspects)
    new_rules = {finding.rule.id for finding in comparison.new_findings}
    gone_rules = {finding.rule.id for finding in comparison.gone_findings}
    return ComparisonReport(
        headline=_headline(comparison, suspects, old, new, words),
        exit_code=NEW_FAILS_CODE if comparison.new_fails else SAME_OR_BETTER_CODE,
        clear=comparison.clear,
        old=old,
        new=new,
        suspects=suspects if comparison.new_fails and not same_failure else (),
        rows=rows,
        only_new=tuple(finding for finding in new.findings if finding.rule in new_rules),
        only_old=tuple(finding for finding in old.findings if finding.rule in gone_rules),
    )


def _headline(comparison: Comparison, suspects: tuple[Row, ...], old: Report, new: Report, words: Words) -> str:
    if not comparison.new_fails:
        return words(BOTH_WORK if comparison.old.status == HEALTHY else NEW_WORKS)
    if _root(old) == _root(new) != "":
        return words(SAME_FAILURE, title=new.headline)
    return words(LIKELY, what=suspects[0].text) if comparison.clear else words(NOT_CLEAR)


def _root(report: Report) -> str:
    return next((finding.rule for finding in report.findings if finding.role == ROOT_CAUSE), "")


def _row(one: Difference, comparison: Comparison, book: FactBook, words: Words) -> Row:
    label = flag_of(one.name) if one.set_by_user else _title(one.name, book, words)
    untold = words(NOT_SET if one.set_by_user else NOT_TOLD)
    old, new = _shown(one.old, words), _shown(one.new, words)
    shown = [
        value or _in_force(untold, diagnosis.facts.get(one.name) if one.set_by_user else None, words)
        for value, diagnosis in ((old, comparison.old), (new, comparison.new))
    ]
    change = f"{shown[0]} → {shown[1]}"
    text = words(CHANGE, name=label, old=shown[0], new=shown[1])
    return Row(_group(one), one.kind, one.name, label, old, new, change, text)


def _in_force(untold: str, fact: Fact | None, words: Words) -> str:
    """`not set (131,072 tokens)`: what vLLM took instead."""
    return f"{untold} ({shown_fact(fact, words)})" if fact else untold


def _title(name: str, book: FactBook, words: Words) -> str:
    return words.said(book.names[name].title) if name in book.names else name


def _shown(value: Fact | str | None, words: Words) -> str | None:
    if value is None:
        return None
    text = shown_fact(value, words) if isinstance(value, Fact) else value
    return shortened(redacted(neutral(text)), _VALUE_CHARACTERS)


def _group(one: Difference) -> str:
    if one.set_by_user or one.name in ARGUMENT_FACTS:
        return ARGUMENTS
    if one.name in MODEL_FACTS:
        return MODEL
    if one.name in (*MACHINE_FACTS, *ENVIRONMENT_FACTS):
        return ENVIRONMENT
    return MEMORY if one.name in (*MEMORY_FACTS, *CACHE_FACTS) else VERSION


def comparison_document(report: ComparisonReport, *, version: str) -> dict[str, Json]:
    """The comparison as plain values; see docs/compare.md."""
    return {
        "schema_version": 1,
        "tool": {"name": "vllmdoctor", "version": version},
        "exit_code": report.exit_code,
        "headline": report.headline,
        "language": report.new.language,
        "old": _side(report.old),
        "new": _side(report.new),
        "clear": report.clear and bool(report.suspects),
        "suspects": [_row_document(row) for row in report.suspects],
        "differences": [_row_document(row) for row in report.rows],
        "only_in_new": [_finding(finding) for finding in report.only_new],
        "only_in_old": [_finding(finding) for finding in report.only_old],
    }


def _side(report: Report) -> Json:
    return {
        "inputs": [one.name for one in report.inputs],
        "status": report.status,
        "headline": report.headline,
        "rule": _root(report),
    }


def _row_document(row: Row) -> Json:
    return {"kind": row.kind or None, "name": row.name, "old": row.old, "new": row.new, "text": row.text}


def _finding(finding: FindingReport) -> Json:
    line = finding.evidence[0].line if finding.evidence else None
    return {"rule": finding.rule, "role": finding.role, "title": finding.title, "line": line}
