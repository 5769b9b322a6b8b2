"""A printed process name in, the canonical `Process` out."""

from __future__ import annotations

import re
from functools import lru_cache

from vllmdoctor.logs.model import API_SERVER, ENGINE_CORE, WORKER, Process

_RANK = re.compile(r"\brank=(\d+)|(?:^|[_ ])TP(\d+)|VllmWorker-(\d+)$")
_INDEX = re.compile(r"_(?:DP)?(\d+)$")
_API_NAMES = ("apiserver", "mainprocess")
_WORKER_NAMES = ("worker", "vllmworker", "rayworker", "vllm::worker", "llmrayactor", "workerdict")


def canonical_name(label: str) -> str:
    """APIServer, EngineCore, Worker or "" for a name as vLLM or Ray prints it."""
    small = label.lower().replace("vllm::", "")
    if small.startswith("enginecore"):
        return ENGINE_CORE
    if small.startswith(_API_NAMES):
        return API_SERVER
    if small.startswith(_WORKER_NAMES) or "worker" in small and "vllm" in small:
        return WORKER
    return ""


@lru_cache(maxsize=4096)
def process_of(label: str, detail: str = "", pid: str = "", host: str = "") -> Process:
    """The process behind `(label detail pid=…, ip=host)`; `detail` is vLLM's `rank=1` or `TP0`."""
    name = canonical_name(label)
    rank = None
    found = _RANK.search(f"{label} {detail}".strip())
    if found:
        rank = int(next(group for group in found.groups() if group)[:9])
    elif name == ENGINE_CORE and (index := _INDEX.search(label)):
        rank = int(index.group(1)[:9])
    return Process(name, label, int(pid[:18]) if pid else None, rank, host or None)
