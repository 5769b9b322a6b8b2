"""The table of a plain nvidia-smi, in every layout, whole and damaged."""

from __future__ import annotations

import pytest

from vllmdoctor.facts.gpus import Machine, read_gpus

from . import samples


def read(text: str) -> Machine:
    machine = read_gpus(text)
    assert machine is not None
    return machine


def test_reads_gpus_and_processes_of_a_table():
    machine = read(samples.TABLE)
    assert (machine.driver, machine.cuda, machine.smi_version) == ("550.127.05", "12.4", "550.127.05")
    first, second = machine.gpus
    assert (first.index, first.name, first.used_mib, first.total_mib) == (0, "NVIDIA H100 80GB HBM3", 71234, 81559)
    assert (first.util_pct, first.temperature_c, first.power_w, first.power_cap_w) == (97, 30, 100.0, 700.0)
    assert (first.ecc_errors, first.mig_enabled, first.mig_pending, first.compute_mode) == (0, False, False, "Default")
    assert (second.index, second.bus_id, second.used_mib) == (3, "00000000:2A:00.0", 563)
    assert first.free_mib is None  # total - used would count memory that the driver keeps
    assert machine.processes is not None
    assert [(p.gpu, p.pid, p.type, p.name, p.mib) for p in machine.processes] == [
        (0, 51876, "C", "VLLM::Worker_TP0", 71220),
        (3, 2217, "C+G", ".../share/app/app --type=gpu", 552),
    ]


def test_old_table_without_mig_row_and_with_another_driver_than_tool():
    machine = read(samples.OLD_TABLE)
    assert (machine.driver, machine.smi_version, machine.cuda) == ("410.79", "418.67", "10.0")
    (gpu,) = machine.gpus
    assert (gpu.name, gpu.name_cut, gpu.used_mib, gpu.total_mib) == ("GeForce GTX 108...", True, 12, 11172)
    assert (gpu.util_pct, gpu.compute_mode, gpu.mig_enabled, gpu.ecc_errors) == (3, "E. Process", None, None)
    assert machine.processes and machine.processes[0].mib == 10


def test_mig_devices_of_one_gpu_instance_share_its_memory():
    machine = read(samples.MIG_TABLE)
    (gpu,) = machine.gpus
    assert (gpu.mig_enabled, gpu.mig_pending, gpu.util_pct, gpu.ecc_errors) == (True, True, None, None)
    assert [(d.gpu, d.gi, d.ci, d.device, d.used_mib, d.total_mib) for d in machine.mig_devices] == [
        (1, 5, 0, 0, 25, 9856),
        (1, 5, 1, 1, 25, 9856),
    ]
    assert machine.processes is None


def test_unified_memory_has_no_figures_and_new_header_names_the_kernel_driver():
    machine = read(samples.NEW_HEADER_UNIFIED)
    assert (machine.driver, machine.cuda) == ("610.57.04", "13.3")
    (gpu,) = machine.gpus
    assert (gpu.total_mib, gpu.used_mib, gpu.unified_memory, gpu.util_pct) == (None, None, True, 4)


def test_err_cells_are_unknown_and_reported():
    machine = read(samples.FAULTY_ROWS)
    (gpu,) = machine.gpus
    assert (gpu.index, gpu.total_mib, gpu.util_pct, gpu.ecc_errors, gpu.mig_enabled) == (6, None, None, None, None)
    assert len(machine.errors) == 1 and "GPU 6" in machine.errors[0]


def test_vgpu_and_windows_rows():
    text = (
        "|   0  GRID A100-4C        On   | 00000000:02:01.0 Off |                    0 |\n"
        "| N/A   N/A    P0    N/A /  N/A |                  N/A |      0%      Default |\n"
        "+-------------------------------+----------------------+----------------------+\n"
        "|   1  NVIDIA RTX A4000   WDDM  | 00000000:03:00.0  On |                  Off |\n"
        "| 41%   38C    P8     9W / 140W |    812MiB / 16376MiB |      2%      Default |\n"
    )
    vgpu, windows = read(text).gpus
    assert (vgpu.virtual, vgpu.total_mib, vgpu.temperature_c) == (True, None, None)
    assert (windows.name, windows.total_mib, windows.virtual) == ("NVIDIA RTX A4000", 16376, None)


