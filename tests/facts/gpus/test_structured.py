"""-q, -q -x, --query-…, -L, dmon, pmon: the shapes made for programs."""

from __future__ import annotations

import pytest

from vllmdoctor.facts.gpus import Machine, as_json, read_gpus

from . import samples


def read(text: str) -> Machine:
    machine = read_gpus(text)
    assert machine is not None
    return machine


def test_query_text_keeps_the_memory_of_mig_devices_apart():
    machine = read(samples.QUERY)
    assert (machine.driver, machine.cuda) == ("560.35.03", "12.6")
    first, second = machine.gpus
    assert (first.total_mib, first.reserved_mib, first.used_mib, first.free_mib) == (40960, 571, 2, 40386)
    assert (first.util_pct, first.ecc_errors, first.power_w, first.temperature_c) == (None, 4, 51.2, 33)
    assert (first.mig_enabled, first.mig_pending) == (True, False)
    assert (second.index, second.name, second.free_mib) == (1, "NVIDIA RTX A2000 12GB", 11890)
    (device,) = machine.mig_devices
    assert (device.gpu, device.gi, device.ci, device.device, device.total_mib, device.used_mib) == (
        0,
        3,
        0,
        2,
        4864,
        13,
    )
    assert machine.processes is not None
    (process,) = machine.processes
    assert (process.gpu, process.gi, process.pid, process.name, process.mib) == (0, 3, 5304, "VLLM::EngineCore", 11)


def test_query_text_that_lost_its_indentation():
    flat = "\n".join(line.strip() for line in samples.QUERY.splitlines())
    assert read(flat).gpus == read(samples.QUERY).gpus
    assert read(flat).mig_devices == read(samples.QUERY).mig_devices


def test_xml():
    machine = read(samples.XML)
    assert (machine.driver, machine.cuda) == ("535.54.03", "12.2")
    (gpu,) = machine.gpus
    assert (gpu.total_mib, gpu.reserved_mib, gpu.used_mib, gpu.free_mib) == (81920, 869, 50, 80999)
    assert (gpu.mig_enabled, gpu.mig_pending, gpu.util_pct, gpu.ecc_errors) == (True, True, None, 3)
    assert machine.mig_devices[0].free_mib == 19955
    assert machine.processes is not None
    assert (machine.processes[0].name, machine.processes[0].mib) == ("python & co", 160)


def test_cut_xml_is_read_as_far_as_it_goes():
    machine = read(samples.XML[: samples.XML.index("50 MiB</used>") + 1])
    (gpu,) = machine.gpus
    assert (gpu.total_mib, gpu.reserved_mib, gpu.used_mib) == (81920, 869, None)
    assert machine.processes is None


def test_xml_with_entities_is_refused():
    bomb = samples.XML.replace(
        '<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">',
        '<!DOCTYPE nvidia_smi_log [<!ENTITY a "99 MiB"> <!ENTITY b SYSTEM "file:///etc/hostname">]>',
    ).replace("50 MiB", "&a;")
    machine = read(bomb)
    assert machine.gpus == () and "entity" in machine.errors[0]


def test_csv_with_header():
    machine = read(samples.CSV)
    first, second = machine.gpus
    assert (first.total_mib, first.used_mib, first.free_mib, first.util_pct, first.power_w) == (
        81920,
        61234,
        20450,
        7,
        68.12,
    )
    assert (second.total_mib, second.used_mib, second.free_mib, second.util_pct) == (81920, None, None, None)
    assert machine.errors == ("GPU 1: Unknown Error",)
    assert machine.processes is None


def test_csv_columns_come_from_the_command_when_it_is_there():
    text = (
        "$ nvidia-smi --query-gpu=index,memory.free,memory.total,driver_version --format=csv,noheader,nounits\n"
        "0, 28283, 32607, 570.86.15\n"
    )
    machine = read(text)
    (gpu,) = machine.gpus
    assert (machine.driver, gpu.free_mib, gpu.total_mib, gpu.used_mib) == ("570.86.15", 28283, 32607, None)


def test_csv_without_header_is_only_guessed_when_the_figures_add_up():
    (gpu,) = read("0, NVIDIA GeForce RTX 5090, 32607, 3816, 28283\n").gpus
    assert (gpu.total_mib, gpu.used_mib, gpu.free_mib) == (32607, 3816, 28283)
    (gpu,) = read("0, NVIDIA GeForce RTX 5090, 32607, 3816, 17\n").gpus
    assert (gpu.index, gpu.total_mib, gpu.used_mib, gpu.free_mib) == (0, None, None, None)


def test_rows_of_the_gpus_that_answer_stand_beside_the_error():
    text = (
        "Unable to determine the device handle for GPU0: 0000:24:00.0: GPU is lost.  Reboot the system to recover this GPU\n"
        "1, NVIDIA GeForce RTX 5070 Ti, 300.00 W, 34.61 W, 616.92\n"
    )
    machine = read(text)
    assert machine.driver == "616.92" and [gpu.index for gpu in machine.gpus] == [1]
    assert "GPU is lost" in machine.errors[0]


def test_compute_apps():
    text = "pid, process_name, used_gpu_memory [MiB]\n524, [Insufficient Permissions], [N/A]\n99, a, b.exe, 7 MiB\n"
    processes = read(text).processes
    assert processes is not None
    assert [(p.pid, p.name, p.mib) for p in processes] == [(524, None, None), (99, "a, b.exe", 7)]
    assert read("gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n").processes == ()


def test_processes_find_their_gpu_by_uuid():
    apps = (
        "gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n"
        "GPU-00000000-0000-4000-8000-000000000006, 77, python, 5 MiB\n"
    )
    processes = read(samples.LISTING + "\n" + apps).processes
    assert processes is not None and [p.gpu for p in processes] == [1]


def test_listing():
    machine = read(samples.LISTING)
    assert [(gpu.index, gpu.name, gpu.mig_enabled) for gpu in machine.gpus] == [
        (0, "NVIDIA A100-SXM4-40GB", True),
        (1, "NVIDIA A100-SXM4-40GB", None),
    ]
    assert [(d.gpu, d.device, d.profile) for d in machine.mig_devices] == [(0, 1, "1c.2g.10gb")]


def test_monitors():
    first, second = read(samples.DMON).gpus
    assert (first.used_mib, first.util_pct, first.temperature_c) == (90538, 98, 81)
    assert (second.used_mib, second.util_pct, second.power_w) == (None, None, None)
    machine = read(samples.PMON)
    assert machine.gpus == () and machine.processes is not None
    assert [(p.gpu, p.pid, p.mib, p.name) for p in machine.processes] == [(2, 377813, 47594, "VLLM::Worker TP0")]


def test_a_table_with_a_listing_names_the_cut_gpu_and_keeps_its_memory():
    listing = "GPU 0: GeForce GTX 1080 Ti (UUID: GPU-00000000-0000-4000-8000-000000000009)\n"
    (gpu,) = read(samples.OLD_TABLE + listing).gpus
    assert (gpu.name, gpu.name_cut, gpu.total_mib) == ("GeForce GTX 1080 Ti", False, 11172)
    assert gpu.uuid == "GPU-00000000-0000-4000-8000-000000000009"


@pytest.mark.parametrize("sample", samples.ALL)
def test_json_form_keeps_unknown_apart_from_empty(sample):
    machine = read(sample)
    form = as_json(machine)
    assert (form["processes"] is None) == (machine.processes is None)
    assert isinstance(form["gpus"], list) and len(form["gpus"]) == len(machine.gpus)
    assert form["driver"] == machine.driver
