"""What is shipped: the wheel, the sdist, the README's commands and the example."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest

from vllmdoctor.diagnosis.model import EXIT_CODES
from vllmdoctor.rules.compiled import bundle_of
from vllmdoctor.rules.yaml_source import read_rules_folder

EXAMPLE = "examples/startup.log"
EXAMPLE_RULE = "max-model-len-exceeds-kv-cache"


def run(command: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=120
    )


def vllmdoctor(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line of the checkout."""
    source = str(checkout / "src")
    return run([sys.executable, "-m", "vllmdoctor", *arguments], checkout, PYTHONPATH=source, **environment)


@dataclass(frozen=True)
class Built:
    wheel: Path
    sdist: Path


@pytest.fixture(scope="module")
def built(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Wheel and sdist, built with the hatchling of this environment so that no index is asked."""
    folder = tmp_path_factory.mktemp("dist")
    result = run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], checkout, PYTHONPATH="")
    assert result.returncode == 0, result.stdout + result.stderr
    return Built(next(folder.glob("*.whl")), next(folder.glob("*.tar.gz")))


@pytest.mark.slow
def test_wheel_holds_the_rules_as_the_yaml_files_say(built: Built, checkout: Path) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        names = wheel.namelist()
        catalogue = json.loads(wheel.read("vllmdoctor/data/catalogue.json"))
    expected = bundle_of(read_rules_folder(checkout / "rules"))
    assert catalogue == json.loads(json.dumps(expected))
    assert EXAMPLE_RULE in catalogue["rules"]
    assert "vllmdoctor/py.typed" in names
    assert not [name for name in names if name.startswith(("tests/", "rules/", "examples/"))]


@pytest.mark.slow
def test_build_leaves_nothing_in_the_source_tree(built: Built, checkout: Path) -> None:
    assert built.wheel.is_file()
    assert not list((checkout / "src").rglob("catalogue.json"))


@pytest.mark.slow
def test_sdist_can_be_built_from_and_tested(built: Built, checkout: Path) -> None:
    with tarfile.open(built.sdist) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    needed = ["hatch_build.py", "Makefile", "README.md", "LICENSE", EXAMPLE, "tests/conftest.py"]
    needed += [str(path.relative_to(checkout)) for path in (checkout / "rules").rglob("*.yaml")]
    assert not [name for name in needed if name not in names]


@pytest.mark.slow
def test_installed_wheel_diagnoses_the_example(built: Built, checkout: Path, tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    made = run([sys.executable, "-m", "venv", "--without-pip", str(environment)], tmp_path)
    assert made.returncode == 0, made.stderr
    python = environment / "bin" / "python"
    installer = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index"]
    installed = run([*installer, str(built.wheel)], tmp_path, PYTHONPATH="")
    assert installed.returncode == 0, installed.stderr
    # The dependencies come from this environment; .pth files (our editable install) do not work through PYTHONPATH.
    libraries = os.pathsep.join(dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]))
    command = [str(environment / "bin" / "vllmdoctor"), "analyze", str(checkout / EXAMPLE), "--format", "json"]
    result = run(command, tmp_path, PYTHONPATH=libraries)
    assert result.returncode == EXIT_CODES["failure"], result.stderr
    assert root_cause(json.loads(result.stdout)) == EXAMPLE_RULE
    place = run([str(python), "-c", "import vllmdoctor; print(vllmdoctor.__file__)"], tmp_path, PYTHONPATH=libraries)
    assert Path(place.stdout.strip()).is_relative_to(environment)


def root_cause(report: dict[str, list[dict[str, str]]]) -> str:
    return next(finding["rule"] for finding in report["findings"] if finding["role"] == "root-cause")


@pytest.fixture(scope="module")
def readme(checkout: Path) -> str:
    return (checkout / "README.md").read_text(encoding="utf-8")


def shell_lines(text: str) -> Iterator[str]:
    for block in re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield from (line for line in block.splitlines() if line.strip())


def calls(text: str) -> list[list[str]]:
    """The arguments of every call of vllmdoctor in the shell blocks."""
    found = []
    for line in shell_lines(text):
        for part in re.split(r"\||&&", line):
            words = shlex.split(part, comments=True)
            if words[:1] == ["vllmdoctor"]:
                found.append(words[1:])
    return found


def test_readme_uses_options_that_exist(checkout: Path, readme: str) -> None:
    used: dict[tuple[str, ...], set[str]] = {}
    for words in calls(readme):
        command = tuple(words[: 2 if words[0] == "rules" else 1])
        used.setdefault(command, set()).update(word for word in words if word.startswith("--"))
    assert {command[0] for command in used} == {"analyze", "compare", "explain", "gpus", "plan", "rules"}
    for command, options in used.items():
        helped = vllmdoctor(checkout, *command, "--help", COLUMNS="200", TERM="dumb")
        assert helped.returncode == 0, f"{command}: {helped.stderr}"
        assert not [option for option in options if option not in helped.stdout], command


def test_readme_names_options_that_exist_in_prose(checkout: Path, readme: str) -> None:
    helped = vllmdoctor(checkout, "analyze", "--help", COLUMNS="200", TERM="dumb").stdout
    options = set(re.findall(r"`(--[a-z-]+)", readme))
    assert "--exit-zero" in options
    assert not [option for option in options if option not in helped]


def test_readme_example_shows_what_the_program_prints(checkout: Path, readme: str) -> None:
    shown = re.search(
        rf"<!-- output: vllmdoctor analyze {EXAMPLE} -->\n```\w*\n(.*?)^```", readme, re.MULTILINE | re.DOTALL
    )
    assert shown
    printed = vllmdoctor(checkout, "analyze", EXAMPLE, COLUMNS="80", PYTHONIOENCODING="utf-8").stdout
    assert EXAMPLE_RULE in printed
    assert shown[1].strip() == "\n".join(line.rstrip() for line in printed.splitlines()).strip()


def test_readme_has_the_exit_codes(readme: str) -> None:
    rows = dict(re.findall(r"^\| `([a-z-]+)` \|.*\| (\d) \|$", readme, re.MULTILINE))
    assert {status: int(code) for status, code in rows.items()} == EXIT_CODES


@pytest.mark.parametrize("document", ["README.md", "docs/architecture.md"])
def test_links_and_paths_lead_somewhere(checkout: Path, document: str) -> None:
    path = checkout / document
    text = path.read_text(encoding="utf-8")
    targets = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if not link.startswith("http")]
    assert not [target for target in targets if not (path.parent / target).exists()]
    named = re.findall(r"(?<![\w/.-])((?:examples|benchmarks|docs|src|tests)/[\w./-]*)", text)
    assert not [name for name in named if not (checkout / name).exists()]


def test_make_help_lists_the_targets_that_the_documents_name(checkout: Path, readme: str) -> None:
    listed = run(["make", "help"], checkout).stdout
    targets = set(re.findall(r"(?:^|`)make ([a-z]+)", readme, re.MULTILINE))
    assert "test" in targets
    assert not [target for target in targets if f"make {target} " not in listed]


def test_clean_clone_script_runs_the_documented_command(checkout: Path) -> None:
    script = checkout / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text(encoding="utf-8").rstrip().endswith("make test")


def test_changelog_has_the_version(checkout: Path) -> None:
    version = re.search(r'^version = "(.+)"', (checkout / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version
    assert f"## {version[1]}" in (checkout / "CHANGELOG.md").read_text(encoding="utf-8")
    try:
        installed = metadata.version("vllmdoctor")
    except metadata.PackageNotFoundError:
        pytest.skip("vllmdoctor is not installed here, so it cannot tell its version")
    assert installed == version[1], "run `make install` after a change of the version"
    assert vllmdoctor(checkout, "--version").stdout.split()[-1] == version[1]


def test_example_numbers_agree_with_each_other(checkout: Path) -> None:
    """Llama 3.1 8B in bf16: 2 x 32 layers x 8 heads x 128 x 2 bytes a token; blocks of 16 tokens, one kept empty."""
    text = (checkout / EXAMPLE).read_text(encoding="utf-8")
    found = re.search(
        r"max seq len \((\d+)\), \(([\d.]+) GiB .*?\(([\d.]+) GiB\).*?maximum model length is (\d+)", text
    )
    assert found
    wanted, needed_gib, available_gib, longest = int(found[1]), float(found[2]), float(found[3]), int(found[4])
    bytes_per_token = 2 * 32 * 8 * 128 * 2
    assert needed_gib == wanted * bytes_per_token / 2**30
    assert longest % 16 == 0
    assert round((longest + 16) * bytes_per_token / 2**30, 2) == available_gib
    assert f"Available KV cache memory: {found[3]} GiB" in text
    total_gib, weights_gib = 23.52, float(re.findall(r"Model loading took ([\d.]+) GiB", text)[0])
    assert 0 < total_gib * 0.92 - weights_gib - available_gib < 3  # activations, CUDA graphs and context
