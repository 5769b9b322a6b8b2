"""Matches of one run in, roles out: which rule names the root cause, which ones follow from it, which only warn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vllmdoctor.diagnosis.matching import Match
from vllmdoctor.diagnosis.model import CONSEQUENCE, CONTRIBUTING, ROOT_CAUSE, WARNING
from vllmdoctor.diagnosis.state import RunState
from vllmdoctor.logs.model import Record
from vllmdoctor.rules.model import CAUSE, SEVERITIES, Rule
from vllmdoctor.rules.model import CONSEQUENCE as CONSEQUENCE_RULE

_UNKNOWN_DEPTH = 2.5  # stderr without a process prefix is often the worker's own last word


@dataclass(frozen=True, slots=True)
class Placed:
    """A rule that matched, with the role it got, what explains it, and its matches, the decisive one first."""

    rule: Rule
    role: str
    explained_by: str
    matches: tuple[Match, ...]

    @property
    def decisive(self) -> Match:
        return self.matches[0]


def place(groups: Mapping[str, Sequence[Match]], state: RunState) -> list[Placed]:
    """Rules in the order of the report: root cause, contributing, consequences, warnings."""
    causes = {name: matches for name, matches in groups.items() if matches[0].rule.role == CAUSE}
    harmless = {name for name, matches in causes.items() if _was_survived(matches, state)}
    alive = {name: matches for name, matches in causes.items() if name not in harmless}
    explained = {name: by for name in alive if (by := _explanation(name, alive, state))}
    ranked = sorted((name for name in alive if name not in explained), key=lambda name: _rank(alive[name]))
    placed = [
        Placed(alive[name][0].rule, ROOT_CAUSE if n == 0 else CONTRIBUTING, "", _ordered(alive[name]))
        for n, name in enumerate(ranked)
    ]
    root = ranked[0] if ranked else ""
    for name, by in sorted(explained.items(), key=lambda pair: alive[pair[0]][0].position):
        placed.append(Placed(alive[name][0].rule, CONSEQUENCE, by, _ordered(alive[name])))
    for name, matches in groups.items():
        if name not in causes:
            role = CONSEQUENCE if matches[0].rule.role == CONSEQUENCE_RULE else WARNING
            placed.append(Placed(matches[0].rule, role, root if role == CONSEQUENCE else "", tuple(matches)))
    placed.extend(Placed(causes[name][0].rule, WARNING, "", tuple(causes[name])) for name in causes if name in harmless)
    return placed


def _ordered(matches: Sequence[Match]) -> tuple[Match, ...]:
    return tuple(sorted(matches, key=_match_rank))


def _match_rank(match: Match) -> tuple[float, ...]:
    return (match.strength, -_depth(match.record), match.position)


def _rank(matches: Sequence[Match]) -> tuple[float, ...]:
    return (SEVERITIES.index(matches[0].rule.severity), *min(_match_rank(match) for match in matches))


def _depth(record: Record) -> float:
    return float(record.process.depth) if record.process.name else _UNKNOWN_DEPTH


def _was_survived(matches: Sequence[Match], state: RunState) -> bool:
    """True when the server became ready after the last match: it cannot have stopped the start."""
    last = max(match.position for match in matches)
    if matches[0].rule.severity != "fatal":
        return False
    return not state.ready[last] and state.outlived_by_start(last)


def _explanation(name: str, alive: Mapping[str, Sequence[Match]], state: RunState) -> str:
    """The id of the cause that this one follows from, "" when it stands by itself."""
    rule = alive[name][0].rule
    for other in rule.explained_by:
        if other in alive and other != name and name not in _closure(other, alive):
            return other
    return _chained_from(name, alive, state)


def _closure(name: str, alive: Mapping[str, Sequence[Match]]) -> set[str]:
    """Everything that explains a rule, directly or not, so that two rules never explain each other away."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        for other in alive[waiting.pop()][0].rule.explained_by:
            if other in alive and other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def _chained_from(name: str, alive: Mapping[str, Sequence[Match]], state: RunState) -> str:
    """The rule of an earlier exception of the same chain, when every match of this rule hangs on such a chain."""
    by_index = {record.index: record for record in state.records}
    owners = {match.record.index: other for other, matches in alive.items() if other != name for match in matches}
    explanations = [_earlier_owner(match.record, by_index, owners) for match in alive[name]]
    own = {match.record.index for match in alive[name]}
    if any(not found for found in explanations) or any(index in owners for index in own):
        return ""
    return explanations[0]


def _earlier_owner(record: Record, by_index: Mapping[int, Record], owners: Mapping[int, str]) -> str:
    found = ""
    steps = 0
    while record.chained_from is not None and record.chained_from in by_index and steps < 50:
        record = by_index[record.chained_from]
        found = owners.get(record.index, found)
        steps += 1
    return found
