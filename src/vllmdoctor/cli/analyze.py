"""`vllmdoctor analyze`: paths and options in, the printed report and its exit code out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from vllmdoctor.cli.output import flush_quietly, open_console, write_utf8
from vllmdoctor.cli.progress import ReadingProgress
from vllmdoctor.errors import UsageError
from vllmdoctor.languages import Message
from vllmdoctor.report.model import Report
from vllmdoctor.report.pages import site_address

TEXT, JSON, MARKDOWN, GITHUB = "text", "json", "markdown", "github"

_Opened = tuple[BinaryIO | None, Callable[[int], None] | None]


def analyze_and_print(
    logs: Sequence[str],
    *,
    nvidia_smi: Sequence[str],
    output_format: str,
    language: str,
    show_all: bool,
    rules_folders: Sequence[Path],
    redact: bool,
    tee: bool = False,
    vllm: Path | None = None,
) -> int:
    """The exit code of the verdict. Raises VllmDoctorError for wrong usage, inputs or rules.

    With `tee` standard output carries the log from standard input, and the report goes to standard error.
    """
    from vllmdoctor.analysis import analyze_inputs

    paths = list(logs) or paths_without_arguments()
    with _opened_input(paths, [*paths, *nvidia_smi], tee=tee) as (stdin, progress):
        report = analyze_inputs(
            paths,
            nvidia_smi=nvidia_smi,
            stdin=stdin,
            language=language,
            rules_folders=rules_folders,
            redact=redact,
            progress=progress,
            vllm=vllm,
            site=site_address(os.environ),
        )
    if tee and output_format in (TEXT, GITHUB):
        print(file=sys.stderr)  # the log may have ended within a line
    print_report(report, output_format, sys.stderr if tee else sys.stdout, show_all=show_all)
    return report.exit_code


@contextmanager
def _opened_input(paths: Sequence[str], files: Sequence[str], *, tee: bool) -> Iterator[_Opened]:
    """Standard input, and what is to be told the bytes read from `files`."""
    if not tee:
        with ReadingProgress(files) as progress:
            yield sys.stdin.buffer if sys.stdin else None, progress
        return
    from vllmdoctor.cli.tee import passed_through

    if "-" not in paths:
        raise UsageError(Message("--tee passes standard input on; add - to the logs, or leave --tee out"))
    with passed_through() as stdin:
        yield stdin, None  # a progress bar would get between the lines of the log


def paths_without_arguments() -> list[str]:
    """Standard input when something is piped into it."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(
            Message("no log given: name a file, or pipe one in (`docker logs vllm 2>&1 | vllmdoctor analyze -`)")
        )
    return ["-"]


def print_report(report: Report, output_format: str, stream: TextIO, *, show_all: bool) -> None:
    with suppress(BrokenPipeError):  # the reader has seen enough; the verdict's exit code stands
        if output_format == TEXT:
            from vllmdoctor.report.text import write_text

            write_text(report, open_console(stream), show_all=show_all)
        elif output_format == GITHUB:
            from vllmdoctor.cli.github import print_annotations

            print_annotations(report, stream, show_all=show_all)
        else:
            write_utf8(_document(report, output_format, show_all), stream)
    flush_quietly(stream)


def _document(report: Report, output_format: str, show_all: bool) -> str:
    from vllmdoctor import __version__

    if output_format == JSON:
        from vllmdoctor.report.json import report_json

        return report_json(report, version=__version__)
    from vllmdoctor.report.markdown import report_markdown

    return report_markdown(report, version=__version__, show_all=show_all)
