"""Paths in, a report out: the whole walk from bytes to the diagnosis in words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from vllmdoctor.diagnosis import diagnose
from vllmdoctor.diagnosis.model import Diagnosis
from vllmdoctor.facts.machine import machine_readings
from vllmdoctor.facts.table import Reading
from vllmdoctor.intake import Excerpt, read_inputs
from vllmdoctor.logs import Log, RawLine, read_log
from vllmdoctor.report.build import build_report
from vllmdoctor.report.model import InputReport, Report
from vllmdoctor.rules.literals import raw_literals
from vllmdoctor.rules.load import load_catalogue
from vllmdoctor.rules.model import Catalogue

if TYPE_CHECKING:
    from vllmdoctor.upstream.provenance import Provenance

_BLOCK_LITERALS = frozenset({b"Traceback (most recent call last)"})
_ALWAYS = (
    "Traceback (most recent call last)",
    " ERROR ",
    "CRITICAL ",
    "Error: ",
    "Exception: ",
    "Killed",
    "core dumped",
)


def analyze_inputs(
    paths: Sequence[str],
    *,
    nvidia_smi: Sequence[str] = (),
    stdin: BinaryIO | None = None,
    language: str = "en",
    rules_folders: Sequence[Path] = (),
    redact: bool = True,
    progress: Callable[[int], None] | None = None,
    vllm: Path | None = None,
    site: str = "",
) -> Report:
    """Reads the inputs and reports on the last run in them.

    `paths` are logs ("-" is standard input), `nvidia_smi` files with nvidia-smi output, `progress` is told the bytes
    read, `vllm` a vLLM (folder or table of messages) in which the source of an unrecognized failure is looked up,
    `site` the address of the troubleshooting site whose pages the report names.
    Raises InputError when an input cannot be read, RuleError when a rule file is wrong.
    """
    if vllm is not None:
        from vllmdoctor.upstream.provenance import check_source

        check_source(vllm)
    catalogue = load_catalogue(language, rules_folders)
    excerpts = read_excerpts([*paths, *nvidia_smi], catalogue, stdin=stdin, progress=progress)
    tables = set(nvidia_smi) - set(paths)
    return analyze_excerpts(excerpts, catalogue, tables=tables, redact=redact, vllm=vllm, site=site)


def read_excerpts(
    paths: Sequence[str],
    catalogue: Catalogue,
    *,
    stdin: BinaryIO | None = None,
    progress: Callable[[int], None] | None = None,
) -> Sequence[Excerpt]:
    """The lines of the inputs; of large ones those that the catalogue has an eye on. Raises InputError."""
    return read_inputs(
        paths,
        stdin=stdin,
        literals=lambda: scan_literals(catalogue),
        block_literals=_BLOCK_LITERALS,
        progress=progress,
    )


def analyze_excerpts(
    excerpts: Sequence[Excerpt],
    catalogue: Catalogue,
    *,
    tables: Collection[str] = (),
    redact: bool = True,
    vllm: Path | None = None,
    site: str = "",
) -> Report:
    """The report on lines that were read. `tables` are the names of inputs that are nvidia-smi output."""
    forced = {index: "nvidia-smi" for index, excerpt in enumerate(excerpts) if excerpt.name in tables}
    log = read_log((line for excerpt in excerpts for line in excerpt.lines), sections=forced)
    diagnosis = diagnose_log(log, catalogue, excerpts)
    provenance = _provenance(diagnosis, vllm)
    inputs = input_reports(excerpts, log)
    return build_report(diagnosis, catalogue, inputs, redact=redact, provenance=provenance, site=site)


def _provenance(diagnosis: Diagnosis, vllm: Path | None) -> Provenance | None:
    """Imported only for a failure that no rule knows: reading source code is no part of the usual walk."""
    if diagnosis.unrecognized is None:
        return None
    from vllmdoctor.upstream.provenance import provenance_of

    return provenance_of(diagnosis.unrecognized.record, vllm)


def diagnose_log(log: Log, catalogue: Catalogue, excerpts: Sequence[Excerpt]) -> Diagnosis:
    """The diagnosis of a read log, with what nvidia-smi output in the same inputs tells."""
    readings: list[Reading] = []
    for index, excerpt in enumerate(excerpts):
        if excerpt.complete:
            readings.extend(machine_readings("\n".join(line.text for line in excerpt.lines), index, catalogue.facts))
    return diagnose(log, catalogue, readings)


def scan_literals(catalogue: Catalogue) -> list[bytes]:
    """What a large input is searched for before any line is decoded.

    Patterns that only match what every healthy server prints (statistics, access lines) are left to the head and the
    tail of the input, which are kept anyway.
    """
    book = catalogue.facts
    common = "\n".join(book.healthy)
    sets = [signature.literals for _, signature in catalogue.signatures()]
    sets += [line.literals for line in book.lines] + [mark.literals for mark in book.marks if mark.where == "line"]
    found = {literal for group in sets for literal in raw_literals(group, common)} | set(_ALWAYS)
    return sorted(literal.encode() for literal in found)


def input_reports(excerpts: Sequence[Excerpt], log: Log) -> tuple[InputReport, ...]:
    kinds = tuple(sorted(log.kinds))
    return tuple(InputReport(e.name, kinds, e.total_lines, e.notes, e.complete) for e in excerpts)


__all__ = [
    "RawLine",
    "analyze_excerpts",
    "analyze_inputs",
    "diagnose_log",
    "input_reports",
    "read_excerpts",
    "scan_literals",
]
