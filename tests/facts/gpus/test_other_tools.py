"""rocm-smi, amd-smi, collect_env, tegrastats, kernel messages and the errors printed instead of values."""

from __future__ import annotations

import pytest

from vllmdoctor.facts.gpus import Machine, read_gpus

from . import samples


def read(text: str) -> Machine:
    machine = read_gpus(text)
    assert machine is not None
    return machine


def test_rocm_concise_has_percentages_only():
    (gpu,) = read(samples.ROCM_CONCISE).gpus
    assert (gpu.index, gpu.name, gpu.vram_pct, gpu.util_pct) == (0, "AMD Instinct MI300X", 83, 12)
    assert (gpu.total_mib, gpu.used_mib) == (None, None)


@pytest.mark.parametrize(
    "text, index, total_bytes, used_bytes, name",
    [
        (samples.ROCM_LINES, 0, 68702699520, 10985472, "AMD Instinct MI210"),
        (samples.ROCM_JSON, 1, 34342961152, 6750208, "Arcturus GL-XL [Instinct MI100]"),
        (samples.ROCM_CSV, 0, 21458059264, 27856896, "Radeon RX 7900 XT"),
    ],
)
def test_rocm_memory_is_in_bytes(text, index, total_bytes, used_bytes, name):
    machine = read(text)
    (gpu,) = machine.gpus
    assert (gpu.index, gpu.name) == (index, name)
    assert (gpu.total_mib, gpu.used_mib) == (total_bytes // 2**20, used_bytes // 2**20)
    assert machine.driver is None and machine.vendor == "amd"


def test_amd_smi_table():
    machine = read(samples.AMD_TABLE)
    assert (machine.driver, machine.rocm, machine.cuda) == ("6.16.6", "7.1.1", None)
    (gpu,) = machine.gpus
    assert (gpu.index, gpu.name, gpu.used_mib, gpu.total_mib) == (0, "AMD Instinct MI300X VF", 62285, 196288)
    assert (gpu.util_pct, gpu.ecc_errors, gpu.temperature_c) == (9, 2, 37)
    assert machine.processes is not None
    assert [(p.gpu, p.pid, p.mib) for p in machine.processes] == [(0, 1402, int(60.5 * 1024))]


def test_amd_smi_blocks_and_json():
    (gpu,) = read(samples.AMD_BLOCKS).gpus
    assert (gpu.name, gpu.total_mib, gpu.used_mib, gpu.free_mib) == ("AMD Instinct MI300X", 196288, 285, 196003)
    (gpu,) = read(samples.AMD_JSON).gpus
    assert (gpu.index, gpu.total_mib, gpu.used_mib, gpu.util_pct) == (1, 196288, 285, 3)


def test_collect_env_names_gpus_without_memory():
    machine = read(samples.COLLECT_ENV)
    assert (machine.driver, machine.cuda, machine.cuda_runtime) == ("595.58.03", None, "12.9.86")
    assert [(gpu.index, gpu.name, gpu.total_mib) for gpu in machine.gpus] == [
        (0, "NVIDIA GeForce RTX 3090", None),
        (1, "NVIDIA GeForce RTX 4090", None),
    ]


def test_collect_env_on_one_line_and_without_gpu():
    text = "GPU models and configuration: GPU 0: NVIDIA L4\nNvidia driver version: 550.90.07\n"
    assert [gpu.name for gpu in read(text).gpus] == ["NVIDIA L4"]
    machine = read("GPU models and configuration: Could not collect\nNvidia driver version: Could not collect\n")
    assert machine.gpus == () and machine.driver is None


def test_collect_env_with_a_table_is_one_machine():
    text = "GPU models and configuration: GPU 0: NVIDIA GB10\nNvidia driver version: 610.57.04\n"
    machine = read(text + samples.NEW_HEADER_UNIFIED)
    assert [(gpu.index, gpu.name, gpu.util_pct) for gpu in machine.gpus] == [(0, "NVIDIA GB10", 4)]


def test_tegrastats():
    (gpu,) = read(samples.TEGRASTATS).gpus
    assert (gpu.used_mib, gpu.total_mib, gpu.util_pct, gpu.unified_memory) == (2448, 7772, 17, True)


def test_xids_in_all_spellings():
    xids = read(samples.DMESG).xids
    assert [(xid.pci, xid.code, xid.pid) for xid in xids] == [
        ("0000:9b:00", 119, 2024380),
        ("0000:05:00", 79, None),
        ("0000:03:00", 14, None),
    ]
    assert [xid.text for xid in xids] == [
        "Timeout after 6s of waiting for RPC response",
        "GPU has fallen off the bus.",
        "Channel 00000001",
    ]


@pytest.mark.parametrize(
    "line, words",
    [
        ("Failed to initialize NVML: Driver/library version mismatch", "version mismatch"),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure …", "communicate"),
        ("No devices were found", "No devices"),
        ("Unable to determine the device handle for GPU0000:CB:00.0: Unknown Error", "Unknown Error"),
        ("Unable to determine the device handle for GPU 0000:05:00.0: GPU is lost.  Reboot the system", "lost"),
        ("bash: nvidia-smi: command not found", "not found"),
        ('exec: "nvidia-smi": executable file not found in $PATH: unknown', "not found"),
    ],
)
@pytest.mark.parametrize("prefix", ["", "vllm-1  | "])
def test_errors_are_reported_and_nothing_is_known(line, words, prefix):
    machine = read(prefix + line + "\n")
    assert len(machine.errors) == 1 and words in machine.errors[0]
    assert (machine.gpus, machine.processes, machine.driver) == ((), None, None)
