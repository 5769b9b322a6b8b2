"""A report in; GitHub annotations on a stream and the Markdown report in the summary of the job's step out."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TextIO

from vllmdoctor import __version__
from vllmdoctor.cli.language import current_words
from vllmdoctor.cli.output import fitted, write_utf8
from vllmdoctor.languages import Message
from vllmdoctor.report.github import annotation_lines
from vllmdoctor.report.markdown import report_markdown
from vllmdoctor.report.model import Report

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
# GitHub shows nothing at all of a larger one.
MOST_SUMMARY_BYTES = 1 << 20


def print_annotations(report: Report, stream: TextIO, *, show_all: bool) -> None:
    write_utf8("".join(f"{line}\n" for line in annotation_lines(report)), stream)
    if path := os.environ.get(SUMMARY_VARIABLE):
        problem = append_summary(Path(path), report_markdown(report, version=__version__, show_all=show_all))
        if problem:  # the annotations and the exit code stand without it
            message = current_words().said(
                Message("warning: the job summary was not written: {problem}", problem=problem)
            )
            print(fitted(message, sys.stderr.encoding or "ascii"), file=sys.stderr)


def append_summary(path: Path, markdown: str) -> str:
    """Appends to what the step has written before; the reason why that cannot be done, "" when it is done."""
    try:
        before = path.read_bytes() if path.exists() else b""
        gap = b"" if not before or before.endswith(b"\n\n") else b"\n" if before.endswith(b"\n") else b"\n\n"
        added = gap + markdown.encode("utf-8", "replace")
        if len(before) + len(added) > MOST_SUMMARY_BYTES:
            return Message("it would be larger than 1 MiB")
        with path.open("ab") as file:
            file.write(added)
    except OSError as error:
        return error.strerror or str(error)
    return ""
