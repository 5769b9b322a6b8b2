import pytest

from vllmdoctor.logs import read_log

from .samples import FAILED_START, raw_lines, read

TABLE = """\
Wed Sep  9 03:58:20 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
|   0  NVIDIA A100-SXM4-80GB          On  |   00000000:07:00.0 Off |                    0 |
| N/A   34C    P0             70W /  400W |       0MiB /  81920MiB |      0%      Default |
+-----------------------------------------+------------------------+----------------------+
"""


def sections(text: str) -> list[str]:
    return [line.section for line in read(text).lines if line.text]


def test_table_inside_a_log_keeps_its_bars_and_ends_with_the_next_log_line() -> None:
    log = read(TABLE + FAILED_START)
    assert [line.section for line in log.lines[:7]] == ["nvidia-smi"] * 7
    assert log.lines[4].text.startswith("|   0  NVIDIA A100")
    assert {line.section for line in log.lines[7:] if line.text} == {"log"}
    assert log.kinds == {"nvidia-smi", "vllm-log", "python-error"}


def test_table_behind_compose_prefixes() -> None:
    dressed = "\n".join(f"vllm-1  | {line}" for line in (TABLE + FAILED_START).split("\n"))
    assert [line.text for line in read(dressed).lines] == [line.text for line in read(TABLE + FAILED_START).lines]


@pytest.mark.parametrize(
    ("text", "section"),
    [
        (
            "==============NVSMI LOG==============\n\nTimestamp  : Wed\nDriver Version : 560.1\nGPU 00000000:01:00.0\n    Product : x",
            "nvidia-smi",
        ),
        ("<?xml version='1.0' ?>\n<nvidia_smi_log>\n\t<x>1</x>\n</nvidia_smi_log>", "nvidia-smi"),
        ("index, name, memory.total [MiB]\n0, NVIDIA A100, 81920 MiB", "nvidia-smi"),
        ("GPU 0: NVIDIA A100 (UUID: GPU-aaaa)\n  MIG 1g.10gb Device 0: (UUID: MIG-bbbb)", "nvidia-smi"),
        (
            "Collecting environment information...\nPyTorch version: 2.4.0\nIs debug build: False\nOS: Ubuntu",
            "collect-env",
        ),
        ("Package    Version\n---------- -------\nnumpy      1.26.4\nvllm       0.6.3", "collect-env"),
        ("[Wed Sep  9 03:58:20 2026] NVRM: Xid (PCI:0000:9c:00): 48\n[12345.678901] oom-kill: x", "dmesg"),
        (
            "+------+\n| AMD-SMI 26.2.0      amdgpu version: 6.16 |\n| VBIOS |\n|-----------------------+-----|",
            "rocm-smi",
        ),
    ],
)
def test_sections(text: str, section: str) -> None:
    found = sections(text)
    assert found[-1] == section and found.count(section) >= len(found) - 1
    assert section in read(text).kinds


def test_section_can_be_forced() -> None:
    log = read_log(raw_lines("0, NVIDIA A100, 81920"), sections={0: "nvidia-smi"})
    assert log.lines[0].section == "nvidia-smi"


def test_environment_ends_where_the_log_begins() -> None:
    assert sections("PyTorch version: 2.4.0\nOS: x\nValueError: y") == ["collect-env", "collect-env", "log"]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Dear all,\nlunch is at noon.\n", set()),
        ("vllm-1 exited with code 137", {"container-event"}),
        ("(raylet) some worker died", {"ray"}),
        ("$ vllm serve model", {"vllm-log"}),
        ("ValueError: x", {"python-error"}),
    ],
)
def test_kinds(text: str, kinds: set[str]) -> None:
    assert read(text).kinds == kinds
