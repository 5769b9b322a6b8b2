"""A fix applied to the user's own command: the same command, with just that changed."""

from __future__ import annotations

import ast
import json
import shlex
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from vllmdoctor.facts.command import CLI, COMPOSE, KUBERNETES, PYTHON, UserCommand
from vllmdoctor.facts.command_echo import read_echo
from vllmdoctor.facts.command_line import read_command_line
from vllmdoctor.facts.command_yaml import read_container
from vllmdoctor.report.commands import commands_for
from vllmdoctor.report.model import Commands
from vllmdoctor.report.shell import wrapped_command
from vllmdoctor.rules.expressions import UNKNOWN, Lookup
from vllmdoctor.rules.load import load_catalogue
from vllmdoctor.rules.model import Changes
from vllmdoctor.rules.texts import parse_text

OWN = UserCommand(
    CLI, "org/m", {"max_model_len": "131072", "port": "8001", "served_model_name": '["a", "b c"]', "dtype": "half"}
)


def lookup(**values: str) -> Lookup:
    return lambda name: values.get(name, UNKNOWN)


def changes(**arguments: str) -> Changes:
    return Changes(arguments={name: parse_text(text) for name, text in arguments.items()})


def forms(own: UserCommand, change: Changes, **facts: str) -> Commands:
    return commands_for(change, lookup(**facts), own)


def test_an_option_is_replaced_added_or_removed() -> None:
    assert forms(OWN, changes(max_model_len="4096", enforce_eager="true", dtype="")).cli == (
        "vllm serve org/m --max-model-len 4096 --port 8001 --served-model-name a 'b c' --enforce-eager"
        "  # without --dtype"
    )


def test_the_call_has_no_options_of_the_server() -> None:
    assert forms(OWN, changes(max_model_len="4096")).python == 'LLM(model="org/m", max_model_len=4096, dtype="half")'


def test_the_users_form_comes_first() -> None:
    own = UserCommand(PYTHON, "m", {"max_model_len": "5"}, program=("LLM",))
    shown = forms(own, changes(max_model_len="4")).shown()
    assert next(iter(shown.items())) == ("python", 'LLM(model="m", max_model_len=4)')


def test_an_unknown_value_is_named_not_guessed() -> None:
    own = UserCommand(CLI, "m", {}, left_out=("compilation_config", "--hf-overrides"))
    assert forms(own, changes(dtype="half")).cli == (
        "vllm serve m --dtype half  # plus your own --compilation-config, --hf-overrides"
    )
    assert forms(own, changes(compilation_config="{{}}")).cli.endswith("# plus your own --hf-overrides")


def test_another_checkpoint_takes_what_belongs_to_the_old_one_along() -> None:
    own = UserCommand(CLI, "org/m", {"revision": "abc", "quantization": "awq", "port": "1"})
    assert forms(own, changes(model="<other checkpoint>")).cli == (
        "vllm serve '<other checkpoint>' --port 1  # without --revision, --quantization"
    )
    assert "--quantization awq" in forms(own, changes(model="./my-model")).cli


def test_before_0_9_switches_have_no_negative_form() -> None:
    own = UserCommand(CLI, "m", {"enable_chunked_prefill": "false"})
    assert "--enable-chunked-prefill=False" in forms(own, changes(dtype="half"), vllm_version="0.8.5").cli
    assert "--no-enable-chunked-prefill" in forms(own, changes(dtype="half"), vllm_version="0.9.0").cli


def test_docker_run_is_kept_with_its_flags() -> None:
    program = (
        "docker",
        "run",
        "--shm-size",
        "1g",
        "-e",
        "A=1",
        "-v",
        "~/.cache:/root/.cache",
        "vllm/vllm-openai:v0.9.1",
    )
    own = UserCommand(CLI, "m", {"dtype": "half"}, program=program)
    change = Changes(docker=(parse_text("--shm-size=16g"),), environment={"A": parse_text("2")})
    assert forms(own, change).cli == (
        "docker run -e A=2 --shm-size=16g -v ~/.cache:/root/.cache vllm/vllm-openai:v0.9.1 --model m --dtype half"
    )


def test_only_harmless_expansions_survive() -> None:
    program = ("docker", "run", "-v", "$HOME/c:/c", "-v", "$(rm -rf x):/d", "vllm/vllm-openai")
    shown = forms(UserCommand(CLI, "m", program=program), changes(dtype="half")).cli
    assert '"$HOME/c:/c"' in shown
    assert "'$(rm -rf x):/d'" in shown


def test_a_container_keeps_its_variables() -> None:
    own = UserCommand(COMPOSE, "m", {"dtype": "half"}, {"A": "1"})
    change = Changes(environment={"B": parse_text("2")}, arguments={"seed": parse_text("3")})
    assert yaml.safe_load(forms(own, change).compose) == {
        "environment": {"A": "1", "B": "2"},
        "command": ["--model", "m", "--dtype", "half", "--seed", "3"],
    }


