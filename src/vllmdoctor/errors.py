"""What can go wrong outside of a diagnosis, as a small family of errors that say where and what to do.

Their texts are English. Problems and hints given as `Message` can be said in the user's language (`Words.error`).
"""

from __future__ import annotations

from vllmdoctor.languages import Message


class VllmDoctorError(Exception):
    """A problem that the user can act on; the command line prints it without a traceback and exits with code 2."""


class InputError(VllmDoctorError):
    """An input cannot be read: missing, empty, not a text, damaged archive.

    `name` is the input as the user gave it, `hint` says what to do next.
    """

    def __init__(self, name: str, problem: str, hint: str = "") -> None:
        self.name = name
        self.problem = problem
        self.hint = hint
        super().__init__(f"{name}: {problem}" + (f". {hint}" if hint else ""))


class UsageError(VllmDoctorError):
    """The command was called with options that do not fit together."""


class RuleError(VllmDoctorError):
    """A rule file is wrong. `file`, `line` (1-based, 0 when unknown) and `field` name the place."""

    def __init__(self, file: str, problem: str, *, line: int = 0, field: str = "") -> None:
        self.file = file
        self.line = line
        self.field = field
        self.problem = problem
        self.place = file + (f":{line}" if line else "") + (f" [{field}]" if field else "")
        super().__init__(f"{self.place}: {problem}")


class ExpressionError(VllmDoctorError):
    """A condition or placeholder cannot be parsed. `column` is 1-based."""

    def __init__(self, source: str, column: int, problem: str) -> None:
        self.source = source
        self.column = column
        self.problem = problem
        super().__init__(
            Message("column {column} of {source!r}: {problem}", column=column, source=source, problem=problem)
        )
