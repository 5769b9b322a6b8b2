"""What a fix changes in, the commands and configuration that change it out: one declaration, every form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from vllmdoctor.facts.command import UserCommand
from vllmdoctor.report.command_forms import (
    Rendered,
    cli_form,
    compose_form,
    kubernetes_form,
    literal,
    python_form,
    string,
)
from vllmdoctor.report.model import Commands
from vllmdoctor.report.own_command import Mended, option_words
from vllmdoctor.report.shell import quoted
from vllmdoctor.report.words import Words
from vllmdoctor.rules.comments import COMMENT
from vllmdoctor.rules.expressions import UNKNOWN, Lookup
from vllmdoctor.rules.model import Changes
from vllmdoctor.rules.texts import Placeholder, Template, Text
from vllmdoctor.rules.versions import release_of

MOST_OPTIONS = 12  # more than these hide the one that changes
_BOOLEAN_FLAGS = (0, 9, 0)  # since then every switch also has its --no-… form


def commands_for(
    changes: Changes | Sequence[Changes], lookup: Lookup, own: UserCommand | None = None, words: Words | None = None
) -> Commands:
    """The changes (several are combined) in all forms; a form that does not apply is empty.

    With the user's own command every form is that command with just the changes applied. Only comments have words.
    """
    done = rendered_changes(changes, lookup, own, words)
    whole = _forms(done, done.mended())
    if own is None:
        return whole
    return replace(whole, form=own.form, changed=_changed_pieces(done), brief=_brief(done, whole))


def _forms(done: Rendered, command: Mended, *, brief: bool = False) -> Commands:
    return Commands(
        cli=cli_form(done, command, brief),
        python=python_form(done, command.engine(), brief),
        compose=compose_form(done, command, brief),
        kubernetes=kubernetes_form(done, command, brief),
    )


def _brief(done: Rendered, whole: Commands) -> Mapping[str, str]:
    """The forms with only the changed options, when there are too many to see them; else nothing."""
    command = done.mended()
    if len(command.arguments) <= MOST_OPTIONS:
        return {}
    kept = tuple(pair for pair in command.arguments if pair[0] in command.changed)
    short = _forms(done, replace(command, arguments=kept), brief=True)
    forms = ("cli", "python", "compose", "kubernetes")
    return {form: getattr(short, form) for form in forms if getattr(whole, form)}


def _changed_pieces(done: Rendered) -> tuple[str, ...]:
    """How each change looks in the forms, so that it can be marked there."""
    pieces: list[str] = []
    for name, value in done.arguments:
        if value:
            words = option_words(name, value, old=done.old)
            pieces += [" ".join(map(quoted, words)), f"{name}={literal(name, value)}", ", ".join(map(string, words))]
    for name, value in done.environment:
        if value:
            pieces += [f"{name}={quoted(value)}", f"{name}: {string(value)}"]
    return (*pieces, *done.docker, *((quoted(done.model), string(done.model)) if done.other_model else ()))


def rendered_changes(
    changes: Changes | Sequence[Changes], lookup: Lookup, own: UserCommand | None = None, words: Words | None = None
) -> Rendered:
    """The changes with every placeholder filled in as a machine reads it (20480, not 20,480)."""
    several = (changes,) if isinstance(changes, Changes) else tuple(changes)
    said = words or Words()

    def machine(text: Text) -> str:
        return machine_text(text, lookup)

    def joined(texts: Sequence[Text | None]) -> str:
        return "\n".join(_commented(machine(text).rstrip("\n"), said) for text in texts if text is not None)

    served, release = lookup("model"), release_of(str(lookup("vllm_version")))
    arguments = {name: machine(text) for one in several for name, text in one.arguments.items()}
    other_model = arguments.pop("model", "")
    known = own.model if own else ""
    return Rendered(
        model=other_model or known or ("MODEL" if served is UNKNOWN else str(served)),
        other_model=bool(other_model),
        arguments=tuple(arguments.items()),
        environment=tuple({name: machine(text) for one in several for name, text in one.environment.items()}.items()),
        shell=tuple(machine(text) for one in several for text in one.shell),
        docker=tuple(machine(text) for one in several for text in one.docker),
        compose=joined([one.compose for one in several]),
        kubernetes=joined([one.kubernetes for one in several]),
        python=joined([one.python for one in several]),
        own=own,
        old=release is not None and release < _BOOLEAN_FLAGS,
        words=said,
    )


def _commented(text: str, words: Words) -> str:
    """A piece of Python or YAML with its comments in the user's language."""
    return COMMENT.sub(lambda found: found["mark"] + words.said(found["comment"]), text)


def machine_text(text: Text, lookup: Lookup) -> str:
    """The text with numbers as a program expects them: no thousands separators, no units."""
    return Text(_raw(text.known), _raw(text.unknown)).render(lookup, lambda name: "")


def _raw(template: Template) -> Template:
    parts = tuple(
        replace(part, format="raw") if isinstance(part, Placeholder) and not part.format else part
        for part in template.parts
    )
    return Template(template.source, parts)
