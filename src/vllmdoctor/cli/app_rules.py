"""The command line of `vllmdoctor rules`: options in, exit code out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vllmdoctor.cli.language import current_language
from vllmdoctor.cli.options import (
    Format,
    FormatOption,
    Language,
    LanguageOption,
    RulesOption,
    VllmOption,
    paragraphs,
)
from vllmdoctor.languages import marked as _

rules_app = typer.Typer(
    help=_("List, show, check and write rules."),
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@rules_app.command("list", help=_("List all rules."))
def list_rules(
    category: Annotated[str | None, typer.Option("--category", help=_("Only rules of this category."))] = None,
    format: FormatOption = Format.TEXT,
    lang: LanguageOption = None,
    rules: RulesOption = None,
) -> None:
    from vllmdoctor.cli.rules import print_rules

    print_rules(category, as_json=format is Format.JSON, language=current_language(), rules_folders=rules or [])


@rules_app.command("show", help=_("Show how a rule recognises its failure: patterns, conditions, versions, samples."))
def show_rule(
    rule: Annotated[str, typer.Argument(metavar="ID", help=_("A rule's id."))],
    lang: LanguageOption = None,
    rules: RulesOption = None,
) -> None:
    from vllmdoctor.cli.rules import print_rule

    print_rule(rule, rules_folders=rules or [])


@rules_app.command("check", help=_("Check rule files: schema, patterns against their samples, links, translations."))
def check_rules(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", show_default=False, help=_("A rules folder; without one the checkout's own.")),
    ] = None,
    lang: Annotated[
        Language | None,
        typer.Option(
            "--lang", help=_("Also ask for complete, fresh translations into this language."), show_default=False
        ),
    ] = None,
    clean_corpus: Annotated[
        Path | None, typer.Option("--clean-corpus", metavar="DIR", help=_("Healthy logs that no rule may match."))
    ] = None,
) -> None:
    from vllmdoctor.cli.rules import check_folder

    raise typer.Exit(check_folder(folder, lang.value if lang else None, clean_corpus))


_STAMP_HELP = _("State that a translation says what the English texts say now: write their digest into it.")


@rules_app.command(
    "stamp",
    help=paragraphs(_STAMP_HELP, _("Do it after reading the translation against the English texts, not before.")),
)
def stamp_translation(
    rule: Annotated[str, typer.Argument(metavar="ID", help=_("Id of a rule or remedy."))],
    lang: Annotated[Language, typer.Option("--lang", help=_("Language of the translation."))],
    folder: Annotated[
        Path | None,
        typer.Option("--dir", metavar="DIR", help=_("The rules folder; default: the checkout's rules.")),
    ] = None,
) -> None:
    from vllmdoctor.cli.rules import stamp

    stamp(rule, lang.value, folder)


_DRIFT_HELP = _(
    "Compare the rules with vLLM's own messages: claims that do not hold any more, messages that no rule knows."
)


@rules_app.command(
    "drift",
    help=paragraphs(
        _DRIFT_HELP,
        _("Nothing of vLLM is imported or executed. Exit code 1 when its source contradicts a rule."),
    ),
)
def compare_with_vllm(
    vllm: Annotated[
        Path, typer.Option("--vllm", metavar="PATH", help=_("A vLLM's folder, or a table of its messages."))
    ],
    version: Annotated[str, typer.Option("--version", help=_("Its version, when the folder does not tell."))] = "",
    format: FormatOption = Format.TEXT,
    lang: LanguageOption = None,
    rules: RulesOption = None,
) -> None:
    from vllmdoctor.cli.drift import print_drift

    raise typer.Exit(print_drift(vllm, version, as_json=format is Format.JSON, rules_folders=rules or []))


@rules_app.command(
    "new", help=_("Write the file of a new rule from a log's unrecognized failure, with marked texts to fill in.")
)
def write_rule(
    rule: Annotated[str, typer.Argument(metavar="ID", help=_("The new rule's id, such as no-cache-blocks."))],
    log: Annotated[str, typer.Option("--from", metavar="LOG", help=_("A log with a failure that no rule knows."))],
    category: Annotated[
        str | None, typer.Option("--category", help=_("Its category; default: that of the nearest rule."))
    ] = None,
    dir: Annotated[
        Path | None, typer.Option("--dir", metavar="DIR", help=_("Where to write it; default: the checkout's rules."))
    ] = None,
    vllm: VllmOption = None,
    lang: LanguageOption = None,
    rules: RulesOption = None,
) -> None:
    from vllmdoctor.cli.rules_new import write_new_rule

    write_new_rule(rule, log, category=category, folder=dir, vllm=vllm, rules_folders=rules or [])


@rules_app.command("stats", help=_("Count rules and signatures by category, role, origin, version, language."))
def count_rules(format: FormatOption = Format.TEXT, lang: LanguageOption = None, rules: RulesOption = None) -> None:
    from vllmdoctor.cli.rules_stats import print_stats

    print_stats(as_json=format is Format.JSON, rules_folders=rules or [])
