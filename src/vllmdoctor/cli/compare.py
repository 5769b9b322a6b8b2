"""`vllmdoctor compare`: a log that worked and one that fails in, their differences printed and an exit code out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from vllmdoctor.cli.language import current_words
from vllmdoctor.cli.output import flush_quietly, open_console, write_json
from vllmdoctor.cli.progress import ReadingProgress
from vllmdoctor.diagnosis.compare import compare
from vllmdoctor.diagnosis.model import NO_VLLM_LOG, Diagnosis
from vllmdoctor.errors import InputError, UsageError
from vllmdoctor.languages import Message
from vllmdoctor.report.comparison import ComparisonReport, comparison_document, comparison_report
from vllmdoctor.report.model import Report
from vllmdoctor.rules.model import Catalogue


def compare_and_print(old: str, new: str, *, as_json: bool, language: str, rules_folders: Sequence[Path]) -> int:
    """1 when the new log shows a failure, else 0. Raises VllmDoctorError for wrong usage or inputs."""
    from vllmdoctor.rules.load import load_catalogue

    if old == new == "-":
        raise UsageError(Message("standard input can be only one of the two logs"))
    catalogue = load_catalogue(language, rules_folders)
    with ReadingProgress([old, new]) as progress:
        before, old_report = _diagnosed(old, catalogue, progress)
        after, new_report = _diagnosed(new, catalogue, progress)
    report = comparison_report(compare(before, after), old_report, new_report, catalogue.facts, current_words())
    with suppress(BrokenPipeError):  # the reader has seen enough; the exit code stands
        _print(report, as_json)
    flush_quietly()
    return report.exit_code


def _diagnosed(path: str, catalogue: Catalogue, progress: Callable[[int], None] | None) -> tuple[Diagnosis, Report]:
    """The diagnosis of one log and its report. Raises InputError when it is no vLLM log."""
    from vllmdoctor.analysis import diagnose_log, input_reports, scan_literals
    from vllmdoctor.intake import read_inputs
    from vllmdoctor.logs import read_log
    from vllmdoctor.report.build import build_report

    stdin = sys.stdin.buffer if sys.stdin else None
    excerpts = read_inputs([path], stdin=stdin, literals=lambda: scan_literals(catalogue), progress=progress)
    log = read_log(line for excerpt in excerpts for line in excerpt.lines)
    diagnosis = diagnose_log(log, catalogue, excerpts)
    if diagnosis.status == NO_VLLM_LOG:
        raise InputError(
            path,
            Message("holds no output of vLLM"),
            Message("Give what `vllm serve` printed, both standard output and standard error"),
        )
    return diagnosis, build_report(diagnosis, catalogue, input_reports(excerpts, log))


def _print(report: ComparisonReport, as_json: bool) -> None:
    if as_json:
        from vllmdoctor import __version__
        from vllmdoctor.report.json import json_text

        write_json(json_text(comparison_document(report, version=__version__)))
    else:
        from vllmdoctor.report.text.comparison import write_comparison

        write_comparison(report, open_console(), current_words())
