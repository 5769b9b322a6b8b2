"""A log and a file of literals in; CPU seconds and peak memory of a command that reads the log, and of ripgrep, out.

    python benchmarks/scan.py big.log --literals literals.txt -- vllmdoctor analyze big.log

ripgrep does `rg -c -F -f literals big.log`. A `{}` in the command stands for the log, `<{}` gives it on standard input.
CPU time is used since it depends less than wall time on what else the machine does. Linux and macOS.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    cpu_s: float
    peak_rss_mib: float
    exit_code: int


def cost_of(command: list[str], stdin: str | None = None) -> Cost:
    """Runs the command in a process of its own (so that its peak memory is its own) and measures it."""
    code = (
        "import resource, subprocess, sys\n"
        "stdin = open(sys.argv[1], 'rb') if sys.argv[1] else subprocess.DEVNULL\n"
        "done = subprocess.run(sys.argv[2:], stdin=stdin, stdout=subprocess.DEVNULL)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss, done.returncode)\n"
    )
    run = [sys.executable, "-I", "-S", "-c", code, stdin or "", *command]
    cpu, rss, exit_code = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    rss_unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Cost(float(cpu), int(rss) / rss_unit, int(exit_code))


def best_of(runs: int, command: list[str], stdin: str | None = None) -> Cost:
    """The run that took the least CPU time."""
    return min((cost_of(command, stdin) for _ in range(runs)), key=lambda cost: cost.cpu_s)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log")
    parser.add_argument("--literals", required=True, help="a file with one literal a line")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    stdin = options.log if "<{}" in options.command else None
    command = [word.replace("{}", options.log) for word in options.command if word != "<{}"]

    ours = best_of(options.runs, command, stdin)
    print(f"command  {ours.cpu_s:8.3f} s CPU  {ours.peak_rss_mib:8.1f} MiB  exit {ours.exit_code}")
    if shutil.which("rg") is None:
        print("rg       not installed")
        return 0
    theirs = best_of(options.runs, ["rg", "-c", "-F", "-f", options.literals, options.log])
    print(f"rg       {theirs.cpu_s:8.3f} s CPU  {theirs.peak_rss_mib:8.1f} MiB  exit {theirs.exit_code}")
    print(f"ratio    {ours.cpu_s / theirs.cpu_s:8.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
