"""A rule in, its page on a terminal out: what `vllmdoctor explain ID` prints. No log, so every fact is unknown."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from vllmdoctor.report import words as w
from vllmdoctor.report.build_fixes import fix_report
from vllmdoctor.report.model import FixReport
from vllmdoctor.report.rendering import Rendering, nothing_known
from vllmdoctor.report.text.finding import write_forms
from vllmdoctor.report.text.inline import inline_text
from vllmdoctor.report.text.page import Page
from vllmdoctor.report.untrusted import neutral
from vllmdoctor.report.words import Words
from vllmdoctor.rules.model import Catalogue, Rule


def write_rule(rule: Rule, catalogue: Catalogue, console: Console, *, words: Words | None = None) -> None:
    words = words or Words(catalogue.language)
    _RulePage(rule, nothing_known(catalogue, words), Page(console, label_width=_label_width(words)), words).write()


def _label_width(words: Words) -> int:
    labels = (w.VERSIONS, w.WHERE_RAISED, w.RELATED, w.REFERENCES)
    return 2 + max(cell_len(words(label)) for label in labels)


class _RulePage:
    def __init__(self, rule: Rule, rendering: Rendering, page: Page, words: Words) -> None:
        self.rule = rule
        self.rendering = rendering
        self.page = page
        self.words = words

    def write(self) -> None:
        title = Text(self.rendering.text(self.rule.title), "bold")
        if not self.page.with_right(title.copy(), self.rule.id):
            self.page.hanging(Text(), title, 0)
            self.page.line(self.rule.id)
        self.messages()
        self.heading(w.MEANING)
        self.page.paragraph(self.rendering.text(self.rule.summary))
        if first_check := self.rendering.text(self.rule.first_check):
            self.heading(w.CHECK_FIRST)
            self.page.paragraph(first_check)
        self.causes()
        self.fixes()
        self.cautions()
        self.checks()
        self.sources()

    def heading(self, title: str) -> None:
        self.page.line()
        self.page.line(Text(self.words(title), "bold"))

    def messages(self) -> None:
        samples = dict.fromkeys(signature.samples[0] for signature in self.rule.signatures if signature.samples)
        if samples:
            self.heading(w.MESSAGES)
        for sample in samples:
            self.page.hanging(Text("  "), Text(neutral(sample).replace("\n", " ")), 2)

    def causes(self) -> None:
        if self.rule.causes:
            self.heading(w.CAUSES)
        for cause in self.rule.causes:
            self.page.hanging(Text("  - "), inline_text(self.rendering.text(cause.title), "bold"), 4)
            self.page.paragraph(self.rendering.text(cause.text), 4)

    def fixes(self) -> None:
        if self.rule.fixes:
            self.heading(w.FIXES)
        for rank, fix in enumerate(self.rule.fixes, 1):
            self.fix(fix_report(fix, rank, self.rendering))

    def fix(self, fix: FixReport) -> None:
        self.page.hanging(Text(f"  {fix.rank}".ljust(5)), inline_text(fix.title, "bold"), 5)
        self.page.paragraph(fix.why, 5)
        if fix.effect:
            effect = Text(f"{self.words(w.EFFECT)}: ").append_text(inline_text(fix.effect))
            self.page.hanging(Text("     "), effect, 5)
        if fix.cost:
            self.page.hanging(Text("     "), inline_text(self.words(w.COSTS, cost=fix.cost.rstrip(".。"))), 5)
        if fix.risk not in ("", "low"):
            self.page.line(Text("     ").append(self.words(w.RISKS[fix.risk])))
        write_forms(self.page, self.words, fix.commands)
        self.page.line()

    def cautions(self) -> None:
        if self.rule.does_not_help:
            self.heading(w.DOES_NOT_HELP)
        for caution in self.rule.does_not_help:
            self.page.hanging(Text("  - "), inline_text(self.rendering.text(caution.title), "bold"), 4)
            self.page.paragraph(self.rendering.text(caution.text), 4)

    def checks(self) -> None:
        if self.rule.verify:
            self.heading(w.THEN_EXPECT)
        for check in self.rule.verify:
            self.page.hanging(Text("  - "), inline_text(self.rendering.text(check.text)), 4)
            if check.log:
                self.page.hanging(Text("    "), Text(self.rendering.text(check.log), "cyan"), 4)
            if check.command:
                self.page.command(self.rendering.machine(check.command), 4)

    def sources(self) -> None:
        raised = sorted({path for signature in self.rule.signatures for path in signature.raised})
        versions = dict.fromkeys(signature.versions.text for signature in self.rule.signatures)
        self.page.line()
        if any(versions):
            self.page.labelled(self.words(w.VERSIONS), Text("; ".join(filter(None, versions))))
        if raised:
            self.page.labelled(self.words(w.WHERE_RAISED), Text(", ".join(raised)))
        if self.rule.related:
            self.page.labelled(self.words(w.RELATED), Text(", ".join(self.rule.related)))
        references = [Text(f"{reference.title}: {reference.url}") for reference in self.rule.references]
        self.page.labelled_all(self.words(w.REFERENCES), references)
