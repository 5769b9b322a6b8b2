"""The options that several commands have, with their help as message ids."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from vllmdoctor.cli.language import choose_language, current_language
from vllmdoctor.languages import marked as _


def paragraphs(*texts: str) -> str:
    """The help of a command; each paragraph is a message of its own."""
    return "\n\n".join(texts)


class Language(str, Enum):
    EN = "en"
    VI = "vi"
    JA = "ja"


class Format(str, Enum):
    TEXT = "text"
    JSON = "json"


class ReportFormat(str, Enum):
    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    GITHUB = "github"


def _chosen(language: Language | None) -> Language:
    """The language of the whole run, its errors included."""
    choose_language(language.value if language else None)
    return Language(current_language())


LanguageOption = Annotated[
    Language | None,
    typer.Option(
        "--lang",
        callback=_chosen,
        is_eager=True,
        show_choices=True,
        show_default=False,
        help=_("Language of the texts; default: VLLMDOCTOR_LANG, else that of the locale."),
    ),
]
FormatOption = Annotated[Format, typer.Option("--format", help=_("How to print the answer."))]
RulesOption = Annotated[
    list[Path] | None,
    typer.Option("--rules", metavar="DIR", help=_("Add the rules of a folder; a rule of the same id replaces ours.")),
]
VllmOption = Annotated[
    Path | None,
    typer.Option(
        "--vllm",
        metavar="PATH",
        help=_("A vLLM (its folder) to look unknown messages up in; default: the one installed."),
    ),
]
