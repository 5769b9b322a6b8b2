"""Check `clean`: logs of healthy starts in, what the rules wrongly find in them out."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vllmdoctor.errors import InputError, VllmDoctorError
from vllmdoctor.languages import Message
from vllmdoctor.rules.check.folder import RuleFolder
from vllmdoctor.rules.check.issue import ERROR, NOTE, Issue

_HEALTHY = "healthy"
_HARMLESS = "warning"


class CleanCorpusCheck:
    name = "clean"

    def __init__(self, corpus: Path) -> None:
        self.corpus = corpus

    def issues(self, folder: RuleFolder) -> Iterator[Issue]:
        try:
            # The analysis stands above this package; only this check looks up, and only when it is asked for.
            analysis = importlib.import_module("vllmdoctor.analysis")
        except ImportError:
            yield Issue(str(self.corpus), 0, "", self.name, NOTE, Message("not checked: the analysis is not installed"))
            return
        logs = sorted(self.corpus.glob("*.log"))
        if not logs:
            yield Issue(str(self.corpus), 0, "", self.name, ERROR, Message("holds no *.log file"))
        extra = () if folder.base is None else (folder.path,)
        for log in logs:
            try:
                report = analysis.analyze_inputs([str(log)], rules_folders=extra)
            except VllmDoctorError as problem:
                text = problem.problem if isinstance(problem, InputError) else str(problem)
                yield Issue(str(log), 0, "", self.name, ERROR, text)
            else:
                yield from self._report(log, report)

    def _report(self, log: Path, report: Any) -> Iterator[Issue]:
        found = [finding for finding in report.findings if finding.role != _HARMLESS]
        for finding in found:
            line = finding.evidence[0].line if finding.evidence else 0
            problem = Message("a healthy log, but {rule!r} matches here", rule=finding.rule)
            yield Issue(str(log), line, "", self.name, ERROR, problem)
        if report.status != _HEALTHY and not found:
            problem = Message("a healthy log, but its status is {status!r}", status=report.status)
            yield Issue(str(log), 0, "", self.name, ERROR, problem)
