"""A folder of rules in, all issues out; and the command-line form with its exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from vllmdoctor.errors import RuleError
from vllmdoctor.languages import Counted, Message
from vllmdoctor.rules.check.build import BuildCheck
from vllmdoctor.rules.check.causes import CauseCheck
from vllmdoctor.rules.check.clean_corpus import CleanCorpusCheck
from vllmdoctor.rules.check.completeness import CompletenessCheck
from vllmdoctor.rules.check.fact_lines import FactLineCheck
from vllmdoctor.rules.check.folder import TAXONOMY, Check, RuleFolder, open_rule_folder
from vllmdoctor.rules.check.identity import IdentityCheck
from vllmdoctor.rules.check.issue import ERROR, Issue
from vllmdoctor.rules.check.links import LinkCheck
from vllmdoctor.rules.check.markdown import MarkdownCheck
from vllmdoctor.rules.check.names import NameCheck
from vllmdoctor.rules.check.overlap import OverlapCheck
from vllmdoctor.rules.check.patterns import PatternCheck
from vllmdoctor.rules.check.samples import SampleCheck
from vllmdoctor.rules.check.schema import SchemaCheck
from vllmdoctor.rules.check.speed import SpeedCheck
from vllmdoctor.rules.check.titles import TitleCheck
from vllmdoctor.rules.check.translations import TranslationCheck, translated_shares
from vllmdoctor.rules.check.versions import VersionCheck
from vllmdoctor.rules.counts import counted_things
from vllmdoctor.rules.load import load_catalogue


def check_rules(
    folder: Path, *, language: str | None = None, clean_corpus: Path | None = None, user: bool | None = None
) -> list[Issue]:
    """All issues of a rules folder, by file and line.

    `language` asks for a complete translation into one. `clean_corpus` is a folder of healthy logs that the rules must
    be silent on. `user` says that the folder adds to the shipped rules; by default it does when it has no taxonomy.
    """
    opened = _opened(folder, user)
    return opened if isinstance(opened, list) else issues_of(opened, checks(language, clean_corpus))


def main_check(
    folder: Path,
    echo: Callable[[Message], None],
    *,
    language: str | None = None,
    clean_corpus: Path | None = None,
    user: bool | None = None,
) -> int:
    """Hands every issue and a summary to `echo`, a sentence at a time; 0 when there is no error, else 1."""
    opened = _opened(folder, user)
    issues = opened if isinstance(opened, list) else issues_of(opened, checks(language, clean_corpus))
    for found in issues:
        echo(found.sentence())
    if isinstance(opened, RuleFolder):
        for line in summary(opened, language):
            echo(line)
    errors = sum(found.severity == ERROR for found in issues)
    echo(_verdict(errors, len(issues) - errors))
    return 1 if errors else 0


def checks(language: str | None = None, clean_corpus: Path | None = None) -> list[Check]:
    """Every check, in the order in which a reader wants to hear of problems."""
    always: list[Check] = [
        SchemaCheck(), BuildCheck(), IdentityCheck(), CompletenessCheck(), CauseCheck(), TitleCheck(), PatternCheck(),
        SampleCheck(), OverlapCheck(), FactLineCheck(), NameCheck(), VersionCheck(), LinkCheck(), MarkdownCheck(),
        TranslationCheck(language), SpeedCheck(),
    ]  # fmt: skip
    return [*always, CleanCorpusCheck(clean_corpus)] if clean_corpus else always


def issues_of(folder: RuleFolder, wanted: list[Check]) -> list[Issue]:
    """What the checks find, by file and line; of several remarks of schema and build on one place only the first."""
    found = [issue for check in wanted for issue in check.issues(folder)]
    schema = {(issue.file, issue.field) for issue in found if issue.check == SchemaCheck.name}
    kept = [issue for issue in found if not (issue.check == BuildCheck.name and (issue.file, issue.field) in schema)]
    return sorted(dict.fromkeys(kept), key=lambda issue: (issue.file, issue.line))


def summary(folder: RuleFolder, language: str | None = None) -> Iterator[Message]:
    """What was checked, and how far the translations are."""
    documents = folder.documents
    facts = sum(1 for _ in folder.fact_entries("facts"))
    yield counted_things(len(documents.rules), len(documents.remedies), facts)
    for name, (done, total) in translated_shares(folder).items():
        if language in (None, name):
            yield Message(
                "{language}: {percent} % translated ({done} of {total})",
                language=name,
                percent=100 * done // max(total, 1),
                done=done,
                total=total,
            )


def _verdict(errors: int, remarks: int) -> Message:
    if not errors and not remarks:
        return Message("no problems")
    return Message(
        "{errors}, {remarks}",
        errors=Counted("{count} error", "{count} errors", errors),
        remarks=Counted("{count} remark", "{count} remarks", remarks),
    )


def _opened(folder: Path, user: bool | None) -> RuleFolder | list[Issue]:
    if user is None:
        user = not (folder / TAXONOMY).is_file()
    try:
        return open_rule_folder(folder, load_catalogue() if user else None)
    except RuleError as problem:
        return [Issue.of(problem, BuildCheck.name)]
