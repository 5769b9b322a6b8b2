"""The command line: commands and options in, exit code out (see `analyze --help` for the codes)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from vllmdoctor.cli.output import drop_output, flush_quietly, print_error
from vllmdoctor.errors import VllmDoctorError

BAD_USAGE = 2


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


app = typer.Typer(
    name="vllmdoctor",
    help="Reads the log of a vLLM server that failed, names the root cause and gives ranked fixes.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
rules_app = typer.Typer(
    help="List, show, check and write rules.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(rules_app, name="rules")

LanguageOption = Annotated[Language, typer.Option("--lang", help="Language of the texts.", show_choices=True)]
FormatOption = Annotated[Format, typer.Option("--format", help="How to print the answer.")]
RulesOption = Annotated[
    list[Path] | None,
    typer.Option("--rules", metavar="DIR", help="Add the rules of a folder; a rule of the same id replaces ours."),
]

VllmOption = Annotated[
    Path | None,
    typer.Option(
        "--vllm", metavar="PATH", help="A vLLM (its folder) to look unknown messages up in; default: the one installed."
    ),
]


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    try:
        app(args=None if arguments is None else list(arguments), prog_name="vllmdoctor")
    except SystemExit as leaving:
        flush_quietly()
        return leaving.code if isinstance(leaving.code, int) else BAD_USAGE if leaving.code else 0
    except VllmDoctorError as problem:
        flush_quietly()
        print_error(problem)
        return BAD_USAGE
    except BrokenPipeError:
        drop_output()
    return 0


def _print_version(wanted: bool) -> None:
    if wanted:
        from vllmdoctor import __version__

        typer.echo(f"vllmdoctor {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


@app.command()
def analyze(
    logs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LOG]...",
            show_default=False,
            help="Logs: files, folders, .gz .zst .zip .tar archives, - for standard input.",
        ),
    ] = None,
    nvidia_smi: Annotated[
        list[str] | None,
        typer.Option("--nvidia-smi", metavar="FILE", help="nvidia-smi output of the same machine, any form."),
    ] = None,
    format: Annotated[
        ReportFormat,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="text, json, markdown (for issues) or github (annotations and job summary).",
        ),
    ] = ReportFormat.TEXT,
    lang: LanguageOption = Language.EN,
    show_all: Annotated[bool, typer.Option("--all", help="Show every fix, cause, fact and form of command.")] = False,
    rules: RulesOption = None,
    no_redact: Annotated[
        bool, typer.Option("--no-redact", help="Leave secrets, personal names and prompts in the answer.")
    ] = False,
    vllm: VllmOption = None,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Leave with 0 instead of 1, 3 and 4.")] = False,
    tee: Annotated[
        bool,
        typer.Option("--tee", help="Pass the piped log on to standard output; the report goes to standard error."),
    ] = False,
) -> None:
    """Read logs, name the root cause and give ranked fixes.

    Several logs are taken as parts of one system (ranks, nodes). Exit codes: 0 no failure, 1 failure with a known
    cause, 2 wrong usage or unreadable input, 3 a failure that no rule knows, 4 the cause is not in the log.
    """
    from vllmdoctor.cli.analyze import analyze_and_print

    code = analyze_and_print(
        logs or [],
        nvidia_smi=nvidia_smi or [],
        output_format=format.value,
        language=lang.value,
        show_all=show_all,
        rules_folders=rules or [],
        redact=not no_redact,
        tee=tee,
        vllm=vllm,
    )
    raise typer.Exit(0 if exit_zero else code)


@app.command()
def explain(
    what: Annotated[str, typer.Argument(metavar="ID|MESSAGE", help="A rule's id, or an error message in quotes.")],
    lang: LanguageOption = Language.EN,
    rules: RulesOption = None,
) -> None:
    """Show what a failure means and how to fix it, without a log."""
    from vllmdoctor.cli.explain import explain_and_print

    raise typer.Exit(explain_and_print(what, language=lang.value, rules_folders=rules or []))


@app.command()
def gpus(
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", show_default=False, help="Output of nvidia-smi or a relative, - for stdin."),
    ] = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Read nvidia-smi output (any form, also rocm-smi, amd-smi, kernel Xid lines) and print what it says."""
    from vllmdoctor.cli.gpus import print_gpus

    print_gpus(file, as_json=format is Format.JSON)


