"""Facts that no single line prints."""

from __future__ import annotations

import pytest

from vllmdoctor.facts.counted import counted_facts, memory_of_processes
from vllmdoctor.facts.model import COMPUTED, Scalar

from .helpers import records

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.19 GiB of which 1.10 GiB is free. "


def counted(text: str) -> dict[str, Scalar]:
    found = counted_facts(records(text))
    assert all(reading.kind == COMPUTED for reading in found)
    return {reading.name: reading.value for reading in found}


def lines(*prefixes: str) -> str:
    return "\n".join(f"{prefix} INFO 05-22 10:00:00 [x.py:1] hello" for prefix in prefixes)


@pytest.mark.parametrize(
    ("prefixes", "size"),
    [
        (["(Worker_TP0 pid=8)", "(Worker_TP3 pid=9)"], 4),
        (["(VllmWorker rank=1 pid=9)", "(VllmWorker rank=0 pid=8)"], 2),
        (["(VllmWorker TP1 pid=9)"], 2),
        (["(Worker_DP1_TP1_EP3 pid=9)", "(Worker_DP0_TP0_EP0 pid=8)"], 2),
        (["(Worker_PP1_TP0 pid=9)", "(Worker_PP0_TP1 pid=8)"], 2),
        (["(VllmWorkerProcess pid=9)", "(VllmWorkerProcess pid=10)", "(VllmWorkerProcess pid=9)"], 3),
    ],
)
def test_tensor_parallel_size_from_the_names_of_workers(prefixes: list[str], size: int) -> None:
    assert counted(lines(*prefixes)) == {"tensor_parallel_size": size}


@pytest.mark.parametrize(
    "prefixes",
    [
        ["(EngineCore_DP1 pid=9)", "(EngineCore_DP0 pid=8)"],
        ["(Worker pid=8)"],
        ["(Worker_TP0 pid=8)"],
        ["(APIServer pid=1)"],
        ["(RayWorkerWrapper pid=8, ip=192.0.2.3)", "(RayWorkerWrapper pid=9, ip=192.0.2.4)"],
        [""],
    ],
)
def test_names_that_do_not_tell_it(prefixes: list[str]) -> None:
    assert counted(lines(*prefixes)) == {}


def test_processes_beside_this_one() -> None:
    found = counted(
        OOM
        + "Process 11 has 2.50 GiB memory in use. Process 12 has 512.00 MiB memory in use. Including non-PyTorch memory, this process has 75.00 GiB memory in use."
    )
    assert found == {"other_processes_gib": 3.0}


def test_the_engine_seen_from_the_host_is_the_biggest_of_the_list() -> None:
    found = counted(OOM + "Process 11 has 2.50 GiB memory in use. Process 4821 has 75.59 GiB memory in use.")
    assert found == {"this_process_gib": 75.59, "other_processes_gib": 2.5}


def test_a_single_process_in_the_list_is_the_engine_itself() -> None:
    assert counted(OOM + "Process 4821 has 78.09 GiB memory in use.") == {"this_process_gib": 78.09}


def test_a_message_without_processes() -> None:
    assert memory_of_processes(records(OOM)) == []


def test_the_origin_is_the_line_of_the_message() -> None:
    found = memory_of_processes(records("first line\n\n" + OOM + "Process 4821 has 78.09 GiB memory in use."))
    assert [reading.origin.line for reading in found] == [3]


def test_in_a_container_the_engine_is_the_one_that_holds_what_pytorch_says() -> None:
    """A second engine may be larger: 8.42 + 0.31 GiB are PyTorch's own, so the engine is the process with 9.10 GiB."""
    found = counted(
        OOM + "Process 11 has 67.20 GiB memory in use. Process 12 has 9.10 GiB memory in use. Of the allocated memory "
        "8.42 GiB is allocated by PyTorch, and 317.00 MiB is reserved by PyTorch but unallocated."
    )
    assert found == {"this_process_gib": 9.1, "other_processes_gib": 67.2}


def test_of_two_that_could_be_it_the_engine_is_the_closer_one() -> None:
    found = counted(
        OOM + "Process 11 has 60.00 GiB memory in use. Process 12 has 18.00 GiB memory in use. Of the allocated memory "
        "17.10 GiB is allocated by PyTorch, and 96.50 MiB is reserved by PyTorch but unallocated."
    )
    assert found == {"this_process_gib": 18.0, "other_processes_gib": 60.0}


@pytest.mark.parametrize("who", ["Process 17", "Including non-PyTorch memory, this process"])
def test_sizes_that_wsl_does_not_tell_are_no_sizes(who: str) -> None:
    """2**64 - 1 bytes is how NVML says "not available"."""
    assert counted(f"{OOM}{who} has 17179869184.00 GiB memory in use.") == {}
