"""One finding in, its block on the terminal out: evidence, summary, fixes with commands, cautions, what to expect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from vllmdoctor.diagnosis.model import CONSEQUENCE, ROOT_CAUSE, WARNING
from vllmdoctor.memory.receipt import ReceiptLine
from vllmdoctor.report import words as w
from vllmdoctor.report.cause_words import cause_note, surest
from vllmdoctor.report.inline import within_sentence
from vllmdoctor.report.model import (
    CauseReport,
    Commands,
    EvidenceReport,
    FindingReport,
    FixReport,
    Report,
    VerificationReport,
)
from vllmdoctor.report.text.inline import CODE_STYLE, inline_text
from vllmdoctor.report.text.page import Page
from vllmdoctor.report.text.receipt import write_receipt
from vllmdoctor.report.words import Words

_FIXES = 3
_CAUTIONS = 2
_NAME_WIDTH = 32


def others_of(report: Report) -> list[FindingReport]:
    """The findings that are not the answer, the closest to it first."""
    return [finding for finding in report.findings if finding.role != ROOT_CAUSE]


def place_of(evidence: EvidenceReport, names: Sequence[str]) -> str:
    """`startup.log:41`; of a long path only the end."""
    return place_in(evidence.input, evidence.line, names)


def place_in(index: int, line: int, names: Sequence[str]) -> str:
    name = names[index] if index < len(names) else f"#{index}"
    if cell_len(name) > _NAME_WIDTH:
        name = "…" + name[-_NAME_WIDTH:].partition("/")[2] if "/" in name[-_NAME_WIDTH:] else "…" + name[-_NAME_WIDTH:]
    return f"{name}:{line}"


def evidence_line(page: Page, evidence: EvidenceReport, names: Sequence[str], *, whole: bool = False) -> None:
    place = Text("  ").append(place_of(evidence, names), "bold").append("  ")
    if evidence.process:
        place.append(f"{evidence.process}  ")
    text = Text(evidence.text.replace("\n", " "))
    if whole:
        page.hanging(Text("  "), place.append_text(text)[2:], 2)
    else:
        page.cut_line(place.append_text(text))


@dataclass(frozen=True, slots=True)
class FindingView:
    page: Page
    words: Words
    names: Sequence[str]
    show_all: bool

    def write(self, finding: FindingReport, *, brief: bool = False, often: str = "") -> None:
        """The block below the title; `brief` is for warnings: evidence, summary and the first fix.

        `often` says how often the finding is in the log.
        """
        page = self.page
        shown = finding.evidence if self.show_all else finding.evidence[:1]
        for evidence in shown:
            evidence_line(page, evidence, self.names, whole=self.show_all)
        if often:
            page.hanging(Text("  "), Text(often), 2)
        page.line()
        page.paragraph(finding.summary)
        if finding.receipt and not brief:
            page.line()
            write_receipt(page, self.words, finding.receipt, self.receipt_place, finding.advice)
        if finding.first_check and not brief:
            page.labelled(self.words(w.CHECK_FIRST), finding.first_check)
        if self.show_all:
            self.causes(finding.causes)
        elif not brief:
            page.labelled_all(self.words(w.WHY_HERE), [self.cause_title(cause) for cause in surest(finding.causes)])
        page.line()
        self.fixes(finding.fixes[:1] if brief else finding.fixes)
        if brief:
            return
        cautions = finding.does_not_help if self.show_all else finding.does_not_help[:_CAUTIONS]
        page.labelled_all(self.words(w.DOES_NOT_HELP), [_sentence(caution.title, caution.why) for caution in cautions])
        self.checks(finding.verify)

    def receipt_place(self, line: ReceiptLine) -> str:
        return place_in(line.origin.input, line.origin.line, self.names) if line.origin else ""

    def checks(self, checks: Sequence[VerificationReport]) -> None:
        """The log line to expect, or the command to run; with --all both."""
        label = self.words(w.THEN_EXPECT)
        for check in checks if self.show_all else checks[:1]:
            if check.log:
                self.page.labelled(label, Text(check.log, CODE_STYLE))
            elif not check.command or self.show_all:
                self.page.labelled(label, check.text)
            if check.command and (self.show_all or not check.log):
                self.page.labelled_command("" if check.log or self.show_all else label, check.command)
            label = ""

    def other(self, finding: FindingReport) -> Text:
        """One line for a finding that is not the answer."""
        evidence = finding.evidence[0] if finding.evidence else None
        line = evidence.line if evidence else "?"
        if finding.role == CONSEQUENCE:
            note = self.words(w.WRAPPER if finding.category == "wrapper" else w.CONSEQUENCE_AT, line=line)
        else:
            note = self.words(w.WARNING_AT if finding.role == WARNING else w.CONTRIBUTES_AT, line=line)
        shown = evidence.text.replace("\n", " ") if evidence and finding.role == CONSEQUENCE else finding.title
        tail = self.words(w.IN_BRACKETS, note=note) + (f" x{finding.count}" if finding.count > 1 else "")
        text = Text(shown)
        if not self.show_all:
            text.truncate(max(20, self.page.width - self.page.label_width - 2 - cell_len(tail)), overflow="ellipsis")
        return text.append(tail)

    def causes(self, causes: Sequence[CauseReport]) -> None:
        if not causes:
            return
        self.page.line()
        self.page.line(Text("  ").append(self.words(w.CAUSES), "bold"))
        for cause in causes:
            self.page.hanging(Text("  - "), self.cause_title(cause, "bold"), 4)
            if cause.text:
                self.page.paragraph(cause.text, 4)

    def cause_title(self, cause: CauseReport, style: str = "") -> Text:
        note = cause_note(cause, self.words)
        return inline_text(cause.title, style).append(self.words(w.IN_BRACKETS, note=note), "not bold")

    def fixes(self, fixes: Sequence[FixReport]) -> None:
        if not fixes:
            return
        shown = fixes if self.show_all else fixes[:_FIXES]
        self.page.line(Text("  ").append(self.words(w.FIXES), "bold"))
        column = self.cost_column(shown)
        for fix in shown:
            self.fix(fix, column)
        if len(fixes) > len(shown):
            self.page.line(
                Text("     ").append_text(inline_text(self.words.counted(w.MORE_FIXES, len(fixes) - len(shown))))
            )

    def cost_column(self, fixes: Sequence[FixReport]) -> int:
        """The column at which costs line up: behind the longest title that leaves room for its cost."""
        ends = [5 + inline_text(fix.title).cell_len for fix in fixes if self.cost_fits(fix)]
        return max(ends, default=0) + 3

    def cost_fits(self, fix: FixReport) -> bool:
        return 5 + inline_text(fix.title).cell_len + 3 + cell_len(self.cost(fix)) <= self.page.width

    def cost(self, fix: FixReport) -> str:
        shown = inline_text(fix.cost).plain.rstrip(".。")
        return self.words(w.COSTS, cost=within_sentence(shown, self.words.language)) if shown else ""

    def fix(self, fix: FixReport, column: int) -> None:
        page = self.page
        number = Text(f"  {fix.rank}".ljust(5))
        title, cost = inline_text(fix.title, "bold"), self.cost(fix)
        row = number.copy().append_text(title)
        beside = column + cell_len(cost) <= page.width and row.cell_len < column
        if cost and beside:
            page.line(row.append(" " * (column - row.cell_len)).append(cost))
        else:
            page.hanging(number, title, 5)
            if cost:
                page.hanging(Text("     "), Text(cost), 5)
        if fix.condition:
            page.hanging(Text("     "), Text(fix.condition), 5)
        if fix.risk == "high" or self.show_all and fix.risk == "medium":
            page.line(Text("     ").append(self.words(w.RISKS[fix.risk])))
        if self.show_all:
            self.details(fix)
        else:
            form = next(iter(fix.commands.shown().values()), "")
            if form:
                page.command(form, 7, fix.commands.changed)
            elif fix.why:
                page.paragraph(fix.why, 7)

    def details(self, fix: FixReport) -> None:
        if fix.why:
            self.page.paragraph(fix.why, 5)
        if fix.effect:
            self.page.hanging(
                Text(f"     {self.words(w.EFFECT)}: "), inline_text(fix.effect), 7 + cell_len(self.words(w.EFFECT))
            )
        write_forms(self.page, self.words, fix.commands)
        self.page.line()


def write_forms(page: Page, words: Words, commands: Commands) -> None:
    """A change in every form that it has."""
    for form, command in commands.shown(whole=True).items():
        page.line(Text(f"     {words(w.FORMS[form])}"))
        page.command(command, 7, commands.changed)


def _sentence(title: str, why: str) -> Text:
    text = inline_text(title)
    if why:
        text.append(": " if not title.endswith((".", ":", "。", "：")) else " ").append_text(inline_text(why))
    return text
