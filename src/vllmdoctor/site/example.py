"""A log of tests/fixtures in; its lines, the analyzer's report and what it prints in a language out."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from pathlib import Path

from vllmdoctor.analysis import analyze_inputs
from vllmdoctor.report.model import Report

COLUMNS, LINES = 80, 25
NAME = "startup.log"


@dataclass(frozen=True, slots=True)
class Example:
    """`log` is the text of the log, `output` what `vllmdoctor analyze startup.log` prints for it."""

    log: str
    report: Report
    output: str


def example_of(path: Path, language: str) -> Example:
    """Raises InputError when the log cannot be read."""
    report = analyze_inputs([str(path)], language=language)
    report = replace(report, inputs=tuple(replace(one, name=NAME) for one in report.inputs))
    return Example(path.read_text(encoding="utf-8"), report, printed(report))


def printed(report: Report, *, show_all: bool = False) -> str:
    """The report as a terminal of 80 columns shows it, without colours."""
    from rich.console import Console

    from vllmdoctor.report.text import write_text

    paper = io.StringIO()
    console = Console(
        file=paper,
        width=COLUMNS,
        height=LINES,
        markup=False,
        emoji=False,
        highlight=False,
        color_system=None,
        legacy_windows=False,
    )
    write_text(report, console, show_all=show_all)
    return "\n".join(line.rstrip() for line in paper.getvalue().splitlines()).strip("\n") + "\n"
