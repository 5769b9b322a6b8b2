"""Runs and evidence in, the same told once with counts out: a restart loop is one failure, eight ranks one cause."""

from __future__ import annotations

from dataclasses import dataclass, replace

from vllmdoctor.report import words as w
from vllmdoctor.report.model import EvidenceReport, FindingReport, Report, RunReport
from vllmdoctor.report.words import Words


@dataclass(frozen=True, slots=True)
class FoldedRuns:
    """Earlier runs that came to the same verdict. `latest` is the last of them."""

    count: int
    latest: RunReport


def earlier_runs(report: Report, words: Words) -> list[str]:
    """A sentence for each verdict of the earlier runs: first the one that the last run repeats, then the newest."""
    if len(report.runs) < 2:
        return []
    *earlier, last = report.runs
    folded = _folded(earlier)
    same = folded.pop((last.status, last.rule), None) if last.rule else None
    sentences = [_repeated(same.count, report, words)] if same else []
    newest = sorted(folded.values(), key=lambda runs: runs.latest.number, reverse=True)
    return sentences + [_other(runs, report, words) for runs in newest]


def _folded(runs: list[RunReport]) -> dict[tuple[str, str], FoldedRuns]:
    folded: dict[tuple[str, str], FoldedRuns] = {}
    for run in runs:
        key = (run.status, run.rule)
        folded[key] = FoldedRuns(folded[key].count + 1 if key in folded else 1, run)
    return folded


def _repeated(count: int, report: Report, words: Words) -> str:
    return words.counted(w.SAME_FAILURE if _read_whole(report) else w.SAME_FAILURE_AT_LEAST, count)


def _other(runs: FoldedRuns, report: Report, words: Words) -> str:
    latest = runs.latest
    title = latest.title + (words(w.IN_BRACKETS, note=latest.rule) if latest.rule else "")
    place = words(w.LINES, first=latest.first_line, last=latest.last_line)
    if len(report.inputs) > 1:
        place = f"{report.inputs[latest.input].name} {place}"
    if runs.count == 1:
        return f"{place}: {title}"
    message = w.OTHER_RUNS if _read_whole(report) else w.OTHER_RUNS_AT_LEAST
    return words(message, count=f"{runs.count:,}", place=place, title=title)


def _read_whole(report: Report) -> bool:
    return all(one.complete for one in report.inputs)


def occurrences(finding: FindingReport, report: Report, words: Words) -> str:
    """How often the run shows the finding and in which processes; "" when there is nothing to it.

    Twice by one process is how vLLM prints a single error: where it is raised and where it is given up.
    """
    names = list(dict.fromkeys(evidence.process for evidence in finding.evidence if evidence.process))
    if finding.count < 3 and len(names) < 2:
        return ""
    sentence = words.counted(w.RUN_TIMES if _read_whole(report) else w.RUN_TIMES_AT_LEAST, finding.count)
    if len(names) < 2:
        return sentence
    more = ["…"] if finding.count > len(finding.evidence) else []
    return f"{sentence}: {', '.join([*names, *more])}"


def evidence_text(evidence: EvidenceReport, report: Report) -> str:
    """`startup.log:41  EngineCore  ValueError: …`, with all lines of the record."""
    name = report.inputs[evidence.input].name if evidence.input < len(report.inputs) else f"#{evidence.input}"
    return "  ".join(filter(None, (f"{name}:{evidence.line}", evidence.process, evidence.text)))


def evidence_texts(finding: FindingReport, report: Report, words: Words) -> list[str]:
    """The evidence; a text that several ranks print is told once."""
    seen: set[str] = set()
    texts = []
    for evidence in finding.evidence:
        again = replace(evidence, text=words(w.EVIDENCE_AGAIN)) if evidence.text in seen else evidence
        texts.append(evidence_text(again, report))
        seen.add(evidence.text)
    return texts
