"""Whatever happens to a text on its way: nothing raises, and no number is made up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import astuple

from hypothesis import given, settings
from hypothesis import strategies as st

from vllmdoctor.facts.gpus import Machine, as_json, read_gpus

from . import samples

EVERY = (*samples.ALL, samples.ROCM_LINES, samples.ROCM_JSON, samples.ROCM_CSV, samples.AMD_JSON)
SAMPLES = st.sampled_from(EVERY)
QUICK = settings(max_examples=60, deadline=None)


def numbers(machine: Machine) -> Iterator[float]:
    """Every figure reported."""
    for entry in (*machine.gpus, *machine.mig_devices, *(machine.processes or ()), *machine.xids):
        yield from (
            value for value in astuple(entry) if isinstance(value, (int, float)) and not isinstance(value, bool)
        )


def printed(text: str) -> set[float]:
    """Numbers that stand in the text, and what bytes and GB in it are in MiB."""
    shown = {float(number) for number in re.findall(r"\d+(?:\.\d+)?|\d+", text)}
    shown |= {float(number) for number in re.findall(r"\d+", text)}
    return shown | {float(int(n / 2**20)) for n in shown} | {float(int(n * 1024)) for n in shown}


def cut_off(text: str) -> set[float]:
    """What a cut made of the number at the very end; nobody can tell that it was longer."""
    return {float(number) for number in re.findall(r"(?:^|\D)(\d+(?:\.\d+)?)\.?$", text)}


@QUICK
@given(SAMPLES, st.integers(0, 4000), st.integers(0, 4000))
def test_cuts_never_invent_a_number(sample, start, length):
    """Not even a part of one, such as 34 MiB where 71234MiB was cut in two."""
    text = sample[start : start + length]
    machine = read_gpus(text)
    if machine is not None:
        assert set(numbers(machine)) <= printed(sample) | cut_off(text)


@QUICK
@given(SAMPLES, st.integers(30, 100), st.booleans(), st.sampled_from(["", "> ", "app-1  | ", "    ", "[x] "]))
def test_wraps_and_prefixes_never_invent_a_number(sample, width, strip, prefix):
    pieces = [line[i : i + width] for line in sample.split("\n") for i in range(0, len(line) or 1, width)]
    text = "\n".join(prefix + (piece.rstrip() if strip else piece) for piece in pieces)
    machine = read_gpus(text)
    if machine is not None:
        assert set(numbers(machine)) <= printed(sample)


@QUICK
@given(st.lists(SAMPLES, min_size=2, max_size=3), st.integers(1, 3000))
def test_one_output_within_another_never_invents_a_number(several, at):
    """As when two processes write to one terminal."""
    text = "\n".join([several[0][:at], *several[1:], several[0][at:]])
    machine = read_gpus(text)
    if machine is not None:
        assert set(numbers(machine)) <= set.union(*map(printed, several)) | cut_off(several[0][:at])


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
