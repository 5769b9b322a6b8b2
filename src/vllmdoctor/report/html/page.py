"""A report in, its HTML out: the answer first, what was read from the log last.

All of it is escaped: nothing in a log can become markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vllmdoctor.diagnosis.model import CAUSE_NOT_IN_LOG, FAILURE, HEALTHY, NO_VLLM_LOG, ROOT_CAUSE
from vllmdoctor.facts.model import Fact
from vllmdoctor.report import words as w
from vllmdoctor.report.folding import earlier_runs
from vllmdoctor.report.html.finding import FindingHtml, RuleUrl, evidence_list, line_button
from vllmdoctor.report.html.markup import element, escaped, inline, link
from vllmdoctor.report.model import FindingReport, Report
from vllmdoctor.report.rendering import shown_fact
from vllmdoctor.report.shell import quoted
from vllmdoctor.report.untrusted import shortened
from vllmdoctor.report.words import Words

_VALUE_CHARACTERS = 300
_SYMBOLS = {FAILURE: "✗", HEALTHY: "✓"}
_SEEN = (
    (w.VERSION, "vllm_version"),
    (w.MODEL, "model"),
    (w.GPU, "gpu_name"),
    (w.CONTEXT, "max_model_len"),
    (w.KV_CACHE, "kv_cache_tokens"),
)


def report_html(report: Report, *, language: str, rule_url: RuleUrl, words: Words | None = None) -> str:
    """The report as one section. `rule_url` gives the address of a rule's page. Headings begin at the second level.

    `data-line` and `data-input` of a button name a line of the log, `data-copy` marks a button that copies the code
    beside it.
    """
    page = _Page(report, words or Words(language), rule_url)
    content = "".join([*page.answer(), *page.rest(), page.facts()])
    return element("section", content, class_="vd-report", lang=language, data_status=report.status)


class _Page:
    def __init__(self, report: Report, words: Words, rule_url: RuleUrl) -> None:
        self.report = report
        self.words = words
        self.rule_url = rule_url
        self.roots = [finding for finding in report.findings if finding.role == ROOT_CAUSE]
        self.others = [finding for finding in report.findings if finding.role != ROOT_CAUSE]

    def view(self, finding: FindingReport) -> FindingHtml:
        return FindingHtml(finding, self.report, self.words, self.rule_url)

    def headline(self, shown: str, below: Sequence[str] = ()) -> str:
        """The symbol says nothing that the words do not say."""
        status = self.report.status
        symbol = element("span", _SYMBOLS.get(status, "?"), class_="vd-symbol", aria_hidden="true")
        title = element("h2", f"{symbol} {shown}", class_=f"vd-headline vd-headline--{status}", tabindex=-1)
        return title + (element("p", " · ".join(below), class_="vd-status") if below else "")

    def labelled(self, message: str, values: Iterable[str]) -> str:
        """A heading and what it says, as a list when there are several things."""
        shown = list(values)
        if not shown:
            return ""
        body = element("p", shown[0]) if len(shown) == 1 else element("ul", "".join(element("li", v) for v in shown))
        return element("h3", escaped(self.words(message))) + body

    def answer(self) -> list[str]:
        report, words = self.report, self.words
        if report.status == FAILURE and self.roots:
            return self.failure()
        head = self.headline(escaped(report.headline))
        if report.status == HEALTHY:
            return [head, self.seen(), *(self.view(finding).warning() for finding in report.findings)]
        if report.status == NO_VLLM_LOG:
            return [head, self.recognised(), element("p", inline(words(w.NOT_A_LOG_HINT))), self.missing()]
        if report.status == CAUSE_NOT_IN_LOG:
            evidence = self.others[0].evidence[:1] if self.others else ()
            return [head, evidence_list(evidence, report, words), self.missing()]
        return [head, *self.unrecognized()]

    def failure(self) -> list[str]:
        parts: list[str] = []
        status = escaped(self.words.for_status(FAILURE))
        for number, root in enumerate(self.roots):
            view = self.view(root)
            if number:
                parts.append(element("p", escaped(self.words(w.SECOND_CAUSE)), class_="vd-second"))
            parts += [self.headline(inline(root.title), [status, view.rule_link()]), *view.parts()]
        return parts

    def seen(self) -> str:
        facts = self.report.facts
        shown = [f"{self.words(label)} {shown_fact(facts[name], self.words)}" for label, name in _SEEN if name in facts]
        return element("p", escaped(f"{self.words(w.SEEN)}: {self.words.listed(shown)}")) if shown else ""

    def unrecognized(self) -> list[str]:
        unknown, words = self.report.unrecognized, self.words
        if unknown is None:
            return []
        parts = [evidence_list([unknown.evidence], self.report, words)]
        parts.append(self.labelled(w.RAISED, [_code(unknown.raised_at)] if unknown.raised_at else []))
        if place := unknown.provenance:
            shown = words(w.IN_FUNCTION, file=place.file, function=place.function) if place.function else place.file
            parts.append(self.labelled(w.IN_SOURCE, [_code(shown)]))
            held = [_code(words(w.HELD, name=name, value=value)) for name, value in place.values.items()]
            parts.append(self.labelled(w.TEMPLATE, [_code(place.template), *held] if held else []))
        parts.append(
            self.labelled(w.LAST_PHASE, [escaped(words.said(unknown.last_phase))] if unknown.last_phase else [])
        )
        parts.append(self.labelled(w.NEAREST, [self.rule_link(rule) for rule in unknown.nearest]))
        parts.append(self.labelled(w.REPORT_IT, [inline(words(w.HOW_TO_REPORT))]))
        return parts

    def rule_link(self, rule: str) -> str:
        return element("a", _code(rule), href=self.rule_url(rule))

    def recognised(self) -> str:
        nothing = self.words(w.NOTHING_RECOGNIZED)
        shown = [f"{_code(one.name)}: {escaped(', '.join(one.kinds) or nothing)}" for one in self.report.inputs]
        return self.labelled(w.RECOGNIZED, shown)

    def missing(self) -> str:
        rows = "".join(element("li", inline(sentence)) for sentence in self.report.missing)
        title = element("h3", escaped(self.words(w.TO_NAME_THE_CAUSE)))
        return title + element("ul", rows) if rows else ""

    def rest(self) -> list[str]:
        """What follows the answer in every status."""
        report, words = self.report, self.words
        notes = [inline(notice) for notice in (*report.notices, *(f.notice for f in self.roots if f.notice))]
        notes += [f"{_code(one.name)}: {escaped(note)}" for one in report.inputs for note in one.notes]
        others = [] if report.status == HEALTHY else self.others
        parts = [
            self.labelled(w.ALSO_IN_LOG, [self.view(finding).line() for finding in others]),
            self.labelled(w.NOTE, dict.fromkeys(notes)),
            self.labelled(w.EARLIER_RUNS, map(escaped, earlier_runs(report, words))),
            self.missing() if report.status in (FAILURE, HEALTHY) else "",
        ]
        if self.roots:
            root = self.roots[0]
            page = element("a", inline(root.title), href=self.rule_url(root.rule))
            command = _code("vllmdoctor explain " + quoted(root.rule))
            parts.append(
                self.labelled(w.READ_MORE, [page, command, *(link(escaped(t), u) for t, u in root.references)])
            )
        return parts

    def facts(self) -> str:
        facts = self.report.facts
        if not facts:
            return ""
        header = "".join(element("th", escaped(self.words(t)), scope="col") for t in (w.FACT, w.VALUE, w.SOURCE))
        rows = "".join(self.fact_row(facts[name]) for name in sorted(facts))
        table = element("table", element("thead", element("tr", header)) + element("tbody", rows))
        summary = element("summary", escaped(self.words.counted(w.FACTS_COUNTED, len(facts))))
        scrolled = element(
            "div", table, class_="vd-scroll", tabindex=0, role="region", aria_label=self.words(w.FACTS)
        )  # a wide table scrolls, by keyboard too
        return element("details", summary + scrolled, class_="vd-facts")

    def fact_row(self, fact: Fact) -> str:
        value = _code(shortened(shown_fact(fact, self.words), _VALUE_CHARACTERS))
        source = escaped(self.words(w.KINDS.get(fact.kind, fact.kind)))
        if fact.origin and fact.kind == "read":
            name = self.report.inputs[fact.origin.input].name
            label = escaped(f"{name}:{fact.origin.line}")
            source = line_button(fact.origin.input, fact.origin.line, label, self.words)
        head = element("th", _code(fact.name), scope="row")
        return element("tr", f"{head}<td>{value}</td><td>{source}</td>")


def _code(text: str) -> str:
    return element("code", escaped(text))
