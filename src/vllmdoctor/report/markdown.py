"""A report in, Markdown for an issue or a job summary out: the answer first, what was read from the log last.

Text of the log stands in code blocks, or goes through `safe_markdown`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vllmdoctor.diagnosis.model import CAUSE_NOT_IN_LOG, FAILURE, HEALTHY, NO_VLLM_LOG, ROOT_CAUSE
from vllmdoctor.facts.model import Fact
from vllmdoctor.report import words as w
from vllmdoctor.report.folding import earlier_runs, evidence_text
from vllmdoctor.report.markdown_finding import FindingMarkdown
from vllmdoctor.report.model import FindingReport, Report
from vllmdoctor.report.rendering import shown_fact
from vllmdoctor.report.safe_markdown import at_line_start, cell_code, code, fenced, inline, link, prose, table
from vllmdoctor.report.shell import quoted
from vllmdoctor.report.untrusted import shortened
from vllmdoctor.report.words import Words

# GitHub takes 65,536 characters in an issue or a comment.
MOST_CHARACTERS = 60_000
_VALUE_CHARACTERS = 300
_SYMBOLS = {FAILURE: "✗", HEALTHY: "✓"}
_VERSIONS = (
    ("vLLM", "vllm_version"),
    ("PyTorch", "torch_version"),
    ("Transformers", "transformers_version"),
    ("CUDA", "cuda_version"),
    ("NVIDIA driver", "driver_version"),
    ("NCCL", "nccl_version"),
)


def report_markdown(report: Report, *, version: str, show_all: bool = False, words: Words | None = None) -> str:
    """The report as Markdown that ends with a line end. `version` is vllmdoctor's.

    What would make it too long for an issue is left out from the end, and that is said.
    """
    page = _Page(report, words or Words(report.language), show_all)
    parts = [part for part in (*page.answer(), *page.rest()) if part]
    optional = [part for part in (page.facts(),) if part]
    footer = page.versions(version)
    note = [page.sentence(w.LEFT_OUT), ""]
    shown: list[str] = []
    room = MOST_CHARACTERS - _size(footer) - _size(note)
    for part in (*parts, *optional):
        if _size(part) > room:
            shown += note
            break
        room -= _size(part)
        shown += part
    return "\n".join([*shown, *footer]) + "\n"


def _size(lines: Iterable[str]) -> int:
    return sum(len(line) + 1 for line in lines)


class _Page:
    """Parts as lists of lines; each part ends with an empty line."""

    def __init__(self, report: Report, words: Words, show_all: bool) -> None:
        self.report = report
        self.words = words
        self.show_all = show_all
        self.roots = [finding for finding in report.findings if finding.role == ROOT_CAUSE]
        self.others = [finding for finding in report.findings if finding.role != ROOT_CAUSE]

    def view(self, finding: FindingReport) -> FindingMarkdown:
        return FindingMarkdown(finding, self.report, self.words, self.show_all)

    def sentence(self, message: str) -> str:
        return inline(self.words(message))

    def heading(self, shown: str) -> list[str]:
        return [f"## {_SYMBOLS.get(self.report.status, '?')} {shown}", ""]

    def label(self, message: str, values: Iterable[str]) -> list[str]:
        """A bold label and what it says: on one line, or as a list."""
        shown = list(values)
        if not shown:
            return []
        title = f"**{prose(self.words(message))}**"
        if len(shown) == 1:
            return [f"{title}: {shown[0]}", ""]
        return [title, "", *(f"- {at_line_start(one)}" for one in shown), ""]

    def answer(self) -> list[list[str]]:
        status = self.report.status
        if status == FAILURE and self.roots:
            return self.failure()
        head = self.heading(prose(self.report.headline))
        if status == HEALTHY:
            return [head, *(part for finding in self.report.findings for part in self.view(finding).warning())]
        if status == NO_VLLM_LOG:
            return [head, self.recognised(), [self.sentence(w.NOT_A_LOG_HINT), ""], self.missing()]
        if status == CAUSE_NOT_IN_LOG:
            evidence = self.others[0].evidence[:1] if self.others else ()
            return [head, evidence_block([evidence_text(one, self.report) for one in evidence]), self.missing()]
        return [head, *self.unrecognized()]

    def failure(self) -> list[list[str]]:
        parts: list[list[str]] = []
        for number, root in enumerate(self.roots):
            if number:
                parts.append([f"**{prose(self.words(w.SECOND_CAUSE))}**", ""])
            parts += [self.heading(inline(root.title)), *self.view(root).parts()]
        return parts

    def unrecognized(self) -> list[list[str]]:
        unknown, words = self.report.unrecognized, self.words
        if unknown is None:
            return []
        parts = [evidence_block([evidence_text(unknown.evidence, self.report)])]
        parts.append(self.label(w.RAISED, [code(unknown.raised_at)] if unknown.raised_at else []))
        if place := unknown.provenance:
            shown = words(w.IN_FUNCTION, file=place.file, function=place.function) if place.function else place.file
            parts.append(self.label(w.IN_SOURCE, [code(shown)]))
            held = [code(words(w.HELD, name=name, value=value)) for name, value in place.values.items()]
            parts.append(self.label(w.TEMPLATE, [code(place.template), *held] if held else []))
        parts.append(self.label(w.LAST_PHASE, [code(words.said(unknown.last_phase))] if unknown.last_phase else []))
        parts.append(self.label(w.NEAREST, [", ".join(map(code, unknown.nearest))] if unknown.nearest else []))
        parts.append(self.label(w.REPORT_IT, [self.sentence(w.HOW_TO_REPORT)]))
        return parts

    def recognised(self) -> list[str]:
        nothing = self.words(w.NOTHING_RECOGNIZED)
        shown = [f"{code(one.name)}: {prose(', '.join(one.kinds) or nothing)}" for one in self.report.inputs]
        return self.label(w.RECOGNIZED, shown)

    def missing(self) -> list[str]:
        if not self.report.missing:
            return []
        title = f"**{prose(self.words(w.TO_NAME_THE_CAUSE))}**"
        return [title, "", *(f"- {inline(sentence)}" for sentence in self.report.missing), ""]

    def rest(self) -> list[list[str]]:
        """What follows the answer in every status."""
        report, words = self.report, self.words
        notes = [inline(notice) for notice in (*report.notices, *(f.notice for f in self.roots if f.notice))]
        notes += [f"{code(one.name)}: {prose(note)}" for one in report.inputs for note in one.notes]
        others = [] if report.status == HEALTHY else self.others
        parts = [
            self.label(w.ALSO_IN_LOG, [self.view(finding).line() for finding in others]),
            self.label(w.NOTE, dict.fromkeys(notes)),
            self.label(w.EARLIER_RUNS, map(prose, earlier_runs(report, words))),
            self.missing() if report.status in (FAILURE, HEALTHY) else [],
        ]
        if self.roots:
            root = self.roots[0]
            page = link(root.page, root.page) if root.page else code("vllmdoctor explain " + quoted(root.rule))
            parts.append(self.label(w.READ_MORE, [page, *self.view(root).references()]))
        return parts

    def facts(self) -> list[str]:
        facts = self.report.facts
        if not facts:
            return []
        header = [prose(self.words(title)) for title in (w.FACT, w.VALUE, w.SOURCE)]
        rows = [self.fact_row(facts[name]) for name in sorted(facts)]
        summary = prose(self.words.counted(w.FACTS_COUNTED, len(facts)))
        return ["<details>", f"<summary>{summary}</summary>", "", *table(header, rows), "", "</details>", ""]

    def fact_row(self, fact: Fact) -> Sequence[str]:
        value = cell_code(shortened(shown_fact(fact, self.words), _VALUE_CHARACTERS))
        if fact.origin and fact.kind == "read":
            names = [one.name for one in self.report.inputs]
            return (cell_code(fact.name), value, cell_code(f"{names[fact.origin.input]}:{fact.origin.line}"))
        return (cell_code(fact.name), value, prose(self.words(w.KINDS.get(fact.kind, fact.kind))))

    def versions(self, version: str) -> list[str]:
        facts = self.report.facts
        shown = [f"vllmdoctor {code(version)}"]
        shown += [f"{name} {code(str(facts[fact].value))}" for name, fact in _VERSIONS if fact in facts]
        return [f"{prose(self.words(w.TOOL_VERSIONS))}: {', '.join(shown)}"]


def evidence_block(texts: Sequence[str]) -> list[str]:
    return [*fenced("\n".join(texts)), ""] if texts else []
