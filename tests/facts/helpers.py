"""Records of a text and the shipped declarations, for the tests of this package."""

from __future__ import annotations

import textwrap

from vllmdoctor.facts.model import Fact, Scalar
from vllmdoctor.facts.read import read_facts
from vllmdoctor.facts.table import combined, completed
from vllmdoctor.logs import RawLine, Record, read_log
from vllmdoctor.rules.load import load_catalogue
from vllmdoctor.rules.model import FactBook, FactName


def book() -> FactBook:
    return load_catalogue().facts


def records(text: str, *, section: str = "log") -> list[Record]:
    lines = textwrap.dedent(text).strip("\n").split("\n")
    forced = {} if section == "log" else {0: section}
    log = read_log((RawLine(0, number, line) for number, line in enumerate(lines, start=1)), sections=forced)
    return [record for run in log.runs for record in run.records]


def facts(text: str) -> dict[str, Fact]:
    """What the lines of a text tell, derived facts included."""
    return completed(combined(read_facts(records(text), book()), book()), book())


def values(text: str) -> dict[str, Scalar]:
    return {name: fact.value for name, fact in facts(text).items()}


def name(type_: str, unit: str = "", combine: str = "last") -> FactName:
    return FactName("x", type_, unit, combine, "a fact of the test")
