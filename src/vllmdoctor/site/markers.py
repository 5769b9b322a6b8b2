"""The Markdown of a guide in, the same with its markers replaced by what the program really prints out.

A marker is a comment on a line of its own, outside of code blocks:

    <!-- output: vllmdoctor analyze examples/startup.log -->   the program's output; an old code block below it goes
    <!-- receipt: examples/startup.log -->                     the memory receipt of that log, drawn and as a table
    <!-- calculator -->                                        the widget that plans the memory of a model
"""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from vllmdoctor.analysis import analyze_inputs
from vllmdoctor.errors import InputError
from vllmdoctor.memory.receipt import ReceiptLine
from vllmdoctor.report.model import FindingReport, Report
from vllmdoctor.report.receipt_svg import receipt_svg
from vllmdoctor.report.receipt_table import receipt_table
from vllmdoctor.report.words import Words
from vllmdoctor.site.context import checkout_root
from vllmdoctor.site.guides import guide_notice
from vllmdoctor.site.markdown import fenced

_COLUMNS = 80
_PICTURE_PX = 640
_MARKER = re.compile(r"<!--\s*(?P<name>[\w-]+)(?::\s*(?P<value>.*?))?\s*-->\s*")
_FENCE = re.compile(r"\s*(?P<fence>`{3,}|~{3,})")
_BAD_USAGE = 2
# What the reader's own terminal and settings would change.
_PLAIN = {"COLUMNS": str(_COLUMNS), "NO_COLOR": "1", "TERM": "dumb"}
_PERSONAL = ("FORCE_COLOR", "VLLMDOCTOR_LANG", "VLLMDOCTOR_SITE", "LINES")


def filled(source: str, language: str, *, name: str = "guide") -> str:
    """`name` is the file's, for errors. Raises InputError for an unknown marker or one that cannot be filled."""
    lines = source.splitlines()
    shown: list[str] = []
    fence = ""
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        marker = None if fence else _MARKER.fullmatch(line)
        if marker is None:
            shown.append(line)
            fence = _fence_after(line, fence)
            continue
        place = f"{name}:{number}"
        shown += _filling(place, marker["name"], marker["value"] or "", language)
        if marker["name"] == "output":
            number = _after_code_block(lines, number, place)
    return "\n".join(shown) + "\n"


def _fence_after(line: str, fence: str) -> str:
    """The fence of the code block that is open below this line, "" outside of one."""
    found = _FENCE.match(line)
    if not found:
        return fence
    if not fence:
        return found["fence"]
    return "" if found["fence"].startswith(fence) and line.strip() == found["fence"] else fence


def _after_code_block(lines: Sequence[str], number: int, place: str) -> int:
    fence = _fence_after(lines[number], "") if number < len(lines) else ""
    if not fence:
        return number
    while fence:
        number += 1
        if number == len(lines):
            raise InputError(place, "the code block below the marker has no end")
        fence = _fence_after(lines[number], fence)
    return number + 1


def _filling(place: str, name: str, value: str, language: str) -> list[str]:
    fill = _FILLINGS.get(name)
    if fill is None:
        known = ", ".join(sorted(_FILLINGS))
        raise InputError(place, f"unknown marker {name!r}", f"Known are {known}")
    return fill(place, value, language)


def _output(place: str, value: str, language: str) -> list[str]:
    return list(fenced(command_output(value, language, place=place).rstrip("\n"), "text"))


def command_output(command: str, language: str, *, place: str = "guide") -> str:
    """What `vllmdoctor …`, called in the checkout, prints to a terminal of 80 columns without colours."""
    from vllmdoctor.cli.app import run

    words = shlex.split(command)
    if words[:1] != ["vllmdoctor"]:
        raise InputError(place, f"{command!r} is no call of vllmdoctor")
    arguments = words[1:]
    if _takes_language(arguments):
        arguments += ["--lang", language]
    with _plain_terminal() as paper:
        code = run(arguments)
        sys.stdout.flush()
    printed = paper.getvalue().decode("utf-8")
    if code == _BAD_USAGE or not printed.strip():
        raise InputError(place, f"{command!r} ends with exit code {code} and prints nothing for the page")
    return "\n".join(line.rstrip() for line in printed.splitlines()).strip("\n") + "\n"


def _takes_language(arguments: Sequence[str]) -> bool:
    """What only authors of rules read is in English."""
    return arguments[:1] != ["rules"] or arguments[:2] == ["rules", "list"]


@contextmanager
def _plain_terminal() -> Iterator[io.BytesIO]:
    """Standard output on paper, in the checkout, with the variables that every build has."""
    paper = io.BytesIO()
    before, folder, variables = sys.stdout, os.getcwd(), dict(os.environ)
    sys.stdout = io.TextIOWrapper(paper, encoding="utf-8", write_through=True)
    os.chdir(checkout_root())
    os.environ.update(_PLAIN)
    for name in _PERSONAL:
        os.environ.pop(name, None)
    try:
        yield paper
    finally:
        sys.stdout.detach()  # else closing it would close the paper
        sys.stdout = before
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)


def _receipt(place: str, value: str, language: str) -> list[str]:
    """`FILE`, or `FILE --nvidia-smi FILE` where the log does not tell the size of the GPU."""
    words = shlex.split(value)
    log, tables = words[:1], words[2:3] if words[1:2] == ["--nvidia-smi"] else words[1:]
    root = checkout_root()
    try:
        report = analyze_inputs(
            [str(root / name) for name in log], nvidia_smi=[str(root / name) for name in tables], language=language
        )
    except InputError as problem:
        raise InputError(place, f"{problem.name}: {problem.problem}", problem.hint) from problem
    finding = next((one for one in report.findings if one.receipt is not None), None)
    picture = receipt_svg(finding.receipt, language, width_px=_PICTURE_PX) if finding and finding.receipt else ""
    if finding is None or not picture:
        raise InputError(place, f"the report on {value} has no memory receipt")
    names = [*log, *tables]
    return ["", f'<div class="receipt">{picture}</div>', "", *_table(finding, report, names, language)]


def _table(finding: FindingReport, report: Report, names: Sequence[str], language: str) -> list[str]:
    assert finding.receipt is not None

    def where(line: ReceiptLine) -> str:
        return f"{names[line.origin.input]}:{line.origin.line}" if line.origin else ""

    return receipt_table(finding.receipt, Words(language), where, finding.advice)


def _calculator(place: str, value: str, language: str) -> list[str]:
    from vllmdoctor.site.pages.calculator import widget

    return ["", *widget(language).splitlines(), ""]


_FILLINGS: Mapping[str, Callable[[str, str, str], list[str]]] = {
    "output": _output,
    "receipt": _receipt,
    "calculator": _calculator,
}

__all__ = ["command_output", "filled", "guide_notice"]
