"""A read log and the rule catalogue in, a diagnosis out: the root cause of the last run, a verdict on each earlier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vllmdoctor.diagnosis.causality import Placed, place
from vllmdoctor.diagnosis.judging import finding_of
from vllmdoctor.diagnosis.matching import by_rule, find_matches, nearest_rules, when_admits
from vllmdoctor.diagnosis.model import (
    CONTRIBUTING,
    HEALTHY,
    NO_VLLM_LOG,
    ROOT_CAUSE,
    UNRECOGNIZED,
    Diagnosis,
    Finding,
    RunVerdict,
    Unrecognized,
)
from vllmdoctor.diagnosis.state import RunState, read_state
from vllmdoctor.diagnosis.verdict import Verdict, rejected_requests, verdict_on
from vllmdoctor.facts.command import user_command
from vllmdoctor.facts.counted import counted_facts
from vllmdoctor.facts.model import Fact
from vllmdoctor.facts.named import named_facts
from vllmdoctor.facts.read import read_facts
from vllmdoctor.facts.table import FactMap, Reading, combined, completed, lookup_in
from vllmdoctor.logs.model import Log, Run
from vllmdoctor.memory.machine import as_cuda_reports
from vllmdoctor.rules.guarded import too_slow
from vllmdoctor.rules.model import Catalogue, Rule

__all__ = ["diagnose"]


@dataclass(frozen=True, slots=True)
class _Judged:
    """A run with everything that was made of it."""

    state: RunState
    facts: FactMap
    placed: Sequence[Placed]
    verdict: Verdict

    @property
    def root(self) -> Rule | None:
        return next((p.rule for p in self.placed if p.role == ROOT_CAUSE), None)


def diagnose(log: Log, catalogue: Catalogue, machine_facts: Sequence[Reading] = ()) -> Diagnosis:
    """`machine_facts` are readings from nvidia-smi and the like; what the log itself says wins over them."""
    if not log.runs:
        return Diagnosis(NO_VLLM_LOG, (), combined(machine_facts, catalogue.facts), ())
    machine_facts = as_cuda_reports(machine_facts)
    judged = [_judge(run, catalogue, machine_facts) for run in log.runs]
    last = judged[-1]
    status = _overall(last, log)
    placed = _demoted(last.placed) if status == UNRECOGNIZED else last.placed
    findings: tuple[Finding, ...] = tuple(finding_of(p, last.state, last.facts, catalogue) for p in placed)
    return Diagnosis(
        status=status,
        findings=findings,
        facts=_shown_facts(last.facts, findings),
        runs=tuple(_run_verdict(run, j) for run, j in zip(log.runs, judged, strict=True)),
        unrecognized=_unrecognized(last, catalogue),
        last_phase=last.state.last_phase,
        notices={**_notices(status, last, findings), **_given_up_rules(catalogue)},
        missing=last.verdict.missing,
        command=user_command(log.runs[-1].records),
    )


def _judge(run: Run, catalogue: Catalogue, machine_facts: Sequence[Reading]) -> _Judged:
    book = catalogue.facts
    state = read_state(run.records, book)
    read = read_facts(run.records, book)
    log_readings = [*read, *counted_facts(run.records), *named_facts(read)]
    told = {reading.name for reading in log_readings}
    readings = [*(r for r in machine_facts if r.name not in told), *log_readings]
    matches = [m for m in find_matches(state, catalogue) if not _is_shutdown_noise(m.position, state)]
    facts = completed(combined([*readings, *(r for m in matches for r in m.readings)], book), book)
    lookup = lookup_in(facts)
    groups = by_rule(matches, lambda match: when_admits(match, lookup))
    placed = place(groups, state)
    matched = frozenset(match.position for matches in groups.values() for match in matches)
    return _Judged(state, facts, placed, verdict_on(state, placed, matched))


def _is_shutdown_noise(position: int, state: RunState) -> bool:
    """After a Ctrl-C or SIGTERM all that breaks is the end that was asked for; the kernel log has its own time."""
    return position > state.interrupted_at and state.records[position].section != "dmesg"


def _overall(last: _Judged, log: Log) -> str:
    known = log.kinds or last.placed or last.state.ever_ready or last.state.last_phase
    return last.verdict.status if known or last.verdict.status != HEALTHY else NO_VLLM_LOG


def _demoted(placed: Sequence[Placed]) -> Sequence[Placed]:
    """Without a root cause: what matched beside an unrecognised failure may have contributed, no more."""
    return [Placed(p.rule, CONTRIBUTING, "", p.matches) if p.role == ROOT_CAUSE else p for p in placed]


def _shown_facts(facts: FactMap, findings: Sequence[Finding]) -> dict[str, Fact]:
    """Facts of the run; those of the root cause's own evidence stand above what other lines say."""
    root = next((finding for finding in findings if finding.role == ROOT_CAUSE), None)
    return dict(sorted({**facts, **(root.facts if root else {})}.items()))


def _unrecognized(last: _Judged, catalogue: Catalogue) -> Unrecognized | None:
    suspect = last.verdict.suspect
    if suspect is None or last.verdict.status != UNRECOGNIZED:
        return None
    return Unrecognized(suspect, last.state.last_phase, nearest_rules(f"{suspect.text} {suspect.code}", catalogue))


def _run_verdict(run: Run, judged: _Judged) -> RunVerdict:
    root = judged.root if judged.verdict.status != UNRECOGNIZED else None
    return RunVerdict(run.number, run.first, run.last, judged.verdict.status, root.id if root else "")


def _given_up_rules(catalogue: Catalogue) -> dict[str, str]:
    names = too_slow(catalogue.guards)
    return {"rule-too-slow": ", ".join(names)} if names else {}


def _notices(status: str, last: _Judged, findings: Sequence[Finding]) -> dict[str, str]:
    notices = {}
    if status == HEALTHY:
        rejected = rejected_requests(last.state)
        if rejected:
            notices["requests-rejected"] = str(rejected)
        if not last.state.ever_ready and last.state.last_phase:
            notices["log-ends-early"] = last.state.last_phase
        if findings:
            notices["warnings-only"] = str(len(findings))
    return notices
