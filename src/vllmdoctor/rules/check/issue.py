"""What a check finds: one problem with its place in a rule file."""

from __future__ import annotations

from dataclasses import dataclass

from vllmdoctor.errors import RuleError

ERROR, WARNING, NOTE = "error", "warning", "note"


@dataclass(frozen=True, slots=True)
class Issue:
    """`line` is 1-based, 0 when unknown; `field` the dotted path in the file; only the severity error fails a check."""

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
        place = self.file + (f":{self.line}" if self.line else "") + (f" [{self.field}]" if self.field else "")
        prefix = "" if self.severity == ERROR else f"{self.severity}: "
        return f"{place} {prefix}{self.text} ({self.check})"
