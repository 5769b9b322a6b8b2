"""A plan in, its HTML out: the verdict first, the picture, the bounds, then the command to run."""

from __future__ import annotations

from collections.abc import Sequence

from vllmdoctor.memory.plan import NO, Change, Plan
from vllmdoctor.memory.plan_document import change_command, serve_command
from vllmdoctor.memory.plan_receipt import receipt_of_plan
from vllmdoctor.report import words as w
from vllmdoctor.report.html import labels
from vllmdoctor.report.html.markup import code_block, element, escaped
from vllmdoctor.report.html.receipt import receipt_figure
from vllmdoctor.report.plan_words import MOST_CHANGES, plan_notes, plan_rows, plan_sentence
from vllmdoctor.report.shell import wrapped_command
from vllmdoctor.report.words import Words


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
        return element(
            "h3",
            f"{symbol} {escaped(plan_sentence(self.plan, self.model, self.gpus, self.words))}",
            class_=f"vd-headline vd-headline--{kind}",
        )

    def commands(self) -> str:
        words = self.words
        if self.plan.verdict != NO:
            return self.titled(w.THEN_RUN) + self.command(serve_command(self.served, self.plan))
        if not self.changes:
            return element("p", escaped(words(w.NOTHING_FITS)))
        rows = []
        for change in self.changes[:MOST_CHANGES]:
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
        body = "".join(_row(label, amounts) for label, amounts in plan_rows(plan, words))
        table = element("table", element("thead", element("tr", header)) + element("tbody", body))
        per_token = f"{words(w.KV_PER_TOKEN)}: {plan.cache.bytes_per_token:,} B"
        label = words(w.ESTIMATE_OF)
        scrolled = element("div", table, class_="vd-scroll", tabindex=0, role="region", aria_label=label)
        return scrolled + element("p", escaped(per_token))

    def notes(self) -> str:
        rows = (element("li", escaped(note)) for note in plan_notes(self.plan, self.words))
        return element("ul", "".join(rows), class_="vd-notes")


def _row(label: str, amounts: Sequence[str]) -> str:
    cells = "".join(element("td", escaped(amount)) for amount in amounts)
    return element("tr", element("th", escaped(label), scope="row") + cells)
