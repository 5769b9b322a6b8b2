"""Logs and dresses that several tests of the package share."""

from __future__ import annotations

import html
import json
from collections.abc import Callable

from vllmdoctor.logs import Log, RawLine, Record, read_log

FAILED_START = """\
(APIServer pid=31) INFO 05-22 10:00:00 [utils.py:299]
(APIServer pid=31) INFO 05-22 10:00:00 [utils.py:299]        █     █     █▄   ▄█
(APIServer pid=31) INFO 05-22 10:00:00 [utils.py:299]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.19.0
(APIServer pid=31) INFO 05-22 10:00:00 [utils.py:299]   █▄█▀ █     █     █     █  model   org/model
(APIServer pid=31) INFO 05-22 10:00:00 [utils.py:299]
(APIServer pid=31) INFO 05-22 10:00:00 [utils.py:233] non-default args: {'model': 'org/model', 'max_model_len': 8192}
(EngineCore_DP0 pid=40) INFO 05-22 10:00:09 [core.py:77] Initializing a V1 LLM engine (v0.19.0) with config: model='x'
[W1129 11:30:17.96 utils.cpp:68] Warning: NUMA binding: policy (function init)
(EngineCore_DP0 pid=40) ERROR 05-22 10:00:20 [core.py:708] EngineCore failed to start.
(EngineCore_DP0 pid=40) ERROR 05-22 10:00:20 [core.py:708] Traceback (most recent call last):
(EngineCore_DP0 pid=40) ERROR 05-22 10:00:20 [core.py:708]   File "/opt/vllm/v1/engine/core.py", line 699, in run_engine_core
(EngineCore_DP0 pid=40) ERROR 05-22 10:00:20 [core.py:708]     engine_core = EngineCoreProc(*args, **kwargs)
(EngineCore_DP0 pid=40) ERROR 05-22 10:00:20 [core.py:708]                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
(EngineCore_DP0 pid=40) ERROR 05-22 10:00:20 [core.py:708] ValueError: No available memory for the cache blocks. Try <more>.
Process EngineCore_DP0:
Traceback (most recent call last):
  File "/usr/lib/python3.12/multiprocessing/process.py", line 314, in _bootstrap
    self.run()
ValueError: No available memory for the cache blocks. Try <more>.
(APIServer pid=31) Traceback (most recent call last):
(APIServer pid=31)   File "/usr/local/bin/vllm", line 10, in <module>
(APIServer pid=31)     sys.exit(main())
(APIServer pid=31) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
"""


def raw_lines(text: str, number: int = 0) -> list[RawLine]:
    return [RawLine(number, line, content) for line, content in enumerate(text.split("\n"), start=1)]


def read(*texts: str) -> Log:
    return read_log([raw for number, text in enumerate(texts) for raw in raw_lines(text, number)])


def records(*texts: str) -> list[Record]:
    return [record for run in read(*texts).runs for record in run.records]


def exceptions(*texts: str) -> list[Record]:
    return [record for record in records(*texts) if record.kind == "exception"]


def clock(number: int) -> str:
    return f"2026-05-22T10:{number // 60 % 60:02d}:{number % 60:02d}"


def dressed(text: str, dress: Callable[[int, str], str]) -> str:
    return "\n".join(dress(number, line) for number, line in enumerate(text.split("\n")))


DRESSES: dict[str, Callable[[int, str], str]] = {
    "compose": lambda n, line: f"vllm-1  | {line}",
    "docker-build": lambda n, line: f"#14 {n // 10}.{n % 10}07 {line}",
    "torchserve": lambda n, line: f"{clock(n)},045 [INFO ] W-9001-m_1.0-stdout MODEL_LOG - {line}",
    "compose-v1": lambda n, line: f"gemma-vllm-server  | {line}",
    "kubectl": lambda n, line: f"[pod/vllm-7c9d5b8f6-x2x4q/vllm] {clock(n)}.123456789Z {line}",
    "gcloud": lambda n, line: f"{'ERROR' if n % 2 else 'INFO'} {clock(n)}.123456789Z {line}",
    "cri": lambda n, line: f"{clock(n)}.123456789Z stderr F {line}",
    "actions": lambda n, line: f"serve\tRun vllm\t{clock(n)}.1234567Z {line}",
    "gitlab": lambda n, line: f"{clock(n)}.123456Z 00O {line}",
    "buildkite": lambda n, line: f"\x1b_bk;t=1716372000000\x07{line}",
    "syslog": lambda n, line: f"May 22 10:00:{n % 60:02d} gpu01 vllm[8707]: {line}",
    "journald-iso": lambda n, line: f"{clock(n)}+0000 gpu01 vllm[8707]: {line}",
    "srun": lambda n, line: f"0: {line}",
    "docker-json": lambda n, line: json.dumps({"log": line + "\n", "stream": "stderr", "time": clock(n) + ".1Z"}),
    "gke": lambda n, line: json.dumps({"textPayload": line, "severity": "ERROR", "timestamp": clock(n) + "Z"}),
    "quote": lambda n, line: f"> {line}",
    "box": lambda n, line: f"│ {line:<60} │",
    "html": lambda n, line: html.escape(line),
    "colour": lambda n, line: f"\x1b[0;36m{line[:9]}\x1b[0m{line[9:]}\x1b[0m",
    "lost-escape": lambda n, line: f"^[[0;36m{line[:9]}^[[0m{line[9:]}^M",
    "crlf": lambda n, line: line + "\r",
    "grep": lambda n, line: f"{n + 1}:{line}",
}
