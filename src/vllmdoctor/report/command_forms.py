"""A fix's changes with their numbers filled in, and the options of the command, in; the forms of that command out."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from vllmdoctor.facts.command import UserCommand
from vllmdoctor.facts.command_line import VLLM_SERVE
from vllmdoctor.facts.options import TEXTS
from vllmdoctor.report import words as w
from vllmdoctor.report.own_command import Mended, comment_on, mended, option_words, with_docker_flags
from vllmdoctor.report.shell import expanded, quoted
from vllmdoctor.report.words import Words

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_WIDTH = 69  # what an indented block of a terminal of 80 columns holds
_MORE = "…"


@dataclass(frozen=True, slots=True)
class Rendered:
    """The changes of a fix with their numbers filled in. An argument of "true" is a bare flag, "" removes it.

    `model` is what is served, `other_model` says that the fix is to serve that one instead. `own` is the user's own
    command, which the changes are applied to; `old` says that its vLLM is older than 0.9. `words` are for comments.
    """

    model: str = "MODEL"
    other_model: bool = False
    arguments: tuple[tuple[str, str], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    shell: tuple[str, ...] = ()
    docker: tuple[str, ...] = ()
    compose: str = ""
    kubernetes: str = ""
    python: str = ""
    own: UserCommand | None = None
    old: bool = False
    words: Words = field(default_factory=Words, compare=False)

    @property
    def starts_server(self) -> bool:
        """Whether the fix changes how the server is started."""
        return bool(self.arguments or self.other_model)

    def mended(self) -> Mended:
        return mended(self.arguments, self.environment, self.model if self.other_model else "", self.own)


def cli_form(done: Rendered, command: Mended, brief: bool = False) -> str:
    """For a shell: `vllm serve …`, `docker run …`, with the variables in front."""
    lines = [*done.shell, *(f"unset {name}" for name, value in done.environment if not value)]
    program = _program(done)
    if program[:1] in (("docker",), ("podman",), ("sudo",)):
        return "\n".join([*lines, *_docker_run(done, command, program, brief)])
    variables = [f"{name}={expanded(value)}" for name, value in command.environment if value]
    if done.docker:
        changed = [f"-e {name}={quoted(value)}" for name, value in done.environment if value]
        lines.append(" ".join(["docker run", *done.docker, *changed, _MORE]))
        if not done.starts_server:
            return "\n".join(lines)
        variables = [v for v in variables if v.partition("=")[0] not in dict(done.environment)]
    if done.starts_server or done.environment and variables:
        lines.append(_commented(" ".join([*variables, _server(done, command, program, brief)]), done, command))
    return "\n".join(lines)


def _program(done: Rendered) -> tuple[str, ...]:
    own = done.own
    return own.program if own and own.form == "cli" else VLLM_SERVE


def _docker_run(done: Rendered, command: Mended, program: tuple[str, ...], brief: bool) -> list[str]:
    variables = [f"-e {name}={value}" for name, value in done.environment if value]
    if not (done.starts_server or variables or done.docker):
        return []
    words = with_docker_flags(program, [*done.docker, *variables])
    return [_commented(_server(done, command, tuple(words), brief), done, command)]


def _server(done: Rendered, command: Mended, program: tuple[str, ...], brief: bool) -> str:
    model = [] if program[-1] == "serve" else ["--model"]
    flags = [quoted(word) for name, value in command.arguments for word in option_words(name, value, old=done.old)]
    more = [_MORE] if brief else []
    return " ".join([*map(expanded, program), *model, quoted(done.model), *flags, *more])


def _commented(text: str, done: Rendered, command: Mended) -> str:
    comment = comment_on(command, done.words)
    return f"{text}  # {comment}" if comment else text


def python_form(done: Rendered, command: Mended, brief: bool = False) -> str:
    """A call of LLM(), or of what the user's program calls, with the variables before it."""
    lines = [f"os.environ[{string(name)}] = {string(value)}" for name, value in done.environment if value]
    lines += [f"os.environ.pop({string(name)}, None)" for name, value in done.environment if not value]
    if lines:
        lines = ["import os", *lines, f"# {done.words(w.BEFORE_IMPORT)}"]
    if done.starts_server:
        program = done.own.program[0] if done.own and done.own.form == "python" else "LLM"
        keywords = [f"model={string(done.model)}", *(f"{name}={literal(name, v)}" for name, v in command.arguments)]
        call = _call(program, [*keywords, *([_MORE] if brief else [])], broken=done.own is not None)
        comment = comment_on(command, done.words, names=True)
        lines.append(f"{call}  # {comment}" if comment else call)
    return "\n".join([*lines, *([done.python] if done.python else [])])


def _call(program: str, keywords: Sequence[str], broken: bool) -> str:
    line = f"{program}({', '.join(keywords)})"
    return (
        line if not broken or len(line) <= _WIDTH else "\n".join([f"{program}(", *(f"    {k}," for k in keywords), ")"])
    )


def string(value: str) -> str:
    """A string of Python, JSON and YAML alike."""
    return json.dumps(value, ensure_ascii=False)


def literal(name: str, value: str) -> str:
    """The argument's value in Python."""
    if value in ("true", "false"):
        return value.capitalize()
    if name not in TEXTS and _NUMBER.fullmatch(value):
        return value
    try:
        return repr(json.loads(value)) if value[:1] in "[{" else string(value)
    except ValueError:
        return string(value)


def compose_form(done: Rendered, command: Mended, brief: bool = False) -> str:
    """Keys of a compose service."""
    changed = any(value for _, value in done.environment)
    variables = [f"  {name}: {string(value)}" for name, value in _container_variables(done, command) if value]
    parts = ["\n".join(["environment:", *variables])] if changed else []
    parts += _container_arguments("command", done, command, brief)
    return "\n".join([*parts, *([done.compose] if done.compose else [])])


def kubernetes_form(done: Rendered, command: Mended, brief: bool = False) -> str:
    """Keys of a Kubernetes container."""
    changed = any(value for _, value in done.environment)
    pairs = _container_variables(done, command)
    variables = [f"  - name: {name}\n    value: {string(value)}" for name, value in pairs if value]
    parts = _container_arguments("args", done, command, brief)
    parts += ["\n".join(["env:", *variables])] if changed else []
    return "\n".join([*parts, *([done.kubernetes] if done.kubernetes else [])])


def _container_variables(done: Rendered, command: Mended) -> tuple[tuple[str, str], ...]:
    """A file's own variables stay in its list; those in front of a command are no part of a container."""
    in_file = done.own is not None and done.own.form in ("compose", "kubernetes")
    return command.environment if in_file else done.environment


def _container_arguments(key: str, done: Rendered, command: Mended, brief: bool) -> list[str]:
    """The container's arguments as a YAML list; nothing when the fix changes none of them."""
    if not command.changed and not done.other_model and not (done.own and command.removed):
        return []
    groups = [["--model", done.model], *(option_words(name, v, old=done.old) for name, v in command.arguments)]
    items = [", ".join(map(string, words)) for words in groups] + ([_MORE] if brief else [])
    line = f"{key}: [{', '.join(items)}]"
    lines = [line] if len(line) <= _WIDTH else [f"{key}: [", *(f"  {item}," for item in items), "]"]
    comment = comment_on(command, done.words) if done.own else ""
    return [*lines, *([f"# {comment}"] if comment else [])]
