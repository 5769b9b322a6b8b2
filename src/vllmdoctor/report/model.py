"""A report in words: what the user reads, whatever the output format. Plain texts (Markdown inline) in one language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vllmdoctor.facts.model import Fact
from vllmdoctor.memory.advice import Advice
from vllmdoctor.memory.receipt import Receipt

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class InputReport:
    """One input: its name as given, what was recognised in it, its number of lines, remarks of the reader.

    Of a large input only the telling lines are read (not `complete`), so that what is counted in it may be more.
    """

    name: str
    kinds: tuple[str, ...]
    lines: int
    notes: tuple[str, ...]
    complete: bool = True


@dataclass(frozen=True, slots=True)
class RunReport:
    """One run: where it stands and what it came to. `title` is that of its root cause."""

    number: int
    input: int
    first_line: int
    last_line: int
    status: str
    rule: str
    title: str


@dataclass(frozen=True, slots=True)
class EvidenceReport:
    """A quoted line: input index, 1-based line number, process label, text (redacted)."""

    input: int
    line: int
    process: str
    text: str


@dataclass(frozen=True, slots=True)
class CauseReport:
    id: str
    title: str
    text: str
    state: str  # confirmed, likely, possible, ruled-out
    because: str  # what decides, or what would


@dataclass(frozen=True, slots=True)
class Commands:
    """One change in the forms people run vLLM in; "" where a form does not apply.

    Of the user's own command `form` is the one they use, `changed` are the pieces that differ from it, and `brief`
    the forms with these alone when the whole is long.
    """

    cli: str = ""
    python: str = ""
    compose: str = ""
    kubernetes: str = ""
    form: str = "cli"
    changed: tuple[str, ...] = ()
    brief: Mapping[str, str] = field(default_factory=dict)

    def shown(self, *, whole: bool = False) -> dict[str, str]:
        """The forms that apply, the user's own first; short ones, except for the user's own when the whole is asked."""
        texts = {"cli": self.cli, "python": self.python, "compose": self.compose, "kubernetes": self.kubernetes}
        order = sorted(texts, key=lambda form: form != self.form)
        brief = {form: text for form, text in self.brief.items() if not (whole and form == self.form)}
        return {form: brief.get(form, texts[form]) for form in order if texts[form]}


@dataclass(frozen=True, slots=True)
class FixReport:
    id: str
    rank: int
    title: str
    why: str
    effect: str
    cost: str
    risk: str
    condition: str  # "" when it applies for sure, else what has to be checked first
    arguments: Mapping[str, str]
    commands: Commands


@dataclass(frozen=True, slots=True)
class CautionReport:
    id: str
    title: str
    why: str


@dataclass(frozen=True, slots=True)
class VerificationReport:
    id: str
    text: str
    log: str
    command: str


@dataclass(frozen=True, slots=True)
class FindingReport:
    """One finding; field order is the order of reading."""

    rule: str
    category: str
    role: str
    severity: str
    phase: str
    title: str
    summary: str
    first_check: str
    count: int
    explained_by: str
    evidence: tuple[EvidenceReport, ...]
    causes: tuple[CauseReport, ...]
    fixes: tuple[FixReport, ...]
    does_not_help: tuple[CautionReport, ...]
    verify: tuple[VerificationReport, ...]
    references: tuple[tuple[str, str], ...]
    notice: str  # about the translation, "" when there is nothing to say
    receipt: Receipt | None = None  # of a memory finding, when the log tells enough
    advice: Advice | None = None  # what follows from it
    page: str = ""  # of the configured site


@dataclass(frozen=True, slots=True)
class ProvenanceReport:
    """The place in vLLM's source that prints a message: its template, and what the placeholders held."""

    file: str
    function: str
    template: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class UnrecognizedReport:
    """A failure without a rule: what was raised, where, after which phase, which rules come near, what to do."""

    exception: str
    message: str
    raised_at: str
    last_phase: str
    nearest: tuple[str, ...]
    evidence: EvidenceReport
    provenance: ProvenanceReport | None = None  # known when a vLLM is at hand


@dataclass(frozen=True, slots=True)
class Report:
    """The whole answer. `status` is healthy, failure, unrecognized-failure, cause-not-in-log or no-vllm-log."""

    status: str
    exit_code: int
    language: str
    headline: str
    inputs: tuple[InputReport, ...]
    runs: tuple[RunReport, ...]
    facts: Mapping[str, Fact]
    findings: tuple[FindingReport, ...]
    unrecognized: UnrecognizedReport | None
    notices: tuple[str, ...]
    missing: tuple[str, ...]  # what to get so that the cause can be named, as sentences with commands