@app.command()
def plan(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL", help="A model folder, its config.json, or an id in the local Hugging Face cache."
        ),
    ],
    gpu: Annotated[
        str | None,
        typer.Option("--gpu", metavar="GPU", help="A name or a size: 'RTX 3090', 'A100 80GB', 24GiB, '2x L40S'."),
    ] = None,
    gpus: Annotated[int | None, typer.Option("--gpus", metavar="N", help="Number of GPUs.")] = None,
    max_model_len: Annotated[int | None, typer.Option("--max-model-len", metavar="N", help="As for vLLM.")] = None,
    gpu_memory_utilization: Annotated[
        float | None, typer.Option("--gpu-memory-utilization", metavar="X", help="As for vLLM.")
    ] = None,
    kv_cache_dtype: Annotated[str, typer.Option("--kv-cache-dtype", metavar="TYPE", help="As for vLLM.")] = "auto",
    quantization: Annotated[str, typer.Option("--quantization", metavar="METHOD", help="As for vLLM.")] = "",
    tensor_parallel_size: Annotated[
        int | None, typer.Option("--tensor-parallel-size", metavar="N", help="Default: all GPUs given.")
    ] = None,
    pipeline_parallel_size: Annotated[
        int | None, typer.Option("--pipeline-parallel-size", metavar="N", help="As for vLLM.")
    ] = None,
    max_num_seqs: Annotated[int | None, typer.Option("--max-num-seqs", metavar="N", help="As for vLLM.")] = None,
    max_num_batched_tokens: Annotated[
        int | None, typer.Option("--max-num-batched-tokens", metavar="N", help="As for vLLM.")
    ] = None,
    enforce_eager: Annotated[bool, typer.Option("--enforce-eager", help="As for vLLM.")] = False,
    vllm_version: Annotated[
        str | None, typer.Option("--vllm-version", metavar="X.Y.Z", help="Whose arithmetic; default: the newest known.")
    ] = None,
    nvidia_smi: Annotated[
        str | None,
        typer.Option("--nvidia-smi", metavar="FILE", help="nvidia-smi output of the machine, for free memory."),
    ] = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Estimate before the start whether a model fits on a GPU, with which context and how many requests.

    Never uses the network. Exit codes: 0 it fits, 1 it does not, 2 wrong usage or input.
    """
    from vllmdoctor.cli.plan import PlanOptions, plan_and_print

    options = PlanOptions(
        model=model,
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
        nvidia_smi=nvidia_smi,
    )
    raise typer.Exit(plan_and_print(options, as_json=format is Format.JSON))


@rules_app.command("list")
def list_rules(
    category: Annotated[str | None, typer.Option("--category", help="Only rules of this category.")] = None,
    format: FormatOption = Format.TEXT,
    lang: LanguageOption = Language.EN,
    rules: RulesOption = None,
) -> None:
    """List all rules."""
    from vllmdoctor.cli.rules import print_rules

    print_rules(category, as_json=format is Format.JSON, language=lang.value, rules_folders=rules or [])


@rules_app.command("show")
def show_rule(
    rule: Annotated[str, typer.Argument(metavar="ID", help="A rule's id.")],
    rules: RulesOption = None,
) -> None:
    """Show how a rule recognises its failure: patterns, conditions, versions, samples."""
    from vllmdoctor.cli.rules import print_rule

    print_rule(rule, rules_folders=rules or [])


@rules_app.command("check")
def check_rules(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", show_default=False, help="A rules folder; without one the checkout's own."),
    ] = None,
    lang: Annotated[
        Language | None, typer.Option("--lang", help="Also ask for complete, fresh translations.", show_default=False)
    ] = None,
    clean_corpus: Annotated[
        Path | None, typer.Option("--clean-corpus", metavar="DIR", help="Healthy logs that no rule may match.")
    ] = None,
) -> None:
    """Check rule files: schema, patterns against their samples, links, translations."""
    from vllmdoctor.cli.rules import check_folder

    raise typer.Exit(check_folder(folder, lang.value if lang else None, clean_corpus))


@rules_app.command("drift")
def compare_with_vllm(
    vllm: Annotated[Path, typer.Option("--vllm", metavar="PATH", help="A vLLM's folder, or a table of its messages.")],
    version: Annotated[str, typer.Option("--version", help="Its version, when the folder does not tell.")] = "",
    format: FormatOption = Format.TEXT,
    rules: RulesOption = None,
) -> None:
    """Compare the rules with vLLM's own messages: claims that do not hold any more, messages that no rule knows.

    Nothing of vLLM is imported or executed. Exit code 1 when its source contradicts a rule.
    """
    from vllmdoctor.cli.drift import print_drift

    raise typer.Exit(print_drift(vllm, version, as_json=format is Format.JSON, rules_folders=rules or []))


@rules_app.command("new")
def write_rule(
    rule: Annotated[str, typer.Argument(metavar="ID", help="The new rule's id, such as no-cache-blocks.")],
    log: Annotated[str, typer.Option("--from", metavar="LOG", help="A log with a failure that no rule knows.")],
    category: Annotated[
        str | None, typer.Option("--category", help="Its category; default: that of the nearest rule.")
    ] = None,
    dir: Annotated[
        Path | None, typer.Option("--dir", metavar="DIR", help="Where to write it; default: the checkout's rules.")
    ] = None,
    vllm: VllmOption = None,
    rules: RulesOption = None,
) -> None:
    """Write the file of a new rule from a log's unrecognized failure, with marked texts to fill in."""
    from vllmdoctor.cli.rules_new import write_new_rule

    write_new_rule(rule, log, category=category, folder=dir, vllm=vllm, rules_folders=rules or [])


@rules_app.command("stats")
def count_rules(format: FormatOption = Format.TEXT, rules: RulesOption = None) -> None:
    """Count rules and signatures by category, role, origin, version, language."""
    from vllmdoctor.cli.rules_stats import print_stats

    print_stats(as_json=format is Format.JSON, rules_folders=rules or [])
