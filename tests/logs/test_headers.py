import pytest

from vllmdoctor.logs.headers import other_header, vllm_header
from vllmdoctor.logs.processes import process_of

from .samples import read


@pytest.mark.parametrize(
    ("raw", "level", "time", "place", "text"),
    [
        ("INFO 05-22 10:00:00 llm_engine.py:161] Hello", "INFO", "05-22 10:00:00", "llm_engine.py:161", "Hello"),
        ("INFO 05-22 10:00:00 [core.py:58]   File", "INFO", "05-22 10:00:00", "core.py:58", "  File"),
        ("DEBUG 05-22 10:00:00 [v1/core/x.py:12] a", "DEBUG", "05-22 10:00:00", "v1/core/x.py:12", "a"),
        ("INFO 2026-05-22 10:00:00,123 [core.py:58] a", "INFO", "2026-05-22 10:00:00,123", "core.py:58", "a"),
        ("INFO 05-22 10:00:00 [core.py:58]", "INFO", "05-22 10:00:00", "core.py:58", ""),
    ],
)
def test_complete_vllm_headers(raw: str, level: str, time: str, place: str, text: str) -> None:
    header = vllm_header(raw)
    assert header is not None
    assert (header.level, header.time, header.place, header.text) == (level, time, place, text)


@pytest.mark.parametrize(
    ("raw", "level", "place", "text"),
    [
        # copied without the first part
        ("05-22 10:00:00 [core.py:58] msg", None, "core.py:58", "msg"),
        ("[core.py:58] msg", None, "core.py:58", "msg"),
        ("ore.py:58] msg", None, "ore.py:58", "msg"),
        (".py:1713] GPU KV cache", None, ".py:1713", "GPU KV cache"),
        ("ERROR [core.py:1330] msg", "ERROR", "core.py:1330", "msg"),
        ("ERROR WorkerProc failed to start.", "ERROR", None, "WorkerProc failed to start."),
        # other loggers
        ("2025-01-01 10:00:00,123 - name - ERROR - msg", "ERROR", None, "msg"),
        ("ERROR:root:msg", "ERROR", None, "msg"),
        ("INFO - trl.extras.vllm_client - msg", "INFO", None, "msg"),
        (
            "2025-06-10 11:36:24.900 1 kserve ERROR [__main__.py:<module>():254] msg",
            "ERROR",
            "__main__.py:<module>",
            "msg",
        ),
        ("[ERROR] msg", "ERROR", None, "msg"),
        ("2025-01-01 10:00:00.123 | ERROR    | mod:fn:12 - msg", "ERROR", "mod:fn:12", "msg"),
        ("INFO:     Started server process [593]", "INFO", None, "Started server process [593]"),
        ("[W1129 11:30:17.96 utils.cpp:68] Warning: x", "WARNING", "utils.cpp:68", "Warning: x"),
        ("E0101 10:00:00.123456 123 file.cc:12] msg", "ERROR", "file.cc:12", "msg"),
        ("node1:22:23 [0] init.cc:943 NCCL WARN Duplicate GPU", "WARNING", "init.cc:943", "NCCL WARN Duplicate GPU"),
        ("2025-04-24 18:57:03,337 ERR cli.py:71 -- failed", "ERROR", "cli.py:71", "failed"),
        ("2024-02-11 09:15:21 | ERROR | stderr | no room", "ERROR", None, "no room"),
        ("[2023-08-18 01:35:57,940 E 4711 4962] logging.cc:361: text", "ERROR", "logging.cc:361", "text"),
    ],
)
def test_other_headers(raw: str, level: str | None, place: str | None, text: str) -> None:
    header = other_header(raw)
    assert header is not None
    assert (header.level, header.place, header.text) == (level, place, text)


@pytest.mark.parametrize(
    "raw", ["ValueError: x", "Error: No node", "Errors happen", "Warning: WARNING: x", "I am text", "text"]
)
def test_messages_without_a_header(raw: str) -> None:
    assert other_header(raw) is None


@pytest.mark.parametrize(
    ("label", "detail", "name", "rank"),
    [
        ("APIServer", "", "APIServer", None),
        ("ApiServer_0", "", "APIServer", None),
        ("MainProcess", "", "APIServer", None),
        ("EngineCore", "", "EngineCore", None),
        ("EngineCore_DP1", "", "EngineCore", 1),
        ("Worker_TP2_EP2", "", "Worker", 2),
        ("Worker_DP0_TP1_EP1", "", "Worker", 1),
        ("VllmWorker", "rank=3", "Worker", 3),
        ("VllmWorker", "TP0", "Worker", 0),
        ("VllmWorker-1", "", "Worker", 1),
        ("VllmWorkerProcess", "", "Worker", None),
        ("RayWorkerWrapper", "", "Worker", None),
        ("LLMRayActor", "", "Worker", None),
        ("VLLM_DP_Coordinator", "", "", None),
    ],
)
def test_process_names(label: str, detail: str, name: str, rank: int | None) -> None:
    process = process_of(label, detail, "7")
    assert (process.name, process.rank, process.pid) == (name, rank, 7)


def test_nccl_line_belongs_to_the_worker_with_its_pid() -> None:
    log = read("(Worker_TP3 pid=77) INFO 05-22 10:00:00 [a.py:1] x\nnode1:77:99 [3] NCCL WARN Duplicate GPU")
    assert log.lines[1].process.label == "Worker_TP3"
