"""`vllmdoctor rules stats`: the catalogue in, counts of what it holds out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vllmdoctor.cli.language import current_words
from vllmdoctor.cli.output import flush_quietly, open_console, write_json
from vllmdoctor.languages import Counted, Message
from vllmdoctor.languages import marked as _
from vllmdoctor.report.json import Json, json_text
from vllmdoctor.report.words import Words
from vllmdoctor.rules.counts import counted_things
from vllmdoctor.rules.load import checkout_rules, load_bundle, load_catalogue
from vllmdoctor.rules.model import CATEGORIES, ROLES, SEVERITIES, Catalogue, Signature
from vllmdoctor.rules.versions import Release


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of rules by their fields, of signatures by who prints them; `fixtures` is None outside of a checkout."""

    rules: int
    remedies: int
    facts: int
    signatures: int
    samples: int
    categories: Mapping[str, int]
    roles: Mapping[str, int]
    severities: Mapping[str, int]
    origins: Mapping[str, int]
    oldest_version: str
    newest_version: str
    open_ended: int
    languages: Mapping[str, int]
    fixtures: int | None


def print_stats(*, as_json: bool, rules_folders: Sequence[Path]) -> None:
    stats = stats_of(load_catalogue("en", rules_folders))
    with suppress(BrokenPipeError):
        if as_json:
            write_json(json_text(_document(stats)))
        else:
            _write_stats(stats, current_words())
    flush_quietly()


def stats_of(catalogue: Catalogue) -> Stats:
    rules = list(catalogue.rules.values())
    signatures = [signature for _, signature in catalogue.signatures()]
    translations: Mapping[str, Mapping[str, object]] = load_bundle()["translations"]
    versions = _Versions(signatures)
    return Stats(
        rules=len(rules),
        remedies=len(catalogue.remedies),
        facts=len(catalogue.facts.names),
        signatures=len(signatures),
        samples=sum(len(signature.samples) for signature in signatures),
        categories=_counted((rule.category for rule in rules), CATEGORIES),
        roles=_counted((rule.role for rule in rules), ROLES),
        severities=_counted((rule.severity for rule in rules), SEVERITIES),
        origins=dict(Counter(signature.origin for signature in signatures).most_common()),
        oldest_version=versions.oldest,
        newest_version=versions.newest,
        open_ended=versions.open_ended,
        languages={"en": len(rules)}
        | {name: sum(rule.id in texts for rule in rules) for name, texts in translations.items()},
        fixtures=_fixtures(set(catalogue.rules)),
    )


def _counted(values: Iterator[str], order: Sequence[str]) -> dict[str, int]:
    counts = Counter(values)
    return {name: counts[name] for name in order if counts[name]}


class _Versions:
    def __init__(self, signatures: Sequence[Signature]) -> None:
        claims = [signature.versions.bounds for signature in signatures if signature.versions.bounds]
        lower = [release for bounds in claims for operator, release in bounds if operator in (">=", ">", "==")]
        upper = [release for bounds in claims for operator, release in bounds if operator in ("<=", "<", "==")]
        self.oldest = _text(min(lower, default=None))
        self.newest = _text(max((*lower, *upper), default=None))
        self.open_ended = sum(not any(op in ("<=", "<", "==") for op, _ in bounds) for bounds in claims)


def _text(release: Release | None) -> str:
    return ".".join(map(str, release)) if release else ""


def _fixtures(rule_ids: set[str]) -> int | None:
    folder = checkout_rules()
    if folder is None:
        return None
    found = (folder.parent / "tests" / "fixtures" / "rules").glob("*/expected.yaml")
    return sum(path.parent.name in rule_ids for path in found)


def _write_stats(stats: Stats, words: Words) -> None:
    from vllmdoctor.cli.columns import LabelledPage

    page = LabelledPage(open_console(), words)
    page.paragraph(counted_things(stats.rules, stats.remedies, stats.facts))
    signatures = Counted("{count} signature", "{count} signatures", stats.signatures)
    samples = Counted("{count} sample", "{count} samples", stats.samples)
    page.paragraph(Message("{signatures} with {samples}", signatures=signatures, samples=samples))
    groups = {
        _("category"): stats.categories,
        _("role"): stats.roles,
        _("severity"): stats.severities,
        _("printed by"): stats.origins,
        _("languages"): stats.languages,
    }
    rows = {label: ", ".join(f"{name} {count:,}" for name, count in counts.items()) for label, counts in groups.items()}
    page.rows(rows | {label: words.said(text) for label, text in _sentences(stats).items()})


def _sentences(stats: Stats) -> dict[str, Message]:
    open_ended = Counted(
        "{count} signature without a last version", "{count} signatures without a last version", stats.open_ended
    )
    span = Message(
        "{oldest} to {newest} and later; {open_ended}",
        oldest=stats.oldest_version,
        newest=stats.newest_version,
        open_ended=open_ended,
    )
    if stats.fixtures is None:
        return {_("vLLM"): span}
    fixtures = Message("{count} of {total} rules have logs of their own", count=stats.fixtures, total=stats.rules)
    return {_("vLLM"): span, _("fixtures"): fixtures}


def _document(stats: Stats) -> Json:
    return {
        "rules": stats.rules,
        "remedies": stats.remedies,
        "facts": stats.facts,
        "signatures": stats.signatures,
        "samples": stats.samples,
        "categories": dict(stats.categories),
        "roles": dict(stats.roles),
        "severities": dict(stats.severities),
        "origins": dict(stats.origins),
        "versions": {
            "oldest": stats.oldest_version,
            "newest": stats.newest_version,
            "open_ended": stats.open_ended,
        },
        "languages": dict(stats.languages),
        "fixtures": stats.fixtures,
    }
