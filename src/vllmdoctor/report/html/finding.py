"""One finding in, its HTML out: evidence, summary, memory, fixes with commands, causes, cautions, what to expect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from vllmdoctor.diagnosis.model import CONSEQUENCE, WARNING
from vllmdoctor.facts.model import Origin
from vllmdoctor.report import words as w
from vllmdoctor.report.cause_words import cause_note, surest
from vllmdoctor.report.folding import occurrences
from vllmdoctor.report.html import labels
from vllmdoctor.report.html.markup import code_block, element, escaped, inline, link, paragraphs
from vllmdoctor.report.html.receipt import receipt_figure
from vllmdoctor.report.inline import within_sentence
from vllmdoctor.report.model import CauseReport, Commands, EvidenceReport, FindingReport, FixReport, Report
from vllmdoctor.report.shell import wrapped_command
from vllmdoctor.report.untrusted import shortened
from vllmdoctor.report.words import Words

RuleUrl = Callable[[str], str]

_FIXES = 3
_LINE_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class FindingHtml:
    finding: FindingReport
    report: Report
    words: Words
    rule_url: RuleUrl

    def parts(self) -> list[str]:
        """Everything below the title of a root cause, in the order of reading."""
        return [
            self.evidence(),
            self.text(self.finding.summary),
            self.receipt(),
            self.first_check(),
            self.why_here(),
            self.fixes(),
            self.causes(),
            self.cautions(),
            self.checks(),
        ]

    def warning(self) -> str:
        """A warning of a healthy log: title, evidence, summary and the fixes."""
        title = element("h3", inline(self.finding.title) + " " + self.rule_link())
        return title + self.evidence() + self.text(self.finding.summary) + self.fix_list(self.finding.fixes)

    def rule_link(self) -> str:
        return element("a", element("code", escaped(self.finding.rule)), href=self.rule_url(self.finding.rule))

    def line(self) -> str:
        """One line for a finding that is not the answer."""
        finding, words = self.finding, self.words
        evidence = finding.evidence[0] if finding.evidence else None
        place = evidence.line if evidence else "?"
        if finding.role == CONSEQUENCE:
            note = words(w.WRAPPER if finding.category == "wrapper" else w.CONSEQUENCE_AT, line=place)
        else:
            note = words(w.WARNING_AT if finding.role == WARNING else w.CONTRIBUTES_AT, line=place)
        shown = inline(finding.title)
        if evidence and finding.role == CONSEQUENCE:
            shown = element("code", escaped(shortened(" ".join(evidence.text.split()), _LINE_CHARACTERS)))
        noted = line_button(evidence.input, evidence.line, escaped(note), words) if evidence else escaped(note)
        often = f" ×{finding.count:,}" if finding.count > 1 else ""
        return shown + bracketed(noted, words) + escaped(often) + " " + self.rule_link()

    def text(self, source: str) -> str:
        return paragraphs(source, (url for _, url in self.finding.references))

    def heading(self, message: str) -> str:
        return element("h3", escaped(self.words(message)))

    def evidence(self) -> str:
        """The quoted lines as buttons that lead to the log; a text that several ranks print is told once."""
        rows = evidence_list(self.finding.evidence, self.report, self.words)
        often = occurrences(self.finding, self.report, self.words)
        return rows + (element("p", escaped(often), class_="vd-often") if often else "")

    def receipt(self) -> str:
        receipt = self.finding.receipt
        return receipt_figure(receipt, self.finding.advice, self.words, self.place) if receipt else ""

    def place(self, origin: Origin) -> str:
        label = escaped(f"{self.report.inputs[origin.input].name}:{origin.line}")
        return line_button(origin.input, origin.line, label, self.words)

    def first_check(self) -> str:
        check = self.text(self.finding.first_check)
        return element("div", self.heading(w.CHECK_FIRST) + check, class_="vd-check") if check else ""

    def why_here(self) -> str:
        causes = [element("p", inline(cause.title) + self.cause_note(cause)) for cause in surest(self.finding.causes)]
        return self.heading(w.WHY_HERE) + "".join(causes) if causes else ""

    def cause_note(self, cause: CauseReport) -> str:
        return bracketed(escaped(cause_note(cause, self.words)), self.words)

    def causes(self) -> str:
        rows = []
        for cause in self.finding.causes:
            head = element("strong", inline(cause.title)) + self.cause_note(cause)
            rows.append(element("li", element("p", head) + self.text(cause.text), class_=f"vd-cause--{cause.state}"))
        return self.heading(w.CAUSES) + element("ul", "".join(rows), class_="vd-causes") if rows else ""

    def fixes(self) -> str:
        first, more = self.finding.fixes[:_FIXES], self.finding.fixes[_FIXES:]
        if not first:
            return ""
        shown = self.heading(w.FIXES) + self.fix_list(first)
        if more:
            summary = element("summary", escaped(self.words.counted(w.FURTHER_FIXES, len(more))))
            shown += element("details", summary + self.fix_list(more, start=_FIXES + 1))
        return shown

    def fix_list(self, fixes: Sequence[FixReport], start: int = 1) -> str:
        rows = "".join(element("li", self.fix(fix), class_="vd-fix") for fix in fixes)
        return element("ol", rows, class_="vd-fixes", start=None if start == 1 else start) if rows else ""

    def fix(self, fix: FixReport) -> str:
        cost = within_sentence(fix.cost.rstrip(".。"), self.words.language)
        head = element("strong", inline(fix.title))
        head += bracketed(inline(self.words(w.COSTS, cost=cost)), self.words) if cost else ""
        parts = [element("p", head)]
        if fix.condition:
            parts.append(element("p", escaped(fix.condition), class_="vd-condition"))
        if fix.risk in ("high", "medium"):
            parts.append(element("p", escaped(self.words(w.RISKS[fix.risk])), class_=f"vd-risk vd-risk--{fix.risk}"))
        parts += [self.commands(fix.commands), self.text(fix.why)]
        if fix.effect:
            parts.append(element("p", f"{escaped(self.words(w.EFFECT))}: {inline(fix.effect)}", class_="vd-effect"))
        return "".join(parts)

    def commands(self, commands: Commands) -> str:
        """The user's own form at once, the others to be unfolded."""
        forms = commands.shown(whole=True)
        shown = []
        for number, (form, text) in enumerate(forms.items()):
            name = escaped(self.words(w.FORMS[form]))
            block = code_block(pasteable(form, text), self.words(labels.COPY))
            if number == 0:
                shown.append((element("p", name, class_="vd-form") if len(forms) > 1 else "") + block)
            else:
                shown.append(element("details", element("summary", name) + block, class_="vd-form"))
        return "".join(shown)

    def cautions(self) -> str:
        rows = [
            element("li", element("strong", inline(one.title)) + (self.text(one.why) if one.why else ""))
            for one in self.finding.does_not_help
        ]
        return self.heading(w.DOES_NOT_HELP) + element("ul", "".join(rows)) if rows else ""

    def checks(self) -> str:
        """What to look for, the log line to expect, and the command to run."""
        shown = []
        for check in self.finding.verify:
            parts = self.text(check.text)
            parts += code_block(check.log) if check.log else ""
            parts += code_block(wrapped_command(check.command), self.words(labels.COPY)) if check.command else ""
            shown.append(parts)
        return self.heading(w.THEN_EXPECT) + "".join(shown) if shown else ""

    def references(self) -> list[str]:
        return [link(escaped(title), url) for title, url in self.finding.references]


