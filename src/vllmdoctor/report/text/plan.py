"""A plan in, its page on the terminal out: the verdict first, the receipt, the bounds, then the command to run."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from vllmdoctor.memory.plan import NO, TIGHT, Change, Plan, derived_max_model_len
from vllmdoctor.memory.plan_document import change_command, serve_command
from vllmdoctor.memory.plan_receipt import receipt_of_plan
from vllmdoctor.memory.ranges import Range
from vllmdoctor.report import words as w
from vllmdoctor.report.text.page import Page, filled
from vllmdoctor.report.text.receipt import write_receipt
from vllmdoctor.report.untrusted import neutral
from vllmdoctor.report.words import Words

_MOST_CHANGES = 4


def write_plan(
    model: str,
    served: str,
    plan: Plan,
    changes: Sequence[Change],
    gpus: int,
    console: Console,
    words: Words | None = None,
) -> None:
    page, words = Page(console), words or Words()
    _PlanPage(neutral(model), neutral(served), plan, changes, gpus, page, words).write()


class _PlanPage:
    def __init__(
        self,
        model: str,
        served: str,
        plan: Plan,
        changes: Sequence[Change],
        gpus: int,
        page: Page,
        words: Words,
    ) -> None:
        self.model = model
        self.served = served
        self.plan = plan
        self.changes = changes
        self.gpus = gpus
        self.page = page
        self.words = words

    def write(self) -> None:
        self.headline()
        self.page.line()
        write_receipt(self.page, self.words, receipt_of_plan(self.plan), lambda line: "")
        self.bounds()
        self.commands()
        self.notes()

    def headline(self) -> None:
        plan, words = self.plan, self.words
        symbol, style = ("✗", "bold red") if plan.verdict == NO else ("✓", "bold green")
        names = {"model": self.model, "gpu": self.gpu(), "tokens": f"{plan.max_model_len:,}"}
        if plan.verdict != NO:
            message = w.PLAN_TIGHT if plan.verdict == TIGHT else w.PLAN_FITS
            text = words(message, **names, requests=_number(plan.concurrency.best))
        elif plan.kv_available_gib.best >= plan.kv_needed_gib:
            text = words(w.PLAN_NOT_FREE, **names, gib=f"{plan.budget_gib - plan.free_gib.best:.2f} GiB")
        elif plan.kv_available_gib.best <= 0:
            text = words(w.PLAN_NO_KV, **names, gib=f"{-plan.kv_available_gib.best:.2f} GiB")
        else:
            text = words(w.PLAN_DOES_NOT_FIT, **names, gib=f"{plan.missing_gib:.2f} GiB")
        self.page.hanging(Text(symbol, style).append(" "), Text(text, "bold"), 2)

    def gpu(self) -> str:
        name = f"{self.plan.request.gpu.name}"
        return f"{self.gpus} × {name}" if self.gpus > 1 else name

    def bounds(self) -> None:
        plan, words = self.plan, self.words
        header = [words(w.LOW), words(w.BEST), words(w.HIGH)]
        self.page.line(
            Text("  " + filled(words(w.ESTIMATE_OF), 32), "bold").append(
                "".join(" " * (12 - cell_len(h)) + h for h in header)
            )
        )
        for label, amount, unit in (
            (w.RECEIPT_PARTS["weights"], plan.weights_gib, "GiB"),
            (w.RECEIPT_PARTS["kv_available"], plan.kv_available_gib, "GiB"),
            (w.KV_TOKENS, plan.kv_tokens, ""),
            (w.CONCURRENCY, plan.concurrency, "x"),
            (w.LONGEST_CONTEXT, plan.longest_context, ""),
        ):
            label = words(label, tokens=f"{plan.max_model_len:,}") if "{" in label else words(label)
            self.page.line("  " + filled(label, 32) + "".join(f"{_shown(v, unit):>12}" for v in _three(amount)))
        self.page.line("  " + filled(words(w.KV_PER_TOKEN), 32) + f"{plan.cache.bytes_per_token:>10,} B")
        self.page.line()

    def commands(self) -> None:
        words, page = self.words, self.page
        if self.plan.verdict != NO:
            page.line(Text("  " + words(w.THEN_RUN), "bold"))
            page.command(serve_command(self.served, self.plan), 4)
            return
        if not self.changes:
            page.hanging(Text("  "), Text(words(w.NOTHING_FITS)), 2)
            return
        page.line(Text("  " + words(w.WOULD_FIT), "bold"))
        for change in self.changes[:_MOST_CHANGES]:
            if change.gpus > self.gpus:
                page.line("    # " + words(w.WITH_GPUS, count=change.gpus))
            page.command(change_command(self.served, change), 4)

    def notes(self) -> None:
        plan, words = self.plan, self.words
        low, high = plan.utilization_interval
        interval = f"({low:.3f}, {high:.3f}]" if low < high else words(w.INTERVAL_EMPTY)
        notes = [
            words(
                w.PLAN_BASIS,
                source=words.said(plan.weights_source),
                version=plan.request.version,
                era=words.said(plan.era.name),
            ),
            words(w.PLAN_INTERVAL, interval=interval),
        ]
        if plan.cache.fixed_bytes:
            notes.append(words(w.PLAN_HYBRID, mib=f"{plan.cache.fixed_bytes / 2**20:,.0f} MiB"))
        own = derived_max_model_len(plan.request.config)
        if plan.max_model_len > own:
            notes.append(words(w.PLAN_TOO_LONG, tokens=f"{own:,}"))
        if plan.request.gpu.unified:
            notes.append(words(w.PLAN_UNIFIED))
        self.page.line()
        self.page.labelled_all(words(w.NOTE), [Text(note) for note in notes])


def _three(amount: Range) -> tuple[float, float, float]:
    return (amount.low, amount.best, amount.high)


def _shown(value: float, unit: str) -> str:
    if not math.isfinite(value):
        return "∞"
    if unit == "GiB":
        return f"{value:.2f} GiB"
    return f"{value:.2f}x" if unit == "x" else f"{int(value):,}"


def _number(value: float) -> str:
    return "∞" if not math.isfinite(value) else f"{value:.1f}"
