"""An error of Typer about the command line in, the same on standard error in the user's language out."""

from __future__ import annotations

import re
import sys
from typing import Any

from vllmdoctor.cli.output import fitted
from vllmdoctor.languages import Message
from vllmdoctor.languages import marked as _
from vllmdoctor.report.untrusted import neutral
from vllmdoctor.report.words import Words

# Typer's sentences, which it has in English only, and ours.
_SENTENCES = (
    (r"No such option: (?P<option>.*?)(?: \(Possible options: (?P<near>.*)\))?", _("No such option: {option}")),
    (r"No such command '(?P<command>.*?)'\.(?: Did you mean (?P<near>.*)\?)?", _("No such command: {command}")),
    (r"No such command '(?P<command>.*?)'\. Did you mean (?P<near>.*)\?", _("No such command: {command}")),
    (r"Got unexpected extra argument(?:s|\(s\))? \((?P<arguments>.*)\)", _("Too many arguments: {arguments}")),
    (r"Missing (?:argument|option|parameter) (?P<name>'.*?')\..*", _("Missing: {name}")),
    (r"Missing command\.", _("Missing command.")),
    (r"Option '(?P<option>.*?)' requires an argument\.", _("Option {option} needs a value")),
    (r"Invalid value for (?P<name>.*?): '(?P<value>.*)' is not one of (?P<choices>.*)\.",
     _("{name}: {value} is none of {choices}")),
    (r"Invalid value for (?P<name>.*?): '(?P<value>.*)' is not a valid int(?:eger)?(?: range)?\.",
     _("{name}: {value} is no whole number")),
    (r"Invalid value for (?P<name>.*?): '(?P<value>.*)' is not a valid float(?: range)?\.",
     _("{name}: {value} is no number")),
)  # fmt: skip


def print_usage_error(problem: Any, words: Words) -> None:
    """The usage line of the command, how to get help, the error. `problem` is Typer's UsageError."""
    context, lines = getattr(problem, "ctx", None), []
    if context is not None:
        command = f"{context.command_path} {context.help_option_names[0]}"
        lines = [context.get_usage(), words.said(Message("Try '{command}' for help.", command=command)), ""]
    lines.append(words.said(Message("Error: {problem}", problem=own_sentence(problem.format_message()))))
    print(fitted(neutral("\n".join(lines)), sys.stderr.encoding or "ascii"), file=sys.stderr)


def own_sentence(text: str) -> str:
    """The sentence as a message of the catalogue; as it is when it is a new one of Typer's."""
    for pattern, message in _SENTENCES:
        found = re.fullmatch(pattern, text, re.DOTALL)
        if found:
            values = {name: value for name, value in found.groupdict().items() if value is not None}
            near = values.pop("near", "")
            said = Message(message, **values)
            return Message("{problem}. Did you mean {names}?", problem=said, names=near) if near else said
    return text
