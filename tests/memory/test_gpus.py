"""GPUs by name and size; what nvidia-smi tells of them; names that are unknown or ambiguous are errors."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllmdoctor.errors import UsageError
from vllmdoctor.facts.gpus.model import Gpu, Machine, MigDevice
from vllmdoctor.memory.gpus import GpuChoice, GpuKind, gpu_from, gpu_names, named_gpu
from vllmdoctor.memory.machine import planned_gpus


@pytest.mark.parametrize(
    "text, name, gib, count",
    [
        ("RTX 3090", "RTX 3090", 23.58, None),
        ("3090", "RTX 3090", 23.58, None),
        ("rtx3090ti", "RTX 3090 Ti", 23.57, None),
        ("NVIDIA GeForce RTX 4090", "RTX 4090", 23.52, None),
        ("NVIDIA A100-SXM4-80GB", "A100", 79.25, None),
        ("A100 40GB", "A100", 39.39, None),
        ("NVIDIA H100 80GB HBM3", "H100", 79.1, None),
        ("H100 NVL", "H100 NVL", 93.1, None),
        ("Tesla V100-SXM2-16GB", "V100", 15.77, None),
        ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada", 47.4, None),
        ("2x L40S", "L40S", 44.39, 2),
        ("RTX 3090 ×4", "RTX 3090", 23.58, 4),
        ("24GiB", "24 GiB", 24.0, None),
        ("24 GB", "24 GiB", 24.0, None),
        ("8 x 81920MiB", "80 GiB", 80.0, 8),
    ],
)
def test_names_and_sizes(text: str, name: str, gib: float, count: int | None) -> None:
    choice = gpu_from(text)
    assert (choice.kind.name, choice.kind.total_gib, choice.count) == (name, gib, count)


@pytest.mark.parametrize(
    "text, words",
    [
        ("A100", "39.39 GiB / 79.25 GiB; say which, for example --gpu 'A100 80GB'"),
        ("RTX 3090 48GB", "has 23.58 GiB, not 48 GB"),
        ("RTX 3090 Super", "not in the list"),
        ("RTX 4090 Laptop", "not in the list"),
        ("24", "not in the list"),
        ("", "not in the list"),
        ("NVIDIA", "not in the list"),
        ("0x RTX 3090", "no GPU at all"),
        ("0GiB", "no size of a GPU"),
        ("99999GiB", "no size of a GPU"),
    ],
)
def test_what_is_not_clear_is_an_error(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        gpu_from(text)


def test_every_name_of_the_list_finds_itself() -> None:
    names = gpu_names()
    assert len(names) == len(set(names)) > 60
    ambiguous = {"RTX 3080", "RTX 4060 Ti", "RTX 5060 Ti", "RTX A2000", "V100", "A100", "A800"}
    assert {name for name in names if name not in ambiguous} == {named_gpu(n).name for n in names if n not in ambiguous}
    for name in ambiguous:
        with pytest.raises(UsageError, match="say which"):
            named_gpu(name)


@given(st.text(max_size=40))
def test_any_text_is_a_gpu_or_a_usage_error(text: str) -> None:
    with suppress(UsageError):
        assert gpu_from(text).kind.total_gib > 0


THREE = (
    Gpu(0, "NVIDIA GeForce RTX 3090", 24576, 1500),
    Gpu(1, "NVIDIA GeForce RTX 3090", 24576, 20),
    Gpu(2, "NVIDIA GeForce RTX 3060", 12288, 10),
)


def test_the_smallest_gpu_decides() -> None:
    found = planned_gpus(None, None, Machine(gpus=THREE))
    assert (found.kind.name, found.count) == ("RTX 3060", 3)


def test_the_gpus_with_most_free_memory_are_taken() -> None:
    found = planned_gpus(None, 1, Machine(gpus=THREE))
    assert found.kind.name == "RTX 3090"
    assert found.free_gib == pytest.approx(23.58 - 20 / 1024)


def test_the_fullest_of_the_taken_ones_tells_what_is_free() -> None:
    found = planned_gpus(None, 2, Machine(gpus=THREE))
    assert found.free_gib == pytest.approx(23.58 - 1500 / 1024)
    assert found.others_gib == pytest.approx(1500 / 1024)


def test_a_gpu_that_is_not_in_the_list_has_what_nvidia_smi_says() -> None:
    found = planned_gpus(None, None, Machine(gpus=(Gpu(0, "Prototype 7", 40960),)))
    assert found.kind.total_gib == pytest.approx(40 * 0.985)
    assert (found.free_gib, found.others_gib) == (None, None)


def test_mig_slices_count_not_the_whole_gpu() -> None:
    machine = Machine(gpus=(Gpu(0, "NVIDIA A100-SXM4-80GB", 81920, 100, mig_enabled=True),),
                      mig_devices=(MigDevice(0, 1, 0, 0, 20096, 25), MigDevice(0, 2, 0, 1, 40192, 25)))  # fmt: skip
    assert planned_gpus(None, None, machine).kind.total_gib == pytest.approx(20096 / 1024)


@pytest.mark.parametrize(
    "choice, gpus, machine, words",
    [
        (None, None, None, "no GPU given"),
        (GpuChoice(GpuKind("x", 24.0), 2), 4, None, "--gpu says 2 GPUs, --gpus 4"),
        (None, 0, None, "at least 1"),
        (None, 4, Machine(gpus=THREE), "4 GPUs wanted, but the nvidia-smi output shows 3"),
        (None, None, Machine(gpus=(Gpu(0, "x"),)), "tells no GPU's memory"),
    ],
)
def test_sources_that_do_not_fit_together(
    choice: GpuChoice | None, gpus: int | None, machine: Machine | None, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        planned_gpus(choice, gpus, machine)
