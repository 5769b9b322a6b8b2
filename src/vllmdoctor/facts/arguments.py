"""Echoed arguments (a printed dict, a Namespace, a command line, an `LLM(...)` call) in, name and text of each out.

Nothing is evaluated: a scanner over quotes and brackets splits the pairs, so that values which are no literals, cut
lines and hundred thousand brackets do no harm.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

_MAX_CHARS = 16 * 1024
_OPEN, _CLOSE = "([{", ")]}"
_STARTS = (
    re.compile(r"non-default args: \{"),
    re.compile(r"\bargs: Namespace\("),
    re.compile(r"\bNamespace\("),
    re.compile(r"\b(?:vLLM|vllm|[Ee]ngine) (?:config|args|arguments): \{"),
    re.compile(r"\b(?:LLM|AsyncEngineArgs|EngineArgs|AsyncLLMEngine)\("),
)
HINTS = ("args: ", "Namespace(", "LLM(", "EngineArgs(", "LLMEngine(", " config: {", "vllm serve ", "vllm.entrypoints.")
_COMMAND = re.compile(r"(?:vllm serve|vllm\.entrypoints\.[\w.]+|vllm-openai\S*|api_server(?:\.py)?)(?=\s)(?P<rest>.*)")
_PAIR = re.compile(r"\s*['\"]?(?P<key>[A-Za-z_]\w*)['\"]?\s*[:=]\s*(?P<value>.*)", re.DOTALL)
_LINE_END = re.compile(r"(?<=\s)\\+(?=\s|$)")  # of a command that was typed over several lines
_SHORT = {"tp": "tensor_parallel_size", "pp": "pipeline_parallel_size", "dp": "data_parallel_size", "q": "quantization"}


def echoed_arguments(text: str) -> Mapping[str, str]:
    """Arguments that a line echoes, by their Python names; empty when it echoes none."""
    text = text[:_MAX_CHARS]
    for start in _STARTS:
        found = start.search(text)
        if found:
            return dict(_pairs(text[found.end() :]))
    found = _COMMAND.search(text)
    return _flags(found["rest"]) if found else {}


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for part in _split(text):
        found = _PAIR.fullmatch(part)
        if found:
            yield found["key"], _unquoted(found["value"].strip())


def _split(text: str) -> Iterator[str]:
    """Parts between commas at the outermost level, up to the bracket that closes it or the end of a cut line."""
    depth, quote, start = 0, "", 0
    for position, character in enumerate(text):
        if quote:
            if character == quote and text[position - 1] != "\\":
                quote = ""
        elif character in "'\"":
            quote = character
        elif character in _OPEN:
            depth += 1
        elif character in _CLOSE:
            if depth == 0:
                yield text[start:position]
                return
            depth -= 1
        elif character == "," and depth == 0:
            yield text[start:position]
            start = position + 1
    yield text[start:]


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) >= 2 and value[0] in "'\"" and value[-1] == value[0] else value


def _flags(rest: str) -> dict[str, str]:
    rest = _LINE_END.sub(" ", rest)
    try:
        words = shlex.split(rest, comments=False)
    except ValueError:  # a quote without its partner, in a cut line
        words = rest.split()
    arguments: dict[str, str] = {}
    name = ""
    for word in words:
        if word in ("|", "&&", ";", ">", "2>&1", "&"):
            break
        if word.startswith("-") and not re.fullmatch(r"-\d[\d.]*", word):
            flag, _, value = word.lstrip("-").partition("=")
            name = _SHORT.get(flag, flag.replace("-", "_"))
            arguments[name] = value or "true"
        elif name:
            arguments[name] = word
            name = ""
        elif "model" not in arguments:
            arguments["model"] = word
    return arguments
