"""The formats for CI, --tee, and the snippets of docs/ci.md, each run against a stand-in for vLLM."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from vllmdoctor.cli.app import run
from vllmdoctor.cli.github import MOST_SUMMARY_BYTES, append_summary

RULE = "max-model-len-exceeds-kv-cache"
ANSWER = "The KV cache cannot hold one request of 131,072 tokens"


@pytest.fixture
def example(checkout: Path) -> Path:
    return checkout / "examples" / "startup.log"


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "vllmdoctor", *arguments]


def environment(checkout: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(checkout / "src"), "COLUMNS": "80", **more}


def teed(checkout: Path, data: bytes, *arguments: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    env = environment(checkout, **more)
    return subprocess.run(command("analyze", "--tee", *arguments), input=data, env=env, capture_output=True, timeout=60, check=False)  # fmt: skip


def started(checkout: Path) -> subprocess.Popen[bytes]:
    """The command with interrupts in force, though a shell starts its background jobs, such as these tests, without."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command("analyze", "--tee"),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=environment(checkout),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


# --format markdown and github


def test_markdown(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", str(example), "--format", "markdown"]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"## ✗ {ANSWER}\n\n`{RULE}`\n")
    assert "vLLM `0.32.0`" in out.splitlines()[-1]


def test_github_prints_annotations_and_appends_to_the_summary(
    example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("# Tests\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert run(["analyze", str(example), "--format", "github"]) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("::error title=The KV cache")
    assert shown.out.count("\n") == 1
    assert shown.err == ""
    assert run(["analyze", str(example), "--format", "markdown"]) == 1
    assert summary.read_text(encoding="utf-8") == "# Tests\n\n" + capsys.readouterr().out


def test_github_without_a_summary_file(
    example: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert run(["analyze", str(example), "--format", "github"]) == 1
    assert capsys.readouterr().err == ""


def test_a_summary_that_cannot_be_written_changes_nothing_else(
    example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "no-folder" / "summary.md"))
    assert run(["analyze", str(example), "--format", "github"]) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("::error ")
    assert "warning: the job summary was not written: No such file" in shown.err


def test_the_summary_keeps_to_its_limit(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_bytes(b"x" * (MOST_SUMMARY_BYTES - 10) + b"\n\n")
    assert append_summary(summary, "y" * 8) == ""
    assert summary.stat().st_size == MOST_SUMMARY_BYTES
    assert "1 MiB" in append_summary(summary, "z")
    assert summary.stat().st_size == MOST_SUMMARY_BYTES


def test_a_restart_loop_of_docker_compose_is_one_failure_with_a_count(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"vllm-1  | {row}" for row in example.read_text(encoding="utf-8").splitlines()]
    loop = tmp_path / "compose.log"
    loop.write_text("\n".join([*rows, "vllm-1 exited with code 1 (restarting)"] * 15) + "\n", encoding="utf-8")
    assert run(["analyze", str(loop)]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"✗ {ANSWER}")
    assert out.count(ANSWER) == 1
    assert "Earlier runs    the same failure 14 times before\n" in out
    assert run(["analyze", str(loop), "--format", "markdown"]) == 1
    assert "**Earlier runs**: the same failure 14 times before\n" in capsys.readouterr().out


# --tee


def test_tee_passes_the_log_on_and_reports_on_standard_error(checkout: Path, example: Path) -> None:
    data = example.read_bytes() + b"\xff\x00\r\n\x1b[31mno end of line"
    result = teed(checkout, data)
    assert result.stdout == data
    assert result.stderr.decode().startswith(f"\n✗ {ANSWER}")
    assert result.returncode == 1


@pytest.mark.parametrize("output_format", ["json", "markdown", "github"])
def test_tee_in_other_formats(checkout: Path, example: Path, output_format: str, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    result = teed(checkout, example.read_bytes(), "-", "--format", output_format, GITHUB_STEP_SUMMARY=str(summary))
    assert result.stdout == example.read_bytes()
    report = result.stderr.decode()
    if output_format == "json":
        assert json.loads(report)["findings"][0]["rule"] == RULE
    else:
        assert report.startswith({"markdown": "## ✗ ", "github": "\n::error "}[output_format])
    assert summary.exists() == (output_format == "github")


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4000, b"PK\x03\x04" + b"\x00" * 200_000])
def test_tee_passes_on_what_it_cannot_read(checkout: Path, data: bytes) -> None:
    result = teed(checkout, data)
    assert result.stdout == data
    assert result.returncode == 2
    assert b"error: <stdin>" in result.stderr
    assert b"Traceback" not in result.stderr


def test_tee_passes_lines_on_as_they_come(checkout: Path, example: Path) -> None:
    with started(checkout) as process:
        assert process.stdin and process.stdout and process.stderr
        for line in example.read_bytes().splitlines(keepends=True)[:20]:
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline() == line  # would wait for ever if the line were held back
        process.stdin.close()
        assert process.stdout.read() == b""
        process.stderr.read()


def test_tee_outlives_the_interrupt_that_ends_the_server(checkout: Path, example: Path) -> None:
    first, rest = example.read_bytes()[:2000], example.read_bytes()[2000:]
    with started(checkout) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(first)
        process.stdin.flush()
        assert process.stdout.read(len(first)) == first  # now it is reading
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        process.stdin.write(rest)
        process.stdin.close()
        assert process.stdout.read() == rest
        assert ANSWER in process.stderr.read().decode()
    assert process.returncode == 1


def test_tee_ends_with_the_second_interrupt(checkout: Path, example: Path) -> None:
    with started(checkout) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(b"line\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"line\n"
        for _ in range(5):  # on a busy machine two that come together count as one
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
        assert process.wait(timeout=20) != 0
        assert b"Traceback" not in process.stderr.read()


def test_tee_goes_on_when_the_reader_of_the_log_leaves(checkout: Path, example: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    data = example.read_bytes() * 20
    result = subprocess.run(command("analyze", "--tee"), input=data, env=environment(checkout), stdout=write, stderr=subprocess.PIPE, timeout=60, check=False)  # fmt: skip
    os.close(write)
    assert ANSWER in result.stderr.decode()
    assert b"Traceback" not in result.stderr and b"Exception" not in result.stderr
    assert result.returncode == 1


def test_tee_keeps_memory_flat(checkout: Path, example: Path) -> None:
    line = b"INFO 06-10 08:00:00 [loggers.py:116] Engine 000: Avg prompt throughput: 10.0 tokens/s, Running: 1 reqs\n"
    block = line * (1 << 13)
    wait_for = "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:]); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)"
    arguments = [sys.executable, "-c", wait_for, *command("analyze", "--tee", "--format", "json")]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        arguments, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe, env=environment(checkout)
    ) as process:
        assert process.stdin and process.stderr
        for _ in range(100):  # 84 MB
            process.stdin.write(block)
        process.stdin.close()
        peak_kib = int(process.stderr.read().split(b"\n")[-2])
    assert peak_kib < 84 << 10


@pytest.mark.parametrize("arguments", [["startup.log"], []])
def test_tee_needs_a_pipe(
    arguments: list[str], checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not arguments:
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    assert run(["analyze", "--tee", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: ")


# The snippets of docs/ci.md

needs_shell = pytest.mark.skipif(not (shutil.which("bash") and shutil.which("curl")), reason="needs bash and curl")

VLLM = """\
#!{python}
import http.server, os, sys
sys.stdout.write(open(os.environ["STAND_IN_LOG"], encoding="utf-8").read())
sys.stdout.flush()
if os.environ["STAND_IN_ENDS"] == "1":
    sys.exit(1)
assert sys.argv[1] == "serve" and sys.argv[3] == "--port", sys.argv
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path in ("/health", "/v1/models") else 404)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(sys.argv[4])), Answer).serve_forever()
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


class Job:
    """A folder in which script lines run with stand-ins for `vllm`, `pip`, `docker` and a shorter `sleep`."""

    def __init__(self, folder: Path, checkout: Path, log: Path, *, ends: bool) -> None:
        self.folder = folder
        self.failed = False
        self.output = ""
        programs = {
            "vllm": VLLM.format(python=sys.executable),
            "vllmdoctor": f'#!/bin/sh\nexec "{sys.executable}" -m vllmdoctor "$@"\n',
            "pip": '#!/bin/sh\necho "pip $*"\n',
            "docker": '#!/bin/sh\ncat "$STAND_IN_LOG" >&2\n',
            "sleep": f"#!/bin/sh\nexec {shutil.which('sleep')} 0.1\n",
        }
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        for name, text in programs.items():
            (bin_folder / name).write_text(text, encoding="utf-8")
            (bin_folder / name).chmod(0o755)
        self.environment = environment(
            checkout,
            PATH=f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
            STAND_IN_LOG=str(log),
            STAND_IN_ENDS="1" if ends else "0",
            GITHUB_STEP_SUMMARY=str(folder / "summary.md"),
        )
        self.environment.pop("NO_PROXY", None)
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
            self.environment.pop(name, None)

    def variables(self, values: dict[str, str]) -> None:
        """The snippet's own variables, with a port that nobody else has."""
        assert set(values) == {"MODEL", "PORT"}
        self.environment.update(values, PORT=str(free_port()))

    def run(self, script: str, *options: str, **more: str) -> int:
        """Runs the lines as a CI system does and remembers whether they failed."""
        result = subprocess.run(["bash", *(options or ("-e",)), "-c", script], cwd=self.folder, env={**self.environment, **more}, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=90, check=False)  # fmt: skip
        self.output += result.stdout + result.stderr
        self.failed = self.failed or result.returncode != 0
        return result.returncode

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def server_ended(self) -> bool:
        for _ in range(100):
            if (self.folder / "vllm.exit").exists() and self.text("vllm.exit"):
                return True
            time.sleep(0.1)
        return False

    def close(self) -> None:
        """Ends a server that a broken snippet has left running."""
        if (self.folder / "vllm.pid").exists() and not (self.folder / "vllm.exit").exists():
            os.kill(int(self.text("vllm.pid")), signal.SIGTERM)


def snippet(checkout: Path, name: str) -> str:
    text = (checkout / "docs" / "ci.md").read_text(encoding="utf-8")
    found = re.search(rf"<!-- snippet: {name} -->\n```\w+\n(.*?)```\n", text, re.DOTALL)
    assert found
    return found[1]


@pytest.fixture(params=[True, False], ids=["fails", "answers"])
def job(request: pytest.FixtureRequest, tmp_path: Path, checkout: Path, example: Path) -> Iterator[Job]:
    healthy = tmp_path / "healthy.log"
    healthy.write_text("INFO 06-10 08:00:00 [api_server.py:1] vLLM API server version 0.32.0\n", encoding="utf-8")
    made = Job(tmp_path, checkout, example if request.param else healthy, ends=request.param)
    yield made
    made.close()


def assert_outcome(job: Job, ended_early: bool) -> None:
    assert job.failed == ended_early, job.output
    assert ("vLLM ended with exit code 1" in job.output) == ended_early
    assert job.server_ended()
    assert job.text("vllm.exit").strip() == ("1" if ended_early else str(128 + signal.SIGTERM))
    assert "Traceback" not in job.output


def ends(job: Job) -> bool:
    return job.environment["STAND_IN_ENDS"] == "1"


@needs_shell
def test_github_snippet(job: Job, checkout: Path) -> None:
    serve: dict[str, Any] = yaml.safe_load(snippet(checkout, "github"))["jobs"]["serve"]
    job.variables(serve["env"])
    for step in serve["steps"]:
        wanted = {"failure()": job.failed, "always()": True}.get(step.get("if", ""), not job.failed)
        if wanted and "run" in step:
            job.run(step["run"])
    assert_outcome(job, ends(job))
    upload = serve["steps"][-1]
    assert (job.folder / upload["with"]["path"]).exists()
    if ends(job):
        assert f"::error title={ANSWER.replace(',', '%2C')} ({RULE}),file=vllm.log,line=53::" in job.output
        assert job.text("summary.md").startswith(f"## ✗ {ANSWER}")
    else:
        assert "::error" not in job.output


@needs_shell
def test_gitlab_snippet(job: Job, checkout: Path) -> None:
    serve: dict[str, Any] = yaml.safe_load(snippet(checkout, "gitlab"))["serve"]
    job.variables(serve["variables"])
    script = "\n".join([*serve["before_script"], *serve["script"]])
    status = "failed" if job.run(script, "-eo", "pipefail") else "success"
    assert job.run("\n".join(serve["after_script"]), "-eo", "pipefail", CI_JOB_STATUS=status) == 0
    assert_outcome(job, ends(job))
    assert ("\n✗ " + ANSWER in job.output) == ends(job)
    for path in serve["artifacts"]["paths"]:
        assert (job.folder / path).exists() or not ends(job)
    if ends(job):
        assert job.text("vllm-report.md").startswith(f"## ✗ {ANSWER}")


@needs_shell
def test_jenkins_snippet(job: Job, checkout: Path) -> None:
    pipeline = snippet(checkout, "jenkins")
    job.variables(dict(re.findall(r"^    (\w+) = '(.*)'$", pipeline, re.MULTILINE)))
    stages, post = pipeline.split("\n  post {\n")
    on_failure, always = post.split("\n    always {\n")

    def scripts(part: str) -> list[str]:
        found = re.findall(r"\bsh '''(.*?)'''|\bsh '([^'\n]+)'", part, re.DOTALL)
        assert len(found) == len(re.findall(r"\bsh '", part))
        return [long or short for long, short in found]

    for script in scripts(stages):
        if not job.failed:
            job.run(script)
    later = [*(scripts(on_failure) if job.failed else []), *scripts(always)]
    assert all(job.run(script) == 0 for script in later)
    assert_outcome(job, ends(job))
    archived = re.search(r"artifacts: '([^']+)'", post)
    assert archived
    assert all((job.folder / path).exists() for path in archived[1].split(",")) or not ends(job)
    assert ("\n✗ " + ANSWER in job.output) == ends(job)


@needs_shell
@pytest.mark.parametrize("name", ["docker", "tee", "tee-files"])
def test_short_snippets(name: str, tmp_path: Path, checkout: Path, example: Path) -> None:
    job = Job(tmp_path, checkout, example, ends=True)
    job.variables({"MODEL": "m", "PORT": "8000"})
    assert job.run(snippet(checkout, name)) == 1
    if name == "tee-files":
        assert job.text("vllm.log") == example.read_text(encoding="utf-8")
        assert json.loads(job.text("report.json"))["findings"][0]["rule"] == RULE
    else:
        assert f"✗ {ANSWER}" in job.output


def test_every_snippet_is_run(checkout: Path) -> None:
    text = (checkout / "docs" / "ci.md").read_text(encoding="utf-8")
    names = re.findall(r"<!-- snippet: (\S+) -->\n```", text)
    assert sorted(names) == ["docker", "github", "gitlab", "jenkins", "tee", "tee-files"]
    assert text.count("\n```") == 2 * len(names)
