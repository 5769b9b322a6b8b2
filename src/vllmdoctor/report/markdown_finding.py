"""One finding in, its Markdown out: evidence, summary, fixes with commands, cautions, what to expect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vllmdoctor.diagnosis.model import CONSEQUENCE, WARNING
from vllmdoctor.memory.receipt import ReceiptLine
from vllmdoctor.report import words as w
from vllmdoctor.report.cause_words import cause_note, surest
from vllmdoctor.report.folding import evidence_texts, occurrences
from vllmdoctor.report.inline import within_sentence
from vllmdoctor.report.model import CauseReport, Commands, FindingReport, FixReport, Report, VerificationReport
from vllmdoctor.report.receipt_table import receipt_table
from vllmdoctor.report.safe_markdown import at_line_start, code, fenced, inline, link, paragraphs, prose
from vllmdoctor.report.shell import wrapped_command
from vllmdoctor.report.untrusted import shortened
from vllmdoctor.report.words import Words

_FIXES = 3
_LINE_CHARACTERS = 300
_LANGUAGES = {"cli": "sh", "python": "python", "compose": "yaml", "kubernetes": "yaml"}


@dataclass(frozen=True, slots=True)
class FindingMarkdown:
    """Parts as lists of lines; each part ends with an empty line."""

    finding: FindingReport
    report: Report
    words: Words
    show_all: bool

    def parts(self) -> list[list[str]]:
        """Everything below the title of a root cause."""
        finding = self.finding
        fixes, more = (finding.fixes, ()) if self.show_all else (finding.fixes[:_FIXES], finding.fixes[_FIXES:])
        return [
            [code(finding.rule), ""],
            self.evidence(),
            self.text(finding.summary),
            self.receipt(),
            self.first_check(),
            self.causes() if self.show_all else self.why_here(),
            [f"### {prose(self.words(w.FIXES))}", "", *self.fixes(fixes)] if fixes else [],
            self.further(more),
            self.cautions(),
            self.checks(finding.verify if self.show_all else finding.verify[:1]),
        ]

    def warning(self) -> list[list[str]]:
        """A warning of a healthy log: title, evidence, summary and the first fix."""
        finding = self.finding
        fixes = finding.fixes if self.show_all else finding.fixes[:1]
        title = [f"### {inline(finding.title)}", "", code(finding.rule), ""]
        return [title, self.evidence(), self.text(finding.summary), self.fixes(fixes)]

    def line(self) -> str:
        """One line for a finding that is not the answer."""
        finding = self.finding
        evidence = finding.evidence[0] if finding.evidence else None
        place = evidence.line if evidence else "?"
        if finding.role == CONSEQUENCE:
            note = self.words(w.WRAPPER if finding.category == "wrapper" else w.CONSEQUENCE_AT, line=place)
        else:
            note = self.words(w.WARNING_AT if finding.role == WARNING else w.CONTRIBUTES_AT, line=place)
        shown = inline(finding.title)
        if evidence and finding.role == CONSEQUENCE:
            shown = code(shortened(" ".join(evidence.text.split()), _LINE_CHARACTERS))
        return (
            shown + self.words(w.IN_BRACKETS, note=prose(note)) + (f" ×{finding.count:,}" if finding.count > 1 else "")
        )

    def references(self) -> list[str]:
        return [link(title, url) for title, url in self.finding.references]

    def text(self, source: str, indent: str = "") -> list[str]:
        return paragraphs(source, (url for _, url in self.finding.references), indent)

    def evidence(self) -> list[str]:
        lines = fenced("\n".join(evidence_texts(self.finding, self.report, self.words)))
        often = occurrences(self.finding, self.report, self.words)
        return [*lines, "", *([at_line_start(prose(often)), ""] if often else [])]

    def receipt(self) -> list[str]:
        finding = self.finding
        return receipt_table(finding.receipt, self.words, self.receipt_place, finding.advice) if finding.receipt else []

    def receipt_place(self, line: ReceiptLine) -> str:
        if line.origin is None:
            return ""
        return f"{self.report.inputs[line.origin.input].name}:{line.origin.line}"

    def first_check(self) -> list[str]:
        check = self.text(self.finding.first_check)
        return [f"**{prose(self.words(w.CHECK_FIRST))}**", "", *check] if check else []

    def why_here(self) -> list[str]:
        causes = [f"- {inline(cause.title)}" + self.cause_note(cause) for cause in surest(self.finding.causes)]
        return [f"**{prose(self.words(w.WHY_HERE))}**", "", *causes, ""] if causes else []

    def causes(self) -> list[str]:
        lines: list[str] = []
        for cause in self.finding.causes:
            lines += [f"- **{inline(cause.title)}**" + self.cause_note(cause), "", *self.text(cause.text, "  ")]
        return [f"### {prose(self.words(w.CAUSES))}", "", *lines] if lines else []

    def cause_note(self, cause: CauseReport) -> str:
        return self.words(w.IN_BRACKETS, note=prose(cause_note(cause, self.words)))

    def fixes(self, fixes: Sequence[FixReport]) -> list[str]:
        return [line for fix in fixes for line in self.fix(fix)]

    def further(self, fixes: Sequence[FixReport]) -> list[str]:
        """The fixes after the first, best ones, to be unfolded."""
        if not fixes:
            return []
        summary = prose(self.words.counted(w.FURTHER_FIXES, len(fixes)))
        return ["<details>", f"<summary>{summary}</summary>", "", *self.fixes(fixes), "</details>", ""]

    def fix(self, fix: FixReport) -> list[str]:
        number = f"{fix.rank}. "
        indent = " " * len(number)
        cost = self.cost(fix)
        lines = [f"{number}**{inline(fix.title)}**" + (self.words(w.IN_BRACKETS, note=cost) if cost else ""), ""]
        if fix.condition:
            lines += [indent + at_line_start(prose(fix.condition)), ""]
        if fix.risk == "high" or self.show_all and fix.risk == "medium":
            lines += [indent + prose(self.words(w.RISKS[fix.risk])), ""]
        if self.show_all:
            lines += self.text(fix.why, indent)
            lines += [f"{indent}{prose(self.words(w.EFFECT))}: {inline(fix.effect)}", ""] if fix.effect else []
            return lines + self.forms(fix.commands, indent)
        return lines + (self.command(fix.commands, indent) or self.text(fix.why, indent))

    def cost(self, fix: FixReport) -> str:
        shown = within_sentence(fix.cost.rstrip(".。"), self.words.language)
        return inline(self.words(w.COSTS, cost=shown)) if shown else ""

    def command(self, commands: Commands, indent: str) -> list[str]:
        """The change in the first form that it has."""
        form, text = next(iter(commands.shown().items()), ("", ""))
        return [*fenced(_pasteable(form, text), _LANGUAGES[form], indent), ""] if form else []

    def forms(self, commands: Commands, indent: str) -> list[str]:
        lines: list[str] = []
        for form, text in commands.shown(whole=True).items():
            lines += [indent + prose(self.words(w.FORMS[form])), ""]
            lines += [*fenced(_pasteable(form, text), _LANGUAGES[form], indent), ""]
        return lines

    def cautions(self) -> list[str]:
        cautions = self.finding.does_not_help
        if not cautions:
            return []
        rows = [f"- {inline(c.title)}" + (f": {inline(c.why)}" if c.why else "") for c in cautions]
        return [f"### {prose(self.words(w.DOES_NOT_HELP))}", "", *rows, ""]

    def checks(self, checks: Sequence[VerificationReport]) -> list[str]:
        """The log line to expect, or the command to run; with --all both."""
        lines: list[str] = []
        for check in checks:
            if self.show_all or not (check.log or check.command):
                lines += self.text(check.text)
            if check.log:
                lines += [*fenced(check.log), ""]
            if check.command and (self.show_all or not check.log):
                lines += [*fenced(_pasteable("cli", check.command), "sh"), ""]
        return [f"### {prose(self.words(w.THEN_EXPECT))}", "", *lines] if lines else []


def _pasteable(form: str, text: str) -> str:
    return wrapped_command(text) if form == "cli" else text
