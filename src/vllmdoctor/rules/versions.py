"""vLLM version numbers: text in, comparable releases and ranges out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vllmdoctor.languages import Message

_RELEASE = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")
_BOUND = re.compile(r"\s*(>=|<=|==|>|<)\s*(\d+\.\d+(?:\.\d+)?)\s*")

Release = tuple[int, int, int]


def release_of(version: str) -> Release | None:
    """The (major, minor, patch) at the start of a version text, None when it does not start with one.

    Suffixes (`.post1`, `rc2`, `.dev101+g12ab`) are dropped: vLLM's messages change with releases, not with builds.
    """
    found = _RELEASE.match(version.strip())
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found else None


@dataclass(frozen=True, slots=True)
class VersionRange:
    """A conjunction of bounds, for example `>=0.9.1, <0.20.0`; an empty text admits every version."""

    text: str
    bounds: tuple[tuple[str, Release], ...]

    @classmethod
    def parse(cls, text: str) -> VersionRange:
        """Raises ValueError when a part is not an operator followed by a release."""
        bounds = []
        for part in filter(None, (p.strip() for p in text.split(","))):
            found = _BOUND.fullmatch(part)
            release = release_of(found[2]) if found else None
            if not found or release is None:
                raise ValueError(Message("{part!r} is not a version bound such as >=0.9.1", part=part))
            bounds.append((found[1], release))
        return cls(text, tuple(bounds))

    def admits(self, release: Release) -> bool:
        return all(_holds(release, operator, bound) for operator, bound in self.bounds)


def _holds(release: Release, operator: str, bound: Release) -> bool:
    return {
        ">=": release >= bound,
        "<=": release <= bound,
        "==": release == bound,
        ">": release > bound,
        "<": release < bound,
    }[operator]
