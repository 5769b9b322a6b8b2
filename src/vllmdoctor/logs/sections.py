"""Lines in order in, the kind of output each belongs to out: log, nvidia-smi, rocm-smi, collect-env, dmesg."""

from __future__ import annotations

import re

LOG, NVIDIA_SMI, ROCM_SMI, COLLECT_ENV, DMESG, CLIENT = (
    "log",
    "nvidia-smi",
    "rocm-smi",
    "collect-env",
    "dmesg",
    "client",
)

_DMESG = re.compile(
    r"\[(?:[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}|\s*\d{1,9}\.\d{3,9})\](?: |$)"
    r"|NVRM: |.{0,80}invoked oom-killer|oom-kill:|Out of memory: Killed process \d"
)
_SMI_TABLE_START = re.compile(r"\|\s*NVIDIA-SMI|\+-{20,}[-+]*\+$|\|={10,}|\|-{20,}[-+]*\+")
_SMI_LIST = re.compile(r"\s{0,6}(?:GPU \d+: .{0,120}\(UUID: (?:GPU|MIG)-|MIG .{0,80}Device\s+\d+: \(UUID: MIG-)")
_SMI_CSV = re.compile(
    r"(?:index|name|timestamp|gpu_name|gpu_uuid|uuid|pid|driver_version|count|memory\.\w+ \[MiB\])"
    r"(?:, [\w.]+(?: \[[\w%/]+\])?)+$"
)
_SMI_CSV_ROW = re.compile(r"[^,]{1,80}(?:, [^,]{0,80})+$")
_SMI_WATCH = re.compile(r"# gpu\s|# Idx\s|#\s+gpu ")
_ROCM_START = re.compile(r".*(?:ROCm System Management Interface|ROCM-SMI|AMD-SMI \d|= Concise Info)")
_ROCM_END = re.compile(r"=+ *End of ROCm SMI Log")
_ROCM_ROW = re.compile(r"[=+|\s*]|GPU(?:\[\d+\])?\b|Device\b|\d+\s|\(|WARNING: AMD|$")
_ENV_START = re.compile(
    r"Collecting environment information|PyTorch version: |Is debug build: |CUDA used to build PyTorch: "
    r"|\s{4,}(?:System|CUDA / GPU|PyTorch|CPU|Python Environment) Info\s*$|OS +: |ROCM used to build PyTorch"
    r"|Is CUDA available *: |CUDA runtime version *: "
)
_ENV_RULE = re.compile(r"=+$")
_ROCM_JSON = re.compile(r"\s*\{?\s*\"card\d+\": ?\{")
_SMI_DATE = re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\s*$")
_PIP_START = re.compile(r"Package\s{2,}Version(?:\s{2,}\w.*)?$")
_PIP_ROW = re.compile(r"[A-Za-z0-9][\w.-]*\s{2,}[\w.+!-]+(?:\s+\S+)*$|-+\s+-+")
_LOG_AGAIN = re.compile(
    r"Traceback \(most recent|[$#] |\(?[\w-]*\)?[\w.-]+@[\w.-]+:|>>> |\[?root@|(?:[A-Za-z_]\w*\.)*\w+Error: "
)


class SectionTracker:
    """Follows one input line by line."""

    def __init__(self, forced: str | None = None, *, amd: bool = False) -> None:
        self._forced = forced
        self._smi = ROCM_SMI if amd else NVIDIA_SMI
        self._open = LOG
        self._table = ""
        self._blanks = 0

    def section_of(self, text: str, headed: bool) -> str:
        """The section of the next line; `headed` lines always belong to the log."""
        if self._forced is not None:
            return self._forced
        if headed:
            self._open = LOG
            return LOG
        if self._open is not LOG and not self._continues(text):
            self._open = LOG
        if self._open is LOG:
            self._start(text)
        if self._open is not LOG:
            return self._open
        return DMESG if _is_dmesg(text) else LOG

    def _start(self, text: str) -> None:
        head = text[:200]
        if not head:
            return
        bare = head.lstrip()
        if bare[:1] in "|+" and _SMI_TABLE_START.match(bare):
            self._enter(self._smi, "table")
        elif head[-1:].isdigit() and _SMI_DATE.match(head):
            self._enter(self._smi, "date")
        elif '"card' in head and _ROCM_JSON.match(head):
            self._enter(ROCM_SMI, "json")
        elif "NVSMI LOG" in head:
            self._enter(NVIDIA_SMI, "query")
        elif bare.startswith(("<nvidia_smi_log", "<!DOCTYPE nvidia_smi_log", "<?xml")):
            self._enter(NVIDIA_SMI, "xml")
        elif "UUID: " in head and _SMI_LIST.match(head):
            self._enter(NVIDIA_SMI, "list")
        elif ", " in head and _SMI_CSV.match(head):
            self._enter(NVIDIA_SMI, "csv")
        elif head[0] == "#" and _SMI_WATCH.match(head):
            self._enter(NVIDIA_SMI, "watch")
        elif ("SMI" in head or "Concise" in head) and _ROCM_START.match(head):
            self._enter(ROCM_SMI, "rocm")
        elif head[0] in "CPIO R\t" and _ENV_START.match(head):
            self._enter(COLLECT_ENV, "env")
        elif head.startswith("Package ") and _PIP_START.match(head):
            self._enter(COLLECT_ENV, "pip")

    def _enter(self, section: str, table: str) -> None:
        self._open, self._table, self._blanks = section, table, 0

    def _continues(self, text: str) -> bool:
        head = text[:200]
        bare = head.strip()
        if not bare:
            self._blanks += 1
            return self._blanks < 4
        self._blanks = 0
        table = self._table
        if table == "table":
            return bare[0] in "|+"
        if table == "date":
            self._table = "table"
            return _SMI_TABLE_START.match(bare) is not None
        if table == "json":
            return head[0] in " \t}"
        if table == "xml":
            if bare.startswith("</nvidia_smi_log"):
                self._table = "done"
            return not _LOG_AGAIN.match(head)
        if table == "query":
            return head[0] in " \t" or " : " in head or head.startswith(("GPU ", "Attached", "Timestamp"))
        if table == "list":
            return _SMI_LIST.match(head) is not None
        if table == "csv":
            return _SMI_CSV_ROW.match(head) is not None
        if table == "watch":
            return head[0] in "# 0123456789"
        if table == "rocm":
            if _ROCM_END.match(bare):
                self._table = "done"
                return True
            return _ROCM_ROW.match(head) is not None
        if table == "env":
            return not _LOG_AGAIN.match(head) and not _SMI_TABLE_START.match(bare)
        if table == "pip":
            return _PIP_ROW.match(head) is not None
        return False


def _is_dmesg(text: str) -> bool:
    if not text or not (text[0] in "[NO" or "oom-kill" in text[:120]):
        return False
    return _DMESG.match(text[:200]) is not None