@pytest.mark.parametrize(
    "body, expected",
    [
        ("", None),  # inside a container other processes are hidden
        ("|  No running processes found                                                 |\n", ()),
        ("|    0   Not Supported                                                        |\n", None),
    ],
)
def test_empty_process_list_is_not_the_same_as_an_unknown_one(body, expected):
    machine = read(samples.NEW_HEADER_UNIFIED + samples.PROCESS_FRAME.format(body=body))
    assert machine.processes == expected


def test_process_memory_hidden_by_wsl2_stays_unknown():
    row = "|    0   N/A  N/A        23      G   /Xwayland                       N/A      |\n"
    machine = read(samples.NEW_HEADER_UNIFIED + samples.PROCESS_FRAME.format(body=row))
    assert machine.processes is not None
    assert [(p.pid, p.name, p.mib) for p in machine.processes] == [(23, "/Xwayland", None)]


def wrapped(text: str, width: int, strip: bool) -> str:
    pieces = [line[i : i + width] for line in text.split("\n") for i in range(0, len(line) or 1, width)]
    return "\n".join(piece.rstrip() if strip else piece for piece in pieces)


@pytest.mark.parametrize("width", [62, 72, 78, 80, 90])
@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("sample", [samples.TABLE, samples.OLD_TABLE, samples.MIG_TABLE])
def test_hard_wrapped_tables_read_as_whole_ones(sample, width, strip):
    assert read(wrapped(sample, width, strip)) == read(sample)


@pytest.mark.parametrize(
    "prefix",
    [
        "vllm-1  | ",
        "> ",
        "## ",
        "    ",
        "2025-01-02T03:04:05.123456789Z stdout F ",
        "(EngineCore_DP0 pid=123) ",
        "Jan 02 03:04:05 node7 docker[77]: ",
        "[pod/vllm-0/main] ",
        "\x1b[32m",
    ],
)
@pytest.mark.parametrize("sample", [samples.TABLE, samples.QUERY, samples.XML, samples.CSV, samples.DMON])
def test_prefixes_of_other_tools_are_taken_off(sample, prefix):
    prefixed = "".join(prefix + line for line in sample.splitlines(keepends=True))
    assert read(prefixed.replace("\n", "\r\n")) == read(sample)


def test_table_pasted_as_one_line():
    assert read(" ".join(samples.TABLE.split())) == read(samples.TABLE)


def test_table_inside_a_bug_report():
    report = f"### Environment\n\n```text\n{samples.TABLE}```\n\nINFO 01-22 04:30:00 [core.py:58] Initializing, a, b\n"
    assert read(report) == read(samples.TABLE)


def test_of_several_printings_the_last_counts():
    later = samples.TABLE.replace("71234MiB", "  999MiB").replace("71220MiB", "  985MiB")
    machine = read(samples.TABLE + later)
    assert [gpu.used_mib for gpu in machine.gpus] == [999, 563]
    assert machine.processes is not None
    assert [p.mib for p in machine.processes] == [985, 552]


def test_a_log_without_gpu_output_is_none():
    assert read_gpus("INFO 01-01 10:00:00 [core.py:58] Initializing a V1 LLM engine, with NVIDIA, 4 GPUs\n") is None
    assert read_gpus("") is None


def test_a_number_broken_over_two_lines_is_one_number_in_the_long_form() -> None:
    wrapped = samples.QUERY.replace(
        "Process ID                        : 5304", "Process ID                        : 53\n04"
    )
    assert wrapped != samples.QUERY
    assert read_gpus(wrapped) == read_gpus(samples.QUERY)
