"""The page of a rule: message, meaning, an example with the analyzer's output, causes, fixes, checks, wordings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from vllmdoctor.diagnosis.model import CONSEQUENCE
from vllmdoctor.facts.model import READ
from vllmdoctor.report import words as w
from vllmdoctor.report.build_fixes import fix_report
from vllmdoctor.report.inline import plain_text
from vllmdoctor.report.rendering import shown_fact
from vllmdoctor.rules.expressions import Expression
from vllmdoctor.rules.model import Fix, Rule, Signature
from vllmdoctor.site import markdown as md
from vllmdoctor.site import words as s
from vllmdoctor.site.context import Site
from vllmdoctor.site.example import Example
from vllmdoctor.site.messages import message_title, wordings
from vllmdoctor.site.pages.fixes import command_tabs
from vllmdoctor.site.plain import description

_FOLD_WORDINGS = 6
_GROUP = re.compile(r"\(\?P<(\w+)>")


def page(rule: Rule, site: Site) -> str:
    return _RulePage(rule, site).page()


class _RulePage:
    """Parts as lists of lines, each ending with an empty line."""

    def __init__(self, rule: Rule, site: Site) -> None:
        self.rule = rule
        self.site = site
        self.words = site.words
        self.title = site.title(rule)
        self.wordings = wordings(rule)

    def text(self, source: str) -> list[str]:
        return md.paragraphs(source)

    def page(self) -> str:
        title = plain_text(self.title)
        summary = plain_text(self.site.rendering.text(self.rule.summary))
        meta = {
            "title": f"{title} – {message_title(self.site.message(self.rule))}",
            "description": description(self.words(s.RULE_DESCRIPTION, title=title, summary=summary)),
            "tags": [self.rule.id],
        }
        parts = (
            [f"# {md.inline(self.title)} {{ #{self.rule.id} }}", ""],
            self.notice(),
            self.place(),
            self.message(),
            self.meaning(),
            self.example(),
            self.causes(),
            self.fixes(),
            self.cautions(),
            self.checks(),
            self.versions(),
            self.related(),
            self.references(),
            self.neighbours(),
        )
        return md.page(meta, [line for part in parts for line in part])

    def heading(self, message: str, anchor: str) -> list[str]:
        return md.heading(2, md.escaped(self.words(message)), anchor)

    def notice(self) -> list[str]:
        state = self.site.catalogue.notices.get(self.rule.id, "")
        if not state:
            return []
        message = s.PAGE_MISSING if state == "missing" else s.PAGE_STALE
        link = f"{self.site.address}en/rules/{self.rule.id}/"
        return md.admonition("warning", self.words(w.NOTE), [self.words(message, link=link)])

    def place(self) -> list[str]:
        """One line under the title: id, category, severity, phase."""
        words, rule = self.words, self.rule
        category = md.link(words(s.CATEGORIES[rule.category]), f"../categories/{rule.category}.md")
        shown = [
            md.code(rule.id),
            category,
            md.escaped(words(s.SEVERITIES[rule.severity])),
        ]
        if rule.phase != "any":
            shown.append(f"{md.escaped(words(s.PHASE))}: {md.escaped(words.said(rule.phase))}")
        lines = [" · ".join(shown), "{ .rule-place }", ""]
        if rule.role == CONSEQUENCE:
            lines += md.admonition("danger", words(w.NOTE), [md.inline(words(s.NOT_A_CAUSE))])
        return lines

    def message(self) -> list[str]:
        return [*self.heading(s.THE_MESSAGE, "message"), *md.fenced(self.site.message(self.rule)), ""]

    def meaning(self) -> list[str]:
        lines = [*self.heading(w.MEANING, "meaning"), *self.text(self.site.rendering.text(self.rule.summary))]
        check = self.text(self.site.rendering.text(self.rule.first_check))
        return lines + (md.admonition("tip", self.words(w.CHECK_FIRST), check) if check else [])

    def example(self) -> list[str]:
        example, words = self.site.examples.get(self.rule.id), self.words
        if example is None:
            return []
        count = example.log.count("\n")
        log = md.folded("example", words.counted(s.EXAMPLE_LOG, count), md.fenced(example.log))
        return [
            *self.heading(s.EXAMPLE, "example"),
            *log,
            words(s.EXAMPLE_TEXT),
            "",
            *md.fenced(example.output),
            "",
            words(s.ANALYZE_YOURS, link="../analyze/index.md"),
            "",
            *self.facts(example),
        ]

    def facts(self, example: Example) -> list[str]:
        """The facts that the rule reads or needs: what the example's log says of them, and those that it lacks."""
        words, book = self.words, self.site.catalogue.facts
        known = example.report.facts
        names = [name for name in _facts_of(self.rule) if name in book.names]
        rows = []
        for name in names:
            if fact := known.get(name):
                place = words(w.KINDS.get(fact.kind, fact.kind))
                if fact.origin and fact.kind == READ:
                    place = words(s.LINE_OF_LOG, line=fact.origin.line)
                title = md.escaped(words.said(book.names[name].title))
                rows.append([title, md.cell_code(name), md.cell_code(shown_fact(fact, words)), md.escaped(place)])
        lines = []
        if rows:
            lines += [*md.table([words(w.FACT), "", words(s.IN_EXAMPLE), words(w.SOURCE)], rows), ""]
        lacking = [self.site.rendering.title_of(name) for name in names if name not in known]
        if lacking:
            lines += [md.escaped(words(s.ALSO_USED, facts=words.listed(lacking))), "{ .rule-decides }", ""]
        return [*md.heading(3, md.escaped(words(s.FACTS_READ)), "facts"), *lines] if lines else []

    def causes(self) -> list[str]:
        if not self.rule.causes:
            return []
        lines = self.heading(s.CAUSES_APART, "causes")
        for cause in self.rule.causes:
            text = self.site.rendering.text
            lines += md.heading(3, md.inline(text(cause.title)), f"cause-{cause.id}")
            lines += self.text(text(cause.text))
            lines += self.decided_by(s.CONFIRMED_BY, cause.when)
        return lines

    def decided_by(self, message: str, condition: Expression | None) -> list[str]:
        names = sorted(condition.facts()) if condition else []
        titles = [self.site.rendering.title_of(n) for n in names if n in self.site.catalogue.facts.names]
        if not titles:
            return []
        return [md.escaped(self.words(message, facts=self.words.listed(titles))), "{ .rule-decides }", ""]

    def fixes(self) -> list[str]:
        if not self.rule.fixes:
            return []
        lines = self.heading(w.FIXES, "fixes")
        for rank, fix in enumerate(self.rule.fixes, 1):
            lines += self.fix(fix, rank)
        return lines

    def fix(self, fix: Fix, rank: int) -> list[str]:
        words = self.words
        shown = fix_report(fix, rank, self.site.rendering)
        lines = md.heading(3, f"{rank}\\. {md.inline(shown.title)}", f"fix-{fix.id}")
        lines += self.text(shown.why)
        facts = [f"{md.escaped(words(w.EFFECT))}: {md.inline(shown.effect)}"] if shown.effect else []
        facts += [f"{md.escaped(words(s.COST))}: {md.inline(shown.cost)}"] if shown.cost else []
        facts += [md.escaped(words(w.RISKS[shown.risk]))] if shown.risk not in ("", "low") else []
        versions = fix.remedy.versions.text
        facts += [f"{md.escaped(words(w.VERSIONS))}: {md.code(versions)}"] if versions else []
        lines += [*(f"- {fact}" for fact in facts), ""] if facts else []
        lines += self.decided_by(s.NEEDS, fix.when)
        lines += command_tabs(shown.commands, words)
        if fix.remedy.id in self.site.catalogue.remedies:
            lines += [md.link(words(s.WHAT_IT_DOES), f"../remedies/{fix.remedy.id}.md"), ""]
        return lines

    def cautions(self) -> list[str]:
        if not self.rule.does_not_help:
            return []
        text = self.site.rendering.text
        rows = [
            f"- **{md.inline(text(caution.title))}**: {md.inline(text(caution.text))}"
            for caution in self.rule.does_not_help
        ]
        return [*self.heading(w.DOES_NOT_HELP, "does-not-help"), *rows, ""]

    def checks(self) -> list[str]:
        if not self.rule.verify:
            return []
        rendering = self.site.rendering
        lines = self.heading(s.VERIFY, "verify")
        for check in self.rule.verify:
            lines += self.text(rendering.text(check.text))
            lines += [*md.fenced(rendering.text(check.log)), ""] if check.log else []
            lines += [*md.fenced(rendering.machine(check.command), "sh"), ""] if check.command else []
        return lines

    def versions(self) -> list[str]:
        words = self.words
        header = [escape(words(label)) for label in (s.WORDING, w.VERSIONS, w.WHERE_RAISED)]
        rows = [
            [md.html_code(one.text), md.html_code(one.signature.versions.text) or escape(words(s.ANY_VERSION)), place]
            for one in self.wordings
            for place in [self.origin(one.signature)]
        ]
        table = md.html_table(header, rows)
        if len(rows) > _FOLD_WORDINGS:
            summary = escape(words.counted(s.ALL_WORDINGS, len(rows)))
            table = ['<details class="abstract">', f"<summary>{summary}</summary>", *table, "</details>"]
        block = ['<div class="wordings" markdown="0">', *table, "</div>", ""]
        return [*self.heading(s.OTHER_WORDINGS, "wordings"), *block]

    def origin(self, signature: Signature) -> str:
        if signature.raised:
            return ", ".join(map(md.html_code, signature.raised))
        if signature.origin in ("", "vllm"):
            return ""
        return escape(self.words(s.FROM_PROGRAM, program=signature.origin))

    def related(self) -> list[str]:
        rules = [rule for name in self.rule.related if (rule := self.site.catalogue.rule(name))]
        if not rules:
            return []
        rows = [f"- {self.link_to(rule)}" for rule in rules]
        return [*self.heading(s.RELATED_ERRORS, "related"), *rows, ""]

    def link_to(self, rule: Rule) -> str:
        return md.link(plain_text(self.site.title(rule)), f"{rule.id}.md")

    def references(self) -> list[str]:
        if not self.rule.references:
            return []
        rows = [f"- {md.link(reference.title, reference.url)}" for reference in self.rule.references]
        return [*self.heading(w.REFERENCES, "references"), *rows, ""]

    def neighbours(self) -> list[str]:
        """The rules before and after in the category."""
        rules = self.site.by_category[self.rule.category]
        place = [rule.id for rule in rules].index(self.rule.id)
        words = self.words
        rows = []
        if place:
            rows.append(f"- {md.escaped(words(s.PREVIOUS))}: {self.link_to(rules[place - 1])}")
        if place + 1 < len(rules):
            rows.append(f"- {md.escaped(words(s.NEXT))}: {self.link_to(rules[place + 1])}")
        return [*self.heading(s.MORE_OF_CATEGORY, "more"), *rows, ""] if rows else []


def _facts_of(rule: Rule) -> list[str]:
    """Names of the facts that the rule reads from its message, shows in its texts or decides by."""
    named = [name for signature in rule.signatures for name in _GROUP.findall(signature.pattern)]
    texts = [rule.title, rule.summary, *(cause.text for cause in rule.causes), *(fix.text for fix in rule.fixes)]
    shown = [name for text in texts for name in sorted(text.known.facts() | text.unknown.facts())]
    conditions = [cause.when for cause in rule.causes] + [fix.when for fix in rule.fixes]
    conditions += [argument for fix in rule.fixes for argument in fix.arguments.values()]
    deciding = [name for condition in _given(conditions) for name in sorted(condition.facts())]
    return list(dict.fromkeys([*named, *shown, *deciding]))


def _given(conditions: Iterable[Expression | None]) -> list[Expression]:
    return [condition for condition in conditions if condition is not None]
