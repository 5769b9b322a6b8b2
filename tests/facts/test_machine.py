"""What nvidia-smi output inside a log tells of the machine."""

from __future__ import annotations

import pytest

from vllmdoctor.facts.machine import machine_readings
from vllmdoctor.facts.model import Scalar

from .helpers import book

TABLE = """\
Fri May 22 09:59:01 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 570.124.06             Driver Version: 570.124.06     CUDA Version: 12.8     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA A100-SXM4-80GB          On  |   00000000:07:00.0 Off |                    0 |
| N/A   33C    P0             71W /  400W |   70123MiB /  81920MiB |     97%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA A100-SXM4-80GB          On  |   00000000:0F:00.0 Off |                    0 |
| N/A   33C    P0             71W /  400W |       3MiB /  40960MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
"""


def readings(text: str, input_index: int = 0) -> dict[str, Scalar]:
    return {reading.name: reading.value for reading in machine_readings(text, input_index, book())}


def test_what_stays_the_same_over_time() -> None:
    assert readings(TABLE) == {
        "driver_version": "570.124.06",
        "cuda_version": "12.8",
        "gpu_name": "NVIDIA A100-SXM4-80GB",
        "gpu_count": 2,
        "gpu_total_gib": 40.0,  # the smaller of two decides
    }


def test_memory_in_use_is_of_another_moment_and_left_out() -> None:
    assert not {"free_gib", "other_processes_gib", "this_process_gib"} & set(readings(TABLE))


def test_a_table_inside_a_log() -> None:
    log = "$ nvidia-smi\n" + TABLE + "INFO 05-22 10:00:00 [api_server.py:1] vLLM API server version 0.11.0\n"
    assert readings(log)["driver_version"] == "570.124.06"


def test_the_origin_names_the_input() -> None:
    assert {reading.origin.input for reading in machine_readings(TABLE, 3, book())} == {3}


@pytest.mark.parametrize(
    "text", ["", "INFO 05-22 10:00:00 [x.py:1] hello", "the MiB / GiB question", "ROCm is not used"]
)
def test_a_text_without_a_machine(text: str) -> None:
    assert readings(text) == {}
