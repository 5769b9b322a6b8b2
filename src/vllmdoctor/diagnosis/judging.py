"""A placed rule and the facts in, a finding out: causes judged, fixes chosen, cautions that apply here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vllmdoctor.diagnosis.causality import Placed
from vllmdoctor.diagnosis.matching import Match
from vllmdoctor.diagnosis.model import (
    CAUSE_STATES,
    RULED_OUT,
    ChosenFix,
    Evidence,
    Finding,
    JudgedCause,
)
from vllmdoctor.diagnosis.sense import makes_sense
from vllmdoctor.diagnosis.state import RunState
from vllmdoctor.facts.counted import memory_of_processes
from vllmdoctor.facts.model import READ
from vllmdoctor.facts.read import facts_in
from vllmdoctor.facts.table import FactMap, Reading, combined, completed, lookup_in
from vllmdoctor.rules.expressions import UNKNOWN, Expression, Lookup
from vllmdoctor.rules.model import POSSIBLE, Catalogue, Cause, FactBook, Fix
from vllmdoctor.rules.versions import release_of

MAX_EVIDENCE = 5
MAX_MATCHES = 50  # of a crash loop's hundreds
_VERSION = "vllm_version"


def finding_of(placed: Placed, state: RunState, facts: FactMap, catalogue: Catalogue) -> Finding:
    """The finding with the facts of its own evidence on top of those of the run."""
    book = catalogue.facts
    own = _own_facts(placed, book)
    told = {name: fact for name, fact in facts.items() if fact.kind == READ or fact.origin}  # the rest follows anew
    known = completed({**told, **own}, book)
    lookup = lookup_in(known)
    rule = placed.rule
    causes = _causes(rule.causes, lookup)
    return Finding(
        rule=rule,
        role=placed.role,
        evidence=_evidence(placed),
        count=len({match.position for match in placed.matches}),
        facts=known,
        phase=state.phases[placed.decisive.position],
        explained_by=placed.explained_by,
        causes=causes,
        fixes=_chosen(rule.fixes, causes, lookup),
        does_not_help=tuple(c for c in rule.does_not_help if c.when is None or c.when.holds(lookup) is True),
        verify=tuple(v for v in rule.verify if v.when is None or v.when.holds(lookup) is not False),
    )


def _own_facts(placed: Placed, book: FactBook) -> FactMap:
    """What the evidence itself tells. For facts of which the worst rank decides, all matches count."""
    decisive = _readings(placed.decisive, book)
    if len(placed.matches) == 1:
        return combined(decisive, book)
    others = [reading for match in placed.matches[1:MAX_MATCHES] for reading in _readings(match, book)]
    worst = [r for r in others if r.name in book.names and book.names[r.name].combine in ("min", "max")]
    return combined([*worst, *decisive], book)


def _readings(match: Match, book: FactBook) -> list[Reading]:
    return [*facts_in(match.record, book), *memory_of_processes([match.record]), *match.readings]


def _evidence(placed: Placed) -> tuple[Evidence, ...]:
    seen: set[tuple[int, int]] = set()
    found: list[Evidence] = []
    for match in placed.matches:
        place = (match.line.input, match.line.number)
        if place not in seen and len(found) < MAX_EVIDENCE:
            seen.add(place)
            found.append(Evidence(match.line, match.record.text))
    return tuple(found)


def _causes(causes: Sequence[Cause], lookup: Lookup) -> tuple[JudgedCause, ...]:
    """The surest first, those of one state in the order of the rule."""
    return tuple(sorted((_judged(cause, lookup) for cause in causes), key=lambda one: CAUSE_STATES.index(one.state)))


def _judged(cause: Cause, lookup: Lookup) -> JudgedCause:
    holds = None if cause.when is None else cause.when.holds(lookup)
    state = POSSIBLE if holds is None else cause.then if holds else RULED_OUT
    return JudgedCause(cause, state, _deciding(cause.when, lookup) if holds is None else ())


def _deciding(when: Expression | None, lookup: Lookup) -> tuple[str, ...]:
    """Facts of a condition that are not known."""
    return tuple(sorted(name for name in (when.facts() if when else ()) if lookup(name) is UNKNOWN))


def _chosen(fixes: Sequence[Fix], causes: Sequence[JudgedCause], lookup: Lookup) -> tuple[ChosenFix, ...]:
    """Fixes that can apply: sure ones first, in each group by the causes they cure, then in the order of the rule."""
    states = {judged.cause.id: judged.state for judged in causes}
    chosen = []
    for fix in fixes:
        holds = True if fix.when is None else fix.when.holds(lookup)
        if holds is False or not _exists_in(fix, lookup) or not makes_sense(fix, lookup):
            continue
        chosen.append(ChosenFix(fix, holds is True, _deciding(fix.when, lookup) if holds is None else ()))
    return tuple(sorted(chosen, key=lambda choice: (not choice.sure, _urgency(choice.fix, states))))


def _urgency(fix: Fix, states: Mapping[str, str]) -> int:
    """The place of the surest cause that it cures; a fix for any cause stands beside those for possible ones."""
    return min((CAUSE_STATES.index(states[name]) for name in fix.cures), default=CAUSE_STATES.index(POSSIBLE))


def _exists_in(fix: Fix, lookup: Lookup) -> bool:
    """False when the version of the log does not have the remedy's option."""
    version = lookup(_VERSION)
    release = release_of(version) if isinstance(version, str) else None
    return release is None or fix.remedy.versions.admits(release)
