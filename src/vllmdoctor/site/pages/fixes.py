"""The changes of a fix in, content tabs with the command in every form out."""

from __future__ import annotations

from vllmdoctor.report import words as w
from vllmdoctor.report.model import Commands
from vllmdoctor.report.shell import wrapped_command
from vllmdoctor.report.words import Words
from vllmdoctor.site import markdown as md

_HIGHLIGHT = {"cli": "sh", "python": "python", "compose": "yaml", "kubernetes": "yaml"}


def command_tabs(commands: Commands, words: Words) -> list[str]:
    """One tab per form; nothing when the change has no command."""
    forms = commands.shown(whole=True)
    if not forms:
        return []
    return md.tabs(
        {words(w.FORMS[form]): md.fenced(_text(form, text), _HIGHLIGHT[form]) for form, text in forms.items()}
    )


def _text(form: str, text: str) -> str:
    return wrapped_command(text) if form == "cli" else text
