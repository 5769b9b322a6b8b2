"""The result of a diagnosis, before it is put into words: findings with their evidence, and the status of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vllmdoctor.facts.command import UserCommand
from vllmdoctor.facts.model import Fact
from vllmdoctor.logs.model import Line, Record
from vllmdoctor.rules.model import CONFIRMED, LIKELY, POSSIBLE, Cause, Caution, Fix, Rule, Verification

ROOT_CAUSE, CONTRIBUTING, CONSEQUENCE, WARNING = "root-cause", "contributing", "consequence", "warning"

HEALTHY = "healthy"
FAILURE = "failure"
UNRECOGNIZED = "unrecognized-failure"
CAUSE_NOT_IN_LOG = "cause-not-in-log"
NO_VLLM_LOG = "no-vllm-log"

EXIT_CODES = {HEALTHY: 0, FAILURE: 1, UNRECOGNIZED: 3, CAUSE_NOT_IN_LOG: 4, NO_VLLM_LOG: 4}

RULED_OUT = "ruled-out"
CAUSE_STATES = (CONFIRMED, LIKELY, POSSIBLE, RULED_OUT)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A place in the log that a finding rests on: the physical line, and the text of the whole record it belongs to."""

    line: Line
    text: str


@dataclass(frozen=True, slots=True)
class JudgedCause:
    """A cause and what the facts say of it. `deciding` are the unknown facts that would settle a possible one."""

    cause: Cause
    state: str  # of CAUSE_STATES
    deciding: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChosenFix:
    """A fix that can work here. `sure` is False when its condition hangs on the unknown facts in `deciding`."""

    fix: Fix
    sure: bool
    deciding: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that matched the run, in the role that causality gave it.

    `count` is the exact number of matches, `evidence` the first few. `explained_by` is the id of the finding that this
    one follows from. `facts` are the values in force for its texts: those of the run, overlaid by what its own
    evidence tells.
    """

    rule: Rule
    role: str
    evidence: tuple[Evidence, ...]
    count: int
    facts: Mapping[str, Fact]
    phase: str = ""
    explained_by: str = ""
    causes: tuple[JudgedCause, ...] = ()
    fixes: tuple[ChosenFix, ...] = ()
    does_not_help: tuple[Caution, ...] = ()
    verify: tuple[Verification, ...] = ()


@dataclass(frozen=True, slots=True)
class Unrecognized:
    """A failure that no rule knows: its innermost exception or error line, and the rules that come nearest to it."""

    record: Record
    last_phase: str
    nearest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """What one run in the inputs came to. `rule` is the id of its root cause, "" when there is none."""

    number: int
    first: Line
    last: Line
    status: str
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The verdict on the last run, and a line for each earlier one.

    `notices` are codes of remarks on the whole (for example `log-ends-early`, `requests-rejected`) with their values,
    `missing` codes of what would have to be in the log to name the cause.
    """

    status: str
    findings: tuple[Finding, ...]
    facts: Mapping[str, Fact]
    runs: tuple[RunVerdict, ...]
    unrecognized: Unrecognized | None = None
    last_phase: str = ""
    notices: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    command: UserCommand | None = None  # how the last run was started, when the log tells
