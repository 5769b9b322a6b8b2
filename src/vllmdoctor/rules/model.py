"""The rule catalogue as typed values: rules, signatures, fixes, remedies, and the lines that carry facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vllmdoctor.rules.expressions import Expression
from vllmdoctor.rules.texts import EMPTY, Text
from vllmdoctor.rules.versions import VersionRange

if TYPE_CHECKING:
    from vllmdoctor.rules.guarded import Guard

CAUSE, CONSEQUENCE, WARNING = "cause", "consequence", "warning"
ROLES = (CAUSE, CONSEQUENCE, WARNING)
CONFIRMED, LIKELY, POSSIBLE = "confirmed", "likely", "possible"
CERTAINTIES = (CONFIRMED, LIKELY, POSSIBLE)
SEVERITIES = ("fatal", "degraded", "request", "notice")
SCOPES = ("error", "warning", "any", "traceback", "end", "gpus")
CATEGORIES = ("memory", "config", "model", "gpu", "build", "distributed", "server", "wrapper")
PHASES = (
    "install",
    "configuration",
    "download",
    "distributed-init",
    "loading-weights",
    "profiling",
    "kv-cache-allocation",
    "compilation",
    "graph-capture",
    "warm-up",
    "serving",
    "sleep-mode",
    "shutdown",
    "any",
)


@dataclass(frozen=True, slots=True)
class Signature:
    """One wording of a failure.

    `pattern` is matched against a record's folded text (single spaces, no line ends); its named groups are facts.
    `literals`: sets of which each must have one member in the text, else the pattern cannot match (found by itself).
    `frames` must match some traceback frame, written `path function | source line`; `phases` limits it to errors of
    those phases; `when` is a condition on facts; `unless` a pattern that must not match the same text.
    """

    pattern: str
    scope: str
    samples: tuple[str, ...]
    literals: tuple[tuple[str, ...], ...] = ()
    frames: str = ""
    unless: str = ""
    when: Expression | None = None
    phases: tuple[str, ...] = ()
    versions: VersionRange = VersionRange("", ())
    raised: tuple[str, ...] = ()
    origin: str = "vllm"


@dataclass(frozen=True, slots=True)
class Cause:
    """One of the reasons behind a failure. Where the condition `when` is false it is ruled out.

    `then` is what a true condition makes of it: confirmed, likely (the facts point to it), or still possible.
    """

    id: str
    title: Text
    text: Text
    when: Expression | None = None
    then: str = CONFIRMED


@dataclass(frozen=True, slots=True)
class Changes:
    """What a fix changes, from which every form of command is made. All values are texts with placeholders.

    `arguments`: engine arguments by Python name (a value of "true" is a bare flag, "" removes it); `environment`:
    variables; `shell`: commands to run as they are; `docker`: flags of `docker run`; `compose` and `kubernetes`: YAML
    to add to the service or the container; `python`: code of a client or script.
    """

    arguments: Mapping[str, Text] = field(default_factory=dict)
    environment: Mapping[str, Text] = field(default_factory=dict)
    shell: tuple[Text, ...] = ()
    docker: tuple[Text, ...] = ()
    compose: Text | None = None
    kubernetes: Text | None = None
    python: Text | None = None


@dataclass(frozen=True, slots=True)
class Remedy:
    """A fix used by many rules. `direction` is up or down for a knob that is turned, else ""."""

    id: str
    title: Text
    text: Text
    effect: Text
    cost: Text
    changes: Changes
    versions: VersionRange = VersionRange("", ())
    direction: str = ""
    risk: str = "low"


@dataclass(frozen=True, slots=True)
class Fix:
    """A remedy in a rule: when it applies, with which computed arguments, and why it helps here.

    `cures` are ids of causes: it comes first where one of them is confirmed or likely, last where all are ruled out.
    """

    id: str
    remedy: Remedy
    text: Text
    when: Expression | None = None
    cures: tuple[str, ...] = ()
    arguments: Mapping[str, Expression] = field(default_factory=dict)
    cost: Text | None = None


@dataclass(frozen=True, slots=True)
class Caution:
    """Something that people try and that does not help here (or makes it worse), and why."""

    id: str
    title: Text
    text: Text
    when: Expression | None = None


@dataclass(frozen=True, slots=True)
class Verification:
    """How to see that the fix worked: a log line to expect, a command to run, or both."""

    id: str
    text: Text
    log: Text | None = None
    command: Text | None = None
    when: Expression | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One failure: how it looks in a log, why it happens, what to do, what not to do, and how to check."""

    id: str
    category: str
    role: str
    severity: str
    phase: str
    title: Text
    summary: Text
    signatures: tuple[Signature, ...]
    first_check: Text = EMPTY
    explained_by: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()
    fixes: tuple[Fix, ...] = ()
    does_not_help: tuple[Caution, ...] = ()
    verify: tuple[Verification, ...] = ()
    references: tuple[Reference, ...] = ()
    related: tuple[str, ...] = ()
    observes: bool = False  # only sees that another process is gone or silent: an unexplained exception comes first
    last_resort: bool = False  # the answer only while the run has no unexplained exception
    aliases: tuple[str, ...] = ()
    user_supplied: bool = False


