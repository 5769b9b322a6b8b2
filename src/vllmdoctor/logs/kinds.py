"""Lines and records in, the set of kinds of text seen out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vllmdoctor.logs.model import Line, Record

_VLLM_PLACE = re.compile(r"[\w./-]+\.pyx?:\d+$")
_VLLM_TEXT = re.compile(
    r"(?:vllm|api_server\.py)[\w ]{0,20}: error: |vllm serve\b|-m vllm[. ]"
    r"|vLLM (?:API )?server version|LLM engine \(v|[/.]vllm/\w+|\bimport vllm|from vllm\b|\bvllm\.\w+"
    r"|[Ww]heels? for (?:collected packages: )?vllm\b"
)
_CONTAINER = re.compile(
    r"exited with code \d|\[\+\] Restarting|OOMKilled|Back-off restarting|CrashLoopBackOff"
    r"|OCI runtime|docker: Error|Error response from daemon"
    r"|Started container|systemd\[1\]|Main process exited"
)
_CONTAINER_WORDS = (
    "exited with", "[+]", "OOMKilled", "Back-off", "CrashLoop", "OCI ", "docker: ", "daemon", "Started c", "systemd",
    "Main process",
)  # fmt: skip
_RAY = re.compile(r"\bray(?:let|::|\.\w)|\(autoscaler|placement group|\bRay\b")


def kinds_of(lines: Sequence[Line], records: Sequence[Record]) -> frozenset[str]:
    """vllm-log, python-error, nvidia-smi, rocm-smi, collect-env, dmesg, client-error, container-event, ray."""
    kinds = {section for line in lines if (section := line.section) != "log"}
    if "client" in kinds:
        kinds.remove("client")
        kinds.add("client-error")
    for record in records:
        if record.kind == "exception":
            kinds.add("python-error")
        if record.section == "log":
            _add_log_kinds(record, kinds)
    return frozenset(kinds)


def _add_log_kinds(record: Record, kinds: set[str]) -> None:
    head = record.text[:1000]
    if "vllm-log" not in kinds and _is_vllm(record, head):
        kinds.add("vllm-log")
    if "ray" not in kinds and (
        record.process.label.startswith(("Ray", "raylet")) or ("ay" in head and _RAY.search(head))
    ):
        kinds.add("ray")
    if (
        "container-event" not in kinds
        and record.level not in ("INFO", "DEBUG")
        and any(word in head for word in _CONTAINER_WORDS)
        and _CONTAINER.search(head)
    ):
        kinds.add("container-event")
    if "client-error" not in kinds and ("Error code: " in head or "'object': 'error'" in head):
        kinds.add("client-error")


def _is_vllm(record: Record, head: str) -> bool:
    place = record.place
    if record.process.name or (record.first.headed and record.level and place and _VLLM_PLACE.match(place)):
        return True
    if ("vllm" in head or "api_server.py" in head or "vLLM" in head or "LLM engine" in head) and _VLLM_TEXT.search(
        head
    ):
        return True
    return any("vllm" in frame.file or "vllm" in frame.source for frame in record.frames)
