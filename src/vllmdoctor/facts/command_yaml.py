"""Lines with a compose service or a Kubernetes container in, the arguments of its vLLM server out.

Only what such files hold is understood: lists in brackets or with dashes, folded text, plain text.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence

from vllmdoctor.facts.command_line import CommandLine, read_options, server_length

COMPOSE, KUBERNETES = "compose", "kubernetes"
_KEY = re.compile(r"(?P<indent>\s*(?:- )?)(?P<key>command|args|environment|env):(?:\s+(?P<rest>\S.*))?\s*$")
_ITEM = re.compile(r"\s*- (?P<item>.*\S)\s*$")
_FLOW_ITEM = re.compile(r"\s*(\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^,]+)\s*(?:,|$)")
_FOLDED = re.compile(r"[>|][+-]?\d?")
_SETTING = re.compile(r"\s*(?:- )?['\"]?(?P<name>[A-Z_][A-Z0-9_]*)['\"]?\s*(?:=|: )\s*(?P<value>.*?)['\"]?\s*$")
_NAME = re.compile(r"\s*- name:\s*['\"]?(?P<name>[A-Z_][A-Z0-9_]*)['\"]?\s*$")
_VALUE = re.compile(r"\s*value:\s*(?P<value>.*\S)\s*$")
_MOST_LINES = 200


def read_container(lines: Sequence[str]) -> tuple[str, CommandLine] | None:
    """The form and what it says; None when the lines hold no server, or one behind a shell."""
    found: dict[str, list[str]] = {}
    environment: dict[str, str] = {}
    for number, line in enumerate(lines):
        key = _KEY.match(line)
        if key is None or key["key"] in found:
            continue
        block = _block(lines, number + 1, len(key["indent"]))
        if key["key"] in ("environment", "env"):
            environment.update(_variables(block))
            continue
        words = _words(key["rest"] or "", block)
        if words is None:
            return None
        found[key["key"]] = words
    words = [*found.get("command", ()), *found.get("args", ())]
    length = server_length(words)
    words = words[length:] if length else words[1:] if words[:1] == ["serve"] else words
    if not words or not (length or _serves_vllm(lines)):
        return None
    arguments, left_out, others = read_options(words)
    if others or "model" not in arguments:
        return None
    return KUBERNETES if "args" in found else COMPOSE, CommandLine((), arguments, environment, left_out)


def _serves_vllm(lines: Sequence[str]) -> bool:
    return any(re.match(r"\s*(?:- )?image:\s*\S*vllm", line) for line in lines)


def _block(lines: Sequence[str], start: int, indent: int) -> list[str]:
    """The lines that belong to a key: those further in, and list items right below it."""
    block = []
    for line in lines[start : start + _MOST_LINES]:
        depth = len(line) - len(line.lstrip())
        if line.strip() and (depth < indent or depth == indent and not line.lstrip().startswith(("- ", "]"))):
            break
        block.append(line)
    return block


def _words(rest: str, block: Sequence[str]) -> list[str] | None:
    """The words of a command; None when they cannot be told."""
    if rest.startswith("["):
        return _flow_list(" ".join([rest, *block]))
    if rest and not _FOLDED.fullmatch(rest):
        return _shell_words(_scalar(rest))
    if rest:
        return _shell_words(" ".join(line.strip().removesuffix("\\") for line in block))
    items = [_ITEM.match(line) for line in block if line.strip()]
    return [_scalar(item["item"]) for item in items if item] if items and all(items) else None


def _flow_list(text: str) -> list[str] | None:
    end = text.rfind("]")
    if end < 0:
        return None
    return [_scalar(item.strip()) for item in _FLOW_ITEM.findall(text[1:end]) if item.strip()]


def _shell_words(text: str) -> list[str] | None:
    try:
        return shlex.split(text)
    except ValueError:
        return None


def _scalar(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) >= 2 and text[0] == text[-1] == '"':
        try:
            return str(json.loads(text))
        except ValueError:
            return text[1:-1]
    return text.split(" #")[0].rstrip()


def _variables(block: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in block:
        if named := _NAME.match(line):
            name = named["name"]
        elif name and (value := _VALUE.match(line)):
            found[name] = _scalar(value["value"])
            name = ""
        elif setting := _SETTING.match(line):
            found[setting["name"]] = _scalar(setting["value"])
    return found
