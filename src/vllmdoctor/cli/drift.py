"""`vllmdoctor rules drift`: a vLLM (folder or table of its messages) in, what the rules missed of it out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from vllmdoctor.cli.output import flush_quietly, open_console, write_json
from vllmdoctor.report.json import Json, json_text
from vllmdoctor.report.untrusted import neutral, shortened
from vllmdoctor.rules.load import load_catalogue
from vllmdoctor.upstream.areas import AREAS, CHECKS
from vllmdoctor.upstream.coverage import ASSERT, KINDS, Coverage, Share, kind_of
from vllmdoctor.upstream.drift import Drift, drift_of, read_source
from vllmdoctor.upstream.templates import RAISE, Template

_UNCOVERED = 40


def print_drift(vllm: Path, version: str, *, as_json: bool, rules_folders: Sequence[Path]) -> int:
    """1 when the source contradicts a rule, else 0. Raises InputError or UsageError for a path that is no vLLM."""
    source = read_source(vllm, version)
    drift = drift_of(load_catalogue("en", rules_folders), source)
    with suppress(BrokenPipeError):
        if as_json:
            write_json(json_text(drift_document(drift)))
        else:
            console = open_console()
            for line in drift_lines(drift):
                console.print(neutral(line), soft_wrap=True)
    flush_quietly()
    return 1 if drift.faults else 0


def drift_lines(drift: Drift) -> Iterator[str]:
    yield f"vLLM {drift.version}: {drift.templates:,} messages; {drift.signatures} signatures say that vLLM prints them"
    yield ""
    yield f"contradicted claims: {len(drift.faults)}"
    for fault in drift.faults:
        yield f"  {fault.rule} signature {fault.number}: {fault.text} ({fault.kind})"
    if drift.unfound:
        yield f"not among these messages, so not checked: {len(drift.unfound)}"
        numbers: dict[str, list[str]] = {}
        for place in drift.unfound:
            numbers.setdefault(place.rule, []).append(str(place.number))
        yield from (f"  {rule} signature {', '.join(signatures)}" for rule, signatures in numbers.items())
    yield ""
    yield from _coverage_lines(drift.coverage)
    yield ""
    yield from _uncovered_lines(drift.coverage.uncovered)


def _coverage_lines(coverage: Coverage) -> Iterator[str]:
    yield "messages that a rule knows (of those, by a rule for a whole family)"
    yield f"  {'':<18}" + "".join(f"{kind:>22}" for kind in KINDS)
    for area in AREAS:
        yield f"  {area.name:<18}" + "".join(
            f"{_share_text(coverage.share([area.name], [kind])):>22}" for kind in KINDS
        )
    yield f"  {'all':<18}" + "".join(f"{_share_text(coverage.share(kinds=[kind])):>22}" for kind in KINDS)
    yield f"  start-up checks ({', '.join(CHECKS)})"
    checks = [coverage.share(CHECKS, [kind]) for kind in (RAISE, ASSERT)]
    yield "    raises {}, asserts {}".format(*map(_share_text, checks))
    yield "    that an operator may cause: raises {}, asserts {}".format(*map(_operator_text, checks))
    yield "  by category of the rule: " + ", ".join(f"{name} {count}" for name, count in coverage.categories.items())
    yield f"  left out: {coverage.wordless} that print nothing but a value"


def _share_text(share: Share) -> str:
    if not share.total:
        return "-"
    family = f" ({share.generic})" if share.generic else ""
    return f"{share.known}/{share.total}{family} {share.percent:.0f} %"


def _operator_text(share: Share) -> str:
    if not share.operator_facing:
        return "-"
    return f"{share.known}/{share.operator_facing} {share.operator_percent:.0f} %"


def _uncovered_lines(uncovered: Sequence[Template]) -> Iterator[str]:
    yield f"messages that no rule knows: {len(uncovered):,}, the most important first"
    for template in uncovered[:_UNCOVERED]:
        versions = f"{template.first_version} to {template.last_version}" if template.first_version else ""
        yield f"  {kind_of(template):<8}{template.file} {versions}"
        yield f"          {shortened(template.text, 160)}"
    if len(uncovered) > _UNCOVERED:
        yield f"  {len(uncovered) - _UNCOVERED:,} more with --format json"


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
