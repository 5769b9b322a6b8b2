"""Versions and ranges of vLLM."""

from __future__ import annotations

import pytest

from vllmdoctor.rules.versions import VersionRange, release_of


@pytest.mark.parametrize(
    "text, expected",
    [
        ("0.9.1", (0, 9, 1)),
        ("v0.11", (0, 11, 0)),
        ("0.10.2rc2.dev101+g12ab", (0, 10, 2)),
        ("0.6.3.post1", (0, 6, 3)),
        ("dev", None),
        ("", None),
        ("7", None),
    ],
)
def test_release_of(text: str, expected: object) -> None:
    assert release_of(text) == expected


def test_a_range_is_a_conjunction() -> None:
    versions = VersionRange.parse(">=0.9.1, <0.20.0")
    assert [versions.admits(v) for v in ((0, 9, 0), (0, 9, 1), (0, 19, 9), (0, 20, 0))] == [False, True, True, False]


def test_an_empty_range_admits_all() -> None:
    assert VersionRange.parse("").admits((0, 0, 1))


@pytest.mark.parametrize("text", ["0.9.1", "=>0.9", "~=0.9", ">=9", ">=0.9 <1.0", ">=0.9,x"])
def test_bad_bounds(text: str) -> None:
    with pytest.raises(ValueError, match="not a version bound"):
        VersionRange.parse(text)
