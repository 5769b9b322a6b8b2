"""The records of a run in, the command that started its server out, without secrets; None when they don't tell it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from vllmdoctor.facts.command_echo import CUT, Echo, read_echo
from vllmdoctor.facts.command_line import VLLM_SERVE, CommandLine, read_command_line
from vllmdoctor.facts.command_yaml import COMPOSE, KUBERNETES, read_container
from vllmdoctor.facts.options import OF_THE_NODE
from vllmdoctor.logs.model import API_SERVER, Line, Record
from vllmdoctor.redaction import MARK, redacted

CLI, PYTHON = "cli", "python"
__all__ = ["CLI", "COMPOSE", "CUT", "KUBERNETES", "PYTHON", "UserCommand", "user_command"]

_DICT, _NAMESPACE = "non-default args: {", "args: Namespace("
_CALL = re.compile(r"\b(?P<program>LLM|AsyncEngineArgs|EngineArgs)\((?P<rest>.+)")
_COMMAND_HINTS = ("vllm serve", "vllm.entrypoints.openai.api_server", "docker run", "podman run")
_CONTAINER_HINTS = ("command:", "args:")
_REDACTED_BY_VLLM = re.compile(r"\*{3,}|\[?(?i:redacted)\]?|<(?i:redacted)>")
_SHORTEST_SECRET_NAME = re.compile(r"(?i)(?:^|[-_])(?:api_key|token|secret|password|passwd)$")


@dataclass(frozen=True, slots=True)
class UserCommand:
    """How the user started vLLM. `program` are the words before the model and the options: vllm serve, LLM, …

    `arguments` have canonical texts: true, false, JSON for lists and objects, else text as it is; `left_out` are the
    options whose values the log does not tell (CUT: it tells only a part of the options).
    """

    form: str  # CLI, PYTHON, COMPOSE, KUBERNETES
    model: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = VLLM_SERVE
    left_out: tuple[str, ...] = ()


def user_command(records: Sequence[Record]) -> UserCommand | None:
    """What vLLM echoes is what was in force; a typed command tells how it was started."""
    echoes, typed, containers, calls = _found(records)
    if _differ(echoes) or not echoes and _differ([Echo(one.arguments) for one in typed]):
        return None  # several servers in one log: which of them failed is another question
    echo = echoes[0] if echoes else None
    if containers:
        form, container = containers[0]
        return _made(form, container, echo)
    if typed:
        return _made(CLI, typed[0], echo)
    if calls and (echo is None or "host" not in echo.arguments):
        return _made(PYTHON, calls[0], echo)
    if echo is None:
        return None
    offline = echo.arguments.get("disable_log_stats") == "true" and not _served(records)
    program = ("LLM",) if offline else VLLM_SERVE
    return _made(PYTHON if offline else CLI, CommandLine(program, {}), echo)


def _made(form: str, typed: CommandLine, echo: Echo | None) -> UserCommand | None:
    """The typed command with the values of the echo; the typed ones stand in where the echo is not readable."""
    arguments, left_out = dict(typed.arguments), typed.left_out
    environment = {name: _harmless(name, value) for name, value in typed.environment.items()}
    if echo is not None:
        told = {name: typed.arguments[name] for name in echo.left_out if name in typed.arguments}
        arguments = {**(arguments if _agree(arguments, echo) else {}), **echo.arguments, **told}
        left_out = tuple(name for name in echo.left_out if name not in told)
    if form == PYTHON and arguments.get("disable_log_stats") == "true":
        del arguments["disable_log_stats"]  # LLM() sets it by itself
    model = arguments.pop("model", "")
    safe = {name: _harmless(name, text) for name, text in arguments.items()}
    if MARK in redacted(model):
        model = ""
    program = tuple(_harmless_word(word) for word in typed.program)
    return UserCommand(form, model, safe, environment, program, tuple(dict.fromkeys(left_out)))


def _agree(typed: Mapping[str, str], echo: Echo) -> bool:
    """Whether the echo is of the typed command: what the echo has not got was then typed with its default."""
    return all(typed.get(name) == text for name, text in echo.arguments.items() if name != "model")


def _harmless(name: str, text: str) -> str:
    """The value, or a stand-in that says whose secret stood there."""
    flag = "--" + name.replace("_", "-")
    spellings = (f"{name}={text}", f'{name}="{text}"', f"{flag} {text}", f'{{"{name}": "{text}"}}', text)
    if text in ("true", "false") or text.startswith("<your "):
        return text
    secret = any(MARK in redacted(one) for one in spellings) or _SHORTEST_SECRET_NAME.search(name)
    return f"<your {name}>" if secret or _REDACTED_BY_VLLM.fullmatch(text) else text


def _harmless_word(word: str) -> str:
    """A word of `docker run …`: NAME=value, a path, a flag."""
    flag, equals, rest = word.partition("=")
    if flag.startswith("-") and "=" in rest:  # --env=NAME=value
        return f"{flag}={_harmless_word(rest)}"
    if equals and not flag.startswith("-"):
        return f"{flag}={_harmless(flag, rest)}"
    return "<your secret>" if MARK in redacted(word) else word


def _found(
    records: Sequence[Record],
) -> tuple[list[Echo], list[CommandLine], list[tuple[str, CommandLine]], list[CommandLine]]:
    echoes: list[Echo] = []
    typed: list[CommandLine] = []
    containers: list[tuple[str, CommandLine]] = []
    calls: list[CommandLine] = []
    for record in records:
        if record.kind == "exception":
            calls.extend(_calls(record))
        elif record.section == "log" and record.first.headed:
            echoes.extend(_echoes(record))
        elif record.section == "log":
            echoes.extend(_echoes(record))
            if any(hint in record.text for hint in _COMMAND_HINTS):
                typed.extend(filter(None, map(read_command_line, _joined_lines(record.text_lines))))
            if any(hint in record.text for hint in _CONTAINER_HINTS):
                container = read_container([line.text for line in record.text_lines])
                containers.extend([container] if container else [])
    return echoes, typed, containers, calls


def _echoes(record: Record) -> Iterator[Echo]:
    """Two servers that start in the same second print them one below the other."""
    if not record.text.startswith((_DICT, _NAMESPACE)):
        return
    lines = [line.text.strip() for line in record.text_lines]
    starts = [number for number, line in enumerate(lines) if line.startswith((_DICT, _NAMESPACE))]
    for first, end in pairwise([*starts, len(lines)]):
        every_option = lines[first].startswith(_NAMESPACE)
        text = " ".join(lines[first:end])
        if not every_option or "subparser=" not in text or "subparser='serve'" in text:
            yield _one_echo(lines[first:end], every_option)


def _one_echo(lines: Sequence[str], every_option: bool) -> Echo:
    start = len(_NAMESPACE if every_option else _DICT)
    echo = read_echo(lines[0][start:], every_option=every_option)
    if CUT not in echo.left_out or len(lines) == 1:
        return echo
    return read_echo(" ".join(lines)[start:], every_option=every_option, folded=True)


def _calls(record: Record) -> Iterator[CommandLine]:
    for frame in record.frames:
        call = _CALL.search(frame.source)
        if call and "entrypoints/llm.py" not in frame.file:
            echo = read_echo(call["rest"])
            yield CommandLine((call["program"],), echo.arguments, {}, echo.left_out)


def _joined_lines(lines: Sequence[Line]) -> Iterator[str]:
    """The lines with those that go on behind a backslash joined."""
    waiting = ""
    for line in lines:
        text = line.text.rstrip()
        if text.endswith("\\"):
            waiting += text[:-1] + " "
            continue
        yield waiting + text
        waiting = ""


def _differ(echoes: Sequence[Echo]) -> bool:
    """Whether they are of different servers; the nodes of one differ only in their place."""
    kept = [{name: text for name, text in echo.arguments.items() if name not in OF_THE_NODE} for echo in echoes]
    return any(one != kept[0] for one in kept[1:])


def _served(records: Sequence[Record]) -> bool:
    return any(record.process.name == API_SERVER for record in records)
