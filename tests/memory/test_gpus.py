"""GPUs by name and size; what nvidia-smi tells of them; names that are unknown or ambiguous are errors."""

from __future__ import annotations

import json
from contextlib import suppress
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllmdoctor.errors import UsageError
from vllmdoctor.facts.gpus.model import Gpu, Machine, MigDevice
from vllmdoctor.facts.model import Origin
from vllmdoctor.facts.table import Reading
from vllmdoctor.memory.gpus import GpuChoice, GpuKind, gpu_from, gpu_names, named_gpu
from vllmdoctor.memory.machine import as_cuda_reports, planned_gpus


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


def listed() -> list[dict[str, object]]:
    document = json.loads(files("vllmdoctor.memory").joinpath("gpus.json").read_text(encoding="utf-8"))
    gpus: list[dict[str, object]] = document["gpus"]
    return gpus


SEEN = [
    (entry["name"], size, printed)
    for entry in listed()
    for size, printed in zip([entry["gib"], *entry.get("also", [])], entry.get("nvidia_smi_mib", []), strict=False)  # type: ignore[misc]
    if printed
]


@pytest.mark.parametrize("name, gib, printed_mib", SEEN)
def test_cuda_has_a_little_less_than_nvidia_smi_prints(name: str, gib: float, printed_mib: int) -> None:
    """The driver keeps 0.4 GiB and more, at most a twentieth."""
    assert 0.95 * printed_mib <= gib * 1024 <= printed_mib - 200


def test_most_sizes_were_seen_and_every_capability_exists() -> None:
    assert len(SEEN) >= 38
    known = {None, 6.0, 6.1, 7.0, 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 10.3, 12.0, 12.1}
    assert {entry["capability"] for entry in listed()} <= known


@pytest.mark.parametrize(
    "name, printed_mib, cuda_gib",
    [  # as nvidia-smi prints it; the total in PyTorch's out of memory messages on such GPUs
        ("NVIDIA GeForce RTX 5090", 32607, 31.34),
        ("NVIDIA B200", 183359, 178.35),
        ("NVIDIA B300 SXM6 AC", 275040, 267.69),
        ("NVIDIA GB200", 189471, 184.31),
        ("NVIDIA H200", 143771, 139.80),
        ("NVIDIA GH200 480GB", 97871, 94.50),
        ("NVIDIA L40S", 46068, 44.39),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887, 94.97),
        ("NVIDIA RTX A6000", 49140, 47.40),
        ("NVIDIA GeForce RTX 5060 Ti", 16311, 15.48),
        ("NVIDIA A10G", 23028, 22.06),
        ("NVIDIA X9000 of tomorrow", 65536, 64.0),
    ],
)
def test_the_size_that_a_program_is_given(name: str, printed_mib: int, cuda_gib: float) -> None:
    told = [
        Reading("driver_version", "595.58.03", Origin(1, 1)),
        Reading("gpu_name", name, Origin(1, 1)),
        Reading("gpu_total_gib", round(printed_mib / 1024, 2), Origin(1, 1)),
    ]
    total = as_cuda_reports(told)[2]
    assert (total.name, total.kind, total.origin) == ("gpu_total_gib", "computed", Origin(1, 1))
    assert isinstance(total.value, float) and total.value == pytest.approx(cuda_gib, rel=0.02)


def test_sizes_of_other_tools_stay() -> None:
    told = [Reading("gpu_total_gib", 191.98, Origin(1, 1))]
    assert as_cuda_reports(told) == told
