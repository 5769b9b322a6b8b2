"""`vllmdoctor rules new`: a log with an unknown failure in, the file of a rule for it and its fixture out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from vllmdoctor.analysis import diagnose_log
from vllmdoctor.cli.language import current_words
from vllmdoctor.cli.output import flush_quietly, open_console
from vllmdoctor.diagnosis.model import ROOT_CAUSE, UNRECOGNIZED, Diagnosis, Unrecognized
from vllmdoctor.errors import InputError, UsageError
from vllmdoctor.intake import Excerpt, read_inputs
from vllmdoctor.languages import Message
from vllmdoctor.logs import read_log
from vllmdoctor.redaction import redacted
from vllmdoctor.report.untrusted import neutral
from vllmdoctor.rules.load import checkout_rules, load_catalogue
from vllmdoctor.rules.model import CATEGORIES, Catalogue
from vllmdoctor.upstream.provenance import check_source, provenance_of
from vllmdoctor.upstream.scaffold import NewRule, message_of, new_rule, rule_yaml

_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LINES_BEFORE, _LINES_AFTER = 60, 20


def write_new_rule(
    rule_id: str,
    log: str,
    *,
    category: str | None,
    folder: Path | None,
    vllm: Path | None,
    rules_folders: Sequence[Path],
) -> None:
    """Raises UsageError when the log's failure is known already, or files of that id exist."""
    if category is not None and category not in CATEGORIES:
        raise UsageError(
            Message("no category {category!r}; there are {names}", category=category, names=", ".join(CATEGORIES))
        )
    if not _ID.fullmatch(rule_id):
        raise UsageError(Message("{id!r} is no id: lower-case words joined by hyphens", id=rule_id))
    if vllm is not None:
        check_source(vllm)
    catalogue = load_catalogue("en", rules_folders)
    if catalogue.rule(rule_id) is not None:
        raise UsageError(Message("the rule {id!r} exists; add a signature to it", id=rule_id))
    excerpts = read_inputs([log], stdin=None, literals=[], block_literals=frozenset())
    diagnosis = _diagnosis(excerpts, catalogue)
    unknown = _unknown(diagnosis, log)
    rule = _rule(rule_id, category, unknown, diagnosis, catalogue, vllm)
    target = folder or checkout_rules() or Path("rules")
    written = _write(rule, target, excerpts[0], unknown)
    console, words = open_console(), current_words()
    next_step = Message("next: replace every FILL IN, then `vllmdoctor rules check {folder}`", folder=target)
    for line in (*written, next_step):
        console.print(words.said(line), soft_wrap=True)
    flush_quietly()


def _diagnosis(excerpts: Sequence[Excerpt], catalogue: Catalogue) -> Diagnosis:
    return diagnose_log(read_log(line for excerpt in excerpts for line in excerpt.lines), catalogue, excerpts)


def _unknown(diagnosis: Diagnosis, log: str) -> Unrecognized:
    if diagnosis.status == UNRECOGNIZED and diagnosis.unrecognized:
        return diagnosis.unrecognized
    root = next((finding.rule.id for finding in diagnosis.findings if finding.role == ROOT_CAUSE), "")
    if root:
        raise UsageError(
            Message(
                "{log}: its failure is known as {root}; `vllmdoctor rules show {root}` shows by which lines",
                log=log,
                root=root,
            )
        )
    raise UsageError(Message("{log}: no failure without a rule in it ({status})", log=log, status=diagnosis.status))


def _rule(
    rule_id: str,
    category: str | None,
    unknown: Unrecognized,
    diagnosis: Diagnosis,
    catalogue: Catalogue,
    vllm: Path | None,
) -> NewRule:
    nearest = unknown.nearest
    version = diagnosis.facts.get("vllm_version")
    return new_rule(
        rule_id,
        category or (catalogue.rules[nearest[0]].category if nearest else "config"),
        unknown.record,
        redacted(neutral(message_of(unknown.record))),
        unknown.last_phase or diagnosis.last_phase,
        str(version.value) if version else "",
        nearest,
        provenance_of(unknown.record, vllm),
    )


def _write(rule: NewRule, target: Path, excerpt: Excerpt, unknown: Unrecognized) -> list[Message]:
    """Writes the files and tells which. A folder with a taxonomy is laid out like the shipped one."""
    shipped = (target / "taxonomy.tsv").is_file()
    files = {(target / rule.category if shipped else target) / f"{rule.id}.yaml": rule_yaml(rule)}
    if shipped:
        fixture = target.parent / "tests" / "fixtures" / "rules" / rule.id
        files |= {fixture / name: text for name, text in _fixture(rule, excerpt, unknown).items()}
    taken = [path for path in files if path.exists()]
    if taken:
        raise UsageError(Message("{path} exists; choose another id, or remove it", path=taken[0]))
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        if shipped:
            with (target / "taxonomy.tsv").open("a", encoding="utf-8") as taxonomy:
                taxonomy.write(f"{rule.id}\t{rule.category}\tFILL IN a description\n")
    except OSError as problem:
        raise InputError(
            str(target),
            Message("cannot be written ({reason})", reason=problem.strerror),
            Message("Name another folder with --dir"),
        ) from None
    written = [Message("wrote {path}", path=path) for path in files]
    if shipped:
        written.append(Message("added {id} to {path}", id=rule.id, path=target / "taxonomy.tsv"))
    return written


def _fixture(rule: NewRule, excerpt: Excerpt, unknown: Unrecognized) -> dict[str, str]:
    """The failure with the lines around it, redacted, and as near miss what came before it."""
    first, last = unknown.record.first.number, unknown.record.last.number
    lines = {line.number: redacted(neutral(line.text)) for line in excerpt.lines}
    shown = [n for n in lines if first - _LINES_BEFORE <= n <= last + _LINES_AFTER]
    place = unknown.record.text_lines[0].number if unknown.record.text_lines else last
    before = [lines[n] for n in shown if n < first] or ["FILL IN a log that only looks like this failure"]
    expected = [
        "status: failure",
        f"root: {rule.id}",
        f"line: {shown.index(place) + 1 if place in shown else 1}",
        "first_fix: fill-in-fix",
        "near_miss:  # FILL IN a log that only looks like this failure, and what is to be said of it",
        "  status: healthy",
        "  root: null",
    ]
    return {
        "startup.log": "\n".join(lines[n] for n in shown) + "\n",
        "near-miss.log": "\n".join(before) + "\n",
        "expected.yaml": "\n".join(expected) + "\n",
    }
