"""A report in, the answer on a terminal out: the root cause first, then what to do, then the rest."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from vllmdoctor.diagnosis.model import CAUSE_NOT_IN_LOG, FAILURE, HEALTHY, NO_VLLM_LOG, ROOT_CAUSE, UNRECOGNIZED
from vllmdoctor.facts.model import Fact
from vllmdoctor.report import words as w
from vllmdoctor.report.folding import earlier_runs, occurrences
from vllmdoctor.report.model import FindingReport, ProvenanceReport, Report
from vllmdoctor.report.rendering import shown_fact
from vllmdoctor.report.shell import quoted
from vllmdoctor.report.text.finding import FindingView, evidence_line, others_of
from vllmdoctor.report.text.inline import inline_text
from vllmdoctor.report.text.page import Page
from vllmdoctor.report.untrusted import shortened
from vllmdoctor.report.words import Words

SYMBOLS = {
    FAILURE: ("✗", "bold red"),
    HEALTHY: ("✓", "bold green"),
    UNRECOGNIZED: ("?", "bold magenta"),
    CAUSE_NOT_IN_LOG: ("?", "bold magenta"),
    NO_VLLM_LOG: ("?", "bold magenta"),
}

_EARLIER_RUNS = 4

# What a healthy log is summarised by: label, fact
_SEEN = (
    (w.VERSION, "vllm_version"),
    (w.MODEL, "model"),
    (w.GPU, "gpu_name"),
    (w.CONTEXT, "max_model_len"),
    (w.KV_CACHE, "kv_cache_tokens"),
)

_INPUTS = 5  # of an archive's thousands


def write_text(report: Report, console: Console, *, show_all: bool = False, words: Words | None = None) -> None:
    """Prints the report. `show_all` adds every fix, cause, fact and form of command."""
    words = words or Words(report.language)
    page = Page(console, label_width=label_width(words))
    _Layout(report, page, words, show_all).write()


def label_width(words: Words) -> int:
    labels = (w.DOES_NOT_HELP, w.THEN_EXPECT, w.ALSO_IN_LOG, w.EARLIER_RUNS, w.CHECK_FIRST, w.READ_MORE, w.LAST_PHASE)
    return 1 + max(cell_len(words(label)) for label in labels)


class _Layout:
    def __init__(self, report: Report, page: Page, words: Words, show_all: bool) -> None:
        self.report = report
        self.page = page
        self.words = words
        self.show_all = show_all
        self.names = [one.name for one in report.inputs]

    def write(self) -> None:
        roots = [finding for finding in self.report.findings if finding.role == ROOT_CAUSE]
        if self.report.status == FAILURE and roots:
            self.failure(roots)
        else:
            self.headline(self.report.headline, "")
            layouts = {HEALTHY: self.healthy, UNRECOGNIZED: self.unrecognized, NO_VLLM_LOG: self.no_log}
            layouts.get(self.report.status, self.cause_not_in_log)()
        self.footer(roots)

    def headline(self, title: str, right: str) -> None:
        symbol, style = SYMBOLS[self.report.status]
        first = Text(symbol, style).append(" ")
        whole = first.copy().append_text(Text(title, "bold"))
        if whole.cell_len <= self.page.width and self.page.with_right(whole.copy(), right):
            return
        self.page.hanging(first, Text(title, "bold"), 2)
        if right:
            self.page.line(Text("  ").append(right))

    def failure(self, roots: list[FindingReport]) -> None:
        view = FindingView(self.page, self.words, self.names, self.show_all)
        for number, root in enumerate(roots):
            if number:
                self.page.line()
                self.page.line(Text("  ").append(self.words(w.SECOND_CAUSE), "bold"))
            self.headline(root.title, root.rule)
            view.write(root, often=occurrences(root, self.report, self.words))
        self.also_in_log(view)

    def also_in_log(self, view: FindingView) -> None:
        others = others_of(self.report)
        rows = [view.other(finding) for finding in others]
        most = len(rows) if self.show_all else 3
        shown = rows[:most]
        if len(rows) > most:
            shown.append(Text(self.words.counted(w.MORE_LINES, len(rows) - most)))
        self.page.labelled_all(self.words(w.ALSO_IN_LOG), shown)

    def healthy(self) -> None:
        words, facts = self.words, self.report.facts
        seen = [f"{words(label)} {self.seen(facts[name])}" for label, name in _SEEN if name in facts]
        if seen:
            self.page.line()
            self.page.labelled(words(w.SEEN), Text(words.listed(seen)))
        view = FindingView(self.page, words, self.names, self.show_all)
        for finding in self.report.findings:
            self.page.line()
            self.page.hanging(Text("  ! "), Text(finding.title, "bold"), 4)
            view.write(finding, brief=not self.show_all)

    def seen(self, fact: Fact) -> str:
        if fact.unit == "tokens":
            return self.words(w.TOKENS, count=f"{fact.value:,}")
        return shown_fact(fact, self.words)

    def unrecognized(self) -> None:
        page, words, unknown = self.page, self.words, self.report.unrecognized
        if unknown:
            evidence_line(page, unknown.evidence, self.names)
            page.line()
            if unknown.message not in self.report.headline:
                page.hanging(Text("  "), Text(unknown.message if self.show_all else shortened(unknown.message, 600)), 2)
                page.line()
            if unknown.raised_at:
                page.labelled(words(w.RAISED), Text(unknown.raised_at))
            if unknown.provenance:
                self.provenance(unknown.provenance)
            if unknown.last_phase:
                page.labelled(words(w.LAST_PHASE), Text(words.said(unknown.last_phase)))
            if unknown.nearest:
                page.labelled(words(w.NEAREST), Text(", ".join(unknown.nearest)))
        page.labelled(words(w.REPORT_IT), words(w.HOW_TO_REPORT))
        self.also_in_log(FindingView(page, words, self.names, self.show_all))

    def provenance(self, place: ProvenanceReport) -> None:
        page, words = self.page, self.words
        shown = words(w.IN_FUNCTION, file=place.file, function=place.function) if place.function else place.file
        page.labelled(words(w.IN_SOURCE), Text(shown))
        if place.values:
            template = place.template if self.show_all else shortened(place.template, 300)
            page.labelled(words(w.TEMPLATE), Text(template))
            values = [words(w.HELD, name=name, value=value) for name, value in place.values.items()]
            page.labelled_all("", map(Text, values))

    def cause_not_in_log(self) -> None:
        view = FindingView(self.page, self.words, self.names, self.show_all)
        findings = others_of(self.report)
        if findings and findings[0].evidence:
            evidence_line(self.page, findings[0].evidence[0], self.names)
        self.page.line()
        self.missing()
        self.also_in_log(view)

    def no_log(self) -> None:
        self.page.line()
        for one in self.report.inputs[:_INPUTS]:
            kinds = ", ".join(one.kinds) or self.words(w.NOTHING_RECOGNIZED)
            self.page.labelled(self.words(w.RECOGNIZED), Text(f"{one.name}: {kinds}"))
        more = len(self.report.inputs) - _INPUTS
        if more > 0:
            self.page.labelled("", Text(self.words.counted(w.MORE_LINES, more)))
        self.page.paragraph(self.words(w.NOT_A_LOG_HINT))
        self.missing()

    def missing(self) -> None:
        if self.report.missing:
            self.page.line(Text("  ").append(self.words(w.TO_NAME_THE_CAUSE), "bold"))
        for sentence in self.report.missing:
            self.page.hanging(Text("  - "), inline_text(sentence), 4)

    def footer(self, roots: list[FindingReport]) -> None:
        words = self.words
        notes = [*self.report.notices, *(f.notice for f in roots if f.notice)]
        notes += [f"{one.name}: {note}" for one in self.report.inputs for note in one.notes]
        self.page.labelled_all(words(w.NOTE), map(Text, dict.fromkeys(notes)))
        self.page.labelled_all(words(w.EARLIER_RUNS), self.earlier_runs())
        if self.report.status in (FAILURE, HEALTHY):
            self.missing()
        if self.show_all and self.report.facts:
            self.facts_table()
        if roots:
            # A page's address stays on one line, as a command's words do: terminals make a link of it.
            explain = "vllmdoctor explain " + quoted(roots[0].rule)
            self.page.labelled_command(words(w.READ_MORE), roots[0].page or explain)
            if not self.show_all:
                self.page.labelled("", inline_text(words(w.MORE_WITH_ALL)))

    def earlier_runs(self) -> list[Text | str]:
        sentences = earlier_runs(self.report, self.words)
        most = len(sentences) if self.show_all else _EARLIER_RUNS
        rows: list[Text | str] = [Text(sentence) for sentence in sentences[:most]]
        if len(sentences) > most:
            rows.append(Text(self.words.counted(w.MORE_LINES, len(sentences) - most)))
        return rows

    def facts_table(self) -> None:
        self.page.line()
        self.page.line(Text("  ").append(self.words(w.FACTS), "bold"))
        widest = max(map(len, self.report.facts))
        for name in sorted(self.report.facts):
            fact = self.report.facts[name]
            place = f"{self.names[fact.origin.input]}:{fact.origin.line}" if fact.origin else ""
            note = place if fact.kind == "read" else self.words(w.KINDS.get(fact.kind, fact.kind))
            value = Text(shown_fact(fact, self.words)).append(
                " " + self.words(w.IN_BRACKETS, note=note) if note else ""
            )
            self.page.hanging(Text("  " + name), value, widest + 4)
        self.page.line()
