"""Check `cause`: a condition that is true of a log that tells nothing confirms no cause."""

from __future__ import annotations

from collections.abc import Iterator

from vllmdoctor.languages import Message
from vllmdoctor.rules.check.folder import RuleFolder, at, entries, issue
from vllmdoctor.rules.check.issue import Issue
from vllmdoctor.rules.expressions import Unknown
from vllmdoctor.rules.model import CONFIRMED


class CauseCheck:
    name = "cause"

    def issues(self, folder: RuleFolder) -> Iterator[Issue]:
        for rule, document in folder.built_rules():
            for cause, place in zip(rule.causes, entries(document, "causes"), strict=True):
                empty = cause.when is not None and cause.when.holds(lambda name: Unknown.UNKNOWN)
                if empty and cause.then == CONFIRMED:
                    problem = Message(
                        "true although nothing is known, so it confirms nothing; add `then: likely` or `then: possible`"
                    )
                    yield issue(at(place, "when"), self.name, problem)
