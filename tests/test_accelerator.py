"""The compiled literal search and the pure one find the same over all fixture logs, with the literals that are shipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from vllmdoctor.analysis import scan_literals
from vllmdoctor.intake import LiteralFinder
from vllmdoctor.rules.load import load_catalogue

FOLDERS = ("rules", "clean", "real")


@pytest.mark.parametrize("folder", FOLDERS)
def test_both_searches_find_the_same_in_every_fixture(folder: str) -> None:
    pytest.importorskip("ahocorasick_rs")
    literals = scan_literals(load_catalogue())
    quick, pure = (LiteralFinder(literals, use_accelerator=wanted) for wanted in (True, False))
    logs = sorted((Path(__file__).parent / "fixtures" / folder).rglob("*.log"))
    hits = 0
    for path in logs:
        found = sorted(quick.find(path.read_bytes()))
        assert found == sorted(pure.find(path.read_bytes())), path.name
        hits += len(found)
    assert hits > len(logs)
