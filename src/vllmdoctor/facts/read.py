"""Records in, readings of facts out: from declared lines, echoed arguments, and the named groups of a match."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from vllmdoctor.facts.arguments import HINTS, echoed_arguments
from vllmdoctor.facts.model import Origin
from vllmdoctor.facts.table import Reading
from vllmdoctor.facts.values import typed_value
from vllmdoctor.logs.model import ENGINE_CORE, Record
from vllmdoctor.rules.model import FactBook, FactLine
from vllmdoctor.rules.prefilter import candidates, search

# Prompts of users may hold anything, also lines that look like vLLM's own.
_PRIVATE = ("Received request", "Request ")
_ALIASES = {"model_tag": "model", "served_model": "model", "max_seq_len": "max_model_len"}
_MODEL = re.compile(r"[\w./:@~-]{1,300}")


def read_facts(records: Sequence[Record], book: FactBook) -> list[Reading]:
    """Readings in the order of the log."""
    found: list[tuple[int, Reading]] = []
    texts = [record.text for record in records]
    for item, index in candidates([line.literals for line in book.lines], texts):
        record, line = records[index], book.lines[item]
        if not _admitted(line, record):
            continue
        match = search(line.pattern, record.text, line.literals)
        if match:
            found.extend((index, reading) for reading in readings_of(match, record, book, line.constants))
    for index, record in enumerate(records):
        if (record.echo or _echoes(record)) and not record.text.startswith(_PRIVATE):
            found.extend((index, reading) for reading in _argument_readings(record, book))
    found.extend(_engine_reading(records, told=any(reading.name == "engine" for _, reading in found)))
    found.sort(key=lambda pair: pair[0])
    return [reading for _, reading in found]


def _engine_reading(records: Sequence[Record], told: bool) -> list[tuple[int, Reading]]:
    """V1, when no line tells the engine and one comes from a process that V0 does not have."""
    first = next((i for i, record in enumerate(records) if record.process.name == ENGINE_CORE), None)
    return [] if told or first is None else [(first, Reading("engine", "V1", _origin(records[first], 0)))]


def facts_in(record: Record, book: FactBook) -> list[Reading]:
    """Readings of the declared lines inside one record."""
    return read_facts([record], book)


def readings_of(
    match: re.Match[str], record: Record, book: FactBook, constants: Mapping[str, str] | None = None
) -> Iterator[Reading]:
    """What a match's named groups (and a line's constants) tell; `NAME_unit` scales `NAME`."""
    values = {**(constants or {}), **{name: text for name, text in match.groupdict().items() if text is not None}}
    for name, text in values.items():
        declared = book.names.get(name)
        if declared is None:
            continue
        value = typed_value(declared, text, values.get(f"{name}_unit", ""))
        if value is not None:
            offset = match.start(name) if name in match.groupdict() else match.start()
            yield Reading(name, value, _origin(record, offset))


def _admitted(line: FactLine, record: Record) -> bool:
    section = "log" if record.section in ("dmesg", "client") else record.section
    return section in line.sections and not record.text.startswith(_PRIVATE)


def _echoes(record: Record) -> bool:
    """A message that prints arguments in a shape of another program around vLLM."""
    return record.kind == "message" and record.level in ("INFO", "DEBUG", None) and any(h in record.text for h in HINTS)


def _argument_readings(record: Record, book: FactBook) -> Iterator[Reading]:
    for argument, text in echoed_arguments(record.text).items():
        name = _ALIASES.get(argument, argument)
        declared = book.names.get(name)
        if declared is None or (name == "model" and not _MODEL.fullmatch(text)):
            continue
        value = typed_value(declared, text)
        if value is not None:
            yield Reading(name, value, _origin(record, 0))


def _origin(record: Record, offset: int) -> Origin:
    line = record.line_at(offset)
    return Origin(line.input, line.number)
