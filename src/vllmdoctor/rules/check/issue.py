"""What a check finds: one problem with its place in a rule file."""

from __future__ import annotations

from dataclasses import dataclass

from vllmdoctor.errors import RuleError
from vllmdoctor.languages import Message

ERROR, WARNING, NOTE = "error", "warning", "note"


@dataclass(frozen=True, slots=True)
class Issue:
    """`line` is 1-based, 0 when unknown; `field` the dotted path in the file; only the severity error fails a check.

    `text` is a `Message`, unless it comes from a library.
    """

    file: str
    line: int
    field: str
    check: str
    severity: str
    text: str

    @classmethod
    def of(cls, problem: RuleError, check: str, severity: str = ERROR) -> Issue:
        return cls(problem.file, problem.line, problem.field, check, severity, problem.problem)

    def __str__(self) -> str:
        return str(self.sentence())

    def sentence(self) -> Message:
        """Place, problem and check on one line."""
        place = self.file + (f":{self.line}" if self.line else "") + (f" [{self.field}]" if self.field else "")
        if self.severity == WARNING:
            return Message("{place} warning: {problem} ({check})", place=place, problem=self.text, check=self.check)
        if self.severity == NOTE:
            return Message("{place} note: {problem} ({check})", place=place, problem=self.text, check=self.check)
        return Message("{place} {problem} ({check})", place=place, problem=self.text, check=self.check)
