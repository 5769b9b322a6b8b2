"""A plan in, its HTML out: the verdict first, the picture, the bounds, then the command to run."""

from __future__ import annotations

import math
from collections.abc import Sequence

from vllmdoctor.memory.plan import NO, TIGHT, Change, Plan, derived_max_model_len
from vllmdoctor.memory.plan_document import change_command, serve_command
from vllmdoctor.memory.plan_receipt import receipt_of_plan
from vllmdoctor.memory.ranges import Range
from vllmdoctor.report import words as w
from vllmdoctor.report.html import labels
from vllmdoctor.report.html.markup import code_block, element, escaped
from vllmdoctor.report.html.receipt import receipt_figure
from vllmdoctor.report.shell import wrapped_command
from vllmdoctor.report.words import Words

_MOST_CHANGES = 4


def plan_html(model: str, served: str, plan: Plan, changes: Sequence[Change], gpus: int, words: Words) -> str:
    """The estimate as one section. `served` stands behind `vllm serve`; `changes` lead to plans that fit."""
    page = _PlanPage(model, served, plan, changes, gpus, words)
    verdict = plan.verdict.replace(" ", "-")
    picture = receipt_figure(receipt_of_plan(plan), None, words)
    content = page.headline() + picture + page.commands() + page.bounds() + page.notes()
    return element("section", content, class_="vd-report vd-plan", lang=words.language, data_verdict=verdict)


class _PlanPage:
    def __init__(self, model: str, served: str, plan: Plan, changes: Sequence[Change], gpus: int, words: Words) -> None:
        self.model = model
        self.served = served
        self.plan = plan
        self.changes = changes
        self.gpus = gpus
        self.words = words

    def headline(self) -> str:
        fits = self.plan.verdict != NO
        symbol = element("span", "✓" if fits else "✗", class_="vd-symbol", aria_hidden="true")
        kind = "healthy" if fits else "failure"
        return element("h3", f"{symbol} {escaped(self.sentence())}", class_=f"vd-headline vd-headline--{kind}")

    def sentence(self) -> str:
        plan, words = self.plan, self.words
        gpu = f"{self.gpus} × {plan.request.gpu.name}" if self.gpus > 1 else plan.request.gpu.name
        names = {"model": self.model, "gpu": gpu, "tokens": f"{plan.max_model_len:,}"}
        if plan.verdict != NO:
            message = w.PLAN_TIGHT if plan.verdict == TIGHT else w.PLAN_FITS
            return words(message, **names, requests=_number(plan.concurrency.best))
        if plan.kv_available_gib.best >= plan.kv_needed_gib:
            return words(w.PLAN_NOT_FREE, **names, gib=f"{plan.budget_gib - plan.free_gib.best:.2f} GiB")
        if plan.kv_available_gib.best <= 0:
            return words(w.PLAN_NO_KV, **names, gib=f"{-plan.kv_available_gib.best:.2f} GiB")
        return words(w.PLAN_DOES_NOT_FIT, **names, gib=f"{plan.missing_gib:.2f} GiB")

    def commands(self) -> str:
        words = self.words
        if self.plan.verdict != NO:
            return self.titled(w.THEN_RUN) + self.command(serve_command(self.served, self.plan))
        if not self.changes:
            return element("p", escaped(words(w.NOTHING_FITS)))
        rows = []
        for change in self.changes[:_MOST_CHANGES]:
            more = element("p", escaped(words(w.WITH_GPUS, count=change.gpus))) if change.gpus > self.gpus else ""
            rows.append(element("li", more + self.command(change_command(self.served, change))))
        return self.titled(w.WOULD_FIT) + element("ul", "".join(rows), class_="vd-changes")

    def titled(self, message: str) -> str:
        return element("h4", escaped(self.words(message)))

    def command(self, command: str) -> str:
        return code_block(wrapped_command(command), self.words(labels.COPY))

    def bounds(self) -> str:
        plan, words = self.plan, self.words
        titles = (w.ESTIMATE_OF, w.LOW, w.BEST, w.HIGH)
        header = "".join(element("th", escaped(words(title)), scope="col") for title in titles)
        rows = [
            (words(w.RECEIPT_PARTS["weights"]), plan.weights_gib, "GiB"),
            (words(w.RECEIPT_PARTS["kv_available"]), plan.kv_available_gib, "GiB"),
            (words(w.KV_TOKENS), plan.kv_tokens, ""),
            (words(w.CONCURRENCY, tokens=f"{plan.max_model_len:,}"), plan.concurrency, "x"),
            (words(w.LONGEST_CONTEXT), plan.longest_context, ""),
        ]
        body = "".join(_row(label, amount, unit) for label, amount, unit in rows)
        table = element("table", element("thead", element("tr", header)) + element("tbody", body))
        per_token = f"{words(w.KV_PER_TOKEN)}: {plan.cache.bytes_per_token:,} B"
        label = words(w.ESTIMATE_OF)
        scrolled = element("div", table, class_="vd-scroll", tabindex=0, role="region", aria_label=label)
        return scrolled + element("p", escaped(per_token))

    def notes(self) -> str:
        plan, words = self.plan, self.words
        low, high = plan.utilization_interval
        interval = f"({low:.3f}, {high:.3f}]" if low < high else words(w.INTERVAL_EMPTY)
        source, era = words.said(plan.weights_source), words.said(plan.era.name)
        notes = [
            words(w.PLAN_BASIS, source=source, version=plan.request.version, era=era),
            words(w.PLAN_INTERVAL, interval=interval),
        ]
        if plan.cache.fixed_bytes:
            notes.append(words(w.PLAN_HYBRID, mib=f"{plan.cache.fixed_bytes / 2**20:,.0f} MiB"))
        own = derived_max_model_len(plan.request.config)
        if plan.max_model_len > own:
            notes.append(words(w.PLAN_TOO_LONG, tokens=f"{own:,}"))
        if plan.request.gpu.unified:
            notes.append(words(w.PLAN_UNIFIED))
        return element("ul", "".join(element("li", escaped(note)) for note in notes), class_="vd-notes")


def _row(label: str, amount: Range, unit: str) -> str:
    cells = "".join(element("td", escaped(_shown(v, unit))) for v in (amount.low, amount.best, amount.high))
    return element("tr", element("th", escaped(label), scope="row") + cells)


def _shown(value: float, unit: str) -> str:
    if not math.isfinite(value):
        return "∞"
    if unit == "GiB":
        return f"{value:.2f} GiB"
    return f"{value:.2f}x" if unit == "x" else f"{int(value):,}"


def _number(value: float) -> str:
    return "∞" if not math.isfinite(value) else f"{value:.1f}"