def evidence_list(evidence: Sequence[EvidenceReport], report: Report, words: Words) -> str:
    seen: set[str] = set()
    rows = []
    for one in evidence:
        shown = replace(one, text=words(w.EVIDENCE_AGAIN)) if one.text in seen else one
        rows.append(element("li", _evidence(shown, report, words)))
        seen.add(one.text)
    return element("ul", "".join(rows), class_="vd-evidence", aria_label=words(labels.EVIDENCE)) if rows else ""


def _evidence(one: EvidenceReport, report: Report, words: Words) -> str:
    name = report.inputs[one.input].name if one.input < len(report.inputs) else f"#{one.input}"
    place = element("span", escaped(f"{name}:{one.line}"), class_="vd-place")
    process = element("span", escaped(one.process), class_="vd-process") if one.process else ""
    label = " ".join(filter(None, (place, process, element("code", escaped(one.text)))))
    return line_button(one.input, one.line, label, words)


def line_button(index: int, line: int, label: str, words: Words) -> str:
    """A button that shows a line of the log; `label` is HTML."""
    title = words(labels.SHOW_IN_LOG, line=line)
    return element("button", label, type="button", class_="vd-line", data_input=index, data_line=line, title=title)


def bracketed(note: str, words: Words) -> str:
    """A remark, which is HTML, in brackets."""
    before, _, after = words(w.IN_BRACKETS).partition("{note}")
    return escaped(before) + note + escaped(after)


def pasteable(form: str, text: str) -> str:
    return wrapped_command(text) if form == "cli" else text
