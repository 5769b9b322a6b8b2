"""A plan in, its page on the terminal out: the verdict first, the receipt, the bounds, then the command to run."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from vllmdoctor.memory.plan import NO, Change, Plan
from vllmdoctor.memory.plan_document import change_command, serve_command
from vllmdoctor.memory.plan_receipt import receipt_of_plan
from vllmdoctor.report import words as w
from vllmdoctor.report.plan_words import MOST_CHANGES, plan_notes, plan_rows, plan_sentence
from vllmdoctor.report.text.page import Page, filled
from vllmdoctor.report.text.receipt import write_receipt
from vllmdoctor.report.untrusted import neutral
from vllmdoctor.report.words import Words


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
        symbol, style = ("✗", "bold red") if self.plan.verdict == NO else ("✓", "bold green")
        sentence = plan_sentence(self.plan, self.model, self.gpus, self.words)
        self.page.hanging(Text(symbol, style).append(" "), Text(sentence, "bold"), 2)

    def bounds(self) -> None:
        plan, words = self.plan, self.words
        header = [words(w.LOW), words(w.BEST), words(w.HIGH)]
        self.page.line(
            Text("  " + filled(words(w.ESTIMATE_OF), 32), "bold").append(
                "".join(" " * (12 - cell_len(h)) + h for h in header)
            )
        )
        for label, amounts in plan_rows(plan, words):
            self.page.line("  " + filled(label, 32) + "".join(f"{amount:>12}" for amount in amounts))
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
        for change in self.changes[:MOST_CHANGES]:
            if change.gpus > self.gpus:
                page.line("    # " + words(w.WITH_GPUS, count=change.gpus))
            page.command(change_command(self.served, change), 4)

    def notes(self) -> None:
        self.page.line()
        self.page.labelled_all(self.words(w.NOTE), map(Text, plan_notes(self.plan, self.words)))
