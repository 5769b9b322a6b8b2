"""The command line: commands and options in, exit code out (see `analyze --help` for the codes)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from vllmdoctor.cli.app_rules import rules_app
from vllmdoctor.cli.language import choose_language, current_language, current_words
from vllmdoctor.cli.options import (
    Format,
    FormatOption,
    LanguageOption,
    ReportFormat,
    RulesOption,
    VllmOption,
    paragraphs,
)
from vllmdoctor.cli.output import drop_output, flush_quietly, print_error
from vllmdoctor.errors import VllmDoctorError
from vllmdoctor.languages import marked as _

BAD_USAGE = 2
_INTERRUPTED = 130

app = typer.Typer(
    name="vllmdoctor",
    help=_("Reads the log of a vLLM server that failed, names the root cause and gives ranked fixes."),
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.add_typer(rules_app, name="rules")


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    choose_language(None)
    command = typer.main.get_command(app)
    _show_help_in_language(command)
    given = None if arguments is None else list(arguments)
    try:
        code = command.main(args=given, prog_name="vllmdoctor", standalone_mode=False)
    except typer.Exit as leaving:
        code = leaving.exit_code
    except SystemExit as leaving:  # shell completion
        code = leaving.code if isinstance(leaving.code, int) else BAD_USAGE if leaving.code else 0
    except VllmDoctorError as problem:
        flush_quietly()
        print_error(problem, current_words())
        return BAD_USAGE
    except BrokenPipeError:
        drop_output()
        return 0
    except (typer.Abort, KeyboardInterrupt):
        code = _INTERRUPTED
    except Exception as problem:
        if not hasattr(problem, "format_message"):
            raise
        code = _usage_error(problem)
    flush_quietly()
    return code if isinstance(code, int) else 0


def _show_help_in_language(command: Any) -> None:
    """Help pages of the command and those below it come from `cli.help`, which is imported only for them."""

    def page(**sizes: Any) -> Any:
        from vllmdoctor.cli.help import help_page

        return help_page(current_words(), **sizes)

    own = type("Context", (command.context_class,), {"formatter_class": staticmethod(page)})
    command.context_class = own
    command.short_help = (command.help or "").partition("\n\n")[0]  # else Typer cuts the help short
    for child in getattr(command, "commands", {}).values():
        _show_help_in_language(child)


def _usage_error(problem: Any) -> int:
    """Of Typer: prints it, or the help where a command without arguments asks for it."""
    from vllmdoctor.cli.usage import print_usage_error

    flush_quietly()
    if type(problem).__name__ == "NoArgsIsHelpError":
        problem.show()
    else:
        print_usage_error(problem, current_words())
    return int(problem.exit_code)


def _print_version(wanted: bool) -> None:
    if wanted:
        from vllmdoctor import __version__

        typer.echo(f"vllmdoctor {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help=_("Print the version and leave."))
    ] = False,
) -> None:
    pass


_ANALYZE_HELP = _("Read logs, name the root cause and give ranked fixes.")


@app.command(
    help=paragraphs(
        _ANALYZE_HELP,
        _(
            "Several logs are taken as parts of one system (ranks, nodes). Exit codes: 0 no failure, 1 failure with a "
            "known cause, 2 wrong usage or unreadable input, 3 a failure that no rule knows, 4 the cause is not in the "
            "log."
        ),
    ),
)
def analyze(
    logs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LOG]...",
            show_default=False,
            help=_("Logs: files, folders, .gz .zst .zip .tar archives, - for standard input."),
        ),
    ] = None,
    nvidia_smi: Annotated[
        list[str] | None,
        typer.Option("--nvidia-smi", metavar="FILE", help=_("nvidia-smi output of the same machine, any form.")),
    ] = None,
    format: Annotated[
        ReportFormat,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help=_("text, json, markdown (for issues) or github (annotations and job summary)."),
        ),
    ] = ReportFormat.TEXT,
    lang: LanguageOption = None,
    show_all: Annotated[
        bool, typer.Option("--all", help=_("Show every fix, cause, fact and form of command."))
    ] = False,
    rules: RulesOption = None,
    no_redact: Annotated[
        bool, typer.Option("--no-redact", help=_("Leave secrets, personal names and prompts in the answer."))
    ] = False,
    vllm: VllmOption = None,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help=_("Leave with 0 instead of 1, 3 and 4."))] = False,
    tee: Annotated[
        bool,
        typer.Option("--tee", help=_("Pass the piped log on to standard output; the report goes to standard error.")),
    ] = False,
) -> None:
    from vllmdoctor.cli.analyze import analyze_and_print

    code = analyze_and_print(
        logs or [],
        nvidia_smi=nvidia_smi or [],
        output_format=format.value,
        language=current_language(),
        show_all=show_all,
        rules_folders=rules or [],
        redact=not no_redact,
        tee=tee,
        vllm=vllm,
    )
    raise typer.Exit(0 if exit_zero else code)


@app.command(help=_("Show what a failure means and how to fix it, without a log."))
def explain(
    what: Annotated[
        str, typer.Argument(metavar="ID|MESSAGE", help=_("A rule's id, or in quotes an error message or a few words."))
    ],
    lang: LanguageOption = None,
    rules: RulesOption = None,
) -> None:
    from vllmdoctor.cli.explain import explain_and_print

    raise typer.Exit(explain_and_print(what, language=current_language(), rules_folders=rules or []))


_COMPARE_HELP = _("Compare the log of a start that worked with one that fails: what most likely made the difference.")


@app.command(
    help=paragraphs(
        _COMPARE_HELP, _("Exit codes: 0 the new log shows no failure, 1 it does, 2 wrong usage or unreadable input.")
    ),
)
def compare(
    old: Annotated[str, typer.Argument(metavar="OLD", help=_("The log that worked."))],
    new: Annotated[str, typer.Argument(metavar="NEW", help=_("The log that fails, - for standard input."))],
    format: FormatOption = Format.TEXT,
    lang: LanguageOption = None,
    rules: RulesOption = None,
) -> None:
    from vllmdoctor.cli.compare import compare_and_print

    raise typer.Exit(
        compare_and_print(
            old, new, as_json=format is Format.JSON, language=current_language(), rules_folders=rules or []
        )
    )


@app.command(
    help=_("Read nvidia-smi output (any form, also rocm-smi, amd-smi, kernel Xid lines) and print what it says.")
)
def gpus(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]", show_default=False, help=_("Output of nvidia-smi or a relative, - for stdin.")
        ),
    ] = None,
    format: FormatOption = Format.TEXT,
    lang: LanguageOption = None,
) -> None:
    from vllmdoctor.cli.gpus import print_gpus

    print_gpus(file, as_json=format is Format.JSON)


_PLAN_HELP = _("Estimate before the start whether a model fits on a GPU, with which context and how many requests.")


@app.command(
    help=paragraphs(
        _PLAN_HELP, _("Never uses the network. Exit codes: 0 it fits, 1 it does not, 2 wrong usage or input.")
    ),
)
def plan(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL", help=_("A model folder, its config.json, or an id in the local Hugging Face cache.")
        ),
    ],
    gpu: Annotated[
        str | None,
        typer.Option("--gpu", metavar="GPU", help=_("A name or a size: 'RTX 3090', 'A100 80GB', 24GiB, '2x L40S'.")),
    ] = None,
    gpus: Annotated[int | None, typer.Option("--gpus", metavar="N", help=_("Number of GPUs."))] = None,
    max_model_len: Annotated[int | None, typer.Option("--max-model-len", metavar="N", help=_("As for vLLM."))] = None,
    gpu_memory_utilization: Annotated[
        float | None, typer.Option("--gpu-memory-utilization", metavar="X", help=_("As for vLLM."))
    ] = None,
    kv_cache_dtype: Annotated[str, typer.Option("--kv-cache-dtype", metavar="TYPE", help=_("As for vLLM."))] = "auto",
    quantization: Annotated[str, typer.Option("--quantization", metavar="METHOD", help=_("As for vLLM."))] = "",
    tensor_parallel_size: Annotated[
        int | None, typer.Option("--tensor-parallel-size", metavar="N", help=_("Default: all GPUs given."))
    ] = None,
    pipeline_parallel_size: Annotated[
        int | None, typer.Option("--pipeline-parallel-size", metavar="N", help=_("As for vLLM."))
    ] = None,
    max_num_seqs: Annotated[int | None, typer.Option("--max-num-seqs", metavar="N", help=_("As for vLLM."))] = None,
    max_num_batched_tokens: Annotated[
        int | None, typer.Option("--max-num-batched-tokens", metavar="N", help=_("As for vLLM."))
    ] = None,
    enforce_eager: Annotated[bool, typer.Option("--enforce-eager", help=_("As for vLLM."))] = False,
    vllm_version: Annotated[
        str | None,
        typer.Option("--vllm-version", metavar="X.Y.Z", help=_("Whose arithmetic; default: the newest known.")),
    ] = None,
    nvidia_smi: Annotated[
        str | None,
        typer.Option("--nvidia-smi", metavar="FILE", help=_("nvidia-smi output of the machine, for free memory.")),
    ] = None,
    format: FormatOption = Format.TEXT,
    lang: LanguageOption = None,
) -> None:
    from vllmdoctor.cli.plan import plan_and_print
    from vllmdoctor.memory.planning import PlanOptions

    options = PlanOptions(
        gpu=gpu,
        gpus=gpus,
        max_model_len=max_model_len,
        gpu_memory_utilization=gpu_memory_utilization,
        kv_cache_dtype=kv_cache_dtype,
        quantization=quantization,
        tensor_parallel_size=tensor_parallel_size,
        pipeline_parallel_size=pipeline_parallel_size,
        max_num_seqs=max_num_seqs,
        max_num_batched_tokens=max_num_batched_tokens,
        enforce_eager=enforce_eager,
        vllm_version=vllm_version or "",
    )
    raise typer.Exit(plan_and_print(model, options, nvidia_smi=nvidia_smi, as_json=format is Format.JSON))
