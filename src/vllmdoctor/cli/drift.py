"""`vllmdoctor rules drift`: a vLLM (folder or table of its messages) in, what the rules missed of it out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from vllmdoctor.cli.language import current_words
from vllmdoctor.cli.output import flush_quietly, open_console, write_json
from vllmdoctor.languages import Counted, Message
from vllmdoctor.report.json import Json, json_text
from vllmdoctor.report.text.page import filled
from vllmdoctor.report.untrusted import neutral, shortened
from vllmdoctor.report.words import Words
from vllmdoctor.rules.load import load_catalogue
from vllmdoctor.upstream.areas import AREAS, CHECKS
from vllmdoctor.upstream.coverage import ASSERT, KINDS, Coverage, Share, kind_of
from vllmdoctor.upstream.drift import Drift, drift_of, read_source
from vllmdoctor.upstream.templates import RAISE, Template

if TYPE_CHECKING:
    from vllmdoctor.cli.columns import LabelledPage

_UNCOVERED = 40
_AREA_CELLS, _SHARE_CELLS, _KIND_CELLS = 20, 14, 10


def print_drift(vllm: Path, version: str, *, as_json: bool, rules_folders: Sequence[Path]) -> int:
    """1 when the source contradicts a rule, else 0. Raises InputError or UsageError for a path that is no vLLM."""
    source = read_source(vllm, version)
    drift = drift_of(load_catalogue("en", rules_folders), source)
    with suppress(BrokenPipeError):
        if as_json:
            write_json(json_text(drift_document(drift)))
        else:
            _write_drift(drift, current_words())
    flush_quietly()
    return 1 if drift.faults else 0


def _write_drift(drift: Drift, words: Words) -> None:
    from vllmdoctor.cli.columns import LabelledPage

    page = LabelledPage(open_console(), words)
    page.paragraph(
        Message(
            "vLLM {version}: {messages}; {signatures}",
            version=drift.version,
            messages=Counted("{count} message", "{count} messages", drift.templates),
            signatures=Counted(
                "{count} signature says that vLLM prints it",
                "{count} signatures say that vLLM prints them",
                drift.signatures,
            ),
        )
    )
    page.heading(Message("contradicted claims: {count}", count=len(drift.faults)))
    for fault in drift.faults:
        place = Message("{rule} signature {numbers}", rule=fault.rule, numbers=fault.number)
        page.paragraph(neutral(f"{words.said(place)}: {words.said(fault.text)} ({fault.kind})"), 2)
    if drift.unfound:
        page.paragraph(Message("not among these messages, so not checked: {count}", count=len(drift.unfound)))
        numbers: dict[str, list[str]] = {}
        for unfound in drift.unfound:
            numbers.setdefault(unfound.rule, []).append(str(unfound.number))
        for rule, signatures in numbers.items():
            page.paragraph(Message("{rule} signature {numbers}", rule=rule, numbers=", ".join(signatures)), 2)
    _write_coverage(page, drift.coverage)
    _write_uncovered(page, drift.coverage.uncovered)


def _write_coverage(page: LabelledPage, coverage: Coverage) -> None:
    said = page.words.said
    page.heading(Message("messages that a rule knows"))
    rows = [("", list(KINDS))]
    rows += [(said(a.name), [_known(coverage.share([a.name], [kind])) for kind in KINDS]) for a in AREAS]
    rows.append((said(Message("all")), [_known(coverage.share(kinds=[kind])) for kind in KINDS]))
    for label, cells in rows:
        page.page.line("  " + filled(label, _AREA_CELLS) + "".join(f"{cell:>{_SHARE_CELLS}}" for cell in cells))
    family = ", ".join(f"{kind} {coverage.share(kinds=[kind]).generic:,}" for kind in KINDS)
    page.paragraph(Message("of those by a rule for a whole family: {counts}", counts=family), 2)
    names = page.words.listed(map(said, CHECKS))
    page.paragraph(Message("start-up checks ({areas})", areas=names), 2)
    checks = [(kind, coverage.share(CHECKS, [kind])) for kind in (RAISE, ASSERT)]
    page.paragraph(", ".join(f"{kind} {_known(share)}" for kind, share in checks), 4)
    by_operator = ", ".join(f"{kind} {_known_of_operators(share)}" for kind, share in checks)
    page.paragraph(Message("that an operator may cause: {shares}", shares=by_operator), 4)
    categories = ", ".join(f"{name} {count}" for name, count in coverage.categories.items())
    page.paragraph(Message("by category of the rule: {counts}", counts=categories), 2)
    page.paragraph(Message("left out: {count} that print nothing but a value", count=coverage.wordless), 2)


def _known(share: Share) -> str:
    return f"{share.known}/{share.total} {share.percent:.0f} %" if share.total else "-"


def _known_of_operators(share: Share) -> str:
    if not share.operator_facing:
        return "-"
    return f"{share.known}/{share.operator_facing} {share.operator_percent:.0f} %"


def _write_uncovered(page: LabelledPage, uncovered: Sequence[Template]) -> None:
    page.heading(Message("messages that no rule knows: {count}, the most important first", count=f"{len(uncovered):,}"))
    for template in uncovered[:_UNCOVERED]:
        first, last = template.first_version, template.last_version
        versions = page.words.said(Message("{first} to {last}", first=first, last=last)) if first else ""
        page.beside(f"  {kind_of(template)}", neutral(f"{template.file} {versions}"), _KIND_CELLS)
        page.paragraph(neutral(shortened(template.text, 160)), _KIND_CELLS)
    if len(uncovered) > _UNCOVERED:
        more = Counted(
            "{count} more with --format json", "{count} more with --format json", len(uncovered) - _UNCOVERED
        )
        page.paragraph(more, 2)


def drift_document(drift: Drift) -> dict[str, Json]:
    coverage = drift.coverage
    areas: dict[str, Json] = {
        area.name: {kind: _share(coverage.share([area.name], [kind])) for kind in KINDS} for area in AREAS
    }
    return {
        "version": drift.version,
        "messages": drift.templates,
        "signatures": drift.signatures,
        "faults": [{"kind": f.kind, "rule": f.rule, "signature": f.number, "text": f.text} for f in drift.faults],
        "unfound": [{"rule": place.rule, "signature": place.number} for place in drift.unfound],
        "coverage": {
            "areas": areas,
            "all": {kind: _share(coverage.share(kinds=[kind])) for kind in KINDS},
            "start_up_checks": {kind: _share(coverage.share(CHECKS, [kind])) for kind in KINDS},
            "categories": dict(coverage.categories),
            "wordless": coverage.wordless,
        },
        "uncovered": [_template(template) for template in coverage.uncovered],
    }


def _share(share: Share) -> Json:
    return {
        "total": share.total,
        "specific": share.specific,
        "family": share.generic,
        "percent": round(share.percent, 1),
        "internal": share.internal,
        "operator_percent": round(share.operator_percent, 1),
    }


def _template(template: Template) -> Json:
    return {
        "kind": kind_of(template),
        "exception": template.exception,
        "file": template.file,
        "function": template.function,
        "template": template.text,
        "first_version": template.first_version,
        "last_version": template.last_version,
    }
