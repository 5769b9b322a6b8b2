"""`vllmdoctor gpus`: nvidia-smi output in, a table or JSON of what it says out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress

from rich.cells import cell_len
from rich.text import Text

from vllmdoctor.cli.analyze import paths_without_arguments
from vllmdoctor.cli.language import current_words
from vllmdoctor.cli.output import flush_quietly, open_console, write_json
from vllmdoctor.errors import InputError
from vllmdoctor.facts.gpus import as_json as machine_json
from vllmdoctor.facts.gpus import read_gpus
from vllmdoctor.facts.gpus.model import Gpu, GpuProcess, Machine, MigDevice
from vllmdoctor.languages import Message
from vllmdoctor.languages import marked as _
from vllmdoctor.redaction import redacted
from vllmdoctor.report.untrusted import neutral
from vllmdoctor.report.words import Words

_GPU_HEADER = (_("GPU"), _("name"), _("used"), _("total"), _("free"), _("busy"))
_MIG_HEADER = (_("MIG GPU"), "GI", "CI", _("used"), _("total"))
_PROCESS_HEADER = (_("process on GPU"), "PID", _("memory"), _("name"))


def print_gpus(file: str | None, *, as_json: bool) -> None:
    """Raises InputError when the input cannot be read or says nothing of GPUs."""
    from vllmdoctor.intake import read_inputs

    path = file or paths_without_arguments()[0]
    stdin = sys.stdin.buffer if sys.stdin else None
    excerpts = read_inputs([path], stdin=stdin, literals=[])
    machine = read_gpus("\n".join(line.text for excerpt in excerpts for line in excerpt.lines))
    if machine is None:
        raise InputError(
            excerpts[0].name if excerpts else path,
            Message("says nothing of GPUs"),
            Message("Give the output of nvidia-smi (table, -q, -q -x, --query-gpu, -L), rocm-smi or amd-smi"),
        )
    with suppress(BrokenPipeError):  # a reader that has seen enough
        if as_json:
            from vllmdoctor.report.json import json_text

            write_json(json_text(machine_json(machine)))
        else:
            _write_text(machine)
    flush_quietly()


def _write_text(machine: Machine) -> None:
    console = open_console()
    for line in machine_lines(machine, current_words()):
        console.print(Text(redacted(neutral(line))), soft_wrap=True)


def machine_lines(machine: Machine, words: Words) -> list[str]:
    """Driver, GPUs, MIG devices, processes, errors; what the text does not say is left out or `?`."""
    said = words.said
    lines = []
    if machine.driver or machine.cuda:
        lines = [said(Message("driver {driver}, CUDA {cuda}", driver=machine.driver or "?", cuda=machine.cuda or "?"))]
    if machine.gpus:
        lines += ["", *table(_said(_GPU_HEADER, words), [_gpu(gpu, words) for gpu in machine.gpus])]
    if machine.mig_devices:
        lines += ["", *table(_said(_MIG_HEADER, words), [_mig(device) for device in machine.mig_devices])]
    if machine.processes is not None:
        rows = [_process(process) for process in machine.processes]
        lines += ["", *(table(_said(_PROCESS_HEADER, words), rows) if rows else [said(Message("no processes"))])]
    if machine.errors or machine.xids:
        lines += ["", *(said(Message("error: {problem}", problem=error)) for error in machine.errors)]
        lines += [
            said(Message("Xid {code} on {pci}: {text}", code=xid.code, pci=xid.pci, text=xid.text))
            for xid in machine.xids
        ]
    return lines[1:] if lines[:1] == [""] else lines


def _said(texts: Sequence[str], words: Words) -> list[str]:
    return [words.said(text) for text in texts]


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows with columns lined up in terminal cells; columns of which nothing is known are left out."""
    kept = [n for n in range(len(header)) if any(row[n] != "?" for row in rows)]
    shown = [[row[n] for n in kept] for row in (header, *rows)]
    widths = [max(cell_len(row[n]) for row in shown) for n in range(len(kept))]
    return [
        "  ".join(cell + " " * (w - cell_len(cell)) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in shown
    ]


def _gpu(gpu: Gpu, words: Words) -> tuple[str, ...]:
    name = (gpu.name or "?") + (" (MIG)" if gpu.mig_enabled else "")
    if gpu.unified_memory:
        name = words.said(Message("{name} (unified memory)", name=name))
    busy = "?" if gpu.util_pct is None else f"{gpu.util_pct} %"
    return (_number(gpu.index), name, _mib(gpu.used_mib), _mib(gpu.total_mib), _mib(gpu.free_mib), busy)


def _mig(device: MigDevice) -> tuple[str, ...]:
    return (*map(_number, (device.gpu, device.gi, device.ci)), _mib(device.used_mib), _mib(device.total_mib))


def _process(process: GpuProcess) -> tuple[str, ...]:
    return (_number(process.gpu), _number(process.pid), _mib(process.mib), process.name or "?")


def _number(value: int | None) -> str:
    return "?" if value is None else str(value)


def _mib(value: int | None) -> str:
    return "?" if value is None else f"{value:,} MiB"
