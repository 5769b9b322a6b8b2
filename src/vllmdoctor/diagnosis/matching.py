"""A run and the catalogue in, the matches of signatures out: which rule, on which record, with which captured facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from vllmdoctor.diagnosis.state import RunState, frame_text, rank_of
from vllmdoctor.facts.read import readings_of
from vllmdoctor.facts.table import Reading
from vllmdoctor.logs.model import Line, Record
from vllmdoctor.rules.expressions import Lookup
from vllmdoctor.rules.guarded import too_slow
from vllmdoctor.rules.model import CAUSE, Catalogue, Rule, Signature
from vllmdoctor.rules.prefilter import candidates, compiled, search

END_RECORDS = 6


@dataclass(frozen=True, slots=True)
class Match:
    """One signature on one record. `position` is that of the record in its run, `strength` 0 for errors, 1 for less."""

    rule: Rule
    signature: Signature
    record: Record
    position: int
    line: Line
    readings: tuple[Reading, ...]
    strength: int


def find_matches(state: RunState, catalogue: Catalogue) -> list[Match]:
    """All matches in the order of printing; conditions on facts are judged later (`when_admits`)."""
    pairs = catalogue.signatures()
    records = state.records
    found: list[Match] = []
    texts = [record.text if not record.code else f"{record.text}\n{record.code}" for record in records]
    plain = [(r, s) for r, s in pairs if s.scope != "traceback"]
    for item, position in candidates([s.literals for _, s in plain], texts):
        name, signature = plain[item]
        if _in_scope(signature, position, state):
            match = _confirmed(name, signature, records[position], position, catalogue)
            if match and _phase_fits(signature, position, state):
                found.append(match)
    found.extend(_traceback_matches([(r, s) for r, s in pairs if s.scope == "traceback"], state, catalogue))
    given_up = too_slow(catalogue.guards)
    return sorted((m for m in found if m.rule.id not in given_up), key=lambda match: match.position)


def when_admits(match: Match, lookup: Lookup) -> bool:
    """False when the signature's condition on facts is false; unknown admits."""
    condition = match.signature.when
    return condition is None or condition.holds(lookup) is not False


def _in_scope(signature: Signature, position: int, state: RunState) -> bool:
    record = state.records[position]
    if record.section not in ("log", "dmesg", "client"):
        return signature.scope == "gpus"
    if record.echo or position in state.noise or signature.scope == "gpus":
        return False
    if signature.scope == "end":
        return _at_open_end(position, state)
    rank = rank_of(record)
    return rank == "error" or signature.scope in ("any", "end") or (signature.scope == "warning" and rank == "warning")


def _at_open_end(position: int, state: RunState) -> bool:
    """True for the last few records of a run that just stops: no error after them, no ready server, no shutdown."""
    if state.ready_at_end and not state.records[position].text.startswith("Processed prompts"):
        return False
    later = [
        p for p in range(position + 1, len(state.records)) if p not in state.noise and state.records[p].section == "log"
    ]
    return len(later) < END_RECORDS and not any(state.records[p].kind == "exception" for p in later)


def _phase_fits(signature: Signature, position: int, state: RunState) -> bool:
    return not signature.phases or state.phases[position] in signature.phases


def _confirmed(name: str, signature: Signature, record: Record, position: int, catalogue: Catalogue) -> Match | None:
    match = search(signature.pattern, record.text, signature.literals)
    from_code = False
    if match is None and record.code:
        match, from_code = search(signature.pattern, record.code, signature.literals), True
    if match is None or (signature.unless and compiled(signature.unless).search(record.text)):
        return None
    if signature.frames and not compiled(signature.frames).search(frame_text(record)):
        return None
    readings = () if from_code else tuple(readings_of(match, record, catalogue.facts))
    line = record.last if from_code else record.line_at(match.start())
    strength = 0 if rank_of(record) == "error" else 1
    return Match(catalogue.rules[name], signature, record, position, line, readings, strength)


def _traceback_matches(pairs: Sequence[tuple[str, Signature]], state: RunState, catalogue: Catalogue) -> list[Match]:
    positions = [p for p, record in enumerate(state.records) if record.kind == "exception"]
    texts = [f"{frame_text(state.records[p])}\n{state.records[p].text}" for p in positions]
    found = []
    for item, index in candidates([s.literals for _, s in pairs], texts):
        name, signature = pairs[item]
        position, text = positions[index], texts[index]
        match = search(signature.pattern, text, signature.literals)
        if not match or not _phase_fits(signature, position, state) or position in state.noise:
            continue
        if signature.unless and compiled(signature.unless).search(text):
            continue
        record = state.records[position]
        found.append(Match(catalogue.rules[name], signature, record, position, record.text_lines[0], (), 0))
    return found


def by_rule(matches: Sequence[Match], admits: Callable[[Match], bool]) -> dict[str, list[Match]]:
    """Matches that pass, grouped by rule id in the order of their first match."""
    groups: dict[str, list[Match]] = {}
    for match in matches:
        if admits(match):
            groups.setdefault(match.rule.id, []).append(match)
    return groups


_WORD = re.compile(r"[A-Za-z_]{4,}")


def nearest_rules(text: str, catalogue: Catalogue, most: int = 3) -> tuple[str, ...]:
    """Ids of the rules whose sample lines share the most uncommon words with a text; empty when none comes near."""
    samples: dict[str, set[str]] = {}
    for name, signature in catalogue.signatures():
        words = {word.lower() for sample in signature.samples for word in _WORD.findall(sample)}
        samples.setdefault(name, set()).update(words)
    frequency: dict[str, int] = {}
    for words in samples.values():
        for word in words:
            frequency[word] = frequency.get(word, 0) + 1
    asked = {word.lower() for word in _WORD.findall(text[:2000])}
    shared = {name: words & asked for name, words in samples.items()}
    scores = {name: sum(1 / frequency[w] for w in words) for name, words in shared.items() if len(words) > 1}
    ranked = (name for _, name in sorted((-score, name) for name, score in scores.items() if score >= 1.0))
    return tuple(islice((name for name in ranked if catalogue.rules[name].role == CAUSE), most))
