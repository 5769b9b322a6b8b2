"""Whatever happens to a text on its way: nothing raises, and no number is made up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import astuple

from hypothesis import given, settings
from hypothesis import strategies as st

from vllmdoctor.facts.gpus import Machine, as_json, read_gpus

from . import samples

SAMPLES = st.sampled_from(
    [sample for sample in samples.ALL if sample not in (samples.AMD_TABLE, samples.QUERY, samples.XML)]
)
QUICK = settings(max_examples=60, deadline=None)


def numbers(machine: Machine) -> Iterator[float]:
    """Every figure reported, but for places that the tool does not print (the order of `-q` blocks)."""
    for entry in (*machine.gpus, *machine.mig_devices, *(machine.processes or ()), *machine.xids):
        yield from (
            value for value in astuple(entry) if isinstance(value, (int, float)) and not isinstance(value, bool)
        )


def printed(text: str) -> set[float]:
    return {float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)} | {
        float(n) for n in re.findall(r"\d+", text)
    }


@QUICK
@given(SAMPLES, st.integers(0, 4000), st.integers(0, 4000))
def test_cuts_never_invent_a_number(sample, start, length):
    text = sample[start : start + length]
    machine = read_gpus(text)
    if machine is not None:
        assert set(numbers(machine)) <= printed(text)


@QUICK
@given(SAMPLES, st.integers(30, 100), st.booleans(), st.sampled_from(["", "> ", "app-1  | ", "    ", "[x] "]))
def test_wraps_and_prefixes_never_invent_a_number(sample, width, strip, prefix):
    pieces = [line[i : i + width] for line in sample.split("\n") for i in range(0, len(line) or 1, width)]
    text = "\n".join(prefix + (piece.rstrip() if strip else piece) for piece in pieces)
    machine = read_gpus(text)
    if machine is not None:
        assert set(numbers(machine)) <= printed(sample)


@QUICK
@given(st.lists(st.sampled_from([line for sample in samples.ALL for line in sample.splitlines()]), max_size=30))
def test_shuffled_lines_never_raise(lines):
    machine = read_gpus("\n".join(lines))
    assert machine is None or as_json(machine)["errors"] == list(machine.errors)


@QUICK
@given(st.text(alphabet='|+-= \n0123456789MiBGPU:,%/.[]{}<>"#N/AOn', max_size=400))
def test_any_text_is_read_without_raising(text):
    machine = read_gpus(text)
    assert machine is None or machine.kinds
