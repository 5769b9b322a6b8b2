"""Comments in printed commands: in the reader's language, within the terminal, and nothing that a shell would run."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from rich.cells import cell_len

from tests.i18n.rendering import without_comments
from vllmdoctor.facts.command import CLI, COMPOSE, CUT, KUBERNETES, UserCommand
from vllmdoctor.languages import LANGUAGES
from vllmdoctor.report.commands import commands_for
from vllmdoctor.report.model import Commands
from vllmdoctor.report.shell import wrapped_command
from vllmdoctor.report.words import Words
from vllmdoctor.rules.expressions import UNKNOWN
from vllmdoctor.rules.model import Changes
from vllmdoctor.rules.texts import parse_text

CHANGE = Changes(
    arguments={"max_model_len": parse_text("4096"), "dtype": parse_text("")},
    environment={"VLLM_USE_V1": parse_text("0")},
    python=parse_text("start()  # other GPU work comes after this line"),
    kubernetes=parse_text("# and beside `containers:`\nvolumes: []"),
)
LEFT_OUT = ("--chat-template", "--served-model-name", "--tool-call-parser", "--enable-auto-tool-choice")


def commands(language: str, form: str = CLI, left_out: tuple[str, ...] = LEFT_OUT) -> Commands:
    own = UserCommand(form, "org/m", {"dtype": "half", "max_model_len": "9000"}, left_out=left_out)
    return commands_for(CHANGE, lambda name: UNKNOWN, own, Words(language))


@pytest.mark.parametrize(
    "language, comment",
    [
        ("en", "# without --dtype; plus your own --chat-template, --served-model-name, --tool-call-parser, …"),
        ("vi", "# bỏ --dtype; giữ --chat-template, --served-model-name, --tool-call-parser, … của bạn"),
        (
            "ja",
            "# --dtype は付けない; 元の --chat-template, --served-model-name, --tool-call-parser, … もそのまま付ける",
        ),
    ],
)
def test_what_the_command_does_not_show(language: str, comment: str) -> None:
    assert commands(language).cli.endswith(f"vllm serve org/m --max-model-len 4096  {comment}")


@pytest.mark.parametrize(
    "language, comments",
    [
        ("en", ["# before vllm is imported", "# without dtype; plus your other options", "# other GPU work comes after this line"]),
        ("vi", ["# trước khi import vllm", "# bỏ dtype; giữ các tham số khác của bạn", "# các việc khác trên GPU đặt sau dòng này"]),
        ("ja", ["# vllm をインポートする前に実行", "# dtype は付けない; ほかのオプションはそのまま付ける", "# GPUを使うほかの処理はこの行より後に置く"]),
    ],
)  # fmt: skip
def test_comments_of_python(language: str, comments: list[str]) -> None:
    python = commands(language, left_out=(CUT,)).python
    assert [line[line.index("# ") :] for line in python.split("\n") if "# " in line] == comments


@pytest.mark.parametrize("form", [CLI, COMPOSE, KUBERNETES])
def test_without_comments_all_languages_say_the_same(form: str) -> None:
    english = commands("en", form)
    for language in LANGUAGES[1:]:
        here = commands(language, form)
        for name in ("cli", "python", "compose", "kubernetes"):
            ours, theirs = getattr(here, name), getattr(english, name)
            assert without_comments(ours) == without_comments(theirs)
            assert ours != theirs or "# " not in theirs


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_long_comment_is_broken_where_a_shell_allows_it(language: str) -> None:
    command = commands(language).cli
    shown = wrapped_command(command)
    assert all(cell_len(row) <= 76 for row in shown.split("\n"))
    assert shlex.split(shown.replace(" \\\n", " "), comments=True) == shlex.split(command, comments=True)
    program = shown.replace("vllm serve", "echo")
    ran = subprocess.run(["bash", "-c", program], capture_output=True, text=True, timeout=10, check=True)
    assert (ran.stdout, ran.stderr) == ("org/m --max-model-len 4096\n", "")
