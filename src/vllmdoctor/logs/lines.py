"""Raw lines of all inputs in, `Line`s with every prefix taken off out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from vllmdoctor.logs.clean import sub_lines
from vllmdoctor.logs.headers import PREFIXED, Header, other_header, process_prefix, vllm_header
from vllmdoctor.logs.jsonlines import JsonLine, json_line, with_error_objects_joined, with_error_unescaped
from vllmdoctor.logs.model import NO_PROCESS, Line, Process, RawLine
from vllmdoctor.logs.paste import unescaped, unquoted, without_markup
from vllmdoctor.logs.prefixes import REPEATED, PrefixPeeler
from vllmdoctor.logs.sections import CLIENT, SectionTracker

_ACCESS = re.compile(r"INFO: {5}\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}:\d{1,5} - \"")
_MOST_PREFIXES = 8
_MOST_NESTED_JSON = 3


def read_lines(raw_lines: Iterable[RawLine], sections: Mapping[int, str]) -> Iterator[Line]:
    """Every line of every input, in order."""
    for number, group in groupby(raw_lines, key=lambda raw: raw.input):
        raws = list(group)
        yield from InputReader(raws, sections.get(number)).lines()


class InputReader:
    """Reads one input; remembers which prefixes it uses."""

    def __init__(self, raws: Sequence[RawLine], section: str | None) -> None:
        self._raws = list(with_error_objects_joined(raws))
        self._peeler = PrefixPeeler()
        amd = any("AMD-SMI" in raw.text or "ROCm" in raw.text for raw in raws)
        self._sections = SectionTracker(section, amd=amd)
        self._by_pid: dict[int, Process] = {}

    def lines(self) -> Iterator[Line]:
        """The lines of the input."""
        self._peeler = PrefixPeeler.for_lines(self._sample())
        for raw in self._raws:
            for text in sub_lines(raw.text):
                header = _bare_header(text)
                if header is not None:
                    yield self._line(raw, header, None)
                else:
                    yield from self._lines_of(raw, text)

    def _sample(self) -> list[str]:
        step = max(1, len(self._raws) // 400)
        return [self._without_wrapper(text) for raw in self._raws[::step] for text in sub_lines(raw.text[:8000])[:1]]

    def _without_wrapper(self, text: str) -> str:
        text = self._without_paste(text)
        parsed = json_line(text) if text.startswith("{") else None
        return parsed.texts[0] if parsed is not None and not parsed.client else text

    @staticmethod
    def _without_paste(text: str) -> str:
        if "&" in text:
            text = unescaped(text)
        if text.startswith(">"):
            text = unquoted(text)
        return text

    def _lines_of(self, raw: RawLine, text: str, time: str | None = None, depth: int = 0) -> Iterator[Line]:
        if "&" in text:
            text = unescaped(text)
        header = vllm_header(text) if text[:1] in "(DIWEC" else None
        if header is None:
            if text.startswith(">"):
                text = unquoted(text)
            text, outer_time = self._peeler.peeled(text)
            time = time or outer_time
            if text.startswith(">"):
                text = unquoted(text)
            text = without_markup(text)
            parsed = json_line(text) if "{" in text[:8] and depth < _MOST_NESTED_JSON else None
            if parsed is not None:
                yield from self._json_lines(raw, parsed, time, depth)
                return
            header = self._header(text)
        yield self._line(raw, header, time)

    def _header(self, text: str) -> Header:
        """The innermost header: what a process prefix or another logger's header stands before."""
        complete = vllm_header(text) if text[:1] in "(DIWEC" else None
        if complete is not None:
            return complete
        best = Header(text, NO_PROCESS, None, None, None, False)
        for _ in range(_MOST_PREFIXES):
            text = best.text
            if text[:1] == " " and PREFIXED.match(text):
                text = text.lstrip()
            first = text[:1]
            found = vllm_header(text) if first in "(DIWEC" else None
            if found is not None:
                return Header(
                    found.text, _inner(found.process, best.process), found.level, found.time, found.place, True, True
                )
            prefix = process_prefix(text) if first in "([" else None
            if prefix is not None:
                # A shipper's own time and level before a process prefix is no logger's header.
                best = Header(prefix[1], _inner(prefix[0], best.process), None, best.time, None, False)
                continue
            found = other_header(text)
            if found is None and first.isdigit() and (plain := self._peeler.without_plain_time(text)):
                best = Header(plain[0], best.process, best.level, best.time or plain[1], best.place, best.headed)
                continue
            if found is None and first == "[" and best.process is not NO_PROCESS and not best.headed:
                peeled = self._peeler.peeled(text)[0]  # a label behind the process, as vLLM-Omni's [Stage-2]
                if peeled != text:
                    best = best._replace(text=peeled)
                    continue
            if found is None or best.headed and not found.vllm and found.level is None:
                break
            best = Header(
                found.text, _inner(best.process, found.process), found.level, found.time, found.place, True, found.vllm
            )
            if found.vllm:
                break
            peeled = self._peeler.peeled(best.text)[0] if best.text.startswith(("(", "[")) else best.text
            best = Header(peeled, best.process, best.level, best.time, best.place, True)
        return best

    def _line(self, raw: RawLine, header: Header, time: str | None) -> Line:
        text = header.text
        if "[repeated " in text:
            text = REPEATED.sub("", text)
        if '\\"' in text and "{" in text:
            text = with_error_unescaped(text)
        process = header.process
        if process.pid is not None:
            if process.name:
                self._by_pid[process.pid] = process
            elif not process.label:
                process = self._by_pid.get(process.pid, process)
        if header.place is not None and header.place.startswith("pb_stub.cc") and "Failed to " in text[:20]:
            header = header._replace(level="ERROR")  # Triton tells the failure of a Python backend as information
        section = self._sections.section_of(text, header.headed)
        if section != "log" and not header.headed and section != "dmesg":
            process = NO_PROCESS
        return Line(
            raw.input,
            raw.number,
            text,
            process,
            header.level,
            header.time or time,
            header.place,
            section,
            header.headed,
        )

    def _json_lines(self, raw: RawLine, parsed: JsonLine, time: str | None, depth: int) -> Iterator[Line]:
        time = parsed.time or time
        if parsed.client:
            text = parsed.texts[0].replace("\n", " ")
            yield Line(raw.input, raw.number, text, NO_PROCESS, None, time, None, CLIENT, False)
        elif parsed.logger:
            for text in parsed.texts:
                header = Header(text, parsed.process, parsed.level, time, parsed.place, True)
                yield self._line(raw, header, time)
        else:
            for text in parsed.texts:
                for part in sub_lines(text):
                    yield from self._lines_of(raw, part, time, depth + 1)


def _bare_header(text: str) -> Header | None:
    """The header of the two lines that fill healthy logs: one of vLLM's own without a prefix, an access line."""
    if text[:1] not in "(DIWEC" or "&" in text:
        return None
    if _ACCESS.match(text):
        return Header(text[10:], NO_PROCESS, "INFO", None, None, True)
    return vllm_header(text)


def _inner(inner: Process, outer: Process) -> Process:
    return outer if inner is NO_PROCESS or inner == NO_PROCESS else inner
