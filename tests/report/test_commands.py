"""One declaration of changes becomes every form of command."""

from __future__ import annotations

import json
import shlex

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from vllmdoctor.report.commands import commands_for, rendered_changes
from vllmdoctor.report.own_command import flag_of
from vllmdoctor.report.shell import quoted, wrapped_command
from vllmdoctor.rules.expressions import UNKNOWN, Lookup
from vllmdoctor.rules.model import Changes
from vllmdoctor.rules.texts import parse_text


def lookup(**values: str | int | float) -> Lookup:
    return lambda name: values.get(name, UNKNOWN)


KNOWN = lookup(model="org/model-8B", value=20480, utilization=0.85)


def arguments(**values: str) -> Changes:
    return Changes(arguments={name: parse_text(text) for name, text in values.items()})


def environment(**values: str) -> Changes:
    return Changes(environment={name: parse_text(text) for name, text in values.items()})


def test_an_argument_in_all_forms() -> None:
    commands = commands_for(arguments(max_model_len="{value|TOKENS}"), KNOWN)
    assert commands.cli == "vllm serve org/model-8B --max-model-len 20480"
    assert commands.python == 'LLM(model="org/model-8B", max_model_len=20480)'
    words = ["--model", "org/model-8B", "--max-model-len", "20480"]
    assert yaml.safe_load(commands.compose) == {"command": words}
    assert yaml.safe_load(commands.kubernetes) == {"args": words}


def test_unknown_model_and_number_are_marked_for_the_reader() -> None:
    commands = commands_for(arguments(max_model_len="{value|TOKENS}"), lookup())
    assert commands.cli == "vllm serve MODEL --max-model-len TOKENS"


def test_environment_in_all_forms() -> None:
    commands = commands_for(environment(VLLM_USE_V1="0"), KNOWN)
    assert commands.cli == "VLLM_USE_V1=0 vllm serve org/model-8B"
    assert 'os.environ["VLLM_USE_V1"] = "0"' in commands.python.split("\n")
    assert yaml.safe_load(commands.compose) == {"environment": {"VLLM_USE_V1": "0"}}
    assert yaml.safe_load(commands.kubernetes) == {"env": [{"name": "VLLM_USE_V1", "value": "0"}]}


@pytest.mark.parametrize(
    "text, cli, python",
    [
        ("true", "--enforce-eager", "enforce_eager=True"),
        ("false", "--no-enforce-eager", "enforce_eager=False"),
        ("0.85", "--enforce-eager 0.85", "enforce_eager=0.85"),
        ("{utilization|0.9}", "--enforce-eager 0.85", "enforce_eager=0.85"),
        ('{{"a": 1}}', "--enforce-eager '{\"a\": 1}'", "enforce_eager={'a': 1}"),
        ("it's", "--enforce-eager 'it'\"'\"'s'", 'enforce_eager="it\'s"'),
    ],
)
def test_values(text: str, cli: str, python: str) -> None:
    commands = commands_for(arguments(enforce_eager=text), KNOWN)
    assert commands.cli == f"vllm serve org/model-8B {cli}"
    assert commands.python == f'LLM(model="org/model-8B", {python})'


def test_an_empty_value_removes_the_argument() -> None:
    commands = commands_for(arguments(quantization="", max_model_len="16"), KNOWN)
    assert commands.cli == "vllm serve org/model-8B --max-model-len 16  # without --quantization"
    assert "--quantization" not in commands.compose


def test_a_model_that_changes_is_served_instead() -> None:
    commands = commands_for(arguments(model="org/other"), KNOWN)
    assert commands.cli == "vllm serve org/other"
    assert yaml.safe_load(commands.kubernetes) == {"args": ["--model", "org/other"]}


def test_shell_and_docker_lines() -> None:
    changes = Changes(
        shell=(parse_text("nvidia-smi"), parse_text("kill PID")),
        docker=(parse_text("--shm-size 16g"),),
        compose=parse_text("shm_size: 16g"),
    )
    commands = commands_for(changes, KNOWN)
    assert commands.cli == "nvidia-smi\nkill PID\ndocker run --shm-size 16g …"
    assert commands.compose == "shm_size: 16g"
    assert commands.python == commands.kubernetes == ""


def test_several_changes_are_combined_into_one_command() -> None:
    several = [arguments(max_model_len="16"), arguments(enforce_eager="true"), environment(A="1")]
    assert commands_for(several, KNOWN).cli == "A=1 vllm serve org/model-8B --max-model-len 16 --enforce-eager"


def test_no_thousands_separators_in_commands() -> None:
    changes = Changes(shell=(parse_text("{value + 0|N} {value|N}"),))
    assert rendered_changes(changes, KNOWN).shell == ("20480 20480",)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30))
def test_a_quoted_word_is_one_word_for_the_shell(word: str) -> None:
    assert shlex.split(quoted(word)) == [word]


@given(st.lists(st.text(alphabet="ab {}\"':,", min_size=1, max_size=30), min_size=1, max_size=8))
def test_wrapping_does_not_change_what_the_shell_sees(words: list[str]) -> None:
    command = "vllm serve model " + " ".join(f"{flag_of(f'option_{n}')} {quoted(word)}" for n, word in enumerate(words))
    # shlex does not know that a shell drops a backslash before the end of a line
    assert shlex.split(wrapped_command(command, 40).replace(" \\\n", " ")) == shlex.split(command)


def test_wrapping_keeps_to_the_width() -> None:
    command = "vllm serve org/model " + " ".join(f"--option-{n} value" for n in range(9))
    rows = wrapped_command(command).split("\n")
    assert len(rows) > 1
    assert max(map(len, rows)) <= 76
    assert all(row.endswith(" \\") for row in rows[:-1])


def test_python_text_is_python() -> None:
    commands = commands_for(arguments(limit_mm_per_prompt='{{"image": 1, "video": true}}'), KNOWN)
    compile(commands.python, "fix", "exec")
    assert json.loads('{"image": 1, "video": true}') == eval(commands.python.partition("limit_mm_per_prompt=")[2][:-1])
