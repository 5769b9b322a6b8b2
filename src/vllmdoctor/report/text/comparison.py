"""A comparison in words in, its page on a terminal out: what most likely made the difference, then every one."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from vllmdoctor.diagnosis.model import CAUSE_NOT_IN_LOG, FAILURE, ROOT_CAUSE, UNRECOGNIZED
from vllmdoctor.report import comparison as c
from vllmdoctor.report import words as w
from vllmdoctor.report.comparison import ComparisonReport, Row
from vllmdoctor.report.model import FindingReport
from vllmdoctor.report.shell import quoted
from vllmdoctor.report.text.finding import evidence_line
from vllmdoctor.report.text.page import Page, filled
from vllmdoctor.report.words import Words

_NEXT = 3
_FINDINGS = 6
_LABEL_WIDTH = 34
_GROUPS = (c.VERSION, c.ARGUMENTS, c.MODEL, c.ENVIRONMENT, c.MEMORY)


def write_comparison(report: ComparisonReport, console: Console, words: Words) -> None:
    page = Page(console)
    symbol, style = ("✗", "bold red") if report.exit_code else ("✓", "bold green")
    page.hanging(Text(symbol, style).append(" "), Text(report.headline, "bold"), 2)
    if report.exit_code:
        _write_failure(report, page)
    others = report.suspects[1:] if report.clear else report.suspects
    if others:
        page.line()
        rows = [Text(row.text) for row in others[:_NEXT]]
        page.labelled_all(words(c.CHECK_NEXT), rows)
    _write_rows(report, page, words)
    _write_findings(words(c.ONLY_NEW), report.only_new, page)
    _write_findings(words(c.ONLY_OLD), report.only_old, page)
    if report.exit_code:
        page.line()
        command = f"vllmdoctor analyze {quoted(report.new.inputs[0].name)}" if report.new.inputs else ""
        page.labelled_command(words(w.READ_MORE), command)


def _write_failure(report: ComparisonReport, page: Page) -> None:
    """What failed in the new log, with the line that it rests on."""
    new = report.new
    if new.headline not in report.headline:
        page.hanging(Text("  "), Text(new.headline), 2)
    root = next((finding for finding in new.findings if finding.role == ROOT_CAUSE), None)
    names = [one.name for one in new.inputs]
    if new.status == FAILURE and root and root.evidence:
        evidence_line(page, root.evidence[0], names)
    elif new.status in (UNRECOGNIZED, CAUSE_NOT_IN_LOG) and new.unrecognized:
        evidence_line(page, new.unrecognized.evidence, names)


def _write_rows(report: ComparisonReport, page: Page, words: Words) -> None:
    page.line()
    if not report.rows:
        page.line("  " + words(c.NOTHING_CHANGED))
    for group in _GROUPS:
        rows = [row for row in report.rows if row.group == group]
        if rows and group != c.VERSION:
            page.line(Text("  ").append(words(group), "bold"))
        for row in rows:
            _write_row(row, page)


def _write_row(row: Row, page: Page) -> None:
    label = Text("  " + filled(row.label, _LABEL_WIDTH))
    page.hanging(label, Text(row.change, "bold" if row.kind else ""), 2 + _LABEL_WIDTH)


def _write_findings(title: str, findings: tuple[FindingReport, ...], page: Page) -> None:
    if not findings:
        return
    page.line()
    page.line(Text("  ").append(title, "bold"))
    for finding in findings[:_FINDINGS]:
        page.hanging(Text("  - "), Text(f"{finding.title} ({finding.rule})"), 4)
