"""`vllmdoctor analyze`: paths and options in, the printed report and its exit code out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from vllmdoctor.cli.output import flush_quietly, open_console, write_json
from vllmdoctor.cli.progress import ReadingProgress
from vllmdoctor.errors import UsageError
from vllmdoctor.report.model import Report


def analyze_and_print(
    logs: Sequence[str],
    *,
    nvidia_smi: Sequence[str],
    as_json: bool,
    language: str,
    show_all: bool,
    rules_folders: Sequence[Path],
    redact: bool,
) -> int:
    """The exit code of the verdict. Raises VllmDoctorError for wrong usage, inputs or rules."""
    from vllmdoctor.analysis import analyze_inputs

    paths = list(logs) or paths_without_arguments()
    with ReadingProgress([*paths, *nvidia_smi]) as progress:
        report = analyze_inputs(
            paths,
            nvidia_smi=nvidia_smi,
            stdin=sys.stdin.buffer if sys.stdin else None,
            language=language,
            rules_folders=rules_folders,
            redact=redact,
            progress=progress,
        )
    print_report(report, as_json=as_json, show_all=show_all)
    return report.exit_code


def paths_without_arguments() -> list[str]:
    """Standard input when something is piped into it."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("no log given: name a file, or pipe one in (`docker logs vllm 2>&1 | vllmdoctor analyze -`)")
    return ["-"]


def print_report(report: Report, *, as_json: bool, show_all: bool) -> None:
    with suppress(BrokenPipeError):  # the reader has seen enough; the verdict's exit code stands
        if as_json:
            from vllmdoctor import __version__
            from vllmdoctor.report.json import report_json

            write_json(report_json(report, version=__version__))
        else:
            from vllmdoctor.report.text import write_text

            write_text(report, open_console(), show_all=show_all)
    flush_quietly()
