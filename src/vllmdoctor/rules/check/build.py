"""Check `build`: the problems met while reading and building the files, as issues."""

from __future__ import annotations

from collections.abc import Iterator

from vllmdoctor.rules.check.folder import RuleFolder
from vllmdoctor.rules.check.issue import Issue


class BuildCheck:
    name = "build"

    def issues(self, folder: RuleFolder) -> Iterator[Issue]:
        for problem in (*folder.unreadable, *folder.unbuildable):
            yield Issue.of(problem, self.name)