def test_a_long_command_is_short_where_it_is_read_and_whole_where_it_is_processed() -> None:
    own = UserCommand(CLI, "m", {f"option_{number}": "x" for number in range(15)})
    commands = forms(own, changes(max_model_len="4096"))
    assert commands.cli.count("--option-") == 15
    assert commands.shown()["cli"] == "vllm serve m --max-model-len 4096 …"
    assert commands.shown(whole=True)["cli"] == commands.cli


def test_a_comment_stays_on_its_line() -> None:
    command = "vllm serve org/m " + " ".join(f"--option-{n} value" for n in range(9)) + "  # plus your own --foo, --bar"
    rows = wrapped_command(command).split("\n")
    assert rows[-1].endswith(" # plus your own --foo, --bar")
    assert all(row.endswith(" \\") for row in rows[:-1])


words = st.text(alphabet="ab 7{}[]\"'\\:,#~-=é", min_size=1, max_size=12).filter(lambda text: text.strip(" -") != "")
values = st.one_of(
    st.sampled_from(["true", "false", "0.95", "4096", "org/m", "/a b/c", "[not json", "it's"]),
    words.filter(lambda text: not text.startswith("-") and text[:1] not in "[#"),
    st.dictionaries(words, st.one_of(st.integers(), words, st.none(), st.booleans()), max_size=2).map(json.dumps),
)
arguments = st.dictionaries(st.sampled_from(["max_model_len", "dtype", "hf_overrides", "new_option", "seed"]), values)
CHANGED = {"load_format": "dummy"}


@given(arguments)
def test_the_command_line_can_be_read_again(given_arguments: dict[str, str]) -> None:
    shown = forms(UserCommand(CLI, "org/m", given_arguments), changes(**CHANGED)).cli
    again = read_command_line(wrapped_command(shown).replace(" \\\n", " "))
    assert again is not None
    assert again.arguments == {"model": "org/m", **given_arguments, **CHANGED}


@given(arguments)
def test_the_call_can_be_read_again(given_arguments: dict[str, str]) -> None:
    shown = forms(UserCommand(PYTHON, "org/m", given_arguments, program=("LLM",)), changes(**CHANGED)).python
    ast.parse(shown)
    again = read_echo(shown.partition("(")[2])
    assert again.left_out == ()
    expected = {"model": "org/m", **given_arguments, **CHANGED}
    assert again.arguments.keys() == expected.keys()
    for name, text in again.arguments.items():
        assert text == expected[name] or json.loads(text) == json.loads(expected[name])


@given(arguments, st.sampled_from([COMPOSE, KUBERNETES]))
def test_the_container_can_be_read_again(given_arguments: dict[str, str], form: str) -> None:
    shown = forms(UserCommand(form, "org/m", given_arguments), changes(**CHANGED)).shown()[form]
    again = read_container(["image: vllm/vllm-openai", *shown.split("\n")])
    assert again is not None and again[0] == form
    assert again[1].arguments == {"model": "org/m", **given_arguments, **CHANGED}
    key = "command" if form == COMPOSE else "args"
    read = read_command_line(shlex.join(["vllm", "serve", *yaml.safe_load(shown)[key]]))
    assert read is not None and read.arguments == again[1].arguments


@pytest.mark.parametrize("form, program", [(CLI, ("vllm", "serve")), (CLI, ("docker", "run", "--gpus", "all", "-e", "X=1", "i/vllm")), (PYTHON, ("LLM",)), (COMPOSE, ()), (KUBERNETES, ())])  # fmt: skip
def test_every_fix_of_every_rule_applies_to_a_command(form: str, program: tuple[str, ...], checkout: Path) -> None:
    own = UserCommand(
        form,
        "org/m",
        {"max_model_len": "131072", "gpu_memory_utilization": "0.97", "enforce_eager": "true", "quantization": "awq",
         "kv_cache_dtype": "fp8", "tensor_parallel_size": "2", "max_num_seqs": "8", "port": "8001"},
        {"CUDA_VISIBLE_DEVICES": "0", "VLLM_USE_V1": "1"},
        program,
        ("compilation_config",),
    )  # fmt: skip
    catalogue = load_catalogue("en")
    fixes = [fix for rule in catalogue.rules.values() for fix in rule.fixes]
    assert len(fixes) > 100
    for fix in fixes:
        change = fix.remedy.changes
        commands = commands_for(change, lookup(vllm_version="0.10.0"), own)
        names = [name for name in change.arguments if name != "model"]
        for name in names:
            flag = "--" + name.replace("_", "-")
            words = [word for word in commands.cli.partition("  # ")[0].split() if word.partition("=")[0] == flag]
            assert len(words) <= 1, (fix.id, commands.cli)
        if change.arguments:
            ast.parse(commands.python)
        if change.arguments and "port" not in change.arguments:
            assert "--port 8001" in commands.cli, fix.id
            assert '"--port", "8001"' in commands.compose and '"--port", "8001"' in commands.kubernetes, fix.id
            for text in (commands.compose, commands.kubernetes):
                assert text.count("--max-model-len") == 1, fix.id
