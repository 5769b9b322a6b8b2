"""The command line's own commands and options in, its reference page in a language out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import typer

from vllmdoctor.diagnosis.model import EXIT_CODES
from vllmdoctor.languages import marked as _
from vllmdoctor.report.words import Words
from vllmdoctor.site.markdown import cell_code, code, escaped, fenced, heading, inline, table
from vllmdoctor.site.markdown import page as whole_page

_TITLE = _("Command line reference")
_DESCRIPTION = _("All commands, options, defaults and exit codes of vllmdoctor, taken from the program itself.")
_INTRODUCTION = _(
    "Made from the program's own help (`vllmdoctor COMMAND --help`). `python -m vllmdoctor` is the same program."
)
_COMMANDS = _("Commands")
_EXIT_CODES = _("Exit codes")
_VARIABLES = _("Environment variables")
_ARGUMENT, _OPTION, _MEANING, _DEFAULT = _("Argument"), _("Option"), _("Meaning"), _("Default")
_COMMAND, _CODE, _VARIABLE = _("Command"), _("Code"), _("Variable")
_REQUIRED, _REPEATED = _("required"), _("May be given several times.")
_USAGE_CODE = _("wrong usage, an input that cannot be read, or a wrong rule file; the reason is on standard error")
_DONE_CODE = _("no failure (`healthy`), or the command did what it was asked")
_MEANINGS = {
    1: _(
        "a failure whose root cause is known (`failure`); `compare`: the new log shows a failure; `plan`: it does not "
        "fit; `rules check`: errors in the rules; `rules drift`: vLLM contradicts a rule"
    ),
    3: _("a failure that no rule knows (`unrecognized-failure`); `explain`: a message that no rule knows"),
    4: _("the cause is not in the log (`cause-not-in-log`), or the input is no vLLM log (`no-vllm-log`)"),
}
_EXIT_ZERO = _("`analyze --exit-zero` turns 1, 3 and 4 into 0.")
_ENVIRONMENT = {
    "VLLMDOCTOR_LANG": _("Language of the texts (en, vi or ja) when `--lang` does not say it."),
    "LC_ALL, LC_MESSAGES, LANG": _("The locale, after `VLLMDOCTOR_LANG`; the first of them that names a language."),
    "NO_COLOR": _("No colours. Without a terminal there are none anyway."),
    "COLUMNS": _("The width of the text; 80 when the output is no terminal."),
    "HF_HUB_CACHE, HF_HOME": _("Where `plan` looks for a model that is named by its id."),
    "GITHUB_STEP_SUMMARY": _("The file to which `analyze --format github` appends the Markdown report."),
}


@dataclass(frozen=True, slots=True)
class Command:
    """`words` is the call without options, such as `vllmdoctor rules list`; `command` is click's."""

    words: tuple[str, ...]
    command: Any

    @property
    def anchor(self) -> str:
        return "-".join(self.words[1:]) or "vllmdoctor"


def commands() -> list[Command]:
    """Every command that does something, in the order of the help."""
    from vllmdoctor.cli.app import app

    return list(_leaves(("vllmdoctor",), typer.main.get_command(app)))


def _leaves(words: tuple[str, ...], command: Any) -> Iterator[Command]:
    below = getattr(command, "commands", None)
    if below is None:
        yield Command(words, command)
        return
    for name, child in below.items():
        yield from _leaves((*words, name), child)


def page(language: str) -> str:
    words = Words(language)
    all_commands = commands()
    lines = [*heading(1, escaped(words(_TITLE)), "command-line"), inline(words(_INTRODUCTION)), ""]
    lines += _overview(all_commands, words)
    for command in all_commands:
        lines += _section(command, words)
    lines += [*_exit_codes(words), *_variables(words)]
    return whole_page({"title": words(_TITLE), "description": words(_DESCRIPTION)}, lines)


def _overview(all_commands: Sequence[Command], words: Words) -> list[str]:
    rows = [
        (f"[{code(' '.join(one.words[1:]))}](#{one.anchor})", inline(words.said(_paragraphs(one.command)[0])))
        for one in all_commands
    ]
    header = (escaped(words(_COMMAND)), escaped(words(_MEANING)))
    return [*heading(2, escaped(words(_COMMANDS)), "commands"), *table(header, rows), ""]


def _section(one: Command, words: Words) -> list[str]:
    context = typer.Context(one.command, info_name=one.words[-1])
    pieces = [piece.strip("{}") for piece in one.command.collect_usage_pieces(context)]
    lines = heading(2, code(" ".join(one.words)), one.anchor)
    for text in _paragraphs(one.command):
        lines += [inline(words.said(text)), ""]
    lines += [*fenced(" ".join((*one.words, *pieces)), "text"), ""]
    arguments = [p for p in one.command.params if p.param_type_name == "argument"]
    options = [p for p in one.command.params if p.param_type_name == "option"]
    meaning, default = escaped(words(_MEANING)), escaped(words(_DEFAULT))
    if arguments:
        rows = [(cell_code(p.make_metavar(context).strip("{}")), _meaning(p, words)) for p in arguments]
        lines += [*table((escaped(words(_ARGUMENT)), meaning), rows), ""]
    option_rows = [
        (_with_anchor(_spelled(p, context), f"{one.anchor}-{p.opts[0].lstrip('-')}"), _meaning(p, words), _default(p))
        for p in options
    ]
    return lines + [*table((escaped(words(_OPTION)), meaning, default), option_rows), ""]


def _paragraphs(command: Any) -> list[str]:
    return [" ".join(text.split()) for text in (command.help or "").split("\n\n")]


def _spelled(option: Any, context: Any) -> str:
    names = ", ".join(option.opts)
    return names if option.is_flag else f"{names} {option.make_metavar(context).strip('<>')}"


def _with_anchor(text: str, anchor: str) -> str:
    """Code of a table's cell that an address can name; a bar would end the cell."""
    return f'<code id="{anchor}">{escape(text).replace("|", "&#124;")}</code>'


def _meaning(parameter: Any, words: Words) -> str:
    parts = [words.said(parameter.help or "")]
    if getattr(parameter, "multiple", False):
        parts.append(words(_REPEATED))
    if parameter.required:
        parts.append(f"({words(_REQUIRED)})")
    return inline(" ".join(filter(None, parts)))


def _default(option: Any) -> str:
    value = getattr(option.default, "value", option.default)
    return "" if value in (None, "", False) or not option.show_default else cell_code(str(value))


def _exit_codes(words: Words) -> list[str]:
    """The codes of the statuses, and that of wrong usage."""
    meanings = {0: words(_DONE_CODE), 2: words(_USAGE_CODE)}
    meanings |= {number: words(_MEANINGS[number]) for number in set(EXIT_CODES.values()) - {0}}
    rows = [(str(number), inline(meanings[number])) for number in sorted(meanings)]
    lines = [*heading(2, escaped(words(_EXIT_CODES)), "exit-codes")]
    lines += [*table((escaped(words(_CODE)), escaped(words(_MEANING))), rows), "", inline(words(_EXIT_ZERO)), ""]
    return lines


def _variables(words: Words) -> list[str]:
    rows = [
        (words.listed(map(code, names.split(", "))), inline(words(meaning))) for names, meaning in _ENVIRONMENT.items()
    ]
    header = (escaped(words(_VARIABLE)), escaped(words(_MEANING)))
    return [*heading(2, escaped(words(_VARIABLES)), "environment"), *table(header, rows), ""]
