"""The words of a command line (vllm serve, the API server's module, docker run) in, program and arguments out."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vllmdoctor.facts.options import FLAGS, JSON_LISTS, REPEATED, SEVERAL_WORDS, TEXTS, canonical_option

VLLM_SERVE = ("vllm", "serve")
MODULE = "vllm.entrypoints.openai.api_server"
_PROMPT = re.compile(
    r"\s*(?:\++ |[$#%] |(?:\([\w.-]{1,60}\) ?)?[\w.-]{1,60}@[\w.-]{1,80}[:~ ][^$#\n]{0,200}[$#] |command: ?"
    r"|\S{1,60}: line \d+: +\d+ [A-Z][A-Za-z ]{2,30}(?:\(core dumped\) *)?(?=\S*vllm |\S*python))?"
)
_VARIABLE = re.compile(r"(?P<name>[A-Za-z_]\w{0,80})=(?P<value>.*)", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?")
_END = re.compile(r"(?:\|\|?|&&?|;|\d?>{1,2}.*|&>.*|<|#.*)$", re.DOTALL)
_DOCKER_FLAG = re.compile(
    r"--(?:rm|detach|interactive|tty|init|privileged|read-only|publish-all|no-healthcheck|oom-kill-disable|sig-proxy"
    r"|quiet)(?:=.*)?|-[ditPq]+|-[A-Za-z].+"  # the last has its value attached: -p8000:8000
)
_PROSE = frozenset("with of for and or the in on to".split())
_MOST_WORDS = 200
_MOST_WORDS_BEFORE = 8
_STARTERS = re.compile(
    r"(?:\S*/)?(?:vllm|python[\d.]*|sudo|exec|nohup|env|time|nice|srun|numactl|taskset|uv|poetry|pipenv|conda|micromamba"
    r"|pixi|mpirun|setsid|stdbuf|nsys|ray|tini|dumb-init)"
)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """`program` are the words up to the options (of docker run up to the image), `left_out` flags as they stand."""

    program: tuple[str, ...]
    arguments: dict[str, str]
    environment: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


def read_command_line(line: str) -> CommandLine | None:
    """One command, its continuation lines already joined; None when it does not start a vLLM server."""
    prompt = _PROMPT.match(line)
    rest = line[prompt.end() :] if prompt else line
    try:
        words = shlex.split(rest)
    except ValueError:  # a quote without its partner: the line is cut
        return None
    return read_words(words)


def read_words(words: Sequence[str]) -> CommandLine | None:
    environment: dict[str, str] = {}
    while words and (found := _VARIABLE.fullmatch(words[0])):
        environment[found["name"]] = found["value"]
        words = words[1:]
    length = _program_length(words)
    if not length:
        return None
    arguments, left_out, others = read_options(words[length:])
    if others or arguments.get("model", "") in _PROSE:
        return None
    return CommandLine(tuple(words[:length]), arguments, environment, left_out)


def _program_length(words: Sequence[str]) -> int:
    """How many words the program takes; 0 when it is no vLLM server."""
    if len(words) > 2 and words[0] == "sudo" and words[1].endswith(("docker", "podman")):
        inner = _program_length(words[1:])
        return inner and inner + 1
    if len(words) > 2 and words[0].rpartition("/")[2] in ("docker", "podman") and words[1] == "run":
        return _docker_length(words)
    return server_length(words[:_MOST_WORDS_BEFORE])


def server_length(words: Sequence[str]) -> int:
    """The words up to `vllm serve` or `-m vllm.entrypoints.openai.api_server`; 0 without."""
    if not words or not _STARTERS.fullmatch(words[0]):
        return 0
    for position, word in enumerate(words):
        following = words[position + 1] if position + 1 < len(words) else ""
        if word.rpartition("/")[2] == "vllm" and following == "serve" or word == "-m" and following == MODULE:
            return position + 2
    return 0


def _docker_length(words: Sequence[str]) -> int:
    position = 2
    while position < len(words) and words[position].startswith("-"):
        takes_word = "=" not in words[position] and not _DOCKER_FLAG.fullmatch(words[position])
        position += 2 if takes_word else 1
    if position >= len(words):
        return 0
    inner = server_length(words[position + 1 : position + 1 + _MOST_WORDS_BEFORE])
    if inner:
        return position + 1 + inner
    following = words[position + 1] if position + 1 < len(words) else ""
    if "vllm" not in words[position] or following in ("bash", "sh", "/bin/bash", "/bin/sh", "-c"):
        return 0
    return position + (2 if following == "serve" else 1)


def read_options(words: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...], tuple[str, ...]]:
    """Arguments by name, flags whose value cannot be told, and words that belong to no option.

    The first word outside of options is the model.
    """
    values: dict[str, list[str]] = {}
    left_out: list[str] = []
    others: list[str] = []
    name, room = "", 0  # the option that takes words, and how many more
    for word in words:
        if _END.match(word):
            break
        if not _is_flag(word):
            if room and (name not in FLAGS or word.lower() in ("true", "false")):
                values.setdefault(name, []).append(word)
                room -= 1
            else:
                others.append(word)
            continue
        flag, equals, value = word.partition("=")
        name = canonical_option(flag.lstrip("-"))
        if name in values and name not in REPEATED:
            del values[name]
        if "." in name or flag.startswith("-O"):
            left_out.append(flag)
            name, room = "", 0 if equals or flag.startswith("-O") and len(flag) > 2 and "." not in flag else 1
        elif name.startswith("no_") and not equals:
            values[name[3:]] = ["false"]
            room = 0
        else:
            values.setdefault(name, []).extend([value] if equals else [])
            several = name in SEVERAL_WORDS or bool(others) or "model" in values and name != "model"
            room = 0 if equals else _MOST_WORDS if several else 1
    values.pop("", None)
    if others and "model" not in values:
        values["model"] = [others.pop(0)]
    arguments: dict[str, str] = {}
    for option, texts in values.items():
        text = _joined(option, texts)
        if any(mark in text for mark in "$`") or not text.isprintable():
            left_out.append("--" + option.replace("_", "-"))
        else:
            arguments[option] = text
    return arguments, tuple(left_out), tuple(others)


def _is_flag(word: str) -> bool:
    return re.match(r"--?[A-Za-z]", word) is not None


def _joined(name: str, texts: Sequence[str]) -> str:
    if not texts:
        return "true"
    if len(texts) == 1:
        return {"True": "true", "False": "false"}.get(texts[0], texts[0])
    if name in JSON_LISTS:
        return " ".join(texts)
    listed = [json.loads(text) if name not in TEXTS and _NUMBER.fullmatch(text) else text for text in texts]
    return json.dumps(listed, ensure_ascii=False)
