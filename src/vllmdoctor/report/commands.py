"""What a fix changes in, the commands and configuration that change it out: one declaration, every form."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from vllmdoctor.report.model import Commands
from vllmdoctor.rules.expressions import UNKNOWN, Lookup
from vllmdoctor.rules.model import Changes
from vllmdoctor.rules.texts import Placeholder, Template, Text

_SAFE = re.compile(r"[A-Za-z0-9@%+=:,./_…-]+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_BREAK = re.compile(r" (?=--?[A-Za-z]|\| |&& )")
_WIDTH = 76


@dataclass(frozen=True, slots=True)
class Rendered:
    """The changes of a fix with their numbers filled in. An argument of "true" is a bare flag, "" removes it.

    `model` is what is served, `other_model` says that the fix is to serve that one instead.
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


def commands_for(changes: Changes | Sequence[Changes], lookup: Lookup) -> Commands:
    """The changes (several are combined) in all forms; a form that does not apply is empty."""
    done = rendered_changes(changes, lookup)
    return Commands(cli=_cli(done), python=_python(done), compose=_compose(done), kubernetes=_kubernetes(done))


def rendered_changes(changes: Changes | Sequence[Changes], lookup: Lookup) -> Rendered:
    """The changes with every placeholder filled in as a machine reads it (20480, not 20,480)."""
    several = (changes,) if isinstance(changes, Changes) else tuple(changes)

    def machine(text: Text) -> str:
        return machine_text(text, lookup)

    def joined(texts: Sequence[Text | None]) -> str:
        return "\n".join(machine(text).rstrip("\n") for text in texts if text is not None)

    served = lookup("model")
    arguments = {name: machine(text) for one in several for name, text in one.arguments.items()}
    other_model = arguments.pop("model", "")
    return Rendered(
        model=other_model or ("MODEL" if served is UNKNOWN else str(served)),
        other_model=bool(other_model),
        arguments=tuple(arguments.items()),
        environment=tuple({name: machine(text) for one in several for name, text in one.environment.items()}.items()),
        shell=tuple(machine(text) for one in several for text in one.shell),
        docker=tuple(machine(text) for one in several for text in one.docker),
        compose=joined([one.compose for one in several]),
        kubernetes=joined([one.kubernetes for one in several]),
        python=joined([one.python for one in several]),
    )


def machine_text(text: Text, lookup: Lookup) -> str:
    """The text with numbers as a program expects them: no thousands separators, no units."""
    return Text(_raw(text.known), _raw(text.unknown)).render(lookup, lambda name: "")


def _raw(template: Template) -> Template:
    parts = tuple(
        replace(part, format="raw") if isinstance(part, Placeholder) and not part.format else part
        for part in template.parts
    )
    return Template(template.source, parts)


def flag_of(name: str) -> str:
    """`max_model_len` → `--max-model-len`."""
    return "--" + name.replace("_", "-")


def quoted(word: str) -> str:
    """The word as one shell word."""
    return word if _SAFE.fullmatch(word) else "'" + word.replace("'", "'\"'\"'") + "'"


def wrapped_command(command: str, width: int = _WIDTH) -> str:
    """A long one-line command broken before its options with ` \\`, so that it can still be pasted."""
    return "\n".join(_wrapped_line(line, width) for line in command.split("\n"))


def _wrapped_line(line: str, width: int) -> str:
    if len(line) <= width or line.endswith("\\") or line.lstrip().startswith("#"):
        return line
    pieces = _breakable(line)
    rows = [pieces[0]]
    for piece in pieces[1:]:
        if len(rows[-1]) + 1 + len(piece) > width - 2:
            rows.append("  " + piece)
        else:
            rows[-1] += " " + piece
    return " \\\n".join(rows)


def _breakable(line: str) -> list[str]:
    """The command cut before every option and `| …` that stands outside of quotes."""
    pieces, quote, start = [], "", 0
    for position, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == " " and position > start and _BREAK.match(line, position):
            pieces.append(line[start:position])
            start = position + 1
    return [*pieces, line[start:]]


def _cli(done: Rendered) -> str:
    variables = [f"{name}={quoted(value)}" for name, value in done.environment if value]
    lines = [*done.shell, *(f"unset {name}" for name, value in done.environment if not value)]
    if done.docker:
        lines.append(" ".join(["docker run", *done.docker, *(f"-e {variable}" for variable in variables), "…"]))
        variables = []
    flags = [_flag(name, value) for name, value in done.arguments if value]
    removed = ", ".join(flag_of(name) for name, value in done.arguments if not value)
    if flags or variables or removed or done.other_model:
        command = " ".join([*variables, "vllm serve", quoted(done.model), *flags])
        lines.append(f"{command}  # without {removed}" if removed else command)
    return "\n".join(lines)


def _flag(name: str, value: str) -> str:
    if value == "true":
        return flag_of(name)
    return flag_of("no_" + name) if value == "false" else f"{flag_of(name)} {quoted(value)}"


def _python(done: Rendered) -> str:
    lines = [f"os.environ[{_string(name)}] = {_string(value)}" for name, value in done.environment if value]
    lines += [f"os.environ.pop({_string(name)}, None)" for name, value in done.environment if not value]
    if lines:
        lines = ["import os", *lines, "# before vllm is imported"]
    keywords = [f"{name}={_literal(value)}" for name, value in done.arguments if value]
    removed = ", ".join(name for name, value in done.arguments if not value)
    if keywords or removed or done.other_model:
        call = f"LLM({', '.join([f'model={_string(done.model)}', *keywords])})"
        lines.append(f"{call}  # without {removed}" if removed else call)
    return "\n".join([*lines, *([done.python] if done.python else [])])


def _string(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _literal(value: str) -> str:
    if value in ("true", "false"):
        return value.capitalize()
    if _NUMBER.fullmatch(value):
        return value
    try:
        return repr(json.loads(value)) if value[:1] in "[{" else _string(value)
    except ValueError:
        return _string(value)


def _compose(done: Rendered) -> str:
    variables = [f"  {name}: {_string(value)}" for name, value in done.environment if value]
    parts = ["\n".join(["environment:", *variables])] if variables else []
    if words := _argument_words(done):
        parts.append(f"command: [{words}]")
    return "\n".join([*parts, *([done.compose] if done.compose else [])])


def _kubernetes(done: Rendered) -> str:
    variables = [f"  - name: {name}\n    value: {_string(value)}" for name, value in done.environment if value]
    parts = ["\n".join(["env:", *variables])] if variables else []
    if words := _argument_words(done):
        parts.insert(0, f"args: [{words}]")
    return "\n".join([*parts, *([done.kubernetes] if done.kubernetes else [])])


def _argument_words(done: Rendered) -> str:
    """The container's arguments as the inside of a YAML list; "" when the fix changes none."""
    words: list[str] = []
    for name, value in done.arguments:
        if value in ("true", "false"):
            words.append(_flag(name, value))
        elif value:
            words += (flag_of(name), value)
    return ", ".join(map(_string, ["--model", done.model, *words])) if words or done.other_model else ""