@dataclass(frozen=True, slots=True)
class FactName:
    """A canonical fact. `combine` says which value stands when several are read: first, last, min or max."""

    name: str
    type: str  # number, integer, text, flag, list
    unit: str
    combine: str
    title: str


@dataclass(frozen=True, slots=True)
class FactLine:
    """A log line that carries facts: the pattern's named groups are fact names (`NAME_unit` scales `NAME`)."""

    pattern: str
    samples: tuple[str, ...]
    literals: tuple[tuple[str, ...], ...] = ()
    sections: tuple[str, ...] = ("log",)
    versions: VersionRange = VersionRange("", ())
    constants: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DerivedFact:
    """A fact computed from others, or a default of some versions (`default`), when it was not read."""

    fact: str
    value: Expression
    when: Expression | None
    default: bool


@dataclass(frozen=True, slots=True)
class Mark:
    """A line or frame that tells where a run stands.

    `mark` is ready, shutdown, interrupted, phase, failure (a line without a level that speaks of a failure, whatever it
    was) or remains (what is left around a failure whose own words are cut off); a phase mark says which phase the lines
    after it (`where` after), the line itself or a traceback frame (`where` frame) belong to.
    """

    mark: str
    phase: str
    where: str  # line, frame
    pattern: str
    samples: tuple[str, ...]
    literals: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Noise:
    """A line that looks like trouble and is none. It is never evidence, nor an unrecognised failure."""

    id: str
    pattern: str
    why: str
    samples: tuple[str, ...]
    literals: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class FactBook:
    """Everything declared in rules/facts."""

    names: Mapping[str, FactName] = field(default_factory=dict)
    lines: tuple[FactLine, ...] = ()
    derived: tuple[DerivedFact, ...] = ()
    marks: tuple[Mark, ...] = ()
    noise: tuple[Noise, ...] = ()
    healthy: tuple[str, ...] = ()  # lines that a healthy server prints all the time

    def unit_of(self, name: str) -> str:
        """The unit of a fact, "" when it has none or is not declared."""
        return self.names[name].unit if name in self.names else ""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All rules, remedies and fact declarations in one language."""

    language: str
    rules: Mapping[str, Rule]
    remedies: Mapping[str, Remedy]
    facts: FactBook
    notices: Mapping[str, str] = field(default_factory=dict)  # rule or remedy id → missing, stale
    index: tuple[tuple[str, Signature], ...] = ()
    guards: tuple[Guard, ...] = ()  # over the patterns of users' own rules

    def signatures(self) -> tuple[tuple[str, Signature], ...]:
        """Every signature with the id of its rule. A compiled catalogue has them without building the rules."""
        return self.index or tuple((rule.id, s) for rule in self.rules.values() for s in rule.signatures)

    def rule(self, rule_id: str) -> Rule | None:
        """The rule of that id or old id."""
        found = self.rules.get(rule_id)
        return found or next((rule for rule in self.rules.values() if rule_id in rule.aliases), None)
