"""One run, its roles and its state in; its status out, with what is unrecognised or missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vllmdoctor.diagnosis.causality import Placed
from vllmdoctor.diagnosis.model import (
    CAUSE_NOT_IN_LOG,
    CONSEQUENCE,
    FAILURE,
    HEALTHY,
    ROOT_CAUSE,
    UNRECOGNIZED,
)
from vllmdoctor.diagnosis.state import RunState, rank_of
from vllmdoctor.logs.model import Record

# Error texts without a logger's header or a traceback: a program's last words. What single programs say is declared
# in rules/facts, as marks.
_LAST_WORDS = re.compile(
    r"^(?:\S{0,80}: )?(?:error|fatal|panic|Error|ERROR|FATAL|Fatal|Aborted|Killed|Segmentation fault"
    r"|terminate called)\b[:, ]"
    r"|^(?:\w+\.)*\w*(?:Error|Exception|Interrupt)(?:: |$)"
    r"|exited with (?:code|status) [1-9]|core dumped"
)
# "Error when starting the server:", what people write above the log that they paste: it announces words, it has none.
_HEADING = re.compile(r"[^:]{0,160}:")
_WORDS = re.compile(r"[A-Za-z]{3}")
# "ERROR 03-29 13:34:30 [worker_base.py:62": the log is cut within the line's own header.
_CUT_PLACE = re.compile(r"\[[\w./-]{0,80}(?:\.py:?\d{0,6})?")
_EXIT_CODE = re.compile(r"SystemExit(?:: \d{1,3})?")
_ACCESS_ERROR = re.compile(r'" (?P<status>[45]\d\d)\b')
_EARLY = frozenset({"configuration"})
_ENGINE_CORE = 2  # depth of its processes; they start when the arguments are checked


@dataclass(frozen=True, slots=True)
class Verdict:
    """`suspect` is the record of an unrecognised failure."""

    status: str
    suspect: Record | None = None
    missing: tuple[str, ...] = ()


def verdict_on(state: RunState, placed: Sequence[Placed], matched: frozenset[int]) -> Verdict:
    """`matched` are positions of records that some rule matched, whatever its role."""
    root = next((p for p in placed if p.role == ROOT_CAUSE), None)
    suspect = _suspect(state, matched)
    if root is not None:
        if suspect is not None and (_outweighs(suspect, root, state) or _died_of_another(suspect, root, placed)):
            return Verdict(UNRECOGNIZED, suspect)
        return Verdict(FAILURE)
    if suspect is not None:
        return Verdict(UNRECOGNIZED, suspect)
    if any(p.role == CONSEQUENCE for p in placed):
        return Verdict(CAUSE_NOT_IN_LOG, missing=_missing(state))
    if _shows_failure_without_words(state):
        return Verdict(CAUSE_NOT_IN_LOG, missing=("later-lines", "debug"))
    if _stops_in_configuration(state):
        return Verdict(CAUSE_NOT_IN_LOG, missing=("stderr", "later-lines"))
    return Verdict(HEALTHY)


def rejected_requests(state: RunState) -> int:
    """How many access lines answer with 4xx or 5xx."""
    endings = ("Bad Request", "Not Found", "Error", "Entity")
    return sum(1 for r in state.records if r.text.endswith(endings) and _ACCESS_ERROR.search(r.text))


def _suspect(state: RunState, matched: frozenset[int]) -> Record | None:
    """The innermost failure that no rule matched: exceptions before error lines, deeper processes first."""
    found = []
    for position, record in enumerate(state.records):
        if position in matched or position > state.interrupted_at or not state.is_error(position):
            continue
        if record.section not in ("log", "client") or _is_interrupt(record) or not _speaks_of_failure(position, state):
            continue
        if _survived(position, state) or _chain_is_matched(record, state, matched) or _goes_on_cut(record, state):
            continue
        weight = 0 if record.kind == "exception" else 1
        found.append((weight, record.chained_from is not None, -(record.process.depth or 2.5), position))
    return state.records[min(found)[-1]] if found else None


def _speaks_of_failure(position: int, state: RunState) -> bool:
    record = state.records[position]
    if record.kind == "exception":
        return bool(record.exception or record.code)
    if position in state.remains or not _WORDS.search(record.text[:400]) or _CUT_PLACE.fullmatch(record.text):
        return False  # the heading of a failure that is cut off; a rule, a bar, a lone bracket
    if record.level is not None or record.section == "client":
        return True  # is_error() lets only ERROR and CRITICAL through; a client section is an error's answer
    if position in state.failures:
        return True
    return _LAST_WORDS.search(record.text[:400]) is not None and not _HEADING.fullmatch(record.text)


def _is_interrupt(record: Record) -> bool:
    """An exception that ends a program on purpose; `SystemExit: text` is how programs refuse to go on."""
    name = record.exception.rpartition(".")[2]
    if name == "SystemExit":
        return _EXIT_CODE.fullmatch(record.text) is not None
    return name in ("KeyboardInterrupt", "CancelledError", "GeneratorExit")


def _shows_failure_without_words(state: RunState) -> bool:
    """A traceback that is cut before its exception, or only what stands around one."""
    for position, record in enumerate(state.records):
        if position in state.noise or position > state.interrupted_at or record.section != "log":
            continue
        cut = record.kind == "exception" and not record.exception and not record.code
        if (cut or position in state.remains) and not _survived(position, state):
            return True
    return False


def _survived(position: int, state: RunState) -> bool:
    """An error that the start or the server outlived: readiness came, or stayed, after it.

    An exception of a ready server is outlived when requests are served after it: it belonged to one request.
    """
    record = state.records[position]
    if not state.ready[position]:
        return state.outlived_by_start(position)
    if state.in_failed_input(position):
        return False
    return state.ready_at_end and (record.kind != "exception" or any(place > position for place in state.served_at))


def _goes_on_cut(record: Record, state: RunState) -> bool:
    """True for an exception that only says that a wait ended, and whose follower, which says of what, is cut off."""
    if record.exception.rpartition(".")[2] not in ("TimeoutError", "Empty") or record.text != record.exception:
        return False
    return any(r.chained_from == record.index and not (r.exception or r.code) for r in state.records)


def _chain_is_matched(record: Record, state: RunState, matched: frozenset[int]) -> bool:
    """True when an exception of the same chain was matched: the chain is explained."""
    positions = {r.index: p for p, r in enumerate(state.records)}
    at: Record | None = record
    for _ in range(50):
        if at is None or at.chained_from is None or at.chained_from not in positions:
            break
        position = positions[at.chained_from]
        if position in matched:
            return True
        at = state.records[position]
    followers = {r.chained_from: p for p, r in enumerate(state.records) if r.chained_from is not None}
    index = record.index
    for _ in range(50):
        if index not in followers:
            return False
        if followers[index] in matched:
            return True
        index = state.records[followers[index]].index
    return False


def _outweighs(suspect: Record, root: Placed, state: RunState) -> bool:
    """True when an unrecognised exception must be the cause rather than the rule that matched something else.

    A warning and a last resort are no cause while an exception stands unexplained; what only observes that a process is
    gone follows from an exception printed before; and an exception of a deeper process that was printed before comes
    first.
    """
    if suspect.kind != "exception":
        return False
    if root.rule.last_resort:
        return True
    decisive = root.decisive
    if root.rule.observes and suspect.index < decisive.record.index:
        return True
    if decisive.strength > 0 and not root.rule.user_supplied:
        return suspect.index > decisive.record.index and rank_of(decisive.record) != "error"
    if not suspect.process.name or not decisive.record.process.name:
        return False
    return suspect.process.depth > decisive.record.process.depth and suspect.index < decisive.record.index


def _died_of_another(suspect: Record, root: Placed, placed: Sequence[Placed]) -> bool:
    """A rejected request stops no server: when one died after it, an unexplained exception between says of what."""
    if root.rule.severity != "request" or suspect.kind != "exception":
        return False
    deaths = [p.decisive.record.index for p in placed if p.rule.category == "wrapper"]
    return root.decisive.record.index < suspect.index and any(root.decisive.record.index < death for death in deaths)


def _missing(state: RunState) -> tuple[str, ...]:
    """What to get so that the cause can be named, the most likely first."""
    if not any(record.place and ".py" in record.place for record in state.records):
        return ("stdout", "debug")  # vLLM's logger writes to standard output; only tracebacks are here
    if not any(record.kind == "exception" for record in state.records):
        return ("stderr", "debug")
    depths = {record.process.depth for record in state.records}
    return ("earlier-lines", "debug") if 3 in depths else ("worker-log", "earlier-lines", "debug")


def _stops_in_configuration(state: RunState) -> bool:
    """A start that ends while the arguments are checked: that takes seconds, so what stopped it went elsewhere."""
    if state.last_phase not in _EARLY or state.interrupted_at < len(state.records) or state.ready_at_end:
        return False
    banner = any("args: " in r.text or "server version" in r.text for r in state.records if r.echo or r.level == "INFO")
    engine = any("LLM engine" in r.text or r.process.depth == _ENGINE_CORE for r in state.records)
    return banner and not engine
